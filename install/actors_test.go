package install_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// actorRounds is how often both actors act in one namespace.
const actorRounds = 8

// TestClusterTwoActorsAgainstAModel lets two users act at once on two releases of one
// namespace, which want some objects of the same names: they install, upgrade, go back,
// uninstall and resume, while a third client edits and connections break. The model is the
// set of plans that were approved. After each round
//
//	every write of a user is of an object that the user's plan writes;
//	the exit code says what the audit log says, see [TestClusterRandomPlansUnderRandomEdits];
//	no object has the marks of a release that the release's record does not have.
//
// In the end both releases are uninstalled, and nothing with their marks is left.
func TestClusterTwoActorsAgainstAModel(t *testing.T) {
	from, to := slowtest.Runs(t, 1)
	for ; from < to; from += batchRuns {
		sb := sandboxtest.Start(t)
		if slowtest.Soak() {
			sb = sandboxtest.New(t)
		}
		actAtOnce(t, sb, from, min(from+batchRuns, to))
	}
}

func actAtOnce(t *testing.T, sb *sandbox.Sandbox, from, to int) {
	t.Helper()
	raw, schemas := sandboxtest.NewRawClient(t, sb.Kubeconfig()), k8s.NewSchemas()
	ends, writes := map[string]int{}, 0
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	for seed := from; seed < to; seed++ {
		group.Go(func() error {
			s := newStage(t, sb, raw, schemas, uint64(seed))
			s.run()
			mu.Lock()
			defer mu.Unlock()
			for end, n := range s.ends {
				ends[end] += n
			}
			writes += s.writes
			for _, finding := range s.findings {
				t.Errorf("seed %d: %s", seed, finding)
			}
			return nil
		})
	}
	_ = group.Wait() // each has its own findings
	t.Logf("seeds %d to %d: %d writes of objects; the runs ended so: %v", from, to-1, writes, ends)
}

// stage is a namespace with two releases, and the two users who act in it.
type stage struct {
	t        *testing.T
	sandbox  *sandbox.Sandbox
	raw      *sandboxtest.RawClient
	seed     uint64
	chance   *rand.Rand
	ns       string
	w        *world // of the test itself
	releases []preview.Release
	parts    map[string]part // that were in any plan, by object id
	// disturbed are the objects that the third client edited at any time.
	disturbed map[string]bool
	wrote     map[string][]sandbox.AuditEvent // by the digest of the plan
	ends      map[string]int
	writes    int
	findings  []string
}

func newStage(t *testing.T, sb *sandbox.Sandbox, raw *sandboxtest.RawClient, schemas *k8s.Schemas, seed uint64) *stage {
	s := &stage{
		t: t, sandbox: sb, raw: raw, seed: seed, chance: rand.New(rand.NewPCG(seed, 2)), ns: fmt.Sprintf("actors-%d", seed),
		parts: map[string]part{}, disturbed: map[string]bool{}, wrote: map[string][]sandbox.AuditEvent{}, ends: map[string]int{},
	}
	s.w = &world{Client: connect(t, sb.Kubeconfig()), schemas: schemas, sandbox: sb}
	s.releases = []preview.Release{{Name: "left", Namespace: s.ns}, {Name: "right", Namespace: s.ns}}
	return s
}

func (s *stage) find(format string, args ...any) {
	s.findings = append(s.findings, fmt.Sprintf(format, args...))
}

func (s *stage) run() {
	makeNamespace(s.t, s.raw, s.ns)
	for round := range actorRounds {
		var acting []*trial
		for _, name := range []string{"ada", "bob"} {
			if tr := s.turn(fmt.Sprintf("%s-%d-%s", s.ns, round, name)); tr != nil {
				acting = append(acting, tr)
			}
		}
		var both sync.WaitGroup
		for _, tr := range acting {
			both.Go(func() { tr.act(max(0, tr.chance.IntN(7)-3)) })
		}
		both.Wait()
		s.judge(round, acting)
	}
	for _, release := range s.releases {
		s.end(release)
	}
}

// turn is what one user is to do: it chooses a release and an action, and approves a plan.
// It is nil where there is none, which is an end too.
func (s *stage) turn(user string) *trial {
	tr := newTrial(s.t, s.sandbox, s.raw, s.w.schemas, s.chance.Uint64())
	tr.user, tr.w.Client, tr.parts = user, s.w.Client, s.parts
	tr.w.release = s.releases[s.chance.IntN(len(s.releases))]
	plan, action, err := s.plan(tr)
	if err != nil {
		s.ends[action+": no plan"]++
		return nil
	}
	tr.plan = plan
	tr.say("%s: %s of %s", user, action, tr.w.release.Name)
	for i := range plan.Objects {
		tr.say("planned: %s %s", plan.Objects[i].Action, plan.Objects[i].ID)
	}
	return tr
}

