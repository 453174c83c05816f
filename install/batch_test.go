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
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Faults of a run that has up to sixteen writes in flight together. To half of them a
// second thing happens, one of those that leave it running.
var (
	dangers = []string{"killed", "stopped", "cut", "answers lost", "late", "storm", "429", "5xx after the success", "frozen", "edited", "outage"}
	besides = []string{"cut", "answers lost", "late", "storm", "429", "5xx after the success", "frozen", "edited"}
)

// TestClusterBatchesUnderDangers applies plans of many objects while something goes wrong,
// and then again until they are done. The general judge of random plans judges the first run
// by its exit code, see [TestClusterRandomPlansUnderRandomEdits]; in addition
//
//	nothing but objects of the plan is written, by the first run and by the later ones;
//	the end is as reviewed, or where the plan was rolled back as it was before;
//	no object has the marks of the release that its record does not have.
func TestClusterBatchesUnderDangers(t *testing.T) {
	from, to := slowtest.Runs(t, len(dangers))
	if !slowtest.Soak() {
		tryBatches(t, sandboxtest.Start(t), from, to)
		return
	}
	for ; from < to; from += batchRuns {
		tryBatches(t, sandboxtest.New(t), from, min(from+batchRuns, to))
	}
}

func tryBatches(t *testing.T, sb *sandbox.Sandbox, from, to int) {
	t.Helper()
	raw, schemas := sandboxtest.NewRawClient(t, sb.Kubeconfig()), k8s.NewSchemas()
	ends := map[string]int{}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	for seed := from; seed < to; seed++ {
		group.Go(func() error {
			b := newBatch(t, sb, raw, schemas, uint64(seed))
			b.run()
			mu.Lock()
			defer mu.Unlock()
			ends[b.dangers[0]+": "+b.how]++
			for _, finding := range b.findings {
				t.Errorf("seed %d, %v, with a rollback on failure %t: %s\n%s", b.seed, b.dangers, b.undo, finding, b.story.String())
			}
			return nil
		})
	}
	_ = group.Wait() // each batch has its own findings
	t.Logf("%d batches ended so: %v", to-from, ends)
}

// batch is a trial with many objects and one or two dangers.
type batch struct {
	*trial
	dangers []string
	at      int  // the write they begin with
	undo    bool // the plan has a rollback on failure
	how     string
	was     map[string]any // the state before the plan

	proxy   *sandboxtest.Proxy
	webhook *sandboxtest.Webhook
	storm   func(sandboxtest.Request) sandboxtest.Fault
	clock   *stopClock
	sent    int           // writes of objects of the plan
	begun   time.Time     // when the danger began
	length  time.Duration // of an outage
	hold    chan struct{} // closed when a stopped run goes on
	other   sync.WaitGroup
}

func newBatch(t *testing.T, sb *sandbox.Sandbox, raw *sandboxtest.RawClient, schemas *k8s.Schemas, seed uint64) *batch {
	b := &batch{trial: newTrial(t, sb, raw, schemas, seed), dangers: []string{dangers[seed%uint64(len(dangers))]}, hold: make(chan struct{})}
	b.chance = rand.New(rand.NewPCG(seed, 16))
	name := fmt.Sprintf("batch-%d", seed)
	b.user, b.w.release = name+"-applier", preview.Release{Name: name, Namespace: name}
	if b.chance.IntN(2) == 0 {
		b.dangers = append(b.dangers, besides[b.chance.IntN(len(besides))])
	}
	b.undo = b.chance.IntN(3) == 0
	b.storm = sandboxtest.Storm(seed, 0.2, sandboxtest.Fault{Status: 429}, sandboxtest.Fault{Status: 500}, sandboxtest.Fault{Cut: sandboxtest.CutAnswer}, sandboxtest.Fault{Cut: sandboxtest.CutBefore})
	b.length = time.Duration(b.chance.IntN(4000)) * time.Millisecond
	return b
}

func (b *batch) is(danger string) bool { return slices.Contains(b.dangers, danger) }

