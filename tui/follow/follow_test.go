package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// followOf opens APPLYING. Events are given by hand: the channel stays empty.
func followOf(t *testing.T, p *preview.Plan, width, height int) (*followScreen, *tuitest.Clock, *[]Interrupt) {
	t.Helper()
	c := tuitest.NewClock()
	asked := &[]Interrupt{}
	m := newScreen(t.Context(), Options{
		Terminal: frame.Terminal{NoMotion: true}, Plan: p, Events: closedEvents(), Every: -1, Limit: 5 * time.Minute, Now: c.Now,
		Interrupt: func(i Interrupt) { *asked = append(*asked, i) }, Extend: func(time.Duration) {}, Resumable: true, Reviewable: true,
		ReadEvents: func(context.Context, preview.Ref) (rollout.Diagnostics, error) { return podEvents(c.T), nil },
		ReadLogs:   func(context.Context, preview.Ref) (rollout.Diagnostics, error) { return readPodLogs(60), nil },
	})
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m, c, asked
}

var operatorPod = preview.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "mongodb", Name: "operator-5d9c-8hx2l"}

// podEvents returns the events of a Deployment and its pod until a time.
func podEvents(now time.Time) rollout.Diagnostics {
	deployment := preview.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "mongodb", Name: "operator"}
	return rollout.Diagnostics{Events: []rollout.Event{
		{Time: now.Add(-40 * time.Second), About: deployment, Count: 1, Text: "ScalingReplicaSet: Scaled up replica set operator-5d9c to 1"},
		{Time: now.Add(-39 * time.Second), About: operatorPod, Count: 1, Text: "Scheduled: Successfully assigned mongodb/operator-5d9c-8hx2l to node-1"},
		{Time: now.Add(-9 * time.Second), Warning: true, About: operatorPod, Count: 3, Text: `Failed: Failed to pull image "quay.io/mongodb/mongodb-kubernetes:1.10.0": 401 unauthorized`},
		{About: operatorPod, Count: 1, Text: "Killing: nobody says when"},
	}, Blind: []string{"get pods/log in namespace mongodb"}}
}

// readPodLogs is a log of n lines, and the log of the run before.
func readPodLogs(n int) rollout.Diagnostics {
	log := rollout.Log{Pod: operatorPod, Container: "manager"}
	for i := range n {
		log.Lines = append(log.Lines, fmt.Sprintf("I1120 14:03:%02d  reconciling database-%d", i%60, i))
	}
	return rollout.Diagnostics{Logs: []rollout.Log{log, {Pod: operatorPod, Container: "webhook", Ended: true, Lines: []string{"E1120 14:03:24  tls: no certificate", "exiting"}}}}
}

func closedEvents() <-chan install.Event { return make(chan install.Event) }

// happen gives events a second apart.
func happen(m *followScreen, c *tuitest.Clock, events ...install.Event) {
	for _, e := range events {
		c.Forward(time.Second)
		m.Update(eventsMsg{e})
	}
	answer(m)
}

// answer lets the read under way end.
func answer(m *followScreen) {
	if !m.podLogs.busy {
		return
	}
	read := m.opts.ReadLogs
	if m.podLogs.target.pane == paneEvents {
		read = m.opts.ReadEvents
	}
	var ref preview.Ref
	if o := m.opts.Plan.Object(m.podLogs.target.id); o != nil {
		ref = o.Ref()
	}
	found, err := read(m.ctx, ref)
	m.Update(podLogsMsg{m.podLogs.target, found, err})
}

func object(id string, s record.ObjectState, message string) install.Event {
	return install.Event{Type: install.EventObject, Object: id, State: s, Message: message}
}

func result(code int) install.Event {
	return install.Event{Type: install.EventResult, ExitCode: &code, Revision: 1}
}

// rolloutOf is an apply with one object that fails and one that waits.
func rolloutOf(p *preview.Plan) []install.Event {
	events := []install.Event{{Type: install.EventStage, Stage: "crds", Message: "14 objects"}}
	for i := range p.Objects {
		events = append(events, object(p.Objects[i].ID, record.StateSent, ""), object(p.Objects[i].ID, record.StateReady, ""))
	}
	return append(events,
		install.Event{Type: install.EventStage, Stage: "deploy", Message: "1 objects"},
		object(tuitest.DeployObject, record.StateWaiting, "0/1 ready"),
		install.Event{Type: install.EventLog, Object: tuitest.DeployObject, Message: "I1120 14:03:19 listening"},
		install.Event{Type: install.EventLog, Object: tuitest.DeployObject, Message: "E1120 14:03:24 tls: no certificate"},
	)
}

