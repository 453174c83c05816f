package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// report is one line of a script: the watcher's next report.
type report struct {
	name string
	body map[string]any
	err  error
}

// script is a watcher that tells what it was given and then waits.
type script struct {
	reports   []report
	end       error         // returned at once instead of waiting, when not nil
	delivered chan struct{} // closed when everything was delivered, when not nil
}

func (s script) Observe(ctx context.Context, _ []preview.Ref, each func(preview.Ref, map[string]any, error)) error {
	for _, r := range s.reports {
		ref := thing(r.name)
		if r.body != nil {
			ref = preview.RefOf(r.body)
		}
		each(ref, r.body, r.err)
	}
	if s.delivered != nil {
		close(s.delivered)
	}
	if s.end != nil {
		return s.end
	}
	<-ctx.Done()
	return nil
}

// clock stands still until the test moves it.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []timer
}

type timer struct {
	at   time.Time
	fire chan time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := timer{c.now.Add(d), make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	return t.fire
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.timers = slices.DeleteFunc(c.timers, func(t timer) bool {
		due := !t.at.After(c.now)
		if due {
			t.fire <- c.now
		}
		return due
	})
}

func thing(name string) preview.Ref {
	return preview.Ref{APIVersion: "example.com/v1", Kind: "Thing", Namespace: "a", Name: name}
}

// body is a custom resource with one condition, such as Ready=True.
func body(name, condition string) map[string]any {
	kind, status, _ := strings.Cut(condition, "=")
	return map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": map[string]any{"name": name, "namespace": "a"},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": kind, "status": status, "message": "because"}}},
	}
}

// wait runs Wait on a script. Once that has told everything, the clock runs,
// a second each millisecond.
func wait(t *testing.T, s script, o rollout.Options) (rollout.Report, error) {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)}
	s.delivered = make(chan struct{})
	o.Clock, o.Watcher = c, s
	var report rollout.Report
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		report, err = rollout.Wait(t.Context(), o)
	}()
	select {
	case <-done:
		return report, err
	case <-s.delivered:
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return report, err
		case <-tick.C:
			c.advance(time.Second)
		}
	}
}

func TestWait(t *testing.T) {
	gone := errors.New("token expired")
	unavailable := &preview.Refusal{Reason: preview.ReasonUnavailable, Message: "connection refused"}
	forbidden := &preview.Refusal{Reason: preview.ReasonForbidden, Message: "no"}
	for _, test := range []struct {
		name    string
		script  script
		refs    []string
		gone    []string
		want    rollout.Outcome
		err     error
		objects []string
	}{
		{name: "nothing to wait for", want: rollout.AllReady},
		{
			name: "all ready", refs: []string{"b", "a"},
			script: script{reports: []report{{"a", body("a", "Ready=True"), nil}, {"b", body("b", "Ready=False"), nil}, {"b", body("b", "Ready=True"), nil}}},
			want:   rollout.AllReady, objects: []string{"a ready", "b ready"},
		},
		{
			name: "a failure ends the wait and comes first", refs: []string{"a", "b", "c"},
			script: script{reports: []report{{"a", body("a", "Ready=True"), nil}, {"b", body("b", "Ready=False"), nil}, {"c", body("c", "Stalled=True"), nil}}},
			want:   rollout.HasFailed, objects: []string{"c failed because", "b waiting because", "a ready"},
		},
		{
			name: "an object somebody deleted has failed", refs: []string{"a"},
			script: script{reports: []report{{"a", nil, nil}}},
			want:   rollout.HasFailed, objects: []string{"a failed it was deleted: it does not exist"},
		},
		{
			name: "time is up", refs: []string{"a"},
			script: script{reports: []report{{"a", body("a", "Ready=False"), nil}}},
			want:   rollout.TimedOut, objects: []string{"a waiting because"},
		},
		{
			name: "what may not be read is unknown, never ready; when nothing else is left the wait ends", refs: []string{"a", "b"},
			script: script{reports: []report{{"a", nil, forbidden}, {"b", body("b", "Ready=True"), nil}}},
			want:   rollout.Unseen, objects: []string{"a unknown forbidden: no", "b ready"},
		},
		{
			name: "what may not be read does not end the wait for the rest", refs: []string{"a", "b"},
			script: script{reports: []report{{"a", nil, forbidden}, {"b", body("b", "Ready=False"), nil}}},
			want:   rollout.TimedOut, objects: []string{"b waiting because", "a unknown forbidden: no"},
		},
		{
			name: "what may be read after all", refs: []string{"a"},
			script: script{reports: []report{{"a", nil, forbidden}, {"a", body("a", "Ready=True"), nil}}},
			want:   rollout.AllReady, objects: []string{"a ready"},
		},
		{
			name: "what the watcher never mentions is not ready", refs: []string{"a"},
			want: rollout.TimedOut, objects: []string{"a waiting not read yet"},
		},
		{
			name: "a lost connection keeps what was seen", refs: []string{"a", "b"},
			script: script{reports: []report{{"a", body("a", "Ready=True"), nil}, {"b", body("b", "Ready=False"), nil}, {"a", nil, unavailable}, {"b", nil, unavailable}}},
			want:   rollout.TimedOut, objects: []string{"b waiting because", "a ready"},
		},
		{
			name: "objects that are to go", gone: []string{"a"},
			script: script{reports: []report{{"a", body("a", "Ready=True"), nil}, {"a", nil, nil}}},
			want:   rollout.AllReady, objects: []string{"a removed "},
		},
		{
			name: "the cluster no longer accepts the user", refs: []string{"a"},
			script: script{reports: []report{{"a", body("a", "Ready=False"), nil}}, end: gone},
			want:   rollout.Interrupted, err: gone, objects: []string{"a waiting because"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := rollout.Options{Timeout: time.Minute}
			for _, name := range test.refs {
				o.Refs = append(o.Refs, thing(name))
			}
			for _, name := range test.gone {
				o.Gone = append(o.Gone, thing(name))
			}
			got, err := wait(t, test.script, o)
			if !errors.Is(err, test.err) || got.Outcome != test.want {
				t.Fatalf("got %q and %v, want %q and %v", got.Outcome, err, test.want, test.err)
			}
			for i, object := range got.Objects {
				text := fmt.Sprintf("%s %s %s", object.Ref.Name, object.State, object.Message)
				if i >= len(test.objects) || !strings.HasPrefix(text, test.objects[i]) {
					t.Errorf("object %d is %q, want %q", i, text, test.objects)
				}
			}
			if len(got.Objects) != len(test.objects) {
				t.Errorf("%d objects, want %d", len(got.Objects), len(test.objects))
			}
			if test.want == rollout.TimedOut && got.Elapsed < time.Minute {
				t.Errorf("gave up after %s of a minute", got.Elapsed)
			}
		})
	}
}

