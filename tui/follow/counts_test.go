package follow

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// An object whose rollout fails was written: the screen and the text after it say so with
// the same numbers.
func TestWhatFailsInTheRolloutWasWritten(t *testing.T) {
	p := tuitest.CleanPlan(t)
	m, c, _ := followOf(t, p, 120, 36)
	code := 3
	receipt := &record.Receipt{Digest: p.Digest}
	for _, o := range p.Objects {
		happen(m, c, install.Event{Type: install.EventObject, Object: o.ID, State: record.StateApplied})
		state, uid := record.StateReady, "a"
		if o.ID == tuitest.DeployObject {
			happen(m, c, install.Event{Type: install.EventObject, Object: o.ID, State: record.StateWaiting})
			state = record.StateFailed
		}
		happen(m, c, install.Event{Type: install.EventObject, Object: o.ID, State: state})
		receipt.Objects = append(receipt.Objects, record.ObjectReceipt{ID: o.ID, Action: o.Action, State: state, UID: uid})
	}
	happen(m, c, install.Event{Type: install.EventResult, ExitCode: &code, Receipt: receipt})
	if want := "applied 2/2  ready 1  waiting 0  failed 1"; !tuitest.Shows(m, want) {
		t.Errorf("no %q in\n%s", want, m.View().Content)
	}
	text := Summary(p, Outcome{}, receipt, &install.Error{Kind: install.Failed})
	if want := "  applied 2/2   ready 1   not ready 1\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	receipt.Objects[0].UID, receipt.Objects[0].State = "", record.StateFailed // refused by the API server
	receipt.Objects[1].UID, receipt.Objects[1].State = "", record.StatePending
	if text := Summary(p, Outcome{}, receipt, &install.Error{Kind: install.Failed}); !strings.Contains(text, "  applied 0/2   ready 0   not ready 2\n") {
		t.Error(text)
	}
	for i := range receipt.Objects { // a plan that writes nothing waits for what there is
		receipt.Objects[i].Action, receipt.Objects[i].State = preview.ActionUnchanged, record.StateReady
	}
	receipt.Objects[0].State = record.StateWaiting
	if text := Summary(p, Outcome{}, receipt, &install.Error{Kind: install.Failed}); !strings.Contains(text, "  applied 0/0   ready 0   not ready 1\n") {
		t.Error(text)
	}
}

// A removal speaks of what is deleted, and of what it leaves and how that is deleted.
func TestARemovalSaysWhatIsKept(t *testing.T) {
	b := tuitest.CleanPlan(t)
	p := *b
	p.Request.Action, p.Packages = preview.RequestUninstall, nil
	p.Objects = []preview.Object{
		{ID: "core/ConfigMap/mongodb/a", APIVersion: "v1", Kind: "ConfigMap", Namespace: "mongodb", Name: "a", Action: preview.ActionDelete},
		{ID: "apiextensions.k8s.io/CustomResourceDefinition/-/opsmanagers.mongodb.com", APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "opsmanagers.mongodb.com", Action: preview.ActionKeep},
	}
	m, c, _ := followOf(t, &p, 120, 36)
	happen(m, c, install.Event{Type: install.EventObject, Object: p.Objects[0].ID, State: record.StateRemoved})
	code := 0
	receipt := &record.Receipt{Digest: p.Digest, Objects: []record.ObjectReceipt{{ID: p.Objects[0].ID, Action: preview.ActionDelete, State: record.StateRemoved}}}
	happen(m, c, install.Event{Type: install.EventResult, ExitCode: &code, Receipt: receipt})
	kept := []string{"CRD opsmanagers.mongodb.com, with its custom resources: --include-crds deletes them", "namespace mongodb: --include-namespaces deletes it, if the release created it"}
	text := Summary(&p, Outcome{}, receipt, nil)
	for _, want := range append(kept, "deleted 1/1") {
		if !tuitest.Shows(m, want) {
			t.Errorf("no %q in\n%s", want, m.View().Content)
		}
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "status ") || strings.Contains(text, "applied") {
		t.Error(text)
	}
}
