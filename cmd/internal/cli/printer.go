package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/follow"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// printer prints the events of an apply, without a screen: each is a line of
// text or of JSON.
type printer struct {
	app  *app
	json bool
	beat time.Duration // between heartbeats; 0 is the default

	mu    sync.Mutex
	stage string
	last  map[string]record.ObjectState // of each object, as printed
}

// plan prints which plan is about to be applied.
func (p *printer) plan(plan *preview.Plan) {
	if p.json {
		p.write(install.Event{
			Time: time.Now().UTC(), Type: install.EventPlan, Digest: plan.Digest, ContentDigest: plan.ContentDigest,
			Message: countActions(plan),
		})
		for _, f := range plan.Findings {
			p.write(install.Event{
				Time: time.Now().UTC(), Type: install.EventFinding, Object: f.Object, Message: f.Title,
				Severity: f.Severity, Rule: f.Rule, ID: f.ID, Fingerprint: f.Fingerprint,
			})
		}
		return
	}
	p.app.streams.Printf("%s %s\n", plan.Request.Action, title(plan))
	p.app.streams.Printf("  plan    %s\n  will    %s\n", plan.Digest, countActions(plan))
	for _, f := range plan.Findings {
		if f.Severity == preview.Critical || f.Severity == preview.Warning {
			p.app.streams.Printf("  %-8s %s\n", f.Severity, textsafe.Line(f.Title))
		}
	}
}

func title(plan *preview.Plan) string {
	if plan.OnMachine() {
		return setTitle(plan) + " -> " + plan.Location.Path
	}
	name := plan.Release.Name
	if preview.InSections(plan.Packages) {
		return fmt.Sprintf("%s, %s -> namespace %s", name, preview.Plural(len(plan.Packages), "package"), plan.Release.Namespace)
	}
	for i, pkg := range plan.Packages {
		switch i {
		case 0:
			name += " " + pkg.Version
		case 1:
			name += " with " + pkg.Name + " " + pkg.Version
		default:
			name += ", " + pkg.Name + " " + pkg.Version
		}
	}
	return name + " -> namespace " + plan.Release.Namespace
}

// countActions returns how many objects, or files, a plan has for each action, as text.
func countActions(plan *preview.Plan) string {
	if plan.OnMachine() {
		return preview.FileCounts(plan.Files, "  ")
	}
	return countText(plan.Summary)
}

// countText returns numbers of actions as text such as "2 create, 1 update",
// without those that are 0.
func countText(s preview.Summary) string {
	text := ""
	for _, a := range preview.Actions() {
		if n := s.Count(a); n > 0 {
			text += fmt.Sprintf("%s %d %s  ", a.Symbol(), n, a)
		}
	}
	if text == "" {
		return "nothing"
	}
	return text[:len(text)-2]
}