// pulling is an inspector with one pod whose image the registry never has, or
// lacks for the first n looks.
type pulling struct{ looks, missing int }

func (p *pulling) List(_ context.Context, _, kind, _, _ string, _ ...string) ([]map[string]any, error) {
	p.looks++
	status := map[string]any{"name": "c", "state": map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "x: not found"}}}
	if p.missing > 0 && p.looks > p.missing {
		status = map[string]any{"name": "c", "ready": false, "state": map[string]any{"running": map[string]any{}}}
	}
	return []map[string]any{{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "p", "namespace": "a"},
		"status": map[string]any{"containerStatuses": []any{status}},
	}}, nil
}
func (*pulling) Events(context.Context, string, string) ([]map[string]any, error) { return nil, nil }
func (*pulling) Logs(context.Context, string, string, string, int, bool) ([]string, error) {
	return nil, nil
}
func (*pulling) Endpoints(context.Context, string, string) (int, error) { return 0, nil }

func TestWhatWaitingCannotHealEndsTheWaitAfterTheGrace(t *testing.T) {
	deployment := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "a"},
		"spec":   map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}},
		"status": map[string]any{"replicas": int64(1)},
	}
	for _, test := range []struct {
		name    string
		missing int
		want    rollout.Outcome
		cause   rollout.Cause
	}{
		{"an image that never comes", 0, rollout.HasFailed, rollout.ImageNotFound},
		{"an image that comes in time", 3, rollout.TimedOut, rollout.Deadline},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := wait(t, script{reports: []report{{body: deployment}}}, rollout.Options{
				Refs: []preview.Ref{preview.RefOf(deployment)}, Inspector: &pulling{missing: test.missing}, Timeout: 10 * time.Minute,
			})
			if err != nil || got.Outcome != test.want || got.Objects[0].Cause != test.cause {
				t.Fatalf("got %q because of %q, %v; want %q because of %q", got.Outcome, got.Objects[0].Cause, err, test.want, test.cause)
			}
			if test.want == rollout.HasFailed && (got.Elapsed < rollout.DefaultGrace || got.Elapsed >= 10*time.Minute) {
				t.Errorf("it ended after %s", got.Elapsed)
			}
		})
	}
}

func TestWaitTellsSinceWhenTheConnectionIsLost(t *testing.T) {
	unavailable := &preview.Refusal{Reason: preview.ReasonUnavailable}
	var last rollout.Snapshot
	reports := []report{{"a", body("a", "Ready=False"), nil}, {"a", nil, unavailable}, {"a", nil, unavailable}}
	_, err := wait(t, script{reports: reports}, rollout.Options{
		Refs: []preview.Ref{thing("a")}, Timeout: time.Minute,
		Each: func(s rollout.Snapshot) { last = s },
	})
	if err != nil || last.LostSince.IsZero() || last.Tries != 2 {
		t.Errorf("lost since %v, asked %d times, %v", last.LostSince, last.Tries, err)
	}
}

