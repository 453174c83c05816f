package install_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// How many random plans are tried, and how many of them at a time. Each batch has its
// own control plane, so that its audit log stays one file.
const (
	usualRuns = 12
	batchRuns = 250
	atOnce    = 6
)

// TestClusterRandomPlansUnderRandomEdits applies random plans while another client
// edits their objects between any two requests, and while connections break.
// However a run ends, its exit code says what the audit log says:
//
//	0     every object was written as reviewed, and nothing else was
//	1, 5  no object of the plan was written
//	3, 4  the record, reconciled, names exactly the objects that were written
func TestClusterRandomPlansUnderRandomEdits(t *testing.T) {
	from, to := slowtest.Runs(t, usualRuns)
	if !slowtest.Soak() {
		tryPlans(t, sandboxtest.Start(t), from, to)
		return
	}
	for ; from < to; from += batchRuns {
		tryPlans(t, sandboxtest.New(t), from, min(from+batchRuns, to))
	}
}

func tryPlans(t *testing.T, sb *sandbox.Sandbox, from, to int) {
	t.Helper()
	raw := sandboxtest.NewRawClient(t, sb.Kubeconfig())
	schemas := k8s.NewSchemas()
	trials := make([]*trial, to-from)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range trials {
		trials[i] = newTrial(t, sb, raw, schemas, uint64(from+i))
		group.Go(func() error {
			trials[i].run()
			return nil
		})
	}
	_ = group.Wait() // each trial has its own findings
	ends, noticed := map[string]int{}, 0
	for _, tr := range trials {
		tr.judge(sandboxtest.Mutations(t, sb, tr.user))
		ends[tr.end()]++
		noticed += tr.noticed
		for _, finding := range tr.findings {
			t.Errorf("seed %d: %s\n%s", tr.seed, finding, tr.story.String())
		}
	}
	t.Logf("%d random plans ended so: %v; %d edits of unchanged objects were told", len(trials), ends, noticed)
}

// trial is one random plan and what happened to it.
type trial struct {
	t       *testing.T
	sandbox *sandbox.Sandbox
	raw     *sandboxtest.RawClient
	schemas *k8s.Schemas
	seed    uint64
	chance  *rand.Rand
	user    string // who applies; no other user is called so

	w        *world
	plan     *preview.Plan
	parts    map[string]part // by object id; the objects that may be edited
	err      error
	record   []record.ObjectReceipt // reconciled; nil without a record
	findings []string
	noticed  int // edits of unchanged objects that a run with exit 0 told

	mu    sync.Mutex
	story strings.Builder
	// By object id: the object as last stored, whether it was edited after that, and whether
	// a write had no answer.
	written map[string]*install.WrittenObject
	edited  map[string]bool
	lost    map[string]bool
	// disturbed are the objects that were edited at any time.
	disturbed map[string]bool
	// edits counts the edits of each object, asked has the count at the time of a GET, and
	// seen the count that the last answer to one showed.
	edits  map[string]int
	asked  map[int]int
	seen   map[string]int
	budget int    // edits left
	locked bool   // the run is past its first check
	after  string // the object whose answer was just lost
	dead   int    // requests that the network loses from now on
}

func newTrial(t *testing.T, sb *sandbox.Sandbox, raw *sandboxtest.RawClient, schemas *k8s.Schemas, seed uint64) *trial {
	name := fmt.Sprintf("random-%d", seed)
	return &trial{
		t: t, sandbox: sb, raw: raw, schemas: schemas, seed: seed, chance: rand.New(rand.NewPCG(seed, 6)), user: name + "-applier",
		w:     &world{schemas: schemas, sandbox: sb, release: preview.Release{Name: name, Namespace: name}},
		parts: map[string]part{}, written: map[string]*install.WrittenObject{}, edited: map[string]bool{}, lost: map[string]bool{}, disturbed: map[string]bool{},
		edits: map[string]int{}, asked: map[int]int{}, seen: map[string]int{},
	}
}

func (tr *trial) say(format string, args ...any) {
	fmt.Fprintf(&tr.story, "  "+format+"\n", args...)
}

func (tr *trial) find(format string, args ...any) {
	tr.findings = append(tr.findings, fmt.Sprintf(format, args...))
}

func (tr *trial) run() {
	tr.w.Client = connect(tr.t, tr.sandbox.Kubeconfig())
	parts := randomParts(tr.chance, 5)
	if tr.chance.IntN(2) == 0 { // an upgrade
		tr.w.applyQuietly(tr.t, tr.w.plan(tr.t, tr.w.content(tr.t, "1.0.0", manifests(parts, tr.w.release.Namespace)...)))
		for _, p := range parts {
			tr.parts[p.id(tr.w.release.Namespace)] = p
		}
		parts = next(tr.chance, parts)
	}
	choose := tr.prepare(parts)
	tr.plan = tr.w.planWith(tr.t, choose, tr.w.content(tr.t, "2.0.0", manifests(parts, tr.w.release.Namespace)...))
	for _, p := range parts {
		tr.parts[p.id(tr.w.release.Namespace)] = p
	}
	for i := range tr.plan.Objects {
		tr.say("planned: %s %s", tr.plan.Objects[i].Action, tr.plan.Objects[i].ID)
	}
	if tr.budget = tr.chance.IntN(6); tr.budget > 0 && tr.chance.IntN(6) == 0 {
		tr.edit("after the review")
	}
	proxy := sandboxtest.NewProxy(tr.t, sandboxtest.User(tr.t, tr.sandbox, tr.user, "system:masters"), sandboxtest.ProxyOptions{
		Fault: tr.before, Answered: tr.answered,
	})
	opts := install.Options{
		Schemas: tr.schemas, Holder: tr.user, ToolVersion: "0.0.1", NoWait: true, StageTimeout: 20 * time.Second,
	}
	_, tr.err = install.Apply(context.Background(), tr.plan, byDigest(tr.plan), connect(tr.t, proxy.Kubeconfig), opts)
	tr.say("ended: %s %v", tr.end(), tr.err)
	record, err := record.Load(context.Background(), tr.w, tr.w.release)
	if err != nil {
		tr.find("reading the record: %v", err)
	}
	if record != nil && record.Digest == tr.plan.Digest {
		if tr.record, err = install.Reconcile(context.Background(), tr.w, tr.schemas, record); err != nil {
			tr.find("reconciling the record: %v", err)
		}
	}
}

