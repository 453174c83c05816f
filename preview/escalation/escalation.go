// Package escalation records in a plan the escalation paths by which its accounts gain
// control of the cluster through other accounts.
package escalation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

// maxChecks is the most rounds in which it is looked up whether accounts exist.
const maxChecks = 20

// Recorder is the plan in the making: it reads the cluster and records what was read.
type Recorder interface {
	Plan() *preview.Plan
	// Read answers in the order of refs.
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
	// List returns the objects of a kind in a namespace (all when empty) that
	// match a label selector.
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
	// ExcludePlanned returns the objects that the plan neither writes nor deletes.
	ExcludePlanned(bodies []map[string]any) []map[string]any
	// AddRead records the part of a live object that plans depend on.
	AddRead(id string, body map[string]any)
}

// Input has the grants, bindings and roles among which escalation paths are searched.
type Input struct {
	Grants    []preview.Grant  // the plan's
	Installed []map[string]any // live objects of the release
	Bindings  []map[string]any // of the cluster
	Roles     []map[string]any
}

// Read records, for each of the plan's accounts, its shortest escalation path to
// control of the cluster: the accounts on it, with their bindings and roles. These are
// facts: the finding about the path follows from them, and a plan whose path no longer
// exists is stale. Other accounts and bindings may change.
func Read(ctx context.Context, to Recorder, in Input) error {
	w := &pathFinder{Recorder: to, plan: to.Plan(), own: in.Grants, checked: map[preview.Subject]bool{}}
	w.planned = preview.PlannedBodies(w.plan.Objects)
	w.from = plannedAccounts(w.plan)
	if !w.canEscalate() {
		return nil
	}
	local, err := w.rolesOf(ctx, in.Bindings)
	if err != nil {
		return err
	}
	w.bindings = w.ExcludePlanned(in.Bindings)
	w.in = access.Input{
		Objects: w.planned, Existing: slices.Concat(w.bindings, w.ExcludePlanned(in.Roles), local),
		Missing: w.plan.AbsentReads(), Accounts: in.Installed,
	}
	var left int
	if w.others, left = access.ClusterGrants(w.in); left > 0 {
		w.recordUnread(fmt.Sprintf("%d bindings of the cluster were left out, there are too many", left))
	}
	ways, err := w.find(ctx)
	if err != nil {
		return err
	}
	for _, way := range ways {
		w.record(way)
	}
	return nil
}

// recordUnread records in words what the search could not read.
func (w *pathFinder) recordUnread(what string) {
	w.plan.Reads = append(w.plan.Reads, preview.Read{ID: risk.EscalationReadID(what)})
}

