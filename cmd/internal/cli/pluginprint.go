package cli

import (
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// setPrinter shows an apply of files: one line per event, for a person or as
// JSON.
type setPrinter struct{ printer }

// begin says what is about to be applied.
func (p *setPrinter) begin(plan *preview.Plan) {
	if p.json {
		p.printer.plan(plan)
		return
	}
	s := p.app.streams
	s.Printf("%s %s -> %s\n  plan    %s\n  will    %s\n", plan.Request.Action, setTitle(plan), plan.Location.Path, plan.Digest, preview.FileCounts(plan.Files, "  "))
	for _, f := range plan.Findings {
		if f.Severity == preview.Critical || f.Severity == preview.Warning {
			s.Printf("  %-8s %s\n", f.Severity, textsafe.Line(f.Title))
		}
	}
}

func setTitle(plan *preview.Plan) string {
	version := ""
	if len(plan.Packages) > 0 {
		version = plan.Packages[0].Version
	}
	return strings.TrimSpace(plan.Release.Name + " " + version)
}

// end prints how it went; errors are printed by Main, and in JSON were events
// already.
func (p *setPrinter) end(plan *preview.Plan, receipt *installed.Receipt, err error) {
	s := p.app.streams
	switch {
	case p.json || err != nil:
	case receipt != nil && receipt.OfClean():
		s.Printf("%s      DONE, %s removed\n  plan     %s\n", setTitle(plan), preview.Plural(len(receipt.Doomed()), "generation"), receipt.Digest)
	case receipt != nil:
		s.Printf("%s      DONE, generation %d\n  plan     %s\n", setTitle(plan), receipt.Generation, receipt.Digest)
		p.undo(plan.Location.Path, receipt)
	case !plan.SetChanges():
		s.Printf("%s      nothing to change\n  plan     %s\n", setTitle(plan), plan.Digest)
	}
}

// undo names the way back, where there is one.
func (p *setPrinter) undo(location string, receipt *installed.Receipt) {
	if receipt.From > 0 || receipt.TookOver {
		p.app.streams.Printf("  undo     %s\n", report.SetRollback(location, receipt.From))
	}
}

// result ends a run that found its plan installed.
func (p *setPrinter) result(receipt *installed.Receipt) {
	if !p.json && receipt.OfClean() {
		p.app.streams.Printf("%s      DONE, %s removed, some by a run that was interrupted\n  plan     %s\n",
			receipt.Set, preview.Plural(len(receipt.Doomed()), "generation"), receipt.Digest)
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