// end is the exit code, in words.
func (tr *trial) end() string {
	if tr.err == nil {
		return "exit 0"
	}
	return fmt.Sprintf("exit %d", install.KindOf(tr.err))
}

// before edits the cluster between two requests, or breaks a connection. The
// proxy calls it for one request at a time.
func (tr *trial) before(r sandboxtest.Request) sandboxtest.Fault {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if strings.Contains(r.Path, "/leases/") && r.Persists() {
		tr.locked = true
	}
	if tr.dead > 0 {
		tr.dead--
		return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
	}
	if id := tr.after; id != "" && tr.chance.IntN(2) == 0 {
		tr.editObject(fmt.Sprintf("before request %d", r.N), id)
	}
	tr.after = ""
	if tr.budget > 0 && (tr.locked && tr.chance.IntN(12) == 0 || tr.chance.IntN(80) == 0) {
		tr.edit(fmt.Sprintf("before request %d", r.N))
	}
	o := tr.objectAt(r.Path)
	if o != nil && r.Method == http.MethodGet {
		tr.asked[r.N] = tr.edits[o.ID]
	}
	if o == nil || !r.Persists() {
		return sandboxtest.Fault{}
	}
	tr.say("request %d: %s %s", r.N, r.Method, o.ID)
	// The object before the write; edits wait until this function returns.
	before, err := tr.w.Get(context.Background(), o.Ref())
	if err != nil && preview.ReasonOf(err) != preview.ReasonNotServed {
		tr.find("reading %s: %v", o.ID, err)
	}
	tr.written[o.ID+"/asked"] = &install.WrittenObject{Before: before}
	switch tr.chance.IntN(20) {
	case 0:
		tr.say("request %d: lost", r.N)
		return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
	case 1:
		tr.say("request %d: its answer is lost", r.N)
		tr.lost[o.ID], tr.after = true, o.ID
		if tr.chance.IntN(3) == 0 {
			tr.dead = 1 + tr.chance.IntN(40)
			tr.say("and so are the next %d requests", tr.dead)
		}
		return sandboxtest.Fault{Cut: sandboxtest.CutAnswer}
	case 2:
		tr.say("request %d: 429", r.N)
		return sandboxtest.Fault{Status: 429}
	}
	return sandboxtest.Fault{}
}

// answered notes what a write of an object of the plan stored.
func (tr *trial) answered(r sandboxtest.Request, status int, body []byte) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	o := tr.objectAt(r.Path)
	if o != nil && r.Method == http.MethodGet {
		tr.seen[o.ID] = tr.asked[r.N]
	}
	if o == nil || !r.Persists() || status < 200 || status > 299 {
		return
	}
	delete(tr.edited, o.ID)
	w := &install.WrittenObject{Sealed: tr.plan.Sent(o), Reviewed: reviewed(o), Before: tr.written[o.ID+"/asked"].Before}
	if r.Method != "DELETE" {
		live, err := preview.DecodeJSON(body)
		if err != nil {
			tr.find("reading what was answered for %s: %v", o.ID, err)
			return
		}
		w.Live = live.(map[string]any)
	}
	tr.written[o.ID] = w
}

// edit lets another client do something to a random object of the plan.
func (tr *trial) edit(when string) {
	ids := make([]string, 0, len(tr.parts))
	for id := range tr.parts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	tr.editObject(when, ids[tr.chance.IntN(len(ids))])
}

func (tr *trial) editObject(when, id string) {
	if _, ok := tr.parts[id]; !ok {
		return // the Namespace
	}
	how := edits[tr.chance.IntN(len(edits))]
	if tr.parts[id].kind == "Unserved" {
		how = "serve"
	}
	did, err := edit(context.Background(), tr.raw, how, tr.parts[id], tr.w.release.Namespace)
	if err != nil {
		tr.find("the other client: %v", err)
	}
	if did {
		tr.budget--
		tr.edited[id], tr.disturbed[id] = true, true
		tr.edits[id]++
		tr.say("%s somebody did %q to %s", when, how, id)
	}
}

// objectAt returns the object of the plan that a request addresses.
func (tr *trial) objectAt(requested string) *preview.Object {
	for i := range tr.plan.Objects {
		o := &tr.plan.Objects[i]
		if o.Kind == "Namespace" && requested == "/api/v1/namespaces/"+o.Name {
			return o
		}
		if p, ok := tr.parts[o.ID]; ok && p.path(tr.w.release.Namespace) == requested {
			return o
		}
	}
	return nil
}

// applyQuietly is apply without waiting for the rollout.
func (w *world) applyQuietly(t *testing.T, plan *preview.Plan) {
	_, err := install.Apply(context.Background(), plan, byDigest(plan), w, install.Options{
		Schemas: w.schemas, Holder: "setup", ToolVersion: "0.0.1", NoWait: true, StageTimeout: time.Minute,
	})
	if err != nil {
		t.Error(err)
	}
}
