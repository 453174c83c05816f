package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/escalation"
)

// maxHeld is the most bindings of the cluster that a plan records.
const maxHeld = 1000

// roles is the check that records the RBAC objects of the cluster which affect the
// plan.
type roles struct{}

// read records the RBAC objects of the cluster that the plan's grants depend on:
// bindings of the plan's accounts and roles, the roles that bindings name, and the
// ClusterRoles that others aggregate.
func (c roles) read(ctx context.Context, to *recorder) error {
	if len(to.plan.Packages) == 0 {
		return nil
	}
	objects := slices.Concat(preview.PlannedBodies(to.plan.Objects), installedBodies(to.plan))
	_, planned := grants(to.plan)
	kinds := escalation.CustomKinds(to.plan, planned)
	if !access.TouchesRBAC(objects) {
		return c.readDeputies(ctx, to, kinds)
	}
	to.Report("reading the roles and bindings of the cluster")
	roles, mayList, err := to.listRBAC(ctx, "ClusterRole")
	if err != nil {
		return err
	}
	bindings, err := c.listBindings(ctx, to)
	if err != nil {
		return err
	}
	in := escalation.Input{Installed: installedBodies(to.plan), Bindings: bindings, Roles: roles}
	if err := escalation.ReadDeputies(ctx, to, to.cluster, kinds, in); err != nil {
		return err
	}
	held, far := access.RelevantBindings(objects, to.ExcludePlanned(bindings), to.ExcludePlanned(roles))
	c.readHeld(to, held)
	sealed := preview.PlannedBodies(to.plan.Objects)
	named := access.RoleRefs(slices.Concat(sealed, held))
	// A role that the plan takes away is no more.
	own := to.plan.ObjectsByID()
	named = slices.DeleteFunc(named, func(ref preview.Ref) bool { return own[ref.ID()] != nil })
	read, err := c.readNamed(ctx, to, named)
	if err != nil {
		return err
	}
	ids := access.AggregatingRoles(sealed, slices.Concat(held, read))
	if len(ids) > 0 && !mayList {
		to.cannotCollect(ids, "which ClusterRoles it collects may not be read")
	} else {
		for _, body := range access.AggregatedRoles(ids, sealed, to.ExcludePlanned(roles)) {
			to.AddRead(preview.RefOf(body).ID(), body)
		}
	}
	in.Grants = access.Delta(grants(to.plan)) // with what was read of the cluster
	raising, err := escalation.Raising(ctx, to, in, far)
	if err != nil {
		return err
	}
	if len(raising) > 0 {
		c.readHeld(to, raising)
		if _, err := c.readNamed(ctx, to, access.RoleRefs(slices.Concat(sealed, raising, to.plan.ReadBodies()))); err != nil {
			return err
		}
		in.Grants = access.Delta(grants(to.plan))
	}
	return escalation.Read(ctx, to, in)
}

// readDeputies records which accounts act on the custom resources of a plan without
// RBAC objects, as far as the user may list roles and bindings. Nothing else in the
// plan depends on them.
func (c roles) readDeputies(ctx context.Context, to *recorder, kinds []escalation.CustomKind) error {
	if len(kinds) == 0 {
		return nil
	}
	to.Report("reading who acts on the custom resources")
	in := escalation.Input{Installed: installedBodies(to.plan)}
	for kind, list := range map[string]*[]map[string]any{"ClusterRole": &in.Roles, "ClusterRoleBinding": &in.Bindings, "RoleBinding": &in.Bindings} {
		found, _, err := to.listRBAC(ctx, kind)
		if err != nil {
			return err
		}
		*list = append(*list, found...)
	}
	return escalation.ReadDeputies(ctx, to, to.cluster, kinds, in)
}

func (roles) findings(of *decidedPlan) []preview.Finding { return escalation.DeputyFindings(of.plan) }

// readNamed reads and records roles by their names.
func (c roles) readNamed(ctx context.Context, to *recorder, refs []preview.Ref) (bodies []map[string]any, err error) {
	for i, r := range to.cluster.Read(ctx, refs) {
		id := refs[i].ID()
		switch {
		case r.Err == nil && r.Body != nil:
			to.AddRead(id, r.Body)
			bodies = append(bodies, r.Body)
		case r.Err == nil:
			to.plan.Reads = append(to.plan.Reads, preview.Read{ID: id})
		case preview.ReasonOf(r.Err) == preview.ReasonForbidden:
			to.refused(id, preview.ReasonForbidden, "forbidden")
		default:
			return nil, fmt.Errorf("reading %s: %w", id, r.Err)
		}
	}
	return bodies, nil
}

// listBindings returns the bindings of the cluster that the user may list, and records
// what may not be listed.
func (c roles) listBindings(ctx context.Context, to *recorder) ([]map[string]any, error) {
	bindings, allowed, err := to.listRBAC(ctx, "ClusterRoleBinding")
	if err != nil {
		return nil, err
	}
	if !allowed {
		to.refused(access.AllOf("ClusterRoleBinding"), preview.ReasonForbidden, heldUnknown+"forbidden")
	}
	list, allowed, err := to.listRBAC(ctx, "RoleBinding")
	if err != nil {
		return nil, err
	}
	if !allowed {
		if list, err = c.listLocalBindings(ctx, to); err != nil {
			return nil, err
		}
	}
	return append(bindings, list...), nil
}