// drawParts returns the parts of a version: many of few kinds, which are written together.
func (b *batch) drawParts(value string, leave int) []part {
	var parts []part
	for i := range 24 + b.chance.IntN(24) {
		if leave > 0 && b.chance.IntN(leave) == 0 {
			continue
		}
		kind := []string{"ConfigMap", "ConfigMap", "ConfigMap", "ServiceAccount", "Role"}[i%5]
		parts = append(parts, part{kind: kind, name: fmt.Sprintf("p%02d", i), value: value})
	}
	return parts
}

func (b *batch) run() {
	ns := b.w.release.Namespace
	b.w.Client = connect(b.t, b.sandbox.Kubeconfig())
	makeNamespace(b.t, b.raw, ns)
	if b.chance.IntN(2) == 0 { // an upgrade
		parts := b.drawParts("v", 3)
		b.w.applyQuietly(b.t, b.w.plan(b.t, b.w.content(b.t, "1.0.0", manifests(parts, ns)...)))
		b.note(parts)
	}
	b.was = b.marked()
	if b.is("frozen") {
		b.webhook = intercept(b.t, b.raw, ns, "serviceaccounts", "rbac.authorization.k8s.io/roles")
	}
	parts := b.drawParts("w", 8)
	b.note(parts)
	content := b.w.content(b.t, "2.0.0", manifests(parts, ns)...)
	b.plan = b.w.plan(b.t, content)
	if b.undo {
		plan, err := b.w.tryUndoable(b.t, func(*engine.Options) {}, content)
		if err != nil {
			b.find("planning with a rollback: %v", err)
			return
		}
		b.plan = plan
	}
	b.at = 1 + b.chance.IntN(max(1, len(b.plan.Objects)/2))
	b.say("%v at write %d of a plan for %d objects", b.dangers, b.at, len(b.plan.Objects))
	b.first()
	b.judgeFirst()
	b.recover()
	b.judgeEnd()
}

func (b *batch) note(parts []part) {
	for _, p := range parts {
		b.parts[p.id(b.w.release.Namespace)] = p
	}
}

// first makes the run that is in danger.
func (b *batch) first() {
	b.proxy = sandboxtest.NewProxy(b.t, sandboxtest.User(b.t, b.sandbox, b.user, "system:masters"), sandboxtest.ProxyOptions{Fault: b.fault, Answered: b.answered})
	opts := install.Options{Schemas: b.schemas, Holder: "first", ToolVersion: "0.0.1", NoWait: true, StageTimeout: time.Minute}
	switch {
	case b.is("stopped"):
		b.clock = &stopClock{}
		opts.Clock = b.clock
	case b.is("killed"):
		opts.Clock = fastClock{time.Now()} // what is left of it is soon done
	}
	_, b.err = install.Apply(context.Background(), b.plan, byDigest(b.plan), connect(b.t, b.proxy.Kubeconfig), opts)
	b.other.Wait()
	b.say("ended: %s %v", b.end(), b.err)
	b.how = b.end()
}

// fault decides about a request of the first run. The proxy calls it for one at a time.
func (b *batch) fault(r sandboxtest.Request) sandboxtest.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.objectAt(r.Path)
	write := o != nil && r.Persists()
	if write {
		if b.sent++; b.sent == b.at {
			b.begin()
		}
		before := o.LiveBody
		if b.disturbed[o.ID] { // a write is repeated on an edit that leaves what was reviewed
			var err error
			if before, err = b.w.Get(context.Background(), o.Ref()); err != nil {
				b.find("reading %s: %v", o.ID, err)
			}
		}
		b.written[o.ID+"/asked"] = &install.WrittenObject{Before: before}
	}
	if b.begun.IsZero() {
		return sandboxtest.Fault{}
	}
	var fault sandboxtest.Fault
	for _, danger := range b.dangers {
		if fault = b.draw(danger, r, write && !(danger == "killed" && b.lost[o.ID])); fault.Cut != sandboxtest.NoCut || fault.Status != 0 || fault.Hold != nil {
			break // what was killed sends nothing twice
		}
	}
	if write && (fault.Cut != sandboxtest.NoCut || fault.Status >= http.StatusInternalServerError) {
		b.lost[o.ID] = true
	}
	return fault
}

