package engine_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// The two sections of a request: one with its own namespace and a definition, and one
// with what that defines.
const (
	operatorSection = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: zones.example.com}, spec: {group: example.com, scope: Cluster, names: {kind: Zone, plural: zones}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: operator}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: elsewhere, namespace: third}}`
	zonesSection = `{apiVersion: example.com/v1, kind: Zone, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: zones}}`
)

func sections(t *testing.T, texts ...string) []planned.Content {
	t.Helper()
	release := preview.Release{Name: "r", Namespace: "n"}
	var materials []planned.Material
	var bodies []map[string]any
	for i, text := range texts {
		m := material(t, text)
		m.Info.Package = []string{"operator", "zones"}[i]
		m.Output.Resolved.Section = &preview.Section{Package: "chart", Namespace: []string{"own", "n"}[i]}
		materials, bodies = append(materials, m), append(bodies, m.Output.Bodies()...)
	}
	var out []planned.Content
	for _, m := range materials {
		m.Beside = bodies
		content, err := planned.Prepare(release, m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, content)
	}
	return out
}

func planOfSections(t *testing.T, contents []planned.Content) *preview.Plan {
	t.Helper()
	p, err := engine.Build(t.Context(), contents, nil, engine.Options{
		Release: preview.Release{Name: "r", Namespace: "n"}, Schemas: k8s.NewSchemas(), Apply: preview.DefaultOptions(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestASectionHasANamespaceOfItsOwn(t *testing.T) {
	p := planOfSections(t, sections(t, operatorSection, zonesSection))
	for id, want := range map[string]string{
		"core/Namespace/-/own": "", "core/Namespace/-/n": "", "core/ServiceAccount/own/operator": "operator", "core/ConfigMap/n/zones": "zones",
		"example.com/Zone/-/a": "zones", // its definition is in the other section
	} {
		if o := p.Object(id); o == nil || o.Package != want || o.Action != preview.ActionCreate {
			t.Errorf("%s: got %+v, want one of package %q", id, o, want)
		}
	}
	if p.Object("core/Namespace/-/third") != nil {
		t.Error("a namespace is created that is no section's")
	}
	var foreign []string
	for _, f := range p.Findings {
		if f.Rule == rules.ForeignNamespace.Name {
			foreign = append(foreign, f.Object)
		}
	}
	if strings.Join(foreign, " ") != "core/Namespace/-/third" {
		t.Errorf("foreign are %q", foreign)
	}
}

func TestSlowEveryTamperedLeafOfAPlanOfSectionsIsRefusedOrNotShown(t *testing.T) {
	slowtest.Skip(t, "hundreds of tampered plans")
	tamperEveryLeaf(t, planOfSections(t, sections(t, operatorSection, zonesSection)))
}

func TestTwoSectionsWithOneObjectAreRefused(t *testing.T) {
	_, err := engine.Build(t.Context(), sections(t, operatorSection, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: operator, namespace: own}}"), nil,
		engine.Options{Release: preview.Release{Name: "r", Namespace: "n"}, Schemas: k8s.NewSchemas(), Apply: preview.DefaultOptions()})
	if err == nil || err.Error() != "packages operator and zones both bring core/ServiceAccount/own/operator" {
		t.Errorf("got %v", err)
	}
}
