package rollout

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	// maxInspected is how many objects that are not ready one round diagnoses.
	maxInspected = 16
	// inspectTime is the time limit of one round of diagnoses, so that a server
	// that hangs does not delay the end of the wait.
	inspectTime = 10 * time.Second
)

// trackedObject is one object of a wait, and what has been observed of it.
type trackedObject struct {
	ref       preview.Ref
	id        string
	gone      bool // it is to disappear
	endpoints bool // it is a Service that needs a ready endpoint
	needsMore bool // than its own readiness

	judged     *verdict // as of the last report; nil before it is asked for
	seen       bool
	body       map[string]any
	err        error
	lost       time.Time // when the cluster stopped answering about it
	unanswered int       // reads of it since then

	unmet     string    // what a check misses, empty when all hold
	answerBy  time.Time // until then a controller may report a status; zero when none is to
	diagnosis diagnosis
	finalAt   time.Time // since when nothing but a final cause was seen, else zero
	unseenAt  time.Time // since when it may not be read, else zero
	missing   string    // what more it needs, as of the last look
	met       bool      // nothing more was missing
}

// tracker holds the objects of one wait. The watcher's goroutine reports bodies
// to it (observe); everything else runs in the goroutine of the wait.
type tracker struct {
	options Options
	changed chan struct{} // holds one signal

	mu      sync.Mutex
	objects map[preview.Ref]*trackedObject
	listed  []*trackedObject // in the order that the options list them
	sorted  []*trackedObject // by id
	blind   map[string]bool
	over    bool // the time is up
}

func newTracker(o Options) *tracker {
	t := &tracker{options: o, changed: make(chan struct{}, 1), objects: map[preview.Ref]*trackedObject{}, blind: map[string]bool{}}
	for _, ref := range o.Refs {
		t.track(ref).needsMore = ref.Kind == "CustomResourceDefinition" && o.Discovery != nil
	}
	for _, ref := range o.Endpoints {
		service := t.track(ref)
		service.endpoints, service.needsMore = true, o.Inspector != nil
	}
	for _, ref := range o.Operands {
		t.track(ref).answerBy = o.Clock.Now().Add(o.Answer)
	}
	for _, ref := range o.Gone {
		t.track(ref).gone = true
	}
	t.sorted = slices.Clone(t.listed)
	slices.SortFunc(t.sorted, func(a, b *trackedObject) int { return strings.Compare(a.id, b.id) })
	return t
}

func (t *tracker) track(ref preview.Ref) *trackedObject {
	o := t.objects[ref]
	if o == nil {
		o = &trackedObject{ref: ref, id: ref.ID()}
		t.objects[ref], t.listed = o, append(t.listed, o)
	}
	return o
}

func (t *tracker) refs() []preview.Ref {
	list := make([]preview.Ref, len(t.listed))
	for i, o := range t.listed {
		list[i] = o.ref
	}
	return list
}

// observe stores a body, or an error, that the watcher reports of an object.
func (t *tracker) observe(ref preview.Ref, body map[string]any, err error) {
	unmet := t.unmet(body)
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.objects[ref]
	if o == nil {
		return
	}
	o.judged = nil
	if preview.ReasonOf(err) == preview.ReasonUnavailable {
		if o.lost.IsZero() {
			o.lost = t.options.Clock.Now()
		}
		o.unanswered++
		if !o.seen {
			o.err = err
		}
	} else {
		o.seen, o.body, o.err, o.lost, o.unanswered, o.unmet = err == nil, body, err, time.Time{}, 0, unmet
		if err == nil && o.verdict().state == Ready {
			o.setDiagnosis(diagnosis{}, time.Time{}) // what stood in the way is over
		}
		switch {
		case preview.ReasonOf(err) != preview.ReasonForbidden:
			o.unseenAt = time.Time{}
		case o.unseenAt.IsZero():
			o.unseenAt = t.options.Clock.Now()
		}
	}
	select {
	case t.changed <- struct{}{}:
	default: // a signal is waiting already
	}
}

