package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
)

// maxAsked is the most rights of one role that the API server is asked about.
const maxAsked = 2000

const rbacAPIGroup = "rbac.authorization.k8s.io"

// rights checks which rights the current user lacks to apply the plan.
type rights struct{ *recorder }

// installerRights records the rights that the user lacks to apply the plan, and decides
// about bindings: a dry run checks a role against the rights of its writer, but a
// binding only against the stored role. It asks nothing if the cluster is only read
// (ReadGet).
func (d rights) installerRights(ctx context.Context) error {
	if d.plan.ReadMode != preview.ReadDryRun {
		return nil
	}
	if err := d.decideBindings(ctx); err != nil {
		return err
	}
	p := *d.plan
	p.Summary = preview.Summarize(p.Objects)
	needed := installer.Needed(&p, d.plural(ctx))
	looks := installer.Looks(&p, d.plural(ctx))
	looked := map[preview.Right]bool{}
	for _, r := range looks {
		looked[r] = true
	}
	reads := slices.DeleteFunc(slices.Clone(needed), func(r preview.Right) bool { return r.Verb != "get" || looked[r] })
	rights := append(slices.DeleteFunc(needed, func(r preview.Right) bool { return r.Verb == "get" }), looks...)
	d.Report("checking your permissions (%d)", len(rights))
	lacking, err := d.filterMissing(ctx, rights)
	if err != nil {
		return err
	}
	for _, r := range lacking {
		d.missing(r, "needed to apply the plan")
	}
	d.plan.Access.Installer.Unread, err = d.filterMissing(ctx, append(reads, installer.Reads(&p, d.plural(ctx))...))
	return err
}

// plural returns a function for the resource names of kinds, such as deployments, by
// the cluster's discovery. It returns "" for kinds that are not served.
func (d rights) plural(ctx context.Context) installer.Plural {
	return func(apiVersion, kind string) string {
		name, _ := d.cluster.Plural(ctx, apiVersion, kind) // what is not served yet has the name its definition gives
		return name
	}
}

// filterMissing returns the rights that the user lacks. Rights that could not be
// checked are left out, as the API server checks them at apply.
func (d rights) filterMissing(ctx context.Context, rights []preview.Right) ([]preview.Right, error) {
	var out []preview.Right
	for i, answer := range d.cluster.May(ctx, rights) {
		switch {
		case answer.Err != nil && !preview.Answered(answer.Err):
			return nil, fmt.Errorf("asking whether you may %s: %w", rights[i], answer.Err)
		case answer.Err == nil && !answer.Allowed:
			out = append(out, rights[i])
		}
	}
	return out, nil
}

func (d rights) missing(r preview.Right, why string) { d.missingFor("", r, why) }

// maxMissing is the most rights of one role that are recorded as lacking.
const maxMissing = 20

// heldRights returns the rights in roles, as far as the API server is asked about them.
func (rights) heldRights(bodies []map[string]any, namespace string) []preview.Right {
	var held []preview.Right
	for _, body := range bodies {
		if held = append(held, installer.Held(body, namespace)...); len(held) >= maxAsked {
			return held[:maxAsked] // the API server decides on the rest
		}
	}
	return held
}

// missingOfRole records rights of a role that the user lacks, because the API server lets
// no user grant more than they have.
func (d rights) missingOfRole(role preview.Ref, lacking []preview.Right) {
	for _, r := range lacking[:min(len(lacking), maxMissing)] {
		d.missingFor(role.ID(), r, role.Kind+" "+role.Name+" gives it, and only its holders may hand it over")
	}
}

func (d rights) missingFor(role string, r preview.Right, why string) {
	m := preview.MissingRight{Verb: r.Verb, Resource: r.Target(), Why: why, Role: role}
	if r.URL != "" {
		m.Resource = r.URL
	}
	same := preview.MissingRight{Verb: m.Verb, Resource: m.Resource, Role: m.Role}
	if !d.lacking[same] {
		d.lacking[same] = true
		d.plan.Access.Installer.Missing = append(d.plan.Access.Installer.Missing, m)
	}
}