// waits returns the waits of an apply at 14:02:11 and later.
func waitsFor(m *followScreen, c *tuitest.Clock, change func(*install.WaitState)) {
	w := install.WaitState{Stage: "rollout", Deadline: c.T.Add(4 * time.Minute)}
	change(&w)
	m.Update(waitsMsg(w))
}

func lostFor(d time.Duration) func(*testing.T, *followScreen, *tuitest.Clock) {
	return func(_ *testing.T, m *followScreen, c *tuitest.Clock) {
		waitsFor(m, c, func(w *install.WaitState) { w.LostSince, w.Tries = c.T, 3 })
		c.Forward(d)
		m.Update(tickMsg{})
	}
}

func pressing(keys ...any) func(*testing.T, *followScreen, *tuitest.Clock) {
	return func(_ *testing.T, m *followScreen, c *tuitest.Clock) { tuitest.Drive(m, c, keys...) }
}

// brokenRollout is an error with more behind it than its three lines.
func brokenRollout() error {
	return &install.Error{
		Kind: install.Failed, Object: tuitest.DeployObject, Operation: "waiting for the rollout",
		Cause: strings.Repeat("the pods of Deployment operator cannot pull their image; ", 8) + "and 12 more", Advice: "look at it with kubectl operator status mongodb",
		Reasons:      []string{"the pods of Deployment operator cannot pull their image", "nobody answers for Service operator"},
		RolloutCause: rollout.ImageUnauthorized,
		Err:          fmt.Errorf("reading the pods: %w", errors.Join(fmt.Errorf("get pods: %w", context.DeadlineExceeded), errors.New("\x1b[2Junauthorized"))),
	}
}