// unmet returns why the first health check that an object does not meet is not
// met; empty if the object meets all.
func (t *tracker) unmet(body map[string]any) string {
	if body == nil {
		return ""
	}
	for _, check := range t.options.Checks {
		if !check.Selects(body) {
			continue
		}
		if ok, why := check.Holds(body); !ok {
			return why
		}
	}
	return ""
}

// snapshot returns the present states of all objects.
func (t *tracker) snapshot() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Snapshot{Time: t.options.Clock.Now()}
	lost, pending, unseen := 0, 0, 0
	byState := map[State][]Object{}
	for _, o := range t.sorted {
		object := o.assess(s.Time, t.options.Grace)
		if t.over && object.State == Waiting && object.Cause == "" {
			object.Cause = Deadline
		}
		byState[object.State] = append(byState[object.State], object)
		if object.State == Ready || object.State == Removed {
			continue
		}
		pending++
		if !o.unseenAt.IsZero() && s.Time.Sub(o.unseenAt) >= t.options.Grace {
			unseen++
		}
		if !o.lost.IsZero() {
			lost++
			s.Tries = max(s.Tries, o.unanswered)
			if s.LostSince.IsZero() || o.lost.Before(s.LostSince) {
				s.LostSince = o.lost
			}
		}
	}
	if lost < pending {
		s.LostSince, s.Tries = time.Time{}, 0 // some part of the cluster answers
	}
	s.unseen = pending > 0 && unseen == pending
	s.Blind = slices.Sorted(maps.Keys(t.blind))
	s.Objects = make([]Object, 0, len(t.sorted))
	for _, state := range stateOrder {
		s.Objects = append(s.Objects, byState[state]...)
	}
	return s
}

// failed reports whether the own status of any object says that the object failed.
func (t *tracker) failed() bool {
	return len(t.subjects(1, func(o *trackedObject) bool { return o.verdict().state == Failed })) > 0
}

func (t *tracker) markTimedOut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

// setDiagnosis stores a diagnosis of the object, and since when its cause is
// one that waiting cannot resolve.
func (o *trackedObject) setDiagnosis(d diagnosis, now time.Time) {
	switch {
	case !d.final:
		o.finalAt = time.Time{}
	case o.finalAt.IsZero() || o.diagnosis.cause != d.cause:
		o.finalAt = now
	}
	o.diagnosis = d
}

// assess returns the state of the object from its status, its health checks and
// its diagnosis. A cause that waiting cannot resolve makes it failed after the
// grace period.
func (o *trackedObject) assess(now time.Time, grace time.Duration) Object {
	object := Object{Ref: o.ref}
	v := o.verdict()
	switch {
	case v.state != Ready:
	case o.needsMore && !o.met:
		v = verdict{state: Waiting, message: o.missing}
	case o.unmet != "":
		v = verdict{state: Waiting, message: o.unmet, cause: CheckFailed}
	case preview.Map(o.body, "status") == nil && now.Before(o.answerBy):
		v = verdict{state: Waiting, message: "no controller has reported its status yet"}
	}
	object.State, object.Message, object.Cause = v.state, v.message, v.cause
	if v.state == Removing && v.message != "" {
		object.Cause = Finalizer
	}
	if v.state != Failed && v.state != Waiting {
		return object
	}
	d := o.diagnosis
	object.Event, object.Logs = d.event, d.logs
	if object.Offender = d.offender; d.cause != "" {
		object.Cause = d.cause
	}
	switch {
	case d.message == "":
	case o.needsMore && v.message == o.missing:
		object.Message += "; " + d.message
	case v.state == Failed && v.message != "" && !strings.Contains(d.message, v.message):
		object.Message = d.message + "; " + v.message
	default:
		object.Message = d.message
	}
	if text := object.Cause.Words(); text != "" {
		object.Message = strings.TrimSuffix(text+": "+object.Message, ": ")
	}
	if d.final && !o.finalAt.IsZero() && now.Sub(o.finalAt) >= grace {
		object.State = Failed
	}
	return object
}

// verdict returns what the last report says of the object: worked out once for each
// report, because every round asks for all objects.
func (o *trackedObject) verdict() verdict {
	if o.judged == nil {
		v := o.judge()
		o.judged = &v
	}
	return *o.judged
}