func (s *stage) plan(tr *trial) (plan *preview.Plan, action string, err error) {
	ctx := context.Background()
	stored, err := history.Load(ctx, tr.w, tr.w.release)
	if err != nil {
		return nil, "read", err
	}
	opts := tr.w.planOptions(s.t)
	opts.Apply.Adopt = s.chance.IntN(2) == 0
	opts.Apply.Conflicts = []string{preview.ConflictsFail, preview.ConflictsTake, preview.ConflictsTake}[s.chance.IntN(3)]
	if s.chance.IntN(3) == 0 {
		opts.Undo, _ = install.EarlierRevision(ctx, tr.w, stored) // without one where there is none
	}
	action = "install"
	if stored != nil && stored.Installed() {
		action = []string{"upgrade", "upgrade", "rollback", "uninstall"}[s.chance.IntN(4)]
	}
	if stored != nil && stored.State.Unfinished() && s.chance.IntN(2) == 0 {
		plan, err = record.LoadPlan(ctx, tr.w, stored, nil)
		return plan, "resume", err
	}
	var contents []planned.Content
	switch action {
	case "rollback":
		var target *record.Record
		if contents, target, err = history.Rollback(ctx, tr.w, stored, 0); err != nil {
			return nil, action, err
		}
		opts.Request = preview.Request{Action: preview.RequestRollback, Revision: target.Revision}
	case "uninstall":
		opts.Request.Action = preview.RequestUninstall
	default:
		contents = []planned.Content{tr.w.content(s.t, fmt.Sprintf("1.0.%d", s.chance.IntN(100)), manifests(s.draw(tr.w.release), s.ns)...)}
	}
	plan, err = engine.Build(ctx, contents, tr.w, opts)
	return plan, action, err
}

// draw returns the parts of a version of a release. Two of their names are in both releases.
func (s *stage) draw(release preview.Release) []part {
	first := 0
	if release == s.releases[1] {
		first = 6
	}
	kinds := []string{"ConfigMap", "ServiceAccount", "Role", "ConfigMap", "Service", "Deployment", "ConfigMap", "Role"}
	var parts []part
	for i := first; i < first+8; i++ {
		if s.chance.IntN(4) > 0 {
			p := part{kind: kinds[i%len(kinds)], name: fmt.Sprint("p", i), value: fmt.Sprint("v", s.chance.IntN(3))}
			parts = append(parts, p)
			s.parts[p.id(s.ns)] = p
		}
	}
	return parts
}

// act applies the plan through a proxy, where the third client edits up to budget times.
func (tr *trial) act(budget int) {
	tr.budget = budget
	user := sandboxtest.User(tr.t, tr.sandbox, tr.user, "system:masters")
	proxy := sandboxtest.NewProxy(tr.t, user, sandboxtest.ProxyOptions{Fault: tr.before, Answered: tr.answered})
	_, tr.err = install.Apply(context.Background(), tr.plan, byDigest(tr.plan), connect(tr.t, proxy.Kubeconfig), install.Options{
		Schemas: tr.schemas, Holder: tr.user, ToolVersion: "0.0.1", NoWait: true, StageTimeout: 20 * time.Second,
	})
	tr.say("ended: %s %v", tr.end(), tr.err)
}

// judge holds the runs of a round against the audit log and the records.
func (s *stage) judge(round int, acting []*trial) {
	events := make([][]sandbox.AuditEvent, len(acting))
	for i, tr := range acting {
		events[i] = sandboxtest.Mutations(s.t, s.sandbox, tr.user)
		s.wrote[tr.plan.Digest] = append(s.wrote[tr.plan.Digest], events[i]...)
	}
	for i, tr := range acting {
		s.ends[tr.end()]++
		for id := range tr.disturbed {
			s.disturbed[id] = true
		}
		for j, other := range acting {
			if i != j {
				tr.wasActedOn(other, events[j])
			}
		}
		stored, err := record.Load(context.Background(), s.w, tr.w.release)
		if err != nil {
			s.find("reading the record: %v", err)
			continue
		}
		if stored != nil && stored.Digest == tr.plan.Digest {
			if tr.record, err = install.Reconcile(context.Background(), s.w, s.w.schemas, stored); err != nil {
				tr.find("reconciling the record: %v", err)
			}
		}
		s.writes += tr.judgePlanned(events[i])
		judged := events[i]
		kind := install.KindOf(tr.err)
		ran := tr.err == nil || kind == install.Failed || kind == install.Interrupted
		if done := s.wrote[tr.plan.Digest]; ran && len(done) > len(judged) {
			judged = done // what other runs of the plan did counts
			for id := range s.disturbed {
				tr.edited[id], tr.disturbed[id] = true, true // perhaps between the runs
			}
		}
		if undone := stored != nil && stored.Undoes != nil && stored.Undoes.Digest == tr.plan.Digest; !undone {
			tr.judge(judged)
		}
		for _, finding := range tr.findings {
			s.find("round %d: %s\n%s", round, finding, tr.story.String())
		}
	}
	for _, release := range s.releases {
		s.judgeOrphans(release, fmt.Sprint("after round ", round))
	}
	s.tidy()
}

