package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
)

// hurdle holds the write of one object, and those that come after it, until the stage that
// sent them is over, as where its timeout ends in the middle.
type hurdle struct {
	before string // the end of the path of the request; empty for none
	over   func() // ends the stage
	holds  bool   // since that request
	held   chan struct{}
}

// raise has the stage end at the write of an object.
func (h *hurdle) raise(before string, over func()) {
	h.before, h.over, h.holds, h.held = before, over, false, make(chan struct{})
}

// clear lets what is held go on.
func (h *hurdle) clear() { close(h.held) }

func (h *hurdle) fault(r sandboxtest.Request) sandboxtest.Fault {
	if !r.Persists() || !strings.Contains(r.Path, "/configmaps/") {
		return sandboxtest.Fault{}
	}
	if h.before != "" && strings.HasSuffix(r.Path, h.before) {
		h.before, h.holds = "", true
		h.over()
	}
	if !h.holds {
		return sandboxtest.Fault{}
	}
	return sandboxtest.Fault{Hold: h.held}
}

// settings returns a configuration of twenty objects, all with one colour: more than are in
// flight when the sixth is written.
func settings(name, colour string) map[string]string {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("%02d.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-%02d}\ndata: {colour: %s}\n", name, i, colour)
	}
	return files
}

// A stage whose time is over in the middle of an apply ends after the requests under way.
// Run again it goes on; and the stage that piped runs instead takes back what was applied.
func TestClusterAStageThatTakesTooLongEndsInTheMiddle(t *testing.T) {
	t.Parallel() // the SDK waits seconds for the log of each stage
	box := sandboxtest.Start(t)
	p := newPiped(t)
	h := &hurdle{}
	proxy := sandboxtest.NewProxy(t, box.Kubeconfig(), sandboxtest.ProxyOptions{Fault: h.fault})
	plugin := startPlugin(t, p, "{}", proxy.Kubeconfig)
	app := application{t, "late"}
	cut := func(id string, files map[string]string) string {
		t.Helper()
		source, d := app.commit(strings.Replace(settingsApplication, "settings", "late", 1), nil, files), app.deployment(id)
		plugin.must(t, p, d, pipecd.StagePlan, source)
		ctx, over := context.WithCancel(t.Context()) // which is how piped ends a stage
		h.raise("/late-05", over)
		if got, err := plugin.run(ctx, d, pipecd.StageApply, source); status.Code(err) != codes.Canceled {
			t.Fatalf("%s was cut: %s, %v", id, got, err)
		}
		h.clear()
		next := pipecd.StageRollback
		if id == "again" {
			next = pipecd.StageApply
		}
		stage := d.Id + "/after-" + next // the log of the first may still be open
		if got, err := plugin.runAs(t.Context(), d, stage, next, source); err != nil {
			t.Fatalf("%s: %s, %v", stage, got, err)
		}
		if said := p.saidAtLast(t, d.Id+"/"+pipecd.StageApply, resumeAdvice); !strings.Contains(said, "stopped as asked: ") || strings.Contains(said, " 0 not applied") {
			t.Errorf("%s was cut:\n%s", id, said)
		}
		return p.said(t, stage)
	}
	if said := cut("again", settings("late", "red")); !strings.Contains(said, "going on with the interrupted run") || !strings.Contains(said, "applied core/ConfigMap/default/late-19") {
		t.Errorf("run again:\n%s", said)
	}
	if said := cut("back", settings("late", "blue")); !strings.Contains(said, "taken back") {
		t.Errorf("taken back:\n%s", said)
	}
	red := app.commit(strings.Replace(settingsApplication, "settings", "late", 1), nil, settings("late", "red"))
	if state := live(t, plugin, app, red); len(state.ApplicationLiveState.Resources) != 20 || state.SyncState.Status != 1 {
		t.Errorf("after it: %v", state)
	}
}