// maxLocal is the most namespaces whose RoleBindings are listed one by one.
const maxLocal = 50

// listLocalBindings returns the RoleBindings in the plan's namespaces, for users who may
// not list them in the whole cluster. RoleBindings elsewhere may grant its accounts
// rights too, so the plan records which namespaces were read and is incomplete.
func (c roles) listLocalBindings(ctx context.Context, to *recorder) ([]map[string]any, error) {
	var bindings []map[string]any
	var seen, forbidden []string
	for _, namespace := range slices.Sorted(maps.Keys(to.namespaces)) {
		if !to.namespaces[namespace] || len(seen)+len(forbidden) == maxLocal {
			continue
		}
		list, err := to.cluster.List(ctx, access.APIVersion, "RoleBinding", namespace, "", access.Fields()...)
		switch {
		case err != nil && preview.Answered(err):
			forbidden = append(forbidden, namespace)
			continue
		case err != nil:
			return nil, fmt.Errorf("listing the RoleBindings of namespace %s: %w", namespace, err)
		}
		seen = append(seen, namespace)
		bindings = append(bindings, list...)
	}
	why := "forbidden"
	if len(seen) > 0 {
		why += "; read only those in namespace " + strings.Join(seen, ", ")
		if len(forbidden) > 0 {
			why += ", but not in " + strings.Join(forbidden, ", ")
		}
	}
	to.unknown(access.AllOf("RoleBinding"), heldUnknown+why)
	return bindings, nil
}

// heldUnknown begins the words about bindings of the cluster that could not be listed.
const heldUnknown = "what the cluster already gives the plan's accounts: "

// readHeld records bindings of the cluster, at most maxHeld.
func (roles) readHeld(to *recorder, held []map[string]any) {
	slices.SortFunc(held, func(a, b map[string]any) int {
		return strings.Compare(preview.RefOf(a).ID(), preview.RefOf(b).ID())
	})
	if len(held) > maxHeld {
		to.unknown(access.AllOf("ClusterRoleBinding"), heldUnknown+fmt.Sprintf("of %d bindings the first %d were read", len(held), maxHeld))
		held = held[:maxHeld]
	}
	for _, body := range held {
		to.AddRead(preview.RefOf(body).ID(), body)
	}
}

// staleReads returns the ids of recorded roles, bindings and namespaces that have
// changed.
func (roles) staleReads(ctx context.Context, again *rereader) ([]string, error) {
	p := again.plan
	var refs []preview.Ref
	var was []preview.Read
	for _, read := range p.Reads {
		group, kind, namespace, name, err := preview.ParseID(read.ID)
		version := readVersions[group+"/"+kind]
		if err != nil || version == "" || read.UID == "" {
			continue
		}
		refs = append(refs, preview.Ref{APIVersion: version, Kind: kind, Namespace: namespace, Name: name})
		was = append(was, read)
	}
	var moved []string
	for i, r := range again.cluster.Read(ctx, refs) {
		if r.Err != nil {
			return nil, fmt.Errorf("reading %s again: %w", was[i].ID, r.Err)
		}
		if r.Body == nil {
			moved = append(moved, was[i].ID+" is gone since the review")
			continue
		}
		same, err := matchesRecordedRead(p, r.Body, was[i].Fingerprint)
		if err != nil {
			return nil, fmt.Errorf("reading %s again: %w", was[i].ID, err)
		}
		if !same {
			moved = append(moved, was[i].ID+" is not what it was at the review")
		}
	}
	return moved, nil
}

// readVersions holds, by GROUP/KIND of a read, the apiVersion for reading it again.
// Reads of other kinds are left to other checks.
var readVersions = map[string]string{
	"/Namespace":                     "v1",
	"rbac.authorization.k8s.io/Role": access.APIVersion, "rbac.authorization.k8s.io/ClusterRole": access.APIVersion,
	"rbac.authorization.k8s.io/RoleBinding": access.APIVersion, "rbac.authorization.k8s.io/ClusterRoleBinding": access.APIVersion,
}

// escalationGraph returns the accounts and grants of the cluster, from the recorded
// reads, to search escalation paths in.
func escalationGraph(p *preview.Plan) access.GraphInput {
	in := access.Input{
		Objects: preview.PlannedBodies(p.Objects), Existing: p.ReadBodies(), Missing: p.AbsentReads(), Accounts: installedBodies(p),
		Unread: p.ReadMode == preview.ReadOffline,
	}
	others, _ := access.ClusterGrants(in)
	out := access.GraphInput{ClusterGrants: others, Roles: in}
	exist := map[string]bool{}
	for _, r := range p.Reads {
		exist[r.ID] = r.Fingerprint == preview.Present
	}
	for _, s := range access.ActingAccounts(others) {
		if in.Unread || exist[access.AccountRef(s).ID()] {
			out.ExistingAccounts = append(out.ExistingAccounts, s)
		}
	}
	return out
}
