package main

import (
	"fmt"
	"strings"

	sdk "github.com/pipe-cd/piped-plugin-sdk-go"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// maxBlock is the most bytes of one block of a stage's log; piped keeps them all.
const maxBlock = 256 << 10

// stageLog is the log of a stage as piped shows it. Text from packages and clusters is
// escaped line by line, so that no text can act on a terminal or look like another line.
type stageLog struct {
	to   sdk.StageLogPersister
	last map[string]record.ObjectState
}

func newStageLog(to sdk.StageLogPersister) *stageLog {
	return &stageLog{to: to, last: map[string]record.ObjectState{}}
}

func (l *stageLog) infof(format string, args ...any) {
	l.to.Info(escaped(fmt.Sprintf(format, args...)))
}
func (l *stageLog) successf(format string, args ...any) {
	l.to.Success(escaped(fmt.Sprintf(format, args...)))
}
func (l *stageLog) errorf(format string, args ...any) {
	l.to.Error(escaped(fmt.Sprintf(format, args...)))
}

// escaped returns text with its line breaks and nothing else that controls a terminal.
func escaped(text string) string {
	text = textsafe.Block(strings.TrimRight(text, "\n"))
	if len(text) > maxBlock {
		text = strings.ToValidUTF8(text[:maxBlock], "") + "\n(the rest is left out; the command line shows it)"
	}
	return text
}

// event logs one step of an apply, an object only when its state has changed.
func (l *stageLog) event(e install.Event) {
	switch e.Type {
	case install.EventStage:
		l.infof("stage %s %s", e.Stage, textsafe.Line(e.Message))
	case install.EventObject:
		if e.State == record.StateSent || l.last[e.Object] == e.State && e.State != record.StateWaiting {
			return
		}
		l.last[e.Object] = e.State
		l.infof("%s %s %s", e.State, textsafe.Line(e.Object), textsafe.Line(e.Message))
	case install.EventLog:
		l.infof("  %s", textsafe.Line(e.Message))
	}
}
