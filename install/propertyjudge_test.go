package install_test

import (
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// judge holds the end of the run against the audit log.
func (tr *trial) judge(events []sandbox.AuditEvent) {
	persisted := map[string]int{}
	for _, e := range events {
		u, err := url.Parse(e.RequestURI)
		if err != nil {
			tr.find("the audit log: %v", err)
			continue
		}
		switch o := tr.objectAt(u.Path); {
		case o != nil:
			persisted[o.ID]++
		case !strings.HasPrefix(path.Base(u.Path), "kubectl-operator."):
			tr.find("wrote %s, which is not of the plan", e)
		}
	}
	var failed *install.Error
	switch kind := install.KindOf(tr.err); {
	case tr.err == nil:
		tr.judgeSuccess(persisted)
	case !errors.As(tr.err, &failed):
		tr.find("the error is no install.Error: %v", tr.err)
	case kind == install.Failed || kind == install.Interrupted:
		tr.judgeRecord(persisted)
	case len(persisted) > 0:
		tr.find("exit %d although %v was written", kind, persisted)
	}
}

// judgeSuccess wants every object as reviewed when it was written, still so unless
// another user edited it afterwards, and no other object written.
func (tr *trial) judgeSuccess(persisted map[string]int) {
	for i := range tr.plan.Objects {
		o := &tr.plan.Objects[i]
		sends := writes(o.Action)
		if o.Action == preview.ActionDelete && tr.edited[o.ID] {
			tr.gone(o) // perhaps by the other client
			continue
		}
		if (persisted[o.ID] > 0) != sends {
			tr.find("exit 0, and %s, planned as %s, was written %d times", o.ID, o.Action, persisted[o.ID])
			continue
		}
		w := tr.written[o.ID]
		if o.Planned == nil || o.Action == preview.ActionSkip || sends && w == nil {
			continue
		}
		if sends && o.Action != preview.ActionDelete {
			tr.compare("as it was written", o, *w)
		}
		if tr.edited[o.ID] {
			tr.judgeEdited(o, w)
			continue
		}
		live, err := tr.w.Get(context.Background(), o.Ref())
		if err != nil || live == nil {
			tr.find("exit 0, and %s reads %v, %v", o.ID, live, err)
			continue
		}
		sealed := tr.plan.Sent(o)
		if o.Action == preview.ActionShared {
			sealed = preview.CloneBody(sealed) // it keeps its owner's marks
			preview.Map(sealed, "metadata")["labels"] = preview.Map(live, "metadata", "labels")
		}
		tr.compare("at the end", o, install.WrittenObject{Sealed: sealed, Reviewed: reviewed(o), Before: live, Live: live})
	}
}

// judgeEdited wants an edit of an object to end the run if the run read the object
// after the last one. One that came between a write and its own answer is reported.
func (tr *trial) judgeEdited(o *preview.Object, w *install.WrittenObject) {
	if o.Action != preview.ActionUnchanged && w == nil || tr.seen[o.ID] != tr.edits[o.ID] {
		return
	}
	uid, sealed := o.Live.UID, o.Planned
	if w != nil {
		uid, sealed = preview.String(w.Live, "metadata", "uid"), w.Sealed
	}
	live, err := tr.w.Get(context.Background(), o.Ref())
	if err != nil {
		tr.find("reading %s: %v", o.ID, err)
		return
	}
	verdict := install.Diverged
	if live != nil && preview.String(live, "metadata", "uid") == uid {
		if verdict, _, err = install.Compare(tr.schemas, install.WrittenObject{Sealed: sealed, Reviewed: reviewed(o), Before: live, Live: live}); err != nil {
			tr.find("comparing %s: %v", o.ID, err)
		}
	}
	if verdict == install.Same {
		return
	}
	tr.noticed++
	reported := slices.ContainsFunc(tr.record, func(r record.ObjectReceipt) bool { return r.ID == o.ID && r.State == record.StateDiverged })
	ends := w == nil || o.Ref().Group() == "rbac.authorization.k8s.io" || o.Kind == "Deployment" || live == nil
	if !reported || ends {
		tr.find("exit 0, and %s, planned as %s, was edited before it was read last; that it is reported is %t, and that it ends the run should be %t", o.ID, o.Action, reported, ends)
	}
}

// writes reports whether a plan writes an object with an action.
func writes(a preview.Action) bool {
	switch a {
	case preview.ActionCreate, preview.ActionUpdate, preview.ActionDelete, preview.ActionReplace, preview.ActionAdopt:
		return true
	}
	return false
}

// reviewed returns the body that an object is compared with after a write. The result of an
// adoption is only merged at review, without defaults.
func reviewed(o *preview.Object) map[string]any {
	if o.Action == preview.ActionAdopt {
		return nil
	}
	return o.ResultBody
}

// gone wants an object deleted, or at least its deletion to have begun. One
// that the other client made after ours was deleted is its own.
func (tr *trial) gone(o *preview.Object) {
	live, err := tr.w.Get(context.Background(), o.Ref())
	if err != nil {
		tr.find("reading %s: %v", o.ID, err)
	}
	if preview.String(live, "metadata", "uid") == o.Live.UID && preview.String(live, "metadata", "deletionTimestamp") == "" {
		tr.find("exit 0, and %s still exists", o.ID)
	}
}

func (tr *trial) compare(when string, o *preview.Object, w install.WrittenObject) {
	verdict, notes, err := install.Compare(tr.schemas, w)
	if err != nil || verdict != install.Same {
		tr.find("exit 0, and %s %s is %s: %v %v", o.ID, when, verdict, notes, err)
	}
}

// judgeRecord wants the reconciled record to name exactly what was written.
func (tr *trial) judgeRecord(persisted map[string]int) {
	if tr.record == nil {
		for id := range persisted {
			if !strings.HasPrefix(id, "core/Namespace/") { // it is written before there is a record
				tr.find("%s was written, and there is no record", id)
			}
		}
		if len(persisted) == 0 && len(tr.lost) == 0 {
			tr.find("%s although nothing was written", tr.end())
		}
		return
	}
	for _, o := range tr.record {
		reported := false
		switch o.State {
		case record.StateApplied, record.StateReady, record.StateWaiting, record.StateDiverged, record.StateRemoved, record.StateRemoving, record.StateReleased:
			reported = true
		}
		// No one can tell what became of a write without an answer when the other client was
		// there too, or the body is not recorded.
		unknown := o.State == record.StateSent && strings.HasPrefix(o.ID, "core/Secret/")
		if tr.lost[o.ID] && (tr.disturbed[o.ID] || unknown) {
			continue
		}
		if o.State == record.StateFailed && tr.disturbed[o.ID] {
			continue // perhaps not its write failed, but what the other client left of it
		}
		reported = reported && writes(o.Action)
		if (o.Action == preview.ActionDelete || o.Action == preview.ActionReplace) && tr.edited[o.ID] {
			continue // the other client may have deleted it
		}
		if reported != (persisted[o.ID] > 0) {
			tr.find("%s, and the record tells that %s, planned as %s, is %s (%s); it was written %d times",
				tr.end(), o.ID, o.Action, o.State, o.Message, persisted[o.ID])
		}
	}
}