// begin is the moment of the danger.
func (b *batch) begin() {
	b.begun = time.Now()
	if b.is("frozen") {
		b.webhook.Answer(func(a sandboxtest.Admission) sandboxtest.Verdict {
			if strings.HasPrefix(a.Name, "kubectl-operator.") {
				return sandboxtest.Verdict{}
			}
			return sandboxtest.Verdict{Deny: "a change freeze"}
		})
	}
	if b.is("edited") {
		for range 1 + b.chance.IntN(3) {
			b.edit("at the write")
		}
	}
	if b.is("stopped") {
		b.clock.stop()
		b.other.Go(b.takeOver)
	}
}

// takeOver is another user, who finishes the plan while the first run is stopped.
func (b *batch) takeOver() {
	defer func() {
		b.clock.goOn()
		close(b.hold)
	}()
	opts := install.Options{Schemas: b.schemas, Holder: "other", ToolVersion: "0.0.1", NoWait: true, StageTimeout: time.Minute, Clock: fastClock{time.Now()}}
	_, err := install.Apply(context.Background(), b.plan, byDigest(b.plan), b.w, opts)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.say("the other run ended with %v", err)
}

// draw returns what happens to a request after the danger began.
func (b *batch) draw(danger string, r sandboxtest.Request, write bool) sandboxtest.Fault {
	struck := write && b.chance.IntN(3) == 0
	lease := strings.Contains(r.Path, "/leases/")
	switch {
	case danger == "killed" && write && b.chance.IntN(2) == 0:
		return sandboxtest.Fault{Cut: sandboxtest.CutLate, Delay: time.Duration(b.chance.IntN(1500)) * time.Millisecond}
	case danger == "killed":
		return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
	case danger == "stopped":
		return sandboxtest.Fault{Hold: b.hold}
	case danger == "outage" && time.Since(b.begun) < b.length:
		return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
	case danger == "storm" && !lease:
		return b.storm(r)
	case danger == "late" && !write && r.Method == http.MethodGet && !lease && time.Since(b.begun) < b.length && b.chance.IntN(2) == 0:
		return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
	case !struck:
		return sandboxtest.Fault{}
	case danger == "cut":
		return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
	case danger == "answers lost":
		return sandboxtest.Fault{Cut: sandboxtest.CutAnswer}
	case danger == "late":
		return sandboxtest.Fault{Cut: sandboxtest.CutLate, Delay: time.Duration(b.chance.IntN(4000)) * time.Millisecond}
	case danger == "429":
		return sandboxtest.Fault{Status: http.StatusTooManyRequests}
	case danger == "5xx after the success":
		return sandboxtest.Fault{Status: []int{500, 502, 504}[b.chance.IntN(3)], Cut: sandboxtest.CutAnswer}
	}
	return sandboxtest.Fault{}
}

// judgeFirst judges the first run, by what arrived of it in the end. A killed run has no
// exit code, and of a stopped one another run has the record.
func (b *batch) judgeFirst() {
	b.proxy.Landed()
	stored, err := record.Load(context.Background(), b.w, b.w.release)
	if err != nil {
		b.find("reading the record: %v", err)
		return
	}
	if stored != nil && stored.Digest == b.plan.Digest {
		if b.record, err = install.Reconcile(context.Background(), b.w, b.schemas, stored); err != nil {
			b.find("reconciling the record: %v", err)
		}
	}
	undone := stored != nil && stored.Undoes != nil && stored.Undoes.Digest == b.plan.Digest
	events := sandboxtest.Mutations(b.t, b.sandbox, b.user)
	switch {
	case b.is("killed") || b.is("stopped") || undone:
		b.err = nil // only what it wrote is judged
		b.judgeWrites(events)
	default:
		b.judge(events)
	}
}

// judgeWrites wants nothing to be written but objects of the plan.
func (b *batch) judgeWrites(events []sandbox.AuditEvent) {
	for _, e := range events {
		path, _, _ := strings.Cut(e.RequestURI, "?")
		if b.objectAt(path) == nil && !strings.Contains(path, "/kubectl-operator.") {
			b.find("wrote %s, which is not of the plan", e)
		}
	}
}

