package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/follow"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

const (
	// maxBehind objects are looked into when an apply did not end well.
	maxBehind = 5
	// behindTime bounds what is read of all of them.
	behindTime = 20 * time.Second
)

// followLines is follow for a terminal that is not drawn on: a line for each
// change, then what stands behind what is not well, and when the time is over
// the question whether to wait longer. The end of the input is no.
func (f *followedApply) followLines(ctx context.Context) error {
	var before applyResult // of the run that is gone on with
	for {
		printer := f.printer()
		end := applyResult{}
		printer.alongside(ctx, f.plan, func() { end.receipt, end.err = f.apply(ctx, f.options(printer.event)) })
		if before.receipt != nil && end.receipt == nil {
			end = applyResult{before.receipt, notGoneOn(end.err)}
		}
		if end.err != nil && end.receipt != nil && ctx.Err() == nil {
			f.tellBehind(ctx, end.receipt)
		}
		if canGoOn(end) && f.wantsMore(ctx, end) {
			before = end
			continue
		}
		printer.done(f.plan, end.receipt, end.err)
		return end.err
	}
}

// canGoOn reports whether an apply ended because its time was over, and what it
// did stands.
func canGoOn(end applyResult) bool {
	e, ok := errors.AsType[*install.Error](end.err)
	return ok && e.TimedOut() && e.Kind == install.Interrupted && end.receipt != nil && end.receipt.Undo == nil
}

// wantsMore asks whether to wait longer.
func (f *followedApply) wantsMore(ctx context.Context, end applyResult) bool {
	more := f.rollout.rolloutTimeout
	if more <= 0 {
		more = install.DefaultRolloutTimeout
	}
	f.app.streams.Printf("TIMED OUT: %s not ready. The cluster keeps trying meanwhile.\n", preview.Plural(len(notWell(end.receipt)), "object"))
	prompter := frame.NewPrompter(f.app.streams.In, f.app.streams.Human())
	for {
		answer, ok, err := prompter.Ask(ctx, fmt.Sprintf("r wait %s more, q quit: ", more))
		if err != nil || !ok {
			return false
		}
		switch strings.TrimSpace(answer) {
		case "r":
			return true
		case "q":
			return false
		}
		f.app.streams.Printf("That is none of them.\n")
	}
}

// notWell are the objects of a receipt that are not as they should be, those that
// failed first.
func notWell(r *record.Receipt) []record.ObjectReceipt {
	var failed, waiting []record.ObjectReceipt
	for _, o := range r.Objects {
		switch o.State {
		case record.StateFailed, record.StateDiverged:
			failed = append(failed, o)
		case record.StateWaiting, record.StateRemoving, record.StateSent:
			waiting = append(waiting, o)
		}
	}
	return slices.Concat(failed, waiting)
}

// tellBehind says of each what happened last and what its pods print.
func (f *followedApply) tellBehind(ctx context.Context, r *record.Receipt) {
	ctx, cancel := context.WithTimeout(ctx, behindTime)
	defer cancel()
	list := notWell(r)
	for i, o := range list {
		if i == maxBehind {
			f.app.streams.Printf("… and %d more that are not ready\n", len(list)-i)
			return
		}
		f.app.streams.Printf("%-9s %s  %s\n", o.State, textsafe.Line(o.ID), textsafe.Line(o.Message))
		object := f.plan.Object(o.ID)
		if object == nil {
			continue
		}
		ref := object.Ref()
		events, err := rollout.Events(ctx, f.cluster, f.cluster, ref)
		logs, logErr := rollout.Logs(ctx, f.cluster, f.cluster, ref)
		for _, line := range follow.DiagnosticLines(ref, events, logs, time.Local) {
			f.app.streams.Printf("%s\n", textsafe.Line(line))
		}
		if err := errors.Join(err, logErr); err != nil {
			f.app.streams.Printf("  reading what happened to it: %s\n", textsafe.Line(err.Error()))
		}
	}
}