// event prints one event of an apply.
func (p *printer) event(e install.Event) {
	if p.json {
		p.write(e)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Text from the cluster must not look like a line of ours.
	e.Message = textsafe.Line(e.Message)
	switch e.Type {
	case install.EventStage:
		p.stage = e.Stage
		p.app.streams.Printf("stage %-16s %s\n", e.Stage, e.Message)
	case install.EventObject:
		p.object(e)
	case install.EventLog:
		p.app.streams.Printf("  %s\n", e.Message)
	}
}

// object prints the state of an object if it has changed, but not that the
// object is about to be written.
func (p *printer) object(e install.Event) {
	if e.State == record.StateSent || p.last[e.Object] == e.State && e.State != record.StateWaiting {
		return
	}
	p.last[e.Object] = e.State
	line := fmt.Sprintf("  %-9s %s", e.State, textsafe.Line(frame.ObjectName(e.Object)))
	if e.Message != "" {
		line += "  " + e.Message
	}
	p.app.streams.Printf("%s\n", line)
}

// printWhile calls apply, and prints a line at intervals while no event comes.
func (p *printer) printWhile(ctx context.Context, plan *preview.Plan, apply func()) {
	started := time.Now()
	defer frame.Heartbeat(ctx, p.beat, func() { p.printHeartbeat(plan, time.Since(started)) })()
	apply()
}

// printHeartbeat prints that the apply is still running, and how far it is.
func (p *printer) printHeartbeat(plan *preview.Plan, elapsed time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done, waiting := 0, 0
	for _, state := range p.last {
		switch state {
		case record.StateReady, record.StateRemoved, record.StateSkipped:
			done++
		case record.StateWaiting, record.StateRemoving:
			waiting++
		}
	}
	p.app.streams.Printf("still applying %s: stage %s, %d done, %d waiting, %s\n", plan.Release.Name, p.stage, done, waiting, elapsed.Truncate(time.Second))
}

// printDone prints the final summary as text. Main prints the error; in JSON,
// error and result were events already.
func (p *printer) printDone(plan *preview.Plan, receipt *record.Receipt, err error) {
	if p.json {
		return
	}
	followed := follow.Outcome{}
	if receipt != nil {
		followed.Elapsed = receipt.Finished.Sub(receipt.Started)
	}
	p.app.streams.Printf("%s", follow.Summary(plan, followed, receipt, err))
}

// printFailed prints, in JSON, the last events of a run that failed before it began.
func (p *printer) printFailed(err error) {
	code := exitCode(err)
	p.write(install.Event{Time: time.Now().UTC(), Type: install.EventError, Message: err.Error()})
	p.write(install.Event{Time: time.Now().UTC(), Type: install.EventResult, ExitCode: &code})
}

func (p *printer) write(e install.Event) {
	data, err := json.Marshal(e)
	if err != nil {
		p.app.log.Error("an event has no JSON form", "error", err)
		return
	}
	_, _ = p.app.streams.Out.Write(append(textsafe.JSON(data), '\n')) // a broken pipe shows when the streams are flushed
}

func setTitle(plan *preview.Plan) string {
	version := ""
	if len(plan.Packages) > 0 {
		version = plan.Packages[0].Version
	}
	return strings.TrimSpace(plan.Release.Name + " " + version)
}

// setDone prints the result of applying a plugin set as text. Main prints the
// error; in JSON, error and result were events already.
func (p *printer) setDone(plan *preview.Plan, receipt *installed.Receipt, err error) {
	s := p.app.streams
	switch {
	case p.json || err != nil:
	case receipt != nil && receipt.IsClean():
		s.Printf("%s      DONE, %s removed\n  plan     %s\n", setTitle(plan), preview.Plural(len(receipt.RemovedGenerations()), "generation"), receipt.Digest)
	case receipt != nil:
		s.Printf("%s      DONE, generation %d\n  plan     %s\n", setTitle(plan), receipt.Generation, receipt.Digest)
		p.setUndo(plan.Location.Path, receipt)
	case !plan.SetChanges():
		s.Printf("%s      nothing to change\n  plan     %s\n", setTitle(plan), plan.Digest)
	}
}

// setUndo prints the command that goes back to the generation before, if there is one.
func (p *printer) setUndo(location string, receipt *installed.Receipt) {
	if receipt.From > 0 || receipt.TookOver {
		p.app.streams.Printf("  rollback %s\n", review.SetRollback(location, receipt.From))
	}
}

// setResumed prints the result of a run that completed an interrupted one.
func (p *printer) setResumed(receipt *installed.Receipt) {
	if !p.json && receipt.IsClean() {
		p.app.streams.Printf("%s      DONE, %s removed, some by a run that was interrupted\n  plan     %s\n",
			receipt.Set, preview.Plural(len(receipt.RemovedGenerations()), "generation"), receipt.Digest)
		return
	}
	if !p.json {
		p.app.streams.Printf("%s %s      DONE, generation %d; the run that switched to it was interrupted\n  plan     %s\n",
			receipt.Set, receipt.Version, receipt.Generation, receipt.Digest)
		return
	}
	code := exitDone
	p.write(install.Event{
		Time: time.Now().UTC(), Type: install.EventResult, ExitCode: &code, Digest: receipt.Digest,
		ContentDigest: receipt.ContentDigest, Revision: receipt.Generation, Receipt: receipt.Install(),
	})
}