// recover repeats the same command until the plan is done, rolled back, or refused because
// of an edit.
func (b *batch) recover() {
	if b.webhook != nil {
		b.webhook.Answer(sandboxtest.Allow)
	}
	user := b.user + "-again"
	client := connect(b.t, sandboxtest.User(b.t, b.sandbox, user, "system:masters"))
	defer func() { b.judgeWrites(sandboxtest.Mutations(b.t, b.sandbox, user)) }()
	for try := range 5 {
		stored, err := record.Load(context.Background(), b.w, b.w.release)
		if err != nil {
			b.find("reading the record: %v", err)
			return
		}
		if stored != nil && !stored.State.Unfinished() && (stored.Digest == b.plan.Digest || stored.Undoes != nil) {
			return
		}
		opts := install.Options{Schemas: b.schemas, Holder: fmt.Sprint("again-", try), ToolVersion: "0.0.1", NoWait: true, StageTimeout: time.Minute, Clock: fastClock{time.Now()}}
		_, err = install.Apply(context.Background(), b.plan, byDigest(b.plan), client, opts)
		b.say("again: %v", err)
		b.how += fmt.Sprintf(", then %d", exitCode(err))
		if err == nil || len(b.disturbed) > 0 && install.KindOf(err) == install.Refused {
			return
		}
	}
	b.find("five more runs of the same command did not end it")
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	return int(install.KindOf(err))
}

// judgeEnd wants the end to be as reviewed or as before, and no object without a record.
func (b *batch) judgeEnd() {
	stored, err := record.Load(context.Background(), b.w, b.w.release)
	if err != nil || stored == nil {
		b.find("at the end the record is %v, %v", stored, err)
		return
	}
	now := b.marked()
	for id := range now {
		if !slices.ContainsFunc(stored.Inventory, func(i record.Item) bool { return i.Ref().ID() == id }) && !b.disturbed[id] {
			b.find("%s is an orphan: revision %d, which is %s, does not have it", id, stored.Revision, stored.State)
		}
	}
	switch {
	case len(b.disturbed) > 0:
	case stored.Undoes != nil:
		for id := range now {
			if b.was[id] == nil {
				b.find("rolled back, and %s is left", id)
			}
		}
		for id, content := range b.was {
			if fmt.Sprint(now[id]) != fmt.Sprint(content) {
				b.find("rolled back, and %s is %v, was %v", id, now[id], content)
			}
		}
	case stored.State == record.Applied && stored.Digest == b.plan.Digest:
		for i := range b.plan.Objects {
			o := &b.plan.Objects[i]
			live, err := b.w.Get(context.Background(), o.Ref())
			if o.Planned == nil {
				if live != nil && preview.UID(live) == o.Live.UID && o.Action == preview.ActionDelete {
					b.find("%s is still there", o.ID)
				}
				continue
			}
			if err != nil || live == nil {
				b.find("at the end %s reads %v, %v", o.ID, live, err)
				continue
			}
			b.compare("at the end", o, install.WrittenObject{Sealed: b.plan.Sent(o), Reviewed: reviewed(o), Before: live, Live: live})
		}
	default:
		b.find("at the end revision %d is %s", stored.Revision, stored.State)
	}
}

// marked returns the content of the objects with the marks of the release, by id.
func (b *batch) marked() map[string]any {
	out := map[string]any{}
	for _, kind := range [][2]string{{"v1", "ConfigMap"}, {"v1", "ServiceAccount"}, {"rbac.authorization.k8s.io/v1", "Role"}} {
		objects, err := b.w.List(context.Background(), kind[0], kind[1], b.w.release.Namespace, preview.LabelPartOf+"="+preview.SetID(b.w.release))
		if err != nil {
			b.find("listing %s: %v", kind[1], err)
		}
		for _, o := range objects {
			content := preview.WithoutVolatile(o)
			delete(content, "metadata")
			out[preview.RefOf(o).ID()] = content
		}
	}
	return out
}
