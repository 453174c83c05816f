package planning

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// mitigations returns the settings with which the package needs fewer permissions.
// It renders the package with each setting that its format suggests, and compares
// plans that are made without a cluster, so that only the setting differs. A
// setting with which the package cannot be rendered is left out.
func (p *Planner) mitigations(ctx context.Context, r *Resolver, found *Resolution, contents []planned.Content, plan *preview.Plan) []preview.Mitigation {
	chooser, ok := found.format.(format.Chooser)
	if !ok || len(contents) != 1 || !needsMuch(plan) {
		return nil
	}
	elsewhere := ""
	if !p.Read.Offline { // where nothing depends on the kubeconfig
		elsewhere = p.env.home()
	}
	choices, err := chooser.Choices(format.Input{Content: found.content.FS, Info: found.info, Release: plan.Release, Params: found.params, Whole: found.whole, Path: found.at, Elsewhere: elsewhere})
	if err != nil || len(choices) == 0 {
		return nil
	}
	r.progress("comparing with settings that need less")
	base, err := p.offline(ctx, contents, plan)
	if err != nil {
		return nil
	}
	var out []preview.Mitigation
	for _, choice := range choices {
		other := *found
		other.params = choice.Params
		content, err := r.seal(ctx, []*Resolution{&other}, plan.Release, func(*Resolution) bool { return plan.Request.Action == preview.RequestUpgrade })
		if err != nil {
			continue
		}
		alternative, err := p.offline(ctx, content, plan)
		if err != nil {
			continue
		}
		m, less := verdict.Mitigation(choice.Flags, plan, base, alternative)
		if less && !slices.ContainsFunc(out, func(before preview.Mitigation) bool { return before.Text() == m.Text() && sameNames(before, m) }) {
			out = append(out, m)
		}
	}
	return out
}

// offline plans contents as a new release, without a cluster; like has the release.
func (p *Planner) offline(ctx context.Context, contents []planned.Content, like *preview.Plan) (*preview.Plan, error) {
	opts := p.options(like.Release, nil)
	opts.ReadMode, opts.Request = preview.ReadOffline, preview.Request{Action: preview.RequestInstall}
	return p.Judge(engine.Build(ctx, contents, nil, opts))
}

// needsMuch reports whether the plan has a critical or warning finding about a
// ServiceAccount or a webhook without certificates, so that settings with which it has
// fewer are worth looking for.
func needsMuch(p *preview.Plan) bool {
	for _, g := range verdict.Groups(p.Findings, p.Access.Accounts) {
		about := g.Account != nil || g.First().Rule == rules.WebhookWithoutCA.Name
		if about && (g.Severity() == preview.Critical || g.Severity() == preview.Warning) {
			return true
		}
	}
	return false
}

// sameNames reports whether two settings are made by flags of the same names, so that one
// with the effect of the other need not be offered.
func sameNames(a, b preview.Mitigation) bool { return slices.Equal(namesOf(a), namesOf(b)) }

// namesOf returns the names of the flags of a setting, sorted and each once. Every flag
// has its value behind it.
func namesOf(m preview.Mitigation) []string {
	var names []string
	for pair := range slices.Chunk(m.Flags, 2) {
		names = append(names, pair[0])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
