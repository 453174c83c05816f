package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
)

// maxAsked bounds how many rights one object is asked about.
const maxAsked = 2000

const rbacAPIGroup = "rbac.authorization.k8s.io"

// installerRights finds out what the current user lacks to carry the plan out,
// and decides the bindings: a dry run checks a role against what its writer
// holds, but a binding only against the role as it is stored now. In mode get
// nobody is asked.
func (d *decider) installerRights(ctx context.Context) error {
	if d.plan.ReadMode != preview.ReadDryRun {
		return nil
	}
	if err := d.decideBindings(ctx); err != nil {
		return err
	}
	p := *d.plan
	p.Summary = preview.Summarize(p.Objects)
	rights := slices.DeleteFunc(installer.Needed(&p, d.plural(ctx)), func(r preview.Right) bool { return r.Verb == "get" })
	d.tell("asking the cluster for %d rights of yours", len(rights))
	lacking, err := d.lacking(ctx, rights)
	if err != nil {
		return err
	}
	for _, r := range lacking {
		d.missing(r, "applying the plan takes it")
	}
	return nil
}

// plural names resources as the cluster does.
func (d *decider) plural(ctx context.Context) installer.Plural {
	return func(apiVersion, kind string) string {
		name, _ := d.cluster.Plural(ctx, apiVersion, kind) // what is not served yet has the name its definition gives
		return name
	}
}

// lacking returns those of rights that the user does not have. What could not
// be found out is not among them: the write itself would tell.
func (d *decider) lacking(ctx context.Context, rights []preview.Right) ([]preview.Right, error) {
	var out []preview.Right
	for i, answer := range d.cluster.May(ctx, rights) {
		switch {
		case answer.Err != nil && !answered(answer.Err):
			return nil, fmt.Errorf("asking whether you may %s: %w", rights[i], answer.Err)
		case answer.Err == nil && !answer.Allowed:
			out = append(out, rights[i])
		}
	}
	return out, nil
}

func (d *decider) missing(r preview.Right, why string) {
	m := preview.MissingRight{Verb: r.Verb, Resource: r.What(), Why: why}
	if r.URL != "" {
		m.Resource = r.URL
	}
	if !slices.Contains(d.plan.Access.Installer.Missing, m) {
		d.plan.Access.Installer.Missing = append(d.plan.Access.Installer.Missing, m)
	}
}

// decideBindings asks of each binding what the API server will ask when it is
// written: bind on its role, or all that the role permits as the plan leaves it.
func (d *decider) decideBindings(ctx context.Context) error {
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if !applies(o.Action) || o.Sealed == nil || !o.Is(preview.KindRoleBinding, preview.KindClusterRoleBinding) {
			continue
		}
		if err := d.decideBinding(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// applies reports whether an action ends with an apply of the sealed object.
func applies(a preview.Action) bool {
	switch a {
	case preview.ActionCreate, preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt:
		return true
	}
	return false
}

func (d *decider) decideBinding(ctx context.Context, o *preview.Object) error {
	to := access.RoleOf(o.Sealed)
	bind := preview.Right{Verb: "bind", Group: rbacAPIGroup, Resource: "clusterroles", Namespace: o.Namespace, Name: to.Name}
	if to.Is(preview.KindRole) {
		bind.Resource = "roles"
	}
	lacking, err := d.lacking(ctx, []preview.Right{bind})
	if err != nil || len(lacking) == 0 {
		return err
	}
	var held []preview.Right
	for _, role := range d.rolesBehind(to) {
		held = append(held, installer.Held(role, o.Namespace)...)
	}
	if len(held) > maxAsked {
		held = held[:maxAsked] // the API server decides on the rest
	}
	if lacking, err = d.lacking(ctx, held); err != nil || len(lacking) == 0 {
		return err
	}
	d.missing(bind, fmt.Sprintf("%s gives what you do not hold yourself: %s", o.ID, lacking[0]))
	o.Action, o.Result, o.ResultBody = preview.ActionUnknown, "", nil
	d.unknown(o.ID, string(preview.ReasonForbidden))
	return nil
}

// rolesBehind returns the role as the plan leaves it, and those it collects.
func (d *decider) rolesBehind(to preview.Ref) []map[string]any {
	sealed, read := sealedBodies(d.plan.Objects), readBodies(d.plan)
	all := slices.Concat(read, sealed)
	var out []map[string]any
	for _, body := range all {
		if preview.RefOf(body).ID() == to.ID() {
			out = append(out, body)
		}
	}
	return append(out, access.Collected([]string{to.ID()}, nil, all)...)
}