// followStates are the moments of an apply that look different.
func followStates(p *preview.Plan) map[string]struct {
	events []install.Event
	then   func(*testing.T, *followScreen, *tuitest.Clock)
} {
	waiting := rolloutOf(p)
	failed := append(rolloutOf(p), object(tuitest.DeployObject, record.StateFailed, "pod operator-x7k2p: ImagePullBackOff: Back-off pulling image \"quay.io/mongodb/mongodb-kubernetes:1.10.0\": 401 unauthorized"))
	wentWrong := func(what string, code int) []install.Event {
		return append(rolloutOf(p), install.Event{Type: install.EventError, Message: what}, result(code))
	}
	undone := result(3)
	undone.Receipt = &record.Receipt{Undo: &record.Receipt{Revision: 2, State: string(record.Uninstalled)}}
	timedOut := wentWrong("waiting for stage rollout, 5m0s long\napps/Deployment/mongodb/operator waiting: 0/1 ready\nthe cluster keeps trying; the same digest goes on", 4)
	timeIsUp := func(_ *testing.T, m *followScreen, _ *tuitest.Clock) { m.Update(waitsMsg{TimedOut: true}) }
	return map[string]struct {
		events []install.Event
		then   func(*testing.T, *followScreen, *tuitest.Clock)
	}{
		"start":   {},
		"waiting": {events: waiting},
		"failing": {events: failed},
		"done":    {events: append(rolloutOf(p), object(tuitest.DeployObject, record.StateReady, ""), result(0))},
		"broken":  {events: append(slices.Clone(failed), install.Event{Type: install.EventError, Message: "waiting for the rollout\nDeployment operator failed\nlook at it with kubectl operator status mongodb"}, result(3))},
		"whole": {then: pressing("e"), events: append(slices.Clone(failed), install.Event{
			Type: install.EventError, Object: tuitest.DeployObject, Message: brokenRollout().Error(), Err: brokenRollout(),
		}, result(3))},
		"undone":  {events: append(slices.Clone(failed), undone)},
		"refused": {events: []install.Event{{Type: install.EventError, Message: "checking the plan again\nDeployment operator changed\npreview again"}, result(5)}},
		"notgoneon": {events: []install.Event{{Type: install.EventError, Message: "checking the plan again\nDeployment operator changed\npreview again"}, result(5)}, then: func(_ *testing.T, m *followScreen, _ *tuitest.Clock) {
			m.opts.Resumes = true // the run before was out of time
			m.settle()
		}},
		"ended":     {events: waiting, then: func(_ *testing.T, m *followScreen, _ *tuitest.Clock) { m.Update(closedMsg{}) }},
		"timedout":  {events: timedOut, then: timeIsUp},
		"asking":    {events: waiting, then: pressing("ctrl+c")},
		"stopping":  {events: waiting, then: pressing("ctrl+c", "s")},
		"detaching": {events: waiting, then: pressing("ctrl+c", "d")},
		"detached": {events: waiting, then: func(_ *testing.T, m *followScreen, c *tuitest.Clock) {
			tuitest.Drive(m, c, "ctrl+c", "d")
			happen(m, c, install.Event{Type: install.EventError, Message: "stopped as asked\n1 object is not ready\nthe same digest goes on"}, result(4))
		}},
		"near": {events: waiting, then: func(_ *testing.T, m *followScreen, c *tuitest.Clock) {
			waitsFor(m, c, func(w *install.WaitState) { w.Deadline = c.T.Add(48 * time.Second) })
		}},
		"longer": {events: waiting, then: func(_ *testing.T, m *followScreen, c *tuitest.Clock) {
			waitsFor(m, c, func(*install.WaitState) {})
			tuitest.Drive(m, c, "r")
		}},
		"lost": {events: failed, then: lostFor(9 * time.Second)},
		"lost-log": {events: waiting, then: func(t *testing.T, m *followScreen, c *tuitest.Clock) {
			tuitest.Drive(m, c, "l")
			lostFor(time.Minute)(t, m, c)
		}},
		"moved":      {events: waiting, then: pressing("down", "down")},
		"all":        {events: waiting, then: pressing("a", "end")},
		"failedonly": {events: failed, then: pressing("f")},
		"nofailure":  {events: waiting, then: pressing("f")},
		"events":     {events: failed, then: pressing("e")},
		"reading":    {events: failed, then: func(_ *testing.T, m *followScreen, _ *tuitest.Clock) { m.Update(tuitest.Press("e")) }},
		"logs":       {events: waiting, then: pressing("l")},
		"paused":     {events: waiting, then: pressing("l", "up", "up")},
		"heldlog": {events: waiting, then: func(_ *testing.T, m *followScreen, c *tuitest.Clock) {
			tuitest.Drive(m, c, waitsMsg{}, "p")
			happen(m, c, object(tuitest.RoleObject, record.StateWaiting, ""))
		}},
		"search":   {events: waiting, then: pressing("l", "/", "d", "a", "t", "a", "b", "a", "s", "e", "-", "7", "enter")},
		"typing":   {events: waiting, then: pressing("/", "k", "i", "n")},
		"found":    {events: waiting, then: pressing("/", "k", "i", "n", "d", "enter", "]")},
		"help":     {events: waiting, then: pressing("?")},
		"help-end": {events: waiting, then: pressing("?", "end")},
	}
}

func TestFollowLooksAsRecorded(t *testing.T) {
	p := tuitest.FreshPlan(t)
	for name, state := range followStates(p) {
		for _, size := range tuitest.Sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(t *testing.T) {
				m, c, _ := followOf(t, p, size[0], size[1])
				happen(m, c, state.events...)
				if state.then != nil {
					state.then(t, m, c)
				}
				golden(t, fmt.Sprintf("apply-%s/%dx%d/fresh", name, size[0], size[1]), m, size[0], size[1])
			})
		}
	}
}

func TestStoppingAnApply(t *testing.T) {
	for _, tc := range []struct {
		name string
		keys []any
		want []Interrupt
	}{
		{"one ctrl+c only asks", []any{"ctrl+c"}, nil},
		{"esc goes on", []any{"ctrl+c", "esc"}, nil},
		{"s stops after the object", []any{"ctrl+c", "s"}, []Interrupt{StopAfterObject}},
		{"d detaches", []any{"ctrl+c", "d"}, []Interrupt{Detach}},
		{"a second ctrl+c stops at once", []any{"ctrl+c", "ctrl+c"}, []Interrupt{StopNow}},
		{"q asks too", []any{"q", "esc"}, nil},
		{"ctrl+z does not suspend an apply", []any{"ctrl+z"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, c, asked := followOf(t, tuitest.FreshPlan(t), 80, 24)
			tuitest.Drive(m, c, tc.keys...)
			if !slices.Equal(*asked, tc.want) {
				t.Errorf("asked for %v, want %v", *asked, tc.want)
			}
			if m.isOver() {
				t.Error("the screen ended before the result")
			}
		})
	}
}

