package cli

import (
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

func setTitle(plan *preview.Plan) string {
	version := ""
	if len(plan.Packages) > 0 {
		version = plan.Packages[0].Version
	}
	return strings.TrimSpace(plan.Release.Name + " " + version)
}

// setDone prints how it went; errors are printed by Main, and in JSON were events
// already.
func (p *printer) setDone(plan *preview.Plan, receipt *installed.Receipt, err error) {
	s := p.app.streams
	switch {
	case p.json || err != nil:
	case receipt != nil && receipt.OfClean():
		s.Printf("%s      DONE, %s removed\n  plan     %s\n", setTitle(plan), preview.Plural(len(receipt.Doomed()), "generation"), receipt.Digest)
	case receipt != nil:
		s.Printf("%s      DONE, generation %d\n  plan     %s\n", setTitle(plan), receipt.Generation, receipt.Digest)
		p.setUndo(plan.Location.Path, receipt)
	case !plan.SetChanges():
		s.Printf("%s      nothing to change\n  plan     %s\n", setTitle(plan), plan.Digest)
	}
}

// setUndo names the way back, where there is one.
func (p *printer) setUndo(location string, receipt *installed.Receipt) {
	if receipt.From > 0 || receipt.TookOver {
		p.app.streams.Printf("  undo     %s\n", report.SetRollback(location, receipt.From))
	}
}

// setResumed ends a run that found its plan installed.
func (p *printer) setResumed(receipt *installed.Receipt) {
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