func (o *trackedObject) judge() verdict {
	switch {
	case o.gone && preview.ReasonOf(o.err) == preview.ReasonNotServed:
		return verdict{state: Removed} // with its definition
	case o.err != nil:
		return verdict{state: Unknown, message: o.err.Error()}
	case !o.seen:
		return verdict{state: Waiting, message: NotRead}
	case o.gone && o.body == nil:
		return verdict{state: Removed}
	case o.gone:
		return verdict{state: Removing, message: finalizers(o.body)}
	case o.body == nil:
		return verdict{state: Failed, message: "it does not exist", cause: Deleted}
	}
	return assess(o.body)
}

// finalizers names the finalizers that delay the deletion of an object.
func finalizers(body map[string]any) string {
	var names []string
	for _, item := range preview.List(body, "metadata", "finalizers") {
		if name, ok := item.(string); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "waiting for finalizers " + strings.Join(names, ", ")
}

// subject is a tracked object with a copy of its body, which can be diagnosed
// without holding the lock.
type subject struct {
	*trackedObject
	body map[string]any
}

// subjects returns at most n existing objects that satisfy want.
func (t *tracker) subjects(n int, want func(*trackedObject) bool) []subject {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []subject
	for _, o := range t.listed {
		if len(list) == n {
			break
		}
		if o.body != nil && o.err == nil && !o.gone && want(o) {
			list = append(list, subject{o, o.body})
		}
	}
	return list
}

// inspect diagnoses the objects that are not ready, at most [maxInspected],
// failed ones first.
func (t *tracker) inspect(ctx context.Context) {
	if t.options.Inspector == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	failed := t.subjects(maxInspected, func(o *trackedObject) bool { return o.verdict().state == Failed })
	waiting := t.subjects(maxInspected-len(failed), func(o *trackedObject) bool {
		return o.verdict().state == Waiting && !unseenByController(o.body) || o.needsMore && !o.met && o.endpoints
	})
	l := &podReader{in: t.options.Inspector, blind: map[string]bool{}}
	for _, s := range slices.Concat(failed, waiting) {
		d := l.diagnose(ctx, s.body)
		if ctx.Err() != nil {
			return // cut short, it would say less than is known
		}
		t.mu.Lock()
		s.setDiagnosis(d, t.options.Clock.Now())
		maps.Copy(t.blind, l.blind)
		t.mu.Unlock()
	}
}

// unseenByController reports whether the controller of a workload has not observed its newest
// generation. It then has created no pods for that generation, and none can have failed.
func unseenByController(body map[string]any) bool {
	if preview.RefOf(body).Group() != "apps" || preview.Value(body, "metadata", "deletionTimestamp") != nil {
		return false
	}
	generation, _ := preview.Value(body, "metadata", "generation").(int64)
	return intField(body, "observedGeneration") < generation
}

// complete checks the further needs of ready objects, such as a ready endpoint of a
// Service. pending is true if something is still missing.
func (t *tracker) complete(ctx context.Context) (pending bool) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	list := t.subjects(len(t.objects), func(o *trackedObject) bool {
		return o.needsMore && !o.met && o.verdict().state == Ready
	})
	for _, s := range list {
		missing := t.missing(ctx, s)
		t.mu.Lock()
		s.trackedObject.missing, s.met = missing, missing == ""
		t.mu.Unlock()
		pending = pending || missing != ""
	}
	return pending
}

func (t *tracker) missing(ctx context.Context, s subject) string {
	if s.endpoints {
		ready, err := t.options.Inspector.Endpoints(ctx, s.ref.Namespace, s.ref.Name)
		switch {
		case err != nil:
			return "its endpoints cannot be read: " + err.Error()
		case ready == 0:
			return "no ready endpoint"
		}
		return ""
	}
	group, kind := preview.String(s.body, "spec", "group"), preview.String(s.body, "spec", "names", "kind")
	for _, item := range preview.List(s.body, "spec", "versions") {
		version, ok := item.(map[string]any)
		if !ok || version["served"] != true {
			continue
		}
		apiVersion := group + "/" + preview.String(version, "name")
		if _, err := t.options.Discovery.Kind(ctx, apiVersion, kind); err != nil {
			return fmt.Sprintf("%s is not served yet", apiVersion)
		}
	}
	return ""
}
