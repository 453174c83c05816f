package preview

import (
	"slices"
	"testing"
)

func TestHooksAreStagesOfTheirOwnByWeight(t *testing.T) {
	object := func(apiVersion, kind, name string, hook *Hook) Object {
		o := Object{APIVersion: apiVersion, Kind: kind, Namespace: "x", Name: name, Action: ActionCreate, Hook: hook}
		o.ID = o.Ref().ID()
		return o
	}
	pre := func(weight int) *Hook { return &Hook{Phase: HookPre, Weight: weight} }
	gone := object("batch/v1", "Job", "gone", pre(9))
	gone.Action = ActionDelete
	stages := BuildStages([]Object{
		object("apps/v1", "Deployment", "d", nil),
		object("v1", "ServiceAccount", "s", nil),
		object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "c", nil),
		object("v1", "Namespace", "x", nil),
		object("batch/v1", "Job", "after", &Hook{Phase: HookPost}),
		object("batch/v1", "Job", "b", pre(5)),
		object("batch/v1", "Job", "a", pre(-5)),
		object("v1", "ServiceAccount", "for-a", pre(-5)),
		gone,
	}, "")
	var got []string
	for i, s := range stages {
		got = append(got, s.ID)
		if i > 0 && !slices.Equal(s.Requires, []string{stages[i-1].ID}) {
			t.Errorf("%s requires %v", s.ID, s.Requires)
		}
		if s.Timeout == "" {
			t.Errorf("%s has no timeout", s.ID)
		}
	}
	want := []string{"namespaces", "crds", "hooks-pre", "hooks-pre-2", "identity", "deploy", "hooks-post", "prune"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if first := stages[2].Objects; !slices.Equal(first, []string{"core/ServiceAccount/x/for-a", "batch/Job/x/a"}) {
		t.Errorf("the first hooks are %v", first)
	}
}

func TestALookupIsNamedSoThatItCanBeAskedAgain(t *testing.T) {
	for _, ref := range []Ref{
		{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "s"},
		{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n"},
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "system:node"},
		{APIVersion: "v1", Kind: "Node"},
	} {
		if got, err := ParseLookup(LookupName(ref)); err != nil || got != ref {
			t.Errorf("%v came back as %v, %v", ref, got, err)
		}
	}
}

func FuzzParseLookup(f *testing.F) {
	f.Add("v1/Secret/n/s")
	f.Add("apps/v1/Deployment/-/*")
	f.Add("../v1/x/y/z")
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := ParseLookup(text)
		if err != nil {
			return
		}
		if again, err := ParseLookup(LookupName(ref)); err != nil || again != ref {
			t.Errorf("%q is %v, and then %v, %v", text, ref, again, err)
		}
	})
}