// tidy undoes the third client's changes to half of the objects: the fields that it holds
// or owns would have every later plan refused.
func (s *stage) tidy() {
	for _, id := range slices.Sorted(maps.Keys(s.disturbed)) {
		p := s.parts[id]
		freed := map[string]any{"metadata": map[string]any{"finalizers": nil}}
		_, _, err := s.raw.Do(context.Background(), http.MethodPatch, p.path(s.ns), sandboxtest.MergePatch, freed)
		if err == nil && s.chance.IntN(2) == 0 {
			_, _, err = s.raw.Do(context.Background(), http.MethodDelete, p.path(s.ns), "", nil)
		}
		if err != nil {
			s.find("the third client: %v", err)
		}
	}
}

// wasActedOn notes what another user wrote at the same time: to this one it is an edit.
// The time of that edit, between two requests, is not known.
func (tr *trial) wasActedOn(other *trial, events []sandbox.AuditEvent) {
	for _, e := range events {
		if o := tr.objectOf(e); o != nil {
			tr.edited[o.ID], tr.disturbed[o.ID] = true, true
			tr.edits[o.ID] += len(events)
			tr.say("%s did %s", other.user, e)
		}
	}
	behind := len(tr.lost) > 0 // connections broke, and the record may lack the last answers
	for id := range other.disturbed {
		tr.edited[id], tr.disturbed[id], tr.lost[id] = true, true, tr.lost[id] || behind
		tr.edits[id]++
		tr.say("meanwhile the third client edited %s", id)
	}
}

func (tr *trial) objectOf(e sandbox.AuditEvent) *preview.Object {
	u, err := url.Parse(e.RequestURI)
	if err != nil {
		tr.find("the audit log: %v", err)
		return nil
	}
	return tr.objectAt(u.Path)
}

// judgePlanned wants every object that was written to be one that the plan, or its rollback
// on failure, writes. It returns how many were.
func (tr *trial) judgePlanned(events []sandbox.AuditEvent) (written int) {
	for _, e := range events {
		o := tr.objectOf(e)
		if o == nil {
			continue // which judge finds
		}
		written++
		if !writes(o.Action) && tr.plan.FailureRollback == nil {
			tr.find("%s, and the plan has it as %s", e, o.Action)
		}
	}
	return written
}

func (s *stage) judgeOrphans(release preview.Release, when string) {
	stored, err := record.Load(context.Background(), s.w, release)
	if err != nil || stored != nil && stored.State.Unfinished() {
		if err != nil {
			s.find("reading the record: %v", err)
		}
		return // it is judged once it is done
	}
	for _, kind := range [][2]string{
		{"v1", "ConfigMap"}, {"v1", "ServiceAccount"}, {"v1", "Service"}, {"apps/v1", "Deployment"}, {"rbac.authorization.k8s.io/v1", "Role"},
	} {
		objects, err := s.w.List(context.Background(), kind[0], kind[1], s.ns, preview.LabelPartOf+"="+preview.SetID(release))
		if err != nil {
			s.find("listing %s: %v", kind[1], err)
		}
		for _, o := range objects {
			id := preview.RefOf(o).ID()
			known := stored != nil && slices.ContainsFunc(stored.Inventory, func(i record.Item) bool { return i.Ref().ID() == id })
			if !known && !s.disturbed[id] {
				s.find("%s %s is an orphan of %s", when, id, release.Name)
			}
		}
	}
}

// end uninstalls a release, with no other user about.
func (s *stage) end(release preview.Release) {
	ctx, w := context.Background(), *s.w
	w.release = release
	var last error
	for try := range 5 {
		stored, err := record.Load(ctx, w, release)
		if err != nil {
			s.find("reading the record: %v", err)
			return
		}
		if stored == nil || !stored.Installed() && !stored.State.Unfinished() {
			s.judgeOrphans(release, "in the end")
			return
		}
		opts := w.planOptions(s.t)
		opts.Request.Action = preview.RequestUninstall
		plan, err := engine.Build(ctx, nil, w, opts)
		if err == nil {
			_, err = install.Apply(ctx, plan, byDigest(plan), w, install.Options{
				Schemas: w.schemas, Holder: fmt.Sprint("end-", try), ToolVersion: "0.0.1", NoWait: true,
				StageTimeout: time.Minute, Clock: fastClock{time.Now()},
			})
		}
		last = err
	}
	s.find("%s cannot be uninstalled in the end: %v", release.Name, last)
}
