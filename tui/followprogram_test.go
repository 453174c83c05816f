package tui

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
)

func TestFollowAsAProgram(t *testing.T) {
	events := make(chan install.Event, 4)
	code := 0
	events <- install.Event{Type: install.EventStage, Stage: "deploy"}
	events <- install.Event{Type: install.EventResult, ExitCode: &code}
	in := keyboard("q", nil, "")
	defer in.Close()
	outcome, err := Follow(deadline(t), FollowOptions{Terminal: testTerminal(in), Plan: cleanPlan(t), Events: events})
	if err != nil || outcome.Result == nil || *outcome.Result.ExitCode != 0 {
		t.Fatalf("outcome %+v, error %v", outcome, err)
	}
}
