package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func TestForeignNamespaces(t *testing.T) {
	plan := func(format string, namespaces ...string) *preview.Plan {
		p := &preview.Plan{Release: preview.Release{Name: "demo", Namespace: "demo"}, Packages: []preview.Package{{Name: "demo", Format: format}}}
		for i, namespace := range namespaces {
			ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: fmt.Sprintf("c%02d", i)}
			p.Objects = append(p.Objects, preview.Object{ID: ref.ID(), Package: "demo", Kind: ref.Kind, Namespace: namespace, Name: ref.Name, Planned: map[string]any{}})
		}
		return p
	}
	gone := plan("plain+v0", "kube-system")
	gone.Objects[0].Planned = nil
	many := make([]string, maxForeign+2)
	for i := range many {
		many[i] = "kube-system"
	}
	for _, tt := range []struct {
		name string
		plan *preview.Plan
		want []string // object, title, last line of the evidence
	}{
		{"the namespace of the release is expected", plan("external/x", "demo", ""), nil},
		{"another is not", plan("external/x", "demo", "kube-system"), []string{"core/Namespace/-/kube-system, one object goes into namespace kube-system, core/ConfigMap/kube-system/c01"}},
		{"each is told once", plan("helm", "b", "a", "b"), []string{
			"core/Namespace/-/a, one object goes into namespace a, core/ConfigMap/a/c01",
			"core/Namespace/-/b, 2 objects go into namespace b, core/ConfigMap/b/c02",
		}},
		{"install modes decide for registry+v1", plan("registry+v1", "kube-system"), nil},
		{"what is removed goes nowhere", gone, nil},
		{"a long list is cut", plan("plain+v0", many...), []string{"core/Namespace/-/kube-system, 52 objects go into namespace kube-system, and 2 more"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range (foreignNamespaces{}).findings(&decidedPlan{plan: tt.plan}) {
				got = append(got, strings.Join([]string{f.Object, f.Title, f.Pieces[len(f.Pieces)-1].Text}, ", "))
				if f.Severity != preview.Warning || f.Rule != rules.ForeignNamespace.Name {
					t.Errorf("%+v", f)
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}