func TestTheScreenStaysUntilItIsLeft(t *testing.T) {
	m, c, _ := followOf(t, tuitest.CleanPlan(t), 80, 24)
	_, cmd := m.Update(tuitest.Press("enter"))
	if cmd != nil {
		t.Fatal("enter did something while applying")
	}
	happen(m, c, result(0))
	c.Forward(time.Hour)
	if got := m.elapsed(); got != time.Second {
		t.Errorf("elapsed is %s after the end, want 1s", got)
	}
	for _, name := range []string{"enter", "esc"} { // CONFIRM's key, pressed once more, must not hide the result
		if _, cmd = m.Update(tuitest.Press(name)); cmd != nil {
			t.Fatalf("%s leaves", name)
		}
		if last := tuitest.ScreenOf(m)[23]; !strings.Contains(last, "q leave") {
			t.Errorf("after %s nobody says what leaves: %s", name, last)
		}
	}
	if _, cmd = m.Update(tuitest.Press("q")); cmd == nil {
		t.Fatal("q does not leave")
	} else if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Fatal("q does not leave")
	}
}

func TestEventsThatEndWithoutResultAreNoSuccess(t *testing.T) {
	m, _, _ := followOf(t, tuitest.CleanPlan(t), 80, 24)
	m.Update(closedMsg{})
	if m.state() != "ENDED" || m.result != nil {
		t.Errorf("state is %s", m.state())
	}
}

func TestHostileProgressStaysText(t *testing.T) {
	p := tuitest.FreshPlan(t)
	for _, size := range tuitest.Sizes {
		m, c, _ := followOf(t, p, size[0], size[1])
		happen(m, c,
			install.Event{Type: install.EventStage, Stage: tuitest.Hostile, Message: tuitest.Hostile},
			object(tuitest.DeployObject, record.StateFailed, tuitest.Hostile+strings.Repeat("x", 10_000)),
			object(tuitest.Hostile, record.StateWaiting, tuitest.Hostile),
			install.Event{Type: install.EventLog, Object: tuitest.DeployObject, Message: tuitest.Hostile},
			install.Event{Type: install.EventLog, Message: tuitest.Hostile},
			install.Event{Type: install.EventError, Message: tuitest.Hostile},
		)
		checkHarmless(t, "applying", m, size)
		tuitest.Drive(m, c, "l")
		checkHarmless(t, "logs", m, size)
		happen(m, c, result(3))
		tuitest.Drive(m, c, "l", "f", "a")
		checkHarmless(t, "done", m, size)
	}
}

// Events of an object and logs of its pods are the cluster's text, in every pane, in a
// search, and in the block that is printed at the end.
func TestHostileEventsAndLogsStayText(t *testing.T) {
	p := tuitest.FreshPlan(t)
	for i, text := range tuitest.HostileTexts(t) {
		size := tuitest.Sizes[i%len(tuitest.Sizes)]
		m, c, _ := followOf(t, p, size[0], size[1])
		pod := preview.Ref{APIVersion: "v1", Kind: "Pod", Namespace: text, Name: text}
		found := rollout.Diagnostics{
			Events: []rollout.Event{{Time: c.T, Warning: true, About: pod, Count: 2, Text: text}},
			Logs:   []rollout.Log{{Pod: pod, Container: text, Lines: []string{text, text}}}, Blind: []string{text},
		}
		m.opts.ReadEvents = func(context.Context, preview.Ref) (rollout.Diagnostics, error) { return found, nil }
		m.opts.ReadLogs = m.opts.ReadEvents
		happen(m, c, append(rolloutOf(p), object(tuitest.DeployObject, record.StateFailed, text))...)
		look := func(where string) {
			t.Helper()
			checkHarmless(t, fmt.Sprintf("text %d: %s", i, where), m, size)
		}
		look("the log below the objects")
		for _, key := range []string{"e", "end", "l", "p", "home", "/", "a", "enter", "esc", "esc", "y", "f", "?", "esc"} {
			tuitest.Drive(m, c, key)
			answer(m)
			look("after " + key)
		}
		m.opts.ReadEvents = func(context.Context, preview.Ref) (rollout.Diagnostics, error) {
			return rollout.Diagnostics{}, errors.New(text)
		}
		tuitest.Drive(m, c, "e")
		m.Update(podLogsMsg{target: m.podLogs.target, err: errors.New(text)})
		look("events that cannot be read")
		receipt := &record.Receipt{Digest: p.Digest, Undo: &record.Receipt{Revision: 2, State: text},
			Objects: []record.ObjectReceipt{{ID: text, Action: preview.ActionCreate, State: record.StateFailed, Message: text}}}
		code := 3
		happen(m, c, install.Event{Type: install.EventError, Message: text}, install.Event{Type: install.EventResult, ExitCode: &code, Revision: 1, Receipt: receipt})
		tuitest.Drive(m, c, "esc", "end")
		look("the end")
		block := Summary(p, Outcome{}, receipt, &install.Error{Kind: install.Failed, Operation: text, Cause: text, Advice: text})
		for _, line := range strings.Split(block, "\n") {
			if textsafe.Hostile(line) {
				t.Fatalf("text %d in the block at the end: %.80q", i, line)
			}
		}
	}
}