func TestWaitIsPutOffBeforeItsEnd(t *testing.T) {
	more, deadlines := make(chan time.Duration, 1), map[time.Time]bool{}
	more <- 5 * time.Minute
	report, err := wait(t, script{reports: []report{{"a", body("a", "Ready=False"), nil}}}, rollout.Options{
		Refs: []preview.Ref{thing("a")}, Timeout: time.Minute, More: more,
		Each: func(s rollout.Snapshot) { deadlines[s.Deadline] = true },
	})
	if err != nil || report.Outcome != rollout.TimedOut || report.Elapsed < 6*time.Minute || report.Limit != 6*time.Minute {
		t.Errorf("got %q after %s of %s, %v", report.Outcome, report.Elapsed, report.Limit, err)
	}
	if start := report.Time.Add(-report.Elapsed); !deadlines[report.Deadline] || report.Deadline.Before(start.Add(5*time.Minute)) {
		t.Errorf("it began at %s and showed the deadlines %v", start, deadlines)
	}
}

func TestWaitStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	report, err := rollout.Wait(ctx, rollout.Options{
		Watcher: script{reports: []report{{"a", body("a", "Ready=False"), nil}}},
		Refs:    []preview.Ref{thing("a")},
		Each:    func(rollout.Snapshot) { cancel() },
	})
	if !errors.Is(err, context.Canceled) || report.Outcome != rollout.Interrupted {
		t.Errorf("got %q, %v", report.Outcome, err)
	}
}

// served answers that a kind is served from the nth question on.
type served struct{ questions, from int }

func (s *served) Kind(context.Context, string, string) (bool, error) {
	s.questions++
	if s.questions < s.from {
		return false, &preview.Refusal{Reason: preview.ReasonNotServed}
	}
	return true, nil
}

func TestWaitHoldsADefinitionUntilItsVersionsAreServed(t *testing.T) {
	ref := preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things.example.com"}
	crd := map[string]any{
		"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": map[string]any{"name": ref.Name},
		"spec": map[string]any{
			"group": "example.com", "names": map[string]any{"kind": "Thing"},
			"versions": []any{map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v0", "served": false}},
		},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}
	discovery := &served{from: 3}
	var seen []string
	got, err := wait(t, script{reports: []report{{body: crd}}}, rollout.Options{
		Refs: []preview.Ref{ref}, Discovery: discovery, Timeout: time.Hour,
		Each: func(s rollout.Snapshot) { seen = append(seen, s.Objects[0].Message) },
	})
	if err != nil || got.Outcome != rollout.AllReady || discovery.questions != 3 {
		t.Errorf("got %q after %d questions, %v", got.Outcome, discovery.questions, err)
	}
	if !slices.Contains(seen, "example.com/v1 is not served yet") {
		t.Errorf("the reason was not shown: %q", seen)
	}
}

// phase is a check of the phase that a thing reports.
type phase struct{ name, want string }

func (p phase) Selects(body map[string]any) bool { return preview.RefOf(body).Name == p.name }
func (p phase) String() string                   { return p.name + " is " + p.want }
func (p phase) Holds(body map[string]any) (bool, string) {
	got := preview.String(body, "status", "phase")
	return got == p.want, "phase is " + got
}

func TestChecksHoldBackTheObjectsTheySelect(t *testing.T) {
	at := func(name, phase string) report {
		b := body(name, "Ready=True")
		b["status"].(map[string]any)["phase"] = phase
		return report{body: b}
	}
	for _, test := range []struct {
		name    string
		reports []report
		want    rollout.Outcome
		objects []string
	}{
		{"until they hold", []report{at("a", "Starting"), at("b", "Starting"), at("a", "Running")}, rollout.AllReady, []string{"a ready ", "b ready "}},
		{"and no others", []report{at("a", "Starting"), at("b", "Starting")}, rollout.TimedOut, []string{"a waiting health check: phase is Starting", "b ready "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := wait(t, script{reports: test.reports}, rollout.Options{
				Refs: []preview.Ref{thing("a"), thing("b")}, Checks: []rollout.Check{phase{"a", "Running"}}, Timeout: time.Minute,
			})
			if err != nil || got.Outcome != test.want {
				t.Fatalf("got %q, %v", got.Outcome, err)
			}
			for i, object := range got.Objects {
				if text := fmt.Sprintf("%s %s %s", object.Ref.Name, object.State, object.Message); text != test.objects[i] {
					t.Errorf("object %d is %q, want %q", i, text, test.objects[i])
				}
			}
		})
	}
}

func TestAnOperandWithoutStatusIsGivenTimeToGetOne(t *testing.T) {
	silent := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "a", "namespace": "a"}}
	options := rollout.Options{Refs: []preview.Ref{thing("a")}, Operands: []preview.Ref{thing("a")}, Timeout: time.Minute}
	t.Run("one that nobody reports on is taken as it is", func(t *testing.T) {
		got, err := wait(t, script{reports: []report{{body: silent}}}, options)
		if err != nil || got.Outcome != rollout.AllReady || got.Elapsed < 10*time.Second {
			t.Errorf("got %q after %s, %v", got.Outcome, got.Elapsed, err)
		}
	})
	t.Run("one whose controller says that it is not ready is waited for", func(t *testing.T) {
		got, err := wait(t, script{reports: []report{{body: silent}, {body: body("a", "Available=False")}}}, options)
		if err != nil || got.Outcome != rollout.TimedOut || got.Objects[0].Message != "Available is False: because" {
			t.Errorf("got %q with %q, %v", got.Outcome, got.Objects[0].Message, err)
		}
	})
}