// plannedAccounts returns the ServiceAccounts of the plan.
func plannedAccounts(p *preview.Plan) []preview.Subject {
	var out []preview.Subject
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Is(preview.KindServiceAccount) && o.Planned != nil && o.Ref().Group() == "" {
			out = append(out, preview.Subject{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
		}
	}
	return out
}

// rolesOf returns the Roles of the cluster if a binding names any, because their rules
// may be a step of a path. It records if they may not be listed.
func (w *pathFinder) rolesOf(ctx context.Context, bindings []map[string]any) ([]map[string]any, error) {
	if !slices.ContainsFunc(bindings, func(b map[string]any) bool { return access.RoleOf(b).Is(preview.KindRole) }) {
		return nil, nil
	}
	list, err := w.List(ctx, access.APIVersion, "Role", "", "", access.Fields()...)
	switch {
	case err != nil && preview.Answered(err):
		w.recordUnread("Roles may not be listed")
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing Roles: %w", err)
	}
	return w.ExcludePlanned(list), nil
}

// pathFinder searches escalation paths through the accounts of the cluster.
type pathFinder struct {
	Recorder
	plan              *preview.Plan
	planned, bindings []map[string]any
	own, others       []preview.Grant
	from              []preview.Subject
	in                access.Input
	checked           map[preview.Subject]bool // whether the account exists
}

// canEscalate reports whether a grant of the plan gives a right that a step of an
// escalation path uses.
func (w *pathFinder) canEscalate() bool {
	return len(w.from) > 0 && slices.ContainsFunc(w.own, func(g preview.Grant) bool {
		return g.Change != preview.GrantRemoved && access.Escalates(g)
	})
}

// find returns the escalation paths, after as many searches as needed until all
// accounts on them are known to exist. Only accounts on a path that was found are
// looked up, with one request for each search. After maxChecks searches it returns nil
// and records that.
func (w *pathFinder) find(ctx context.Context) ([]access.EscalationPath, error) {
	candidates := access.ActingAccounts(w.others)
	serves := sync.OnceValue(func() bool { return risk.Serves(w.plan, w.own) })
	for range maxChecks {
		net := access.NewAccountGraph(access.GraphInput{Grants: w.own, ClusterGrants: w.others, ExistingAccounts: candidates, Roles: w.in, Serves: serves})
		var ways []access.EscalationPath
		ask := map[string]bool{}
		for _, from := range w.from {
			way := net.Path(from)
			for _, account := range way.Accounts {
				if _, known := w.checked[account]; !known && slices.Contains(candidates, account) {
					ask[account.Namespace] = true
				}
			}
			ways = append(ways, way)
		}
		if len(ask) == 0 {
			return ways, nil
		}
		if err := w.check(ctx, candidates, ask); err != nil {
			return nil, err
		}
		candidates = slices.DeleteFunc(candidates, func(s preview.Subject) bool { exists, known := w.checked[s]; return known && !exists })
	}
	w.recordUnread(fmt.Sprintf("after %d namespaces no more accounts were looked up", len(w.checked)))
	return nil, nil
}

// check looks up which of the candidates in the namespaces exist.
func (w *pathFinder) check(ctx context.Context, candidates []preview.Subject, namespaces map[string]bool) error {
	var subjects []preview.Subject
	var refs []preview.Ref
	for _, s := range candidates {
		if _, known := w.checked[s]; !known && namespaces[s.Namespace] {
			subjects = append(subjects, s)
			refs = append(refs, access.AccountRef(s))
		}
	}
	unread := map[string]bool{}
	for i, r := range w.Read(ctx, refs) {
		switch {
		case r.Err != nil && !preview.Answered(r.Err):
			return fmt.Errorf("reading %s: %w", refs[i].ID(), r.Err)
		case r.Err != nil:
			unread[subjects[i].Namespace] = true
		}
		w.checked[subjects[i]] = r.Err == nil && r.Body != nil
	}
	for _, namespace := range slices.Sorted(maps.Keys(unread)) {
		w.recordUnread("ServiceAccounts of namespace " + namespace + " may not be read")
	}
	return nil
}

// record records the objects on a path as reads.
func (w *pathFinder) record(way access.EscalationPath) {
	for _, account := range way.Accounts {
		if w.checked[account] {
			w.plan.Reads = append(w.plan.Reads, preview.Read{ID: access.AccountRef(account).ID(), Fingerprint: preview.Present})
		}
	}
	for _, g := range way.Grants {
		if len(g.Via) == 1 { // a role that the account gives itself
			for _, role := range access.SourceRoles(w.in, g) {
				w.addRole(role)
			}
		}
		if len(g.Via) < 2 {
			continue
		}
		id := access.ViaRef(g.Via[1]).ID()
		i := slices.IndexFunc(w.bindings, func(b map[string]any) bool { return preview.RefOf(b).ID() == id })
		if i < 0 {
			continue // the plan's own
		}
		w.addBinding(w.bindings[i], g.Subject)
		for _, role := range access.SourceRoles(w.in, g) {
			w.addRole(role)
		}
	}
}

// addRole records a role of the cluster, once.
func (w *pathFinder) addRole(role map[string]any) {
	id := preview.RefOf(role).ID()
	if preview.String(role, "metadata", "uid") != "" && !w.hasRead(id) {
		w.AddRead(id, role)
	}
}

func (w *pathFinder) hasRead(id string) bool {
	return slices.ContainsFunc(w.plan.Reads, func(r preview.Read) bool { return r.ID == id })
}

// addBinding records a binding with this subject, and with those of its subjects that
// are recorded already.
func (w *pathFinder) addBinding(body map[string]any, subject preview.Subject) {
	id := preview.RefOf(body).ID()
	keep := []preview.Subject{subject}
	at := slices.IndexFunc(w.plan.Reads, func(r preview.Read) bool { return r.ID == id })
	if at >= 0 {
		keep = append(keep, access.Subjects(w.plan.Reads[at].Body)...)
		w.plan.Reads = slices.Delete(w.plan.Reads, at, at+1)
	}
	w.AddRead(id, access.OnlySubjects(body, keep))
}
