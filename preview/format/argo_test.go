package format

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// annotated is an object with annotations, given as KEY=VALUE.
func annotated(name string, pairs ...string) RenderedObject {
	annotations := map[string]any{}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		annotations[key] = value
	}
	meta := map[string]any{"annotations": annotations}
	if prefix, generated := strings.CutSuffix(name, "*"); generated {
		meta["generateName"] = prefix
	} else {
		meta["name"] = name
	}
	return RenderedObject{Body: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta}}
}

const (
	argoHook = "argocd.argoproj.io/hook="
	argoWave = "argocd.argoproj.io/sync-wave="
)

func notesOf(out *Output) []string {
	var list []string
	for _, n := range out.Notes {
		list = append(list, n.Rule+" "+n.Object+" "+n.Text)
	}
	return list
}

func TestHooksOfAnApplicationRunWhenArgoCDWouldRunThem(t *testing.T) {
	const job = "batch/Job/app/j"
	ran := func(moments, when, more string) string {
		return "argo-cd-hook " + job + " Argo CD's hook " + moments + ": it runs " + when + " the other objects, as hook of weight 0, and again when it changes" + more
	}
	left := func(moments string) string {
		return "hook-not-run " + job + " Argo CD's hook " + moments + ": nothing here runs it; it is not installed"
	}
	for _, test := range []struct {
		name   string
		object RenderedObject
		want   string // PHASE WEIGHT, "plain", or nothing for what is left out
		notes  []string
	}{
		{"none", annotated("j"), "plain", nil},
		{"PreSync", annotated("j", argoHook+"PreSync"), "pre 0", []string{ran("PreSync", "before", "")}},
		{"PostSync", annotated("j", argoHook+"PostSync"), "post 0", []string{ran("PostSync", "after", "")}},
		{"both", annotated("j", argoHook+"PreSync, PostSync"), "pre 0", []string{ran("PreSync, PostSync", "before", "; at no other moment")}},
		{"a wave", annotated("j", argoHook+"PreSync", argoWave+"-5"), "pre -5", []string{strings.Replace(ran("PreSync", "before", ""), "weight 0", "weight -5", 1)}},
		{"Sync", annotated("j", argoHook+"Sync"), "plain", []string{"argo-cd-hook " + job + " Argo CD's hook Sync: it is applied with the other objects, and again when it changes"}},
		{"Skip", annotated("j", argoHook+"Skip"), "", []string{left("Skip")}},
		{"SyncFail", annotated("j", argoHook+"SyncFail"), "", []string{left("SyncFail")}},
		{"PreDelete", annotated("j", argoHook+"PreDelete"), "", []string{left("PreDelete")}},
		{"PostDelete", annotated("j", argoHook+"PostDelete"), "", []string{left("PostDelete")}},
		{"one that is unknown", annotated("j", argoHook+"Presync"), "", []string{left("Presync")}},
		{"Helm's", annotated("j", "helm.sh/hook=pre-install,pre-upgrade", "helm.sh/hook-weight=3"), "pre 3", []string{strings.Replace(ran("PreSync", "before", ""), "weight 0", "weight 3", 1)}},
		{"Helm's beside Argo CD's", annotated("j", "helm.sh/hook=post-install", argoHook+"PreSync"), "pre 0", []string{ran("PreSync", "before", "")}},
		{"Helm's for tests", annotated("j", "helm.sh/hook=test"), "", []string{left("test")}},
		{"a definition of Helm's", annotated("j", "helm.sh/hook=crd-install"), "plain", nil},
		{"one to be deleted", annotated("j", argoHook+"PostSync", "argocd.argoproj.io/hook-delete-policy=HookSucceeded"), "post 0",
			[]string{ran("PostSync", "after", ""), "hook-kept package/p Argo CD would delete after their hooks have run, and here stay until the release is removed: " + job}},
		{"a wave of what is no hook", annotated("j", argoWave+"2"), "plain",
			[]string{"argo-cd-hook-ignored package/p objects are applied in the order of their kinds, not of Argo CD's waves; wave 2: " + job}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := &Output{Objects: []RenderedObject{test.object}}
			if err := ArgoHooks(out, "p", "app"); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, r := range out.Objects {
				if got = "plain"; r.Hook != nil {
					got = fmt.Sprintf("%s %d", r.Hook.Phase, r.Hook.Weight)
				}
			}
			if got != test.want || !slices.Equal(notesOf(out), test.notes) {
				t.Errorf("got %q, %q\nwant %q, %q", got, notesOf(out), test.want, test.notes)
			}
		})
	}
}

func TestAHookOfAChartStaysWhatItsFormatMadeOfIt(t *testing.T) {
	r := annotated("j", "helm.sh/hook=pre-install")
	r.Hook = &preview.Hook{Phase: preview.HookPre, Weight: 7}
	out := &Output{Objects: []RenderedObject{r}}
	if err := ArgoHooks(out, "p", "app"); err != nil || out.Objects[0].Hook.Weight != 7 || len(out.Notes) != 0 {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestAHookWithGenerateNameIsCalledByWhatItDoes(t *testing.T) {
	out := &Output{Objects: []RenderedObject{annotated("migrate-*", argoHook+"PreSync"), annotated("other-*", argoHook+"Sync")}}
	if err := ArgoHooks(out, "p", "app"); err != nil {
		t.Fatal(err)
	}
	for i, prefix := range []string{"migrate-", "other-"} {
		if name := preview.String(out.Objects[i].Body, "metadata", "name"); len(name) != len(prefix)+10 || !strings.HasPrefix(name, prefix) {
			t.Errorf("it is called %q", name)
		}
	}
}

func TestAWaveThatIsNoNumberIsRefusedOfAHook(t *testing.T) {
	out := &Output{Objects: []RenderedObject{annotated("j", argoHook+"PreSync", argoWave+"first")}}
	if err := ArgoHooks(out, "p", "app"); err == nil || !strings.Contains(err.Error(), `batch/Job/app/j: its argocd.argoproj.io/sync-wave "first" is no number`) {
		t.Errorf("got %v", err)
	}
}

func TestWhatArgoCDWouldReadOfOtherContentIsNamed(t *testing.T) {
	out := &Output{Objects: []RenderedObject{
		annotated("a", argoHook+"PreSync"), annotated("b", argoWave+"10"), annotated("c", argoWave+"-1"), annotated("d", argoWave+"10"), annotated("e"),
	}}
	NoteArgoHooks(out, "p", "app")
	want := []string{
		"argo-cd-hook-ignored batch/Job/app/a Argo CD would run it as a hook (PreSync), and nothing here reads that: it is applied with the other objects",
		"argo-cd-hook-ignored package/p objects are applied in the order of their kinds, not of Argo CD's waves; wave -1: batch/Job/app/c; wave 10: batch/Job/app/b, batch/Job/app/d",
	}
	if got := notesOf(out); !slices.Equal(got, want) || len(out.Objects) != 5 {
		t.Errorf("got %q", got)
	}
}
