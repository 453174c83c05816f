package follow

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestFollowAsAProgram(t *testing.T) {
	events := make(chan install.Event, 4)
	code := 0
	events <- install.Event{Type: install.EventStage, Stage: "deploy"}
	events <- install.Event{Type: install.EventResult, ExitCode: &code}
	in := tuitest.Keyboard("q", nil, "")
	defer func() { _ = in.Close() }()
	outcome, err := Run(tuitest.Deadline(t), Options{Terminal: tuitest.TestTerminal(in), Plan: tuitest.CleanPlan(t), Events: events})
	if err != nil || outcome.Result == nil || *outcome.Result.ExitCode != 0 {
		t.Fatalf("outcome %+v, error %v", outcome, err)
	}
}
