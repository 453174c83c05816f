package escalation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// CustomKind is a kind that neither Kubernetes nor the plan defines, or that the plan only
// defines while none of its accounts may change such objects, and of which the
// plan has objects, or which the plan's accounts may write. To write one is to have the
// controllers act that watch it.
type CustomKind struct {
	group, resource string
	version, kind   string // apiVersion and kind; empty if the plan has no object of it
	object          string // id of the plan's first object of it
}

// maxCustomKinds is the most custom kinds of a plan whose controllers are searched for.
const maxCustomKinds = 50

// CustomKinds returns the custom kinds of a plan, those with objects first; planned are
// the plan's grants. Kinds that accounts may only write are left out if the table of
// operators (package deputy) has their API group, as it says what the controllers do.
func CustomKinds(p *preview.Plan, planned []preview.Grant) []CustomKind {
	own, changed := map[string]bool{}, deputy.ChangedBy(planned)
	for i := range p.Objects {
		group := preview.String(p.Objects[i].Planned, "spec", "group")
		if o := &p.Objects[i]; o.Is(preview.KindCustomResourceDefinition) && changed.Has(group, preview.String(o.Planned, "spec", "names", "plural")) {
			own[o.Name] = true
			own[preview.String(o.Planned, "spec", "names", "kind")+"."+group] = true
		}
	}
	var out []CustomKind
	seen := map[string]bool{}
	add := func(k CustomKind) {
		if name := cmp.Or(k.kind, k.resource) + "." + k.group; !seen[name] && !own[name] && len(out) < maxCustomKinds {
			seen[name] = true
			out = append(out, k)
		}
	}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Planned != nil && !content.BuiltIn(o.Planned) {
			add(CustomKind{group: o.Ref().Group(), version: o.APIVersion, kind: o.Kind, object: o.ID})
		}
	}
	for _, g := range planned {
		if !access.HasVerb(g, "create") && !access.HasVerb(g, "update") && !access.HasVerb(g, "patch") {
			continue
		}
		for _, group := range g.APIGroups {
			for _, resource := range g.Resources {
				if group != "*" && !content.BuiltInGroup(group) && !deputy.KnownGroup(group) && !strings.Contains(resource, "/") {
					add(CustomKind{group: group, resource: resource})
				}
			}
		}
	}
	return out
}

// Discovery returns the resource name of a kind, such as "deployments".
type Discovery interface {
	Plural(ctx context.Context, apiVersion, kind string) (string, error)
}

// ReadDeputies records, for each custom kind, the account in the cluster with the most
// rights that acts on it. The record is not compared again before apply: the rights of
// others change without the plan. in has the bindings and ClusterRoles of the cluster.
func ReadDeputies(ctx context.Context, to Recorder, served Discovery, kinds []CustomKind, in Input) error {
	if len(kinds) == 0 {
		return nil
	}
	w := &pathFinder{Recorder: to, plan: to.Plan()}
	local, err := w.rolesOf(ctx, in.Bindings)
	if err != nil {
		return err
	}
	return w.deputies(ctx, served, kinds, access.Input{
		Objects: preview.PlannedBodies(w.plan.Objects), Existing: w.ExcludePlanned(slices.Concat(in.Bindings, in.Roles, local)), Accounts: in.Installed,
	})
}

func (w *pathFinder) deputies(ctx context.Context, served Discovery, kinds []CustomKind, in access.Input) error {
	others, _ := access.ClusterGrants(in)
	graph := access.NewAccountGraph(access.GraphInput{ClusterGrants: others, ExistingAccounts: access.ActingAccounts(others), Roles: in})
	seen := map[string]bool{}
	for _, k := range kinds {
		if k.resource == "" {
			plural, err := served.Plural(ctx, k.version, k.kind)
			switch {
			case err != nil && preview.Answered(err):
				continue // it is not served, which is said elsewhere
			case err != nil:
				return fmt.Errorf("reading the resource of kind %s: %w", k.kind, err)
			}
			k.resource = plural
		}
		found := access.Deputies(in, k.group, k.resource)
		name := k.resource + "." + k.group
		if len(found) == 0 || seen[name] {
			continue
		}
		seen[name] = true
		acting := deputy.Acting{Group: k.group, Resource: k.resource, Kind: k.kind, Object: k.object, Others: len(found) - 1}
		extents := map[preview.Subject]access.Extent{}
		for _, account := range found {
			extents[account] = graph.Amount(account).Extent
		}
		acting.Account = slices.MinFunc(found, func(a, b preview.Subject) int { return access.CompareExtents(extents[a], extents[b]) })
		acting.Extent = string(extents[acting.Account])
		read, err := acting.Read()
		if err != nil {
			return err
		}
		w.plan.Reads = append(w.plan.Reads, read)
	}
	return nil
}

// DeputyFindings returns findings about which accounts act on the custom kinds of a
// plan, by what was recorded. They are info for kinds in the table of operators, which
// says what is done with these.
func DeputyFindings(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	for _, read := range p.Reads {
		acting, ok := deputy.ActingOf(read)
		if !ok {
			continue
		}
		who, name := acting.Account.Kind+" "+acting.Account.Namespace+"/"+acting.Account.Name, acting.Resource+"."+acting.Group
		severity := preview.Info
		if amount := verdict.ExtentText(preview.Account{Extent: acting.Extent}); amount != "" {
			who += ", " + amount
			if !deputy.KnownGroup(acting.Group) {
				severity = preview.Warning
			}
		}
		evidence := name + " by " + who
		if acting.Others > 0 {
			evidence += ", and by " + preview.Plural(acting.Others, "other account")
		}
		rule, object := rules.OrderActedOn, acting.Object
		if object == "" {
			rule, object = rules.RBACActedOn, acting.Group+"/*/-/"+acting.Resource
		}
		out = append(out, rule.FindingOf(severity, object, preview.Claim{Subject: name, Predicate: rule.Title + " " + who}, preview.Piece{What: evidence}))
	}
	return out
}
