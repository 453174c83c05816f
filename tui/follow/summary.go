package follow

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// maxBlamed objects are named in the final summary.
const maxBlamed = 20

// Summary is the block printed on the normal screen when an apply is over:
// plain text that can be pasted into a report. receipt is nil when nothing was
// written; err is what [install.Apply] returned.
func Summary(p *preview.Plan, f Outcome, receipt *record.Receipt, err error) string {
	if receipt == nil {
		return nothingApplied(p, err)
	}
	s := &summary{}
	elapsed := f.Elapsed
	if !receipt.Finished.IsZero() && receipt.Finished.After(receipt.Started) {
		elapsed = receipt.Finished.Sub(receipt.Started)
	}
	s.line("%s -> %s/%s      %s", strings.Join(frame.NonEmpty(p.Release.Name, frame.Version(p)), " "), frame.Cluster(p), p.Release.Namespace, ending(err, elapsed))
	switch {
	case p.Platform != "", preview.InSections(p.Packages): // of many artifacts
		s.pair("content", p.ContentDigest)
	case len(p.Packages) > 0:
		s.pair("bundle", pinnedRef(p))
	}
	s.pair("plan", receipt.Digest)
	if by := receipt.Approval.By; by != "" {
		approved := by + " " + receipt.Started.UTC().Format(time.RFC3339)
		if n := len(receipt.Approval.Accepted); n > 0 {
			approved += "   accepted " + preview.Plural(n, "finding")
		}
		s.pair("approved", approved)
	}
	blamed := s.objects(receipt)
	if err != nil && blamed == 0 {
		s.cause(err)
	}
	s.pair("look", lookCommand(p))
	if receipt.Undo != nil {
		s.pair("undone", undoneText(receipt.Undo))
	} else {
		s.pair("undo", frame.UndoCommand(p))
	}
	return s.String()
}

// undoneText says what became of the undo that a failed plan sealed.
func undoneText(undo *record.Receipt) string {
	return fmt.Sprintf("by itself, as revision %d, which is %s", undo.Revision, undo.State)
}

// nothingApplied is the block when the cluster was not changed.
func nothingApplied(p *preview.Plan, err error) string {
	s := &summary{}
	if err == nil {
		s.line("%s -> %s/%s      nothing to change", strings.Join(frame.NonEmpty(p.Release.Name, frame.Version(p)), " "), frame.Cluster(p), p.Release.Namespace)
		s.pair("plan", p.Digest)
		return s.String()
	}
	s.line("Nothing was applied.")
	s.pair("plan", p.Digest)
	return s.String()
}

// ending words how an apply ended.
func ending(err error, elapsed time.Duration) string {
	if err == nil {
		return "DONE in " + frame.RoundDuration(elapsed)
	}
	code := int(install.KindOf(err))
	text := stateOf(code)
	if e, ok := errors.AsType[*install.Error](err); ok && e.TimedOut() && e.Kind == install.Interrupted {
		text = timedOutText
	}
	text += " after " + frame.RoundDuration(elapsed)
	if code == int(install.Failed) || code == int(install.Interrupted) {
		text += " (cluster was changed)"
	}
	return text
}

// summary collects harmless lines.
type summary struct{ b strings.Builder }

func (s *summary) line(format string, args ...any) {
	s.b.WriteString(strings.TrimRight(textsafe.Line(fmt.Sprintf(format, args...)), " ") + "\n")
}

func (s *summary) pair(name, value string) {
	if value != "" {
		s.line("  %-8s %s", name, value)
	}
}

func (s *summary) String() string { return s.b.String() }

// objects counts what was written, names what is not well, and returns how
// many objects that is.
func (s *summary) objects(r *record.Receipt) int {
	total, applied, ready := 0, 0, 0
	var bad []record.ObjectReceipt
	for _, o := range r.Objects {
		if !writes(o.Action) {
			continue
		}
		total++
		switch o.State {
		case record.StateReady, record.StateRemoved:
			applied, ready = applied+1, ready+1
			continue
		case record.StateApplied:
			applied++
			continue
		case record.StateWaiting, record.StateRemoving, record.StateDiverged:
			applied++
		}
		bad = append(bad, o)
	}
	s.line("  applied %d/%d   ready %d   not well %d", applied, total, ready, len(bad))
	for i, o := range bad {
		if i == maxBlamed {
			s.line("  … %d more", len(bad)-i)
			break
		}
		sign, _ := stateSign(o.State)
		s.line("  %s %s   %s", sign, frame.ObjectName(o.ID), strings.Join(frame.NonEmpty(string(o.State), o.Message), ": "))
	}
	return len(bad)
}

// cause is the error, when no object is to blame for it.
func (s *summary) cause(err error) {
	for _, line := range strings.Split(textsafe.Block(err.Error()), "\n") {
		s.line("  x %s", line)
	}
}

func lookCommand(p *preview.Plan) string {
	return fmt.Sprintf("kubectl operator status %s -n %s", p.Release.Name, p.Release.Namespace)
}

// pinnedRef is where the content came from, by digest.
func pinnedRef(p *preview.Plan) string {
	if ref := frame.ContentRef(p); ref != "" {
		return ref + "@" + frame.ContentPin(p)
	}
	return frame.ContentPin(p)
}
