package engine_test

import (
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

const goingKind = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: goings.going.example.com}, spec: {
  group: going.example.com, scope: Namespaced, names: {kind: Going, plural: goings, singular: going, listKind: GoingList},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}
`

// A kind that was served a moment ago, but whose definition is gone when its objects are
// read, is not served: the release's objects of it are gone, and the plan says so.
func TestClusterKindGoesBetweenTwoReads(t *testing.T) {
	box := sandboxtest.Start(t)
	client := connected(t, box)
	apply(t, box, goingKind)
	until := time.Now().Add(2 * time.Minute)
	for {
		_, err := client.Kind(t.Context(), "going.example.com/v1", "Going")
		if err == nil {
			break
		}
		if client.Refresh(); time.Now().After(until) {
			t.Fatal(err)
		}
	}
	remove(t, box, "apiextensions.k8s.io/v1", "customresourcedefinitions", "", "goings.going.example.com")
	ref := preview.Ref{APIVersion: "going.example.com/v1", Kind: "Going", Namespace: "default", Name: "a"}
	for preview.ReasonOf(client.Read(t.Context(), []preview.Ref{ref})[0].Err) != preview.ReasonNotServed {
		if time.Now().After(until) {
			t.Fatal("the kind is still served")
		}
	}
	for {
		served, err := connected(t, box).ServedVersion(t.Context(), "going.example.com", "Going")
		if err != nil || time.Now().After(until) {
			t.Fatalf("served as %q: %v", served, err)
		}
		if served == "" {
			break
		}
	}
	if _, err := client.Kind(t.Context(), ref.APIVersion, ref.Kind); err != nil {
		t.Fatalf("the client forgot the kind, and the test tests nothing: %v", err)
	}
	p, err := engine.Build(t.Context(), nil, client, engine.Options{
		Tool: "test", Release: preview.Release{Name: "going", Namespace: "default"}, Request: preview.Request{Action: preview.RequestUninstall},
		Installed: engine.Installed{Base: preview.Base{Revision: 1, Digest: "sha256:1"}, Members: []engine.InstalledObject{{Ref: ref, Package: "going"}}},
		Apply:     preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
	if err != nil || len(p.Objects) != 1 || !p.Objects[0].GoneWithKind() || len(p.Findings) == 0 || p.Findings[0].Rule != "kind-gone" {
		t.Errorf("planned: %v, %+v", err, p)
	}
}
