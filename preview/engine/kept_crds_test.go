package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

const (
	keptDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.kept.example.com},
spec: {group: kept.example.com, scope: Namespaced, names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}, versions: [
{name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}},
{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}},
{name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]}}`
	settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {version: %q}}\n"

	keptID = "crd-kept/apiextensions.k8s.io/CustomResourceDefinition/-/gadgets.kept.example.com"
	// whoReads may read and apply what the upgrade consists of, and list no object of
	// the definition.
	whoReads = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kept-reader}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get]}
- {apiGroups: [""], resources: [namespaces, configmaps], verbs: [get, list, create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kept-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kept-reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: kept-reader}]
`
)

func gadget(name string) string {
	return fmt.Sprintf("{apiVersion: kept.example.com/v1, kind: Gadget, metadata: {name: %s, namespace: default}}\n", name)
}

// A definition that the new version does not have stays, and so do its objects: the
// review says which versions it serves and how many objects there are. That number is
// told to who reviews now and to no other user.
func TestClusterDefinitionThatLeavesThePackageIsSaidWithItsObjects(t *testing.T) {
	box := sandboxtest.Start(t)
	before := plainContent(t, keptDefinition+"\n---\n"+fmt.Sprintf(settings, "1"))
	applyDefinitions(t, box, before)
	apply(t, box, gadget("one")+"---\n"+gadget("two")+"---\n"+gadget("three")+"---\n"+whoReads)
	after := plainContent(t, fmt.Sprintf(settings, "2"))
	opts := engine.Options{
		Tool: "test", Release: plainRelease, Request: preview.Request{Action: preview.RequestUpgrade}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		Installed: engine.Installed{Base: preview.Base{Revision: 1, Digest: preview.HashBytes([]byte("1"))}},
	}
	for i := range before.Objects {
		opts.Installed.Members = append(opts.Installed.Members, engine.InstalledObject{Ref: before.Objects[i].Ref(), Package: "widgets"})
	}
	plan := func(cluster engine.Cluster) *preview.Plan {
		t.Helper()
		p, err := engine.Build(t.Context(), []planned.Content{after}, cluster, opts)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	checkEvidence := func(p *preview.Plan, evidence, counted string) {
		t.Helper()
		f := findingOf(p, keptID)
		if f == nil || f.Severity != preview.Info || !strings.HasSuffix(f.Evidence, evidence) || f.Counted != counted {
			t.Errorf("want %q and %q, got %+v", evidence, counted, f)
		}
	}
	client := connected(t, box)
	p := plan(client)
	checkEvidence(p, ": serves v1beta1, v1", "3 objects are stored")
	if o := p.Object("apiextensions.k8s.io/CustomResourceDefinition/-/gadgets.kept.example.com"); o == nil || o.Action != preview.ActionKeep {
		t.Errorf("got %+v", o)
	}
	shown, _, err := engine.Verify(reload(t, encode(t, p)), k8s.NewSchemas())
	if err != nil {
		t.Fatal(err)
	}
	checkEvidence(shown, ": serves v1beta1, v1", "")

	apply(t, box, gadget("four"))
	more := plan(client)
	checkEvidence(more, ": serves v1beta1, v1", "4 objects are stored")
	if more.Digest != p.Digest || findingOf(more, keptID).Fingerprint != findingOf(p, keptID).Fingerprint {
		t.Errorf("one more object moved %v", engine.FactChanges(p, more, k8s.NewSchemas()))
	}
	again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
	if err != nil || again.Digest != p.Digest {
		t.Errorf("planned again: %v, %v", err, engine.FactChanges(p, again, k8s.NewSchemas()))
	}
	checkEvidence(plan(as(t, box, "kept-reader")), ": serves v1beta1, v1", "how many objects are stored is unknown: they may not be listed")

	compared, err := engine.Compare([]planned.Content{after}, []planned.Content{before}, preview.Baseline{Package: "widgets"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	checkEvidence(compared, ": serves v1beta1, v1", "")
}