func TestLogsAreBounded(t *testing.T) {
	m, _, _ := followOf(t, tuitest.CleanPlan(t), 80, 24)
	var batch eventsMsg
	for i := range 3 * maxLogLines {
		batch = append(batch, install.Event{Type: install.EventLog, Object: tuitest.DeployObject, Message: fmt.Sprint(i)})
	}
	m.Update(batch)
	logs := m.byID[tuitest.DeployObject].logs
	if len(logs) != maxLogLines || logs[len(logs)-1] != fmt.Sprint(3*maxLogLines-1) {
		t.Errorf("%d lines are kept, the last is %q", len(logs), logs[len(logs)-1])
	}
}

func TestSummaryIsPasteable(t *testing.T) {
	p := tuitest.FreshPlan(t)
	started := tuitest.NewClock().T
	receipt := &record.Receipt{
		Digest: p.Digest, Started: started, Finished: started.Add(5 * time.Minute),
		Approval: record.Approval{By: "jane@example.com", Accepted: []record.Acceptance{{ID: "a"}, {ID: "b"}}},
		Objects: []record.ObjectReceipt{
			{ID: tuitest.DeployObject, Action: preview.ActionCreate, State: record.StateFailed, Message: "ImagePullBackOff: 401 \x1b[2Junauthorized"},
			{ID: tuitest.RoleObject, Action: preview.ActionCreate, State: record.StateReady},
		},
	}
	want := `mongodb 1.10.0 -> prod-eu-1/mongodb      FAILED after 5m00s (cluster was changed)
  bundle   quay.io/mongodb/mongodb-kubernetes-bundle@` + tuitest.DigestOf("bundle") + `
  plan     ` + p.Digest + `
  approved jane@example.com 2026-11-20T14:02:11Z   accepted 2 findings
  applied 1/2   ready 1   not ready 1
  x Deployment mongodb/operator   failed: ImagePullBackOff: 401 \x1b[2Junauthorized
  status   kubectl operator status mongodb -n mongodb
  rollback kubectl operator uninstall mongodb -n mongodb
`
	got := Summary(p, Outcome{}, receipt, &install.Error{Kind: install.Failed, Cause: "rollout failed"})
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	receipt.Undo = &record.Receipt{Revision: 2, State: string(record.Uninstalled)}
	got = Summary(p, Outcome{}, receipt, &install.Error{Kind: install.Failed, Cause: "rollout failed"})
	if !strings.Contains(got, "  rollback automatically, as revision 2, which is uninstalled\n") || strings.Contains(got, "rollback kubectl") {
		t.Errorf("of a plan that was undone:\n%s", got)
	}
	set, gone := *p, *p
	set.Platform, set.ContentDigest, gone.Packages = "linux/amd64", tuitest.DigestOf("set"), nil
	gone.Request.Action = preview.RequestUninstall
	for _, test := range []struct {
		plan        *preview.Plan
		want, never string
	}{
		{&set, "\n  content  " + tuitest.DigestOf("set") + "\n", "bundle"}, // of many artifacts
		{&gone, "mongodb -> prod-eu-1/mongodb ", "bundle"},
	} {
		if got := Summary(test.plan, Outcome{}, receipt, nil); !strings.Contains(got, test.want) || strings.Contains(got, test.never) {
			t.Errorf("got\n%s", got)
		}
	}
	if got := Summary(p, Outcome{}, nil, errors.New("unreachable")); !strings.HasPrefix(got, "Nothing was applied.\n") {
		t.Errorf("got:\n%s", got)
	}
}

var _ tea.Model = (*followScreen)(nil)
