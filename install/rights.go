package install

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
)

// dryRunGate makes the dry runs of a plan that was made without them, and
// refuses it unless their results are what was reviewed.
func (c *checker) dryRunGate(ctx context.Context, cluster engine.Cluster) error {
	if c.plan.ReadMode != preview.ReadGet {
		return nil
	}
	doing := "asking the cluster for the dry runs that the review did without"
	now, reasons, err := engine.DryRunGate(ctx, c.plan, cluster, c.opts.Schemas)
	switch {
	case err != nil:
		return c.notChecked(doing, err)
	case len(now.Access.Installer.Missing) > 0:
		return c.fail(doing, "", missingRights(c.plan, preview.Installer{Missing: now.Access.Installer.Missing}))
	case len(reasons) > 0:
		return c.fail(doing, "", refusal(doing, "preview without --read-only get, which shows what the API server would do", reasons...))
	}
	c.trials.take(now)
	return nil
}

// mayLook returns an error if the user may not read an object that the plan writes. A plan
// that was made with dry runs has asked that already; one made by reads alone asks nothing.
func (c *checker) mayLook(ctx context.Context) error {
	if c.plan.ReadMode != preview.ReadGet {
		return nil
	}
	looks := installer.Looks(c.plan, func(apiVersion, kind string) string {
		name, _ := c.cluster.Plural(ctx, apiVersion, kind) // of what is not served yet, its CRD names it
		return name
	})
	var lacking []preview.Right
	for i, answer := range c.cluster.May(ctx, looks) {
		switch {
		case answer.Err != nil && !preview.Answered(answer.Err):
			return fmt.Errorf("asking whether you may %s: %w", looks[i], answer.Err)
		case answer.Err == nil && !answer.Allowed:
			lacking = append(lacking, looks[i])
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return missingRights(c.plan, preview.Installer{Unread: lacking})
}

// DeniedError returns an error for a plan that the API server would refuse even if
// it is approved, because a permission is missing or a quota is used up; nil for
// other plans.
func DeniedError(p *preview.Plan) error {
	if in := p.Access.Installer; len(in.Missing) > 0 {
		return missingRights(p, in)
	}
	var over []string
	for _, u := range p.Unknowns {
		if u.Reason != preview.ReasonQuota {
			continue
		}
		if o := p.Object(u.Object); o != nil { // one object for each quota: few
			over = append(over, fmt.Sprintf("%s: %s (kubectl edit resourcequota %s -n %s)", u.Object, u.Why, u.Quota, o.Namespace))
		}
	}
	if len(over) == 0 {
		return nil
	}
	return fmt.Errorf("%s; raise the quota or free what it counts, then run the command again", joinReasons(over))
}

// missingRights returns the error for a user who lacks permissions to apply the plan.
// Permissions that only a role of the plan would grant are named with that role.
func missingRights(p *preview.Plan, in preview.Installer) error {
	var own, roles []string
	given := map[string][]string{}
	for _, m := range in.Missing {
		if m.Role == "" {
			own = append(own, m.Verb+" "+m.Resource)
			continue
		}
		if given[m.Role] == nil {
			roles = append(roles, m.Role)
		}
		given[m.Role] = append(given[m.Role], m.Verb+" "+m.Resource)
	}
	for _, r := range in.Unread {
		own = append(own, r.String())
	}
	var parts []string
	if len(own) > 0 {
		parts = append(parts, "you may not "+strings.Join(own, ", "))
	}
	for _, id := range roles {
		_, kind, _, name, err := preview.ParseID(id)
		if err != nil {
			kind, name = "role", id
		}
		parts = append(parts, fmt.Sprintf("%s %s needs %s, which you do not hold and therefore cannot grant", kind, name, strings.Join(given[id], ", ")))
	}
	return fmt.Errorf("forbidden: %s; ask for these permissions (%s prints the roles), or have the plan applied by a user who has them", strings.Join(parts, "; "), roleCommand(p))
}

// missingReadRights lists the permissions to read that planning needs and the user
// lacks: without them, the plan differs from the plan of a user who has them.
func missingReadRights(plan *preview.Plan) []string {
	var reasons []string
	for _, r := range plan.Access.Installer.Unread {
		reasons = append(reasons, fmt.Sprintf("you may not %s, which planning needs; ask for this permission (%s prints the roles)", r, roleCommand(plan)))
	}
	return reasons
}

// roleCommand returns the command that prints the roles needed to make and apply
// the plan.
func roleCommand(p *preview.Plan) string {
	if review.RoleCommandRenders(p) {
		return review.RoleCommand(p) + ", a preview or upgrade with the same --values and --set,"
	}
	return review.RoleCommand(p)
}
