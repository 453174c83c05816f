package owners_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// counting counts what a cluster is asked, and has every object that it is asked for.
type counting struct{ questions int }

func (c *counting) Kind(context.Context, string, string) (bool, error) { return true, nil }

func (c *counting) Read(_ context.Context, refs []preview.Ref) []preview.ReadResult {
	c.questions += len(refs)
	var out []preview.ReadResult
	for _, ref := range refs {
		out = append(out, preview.ReadResult{Ref: ref, Body: map[string]any{
			"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace, "uid": "1"},
		}})
	}
	return out
}

func (c *counting) List(_ context.Context, apiVersion, kind, _, _ string, _ ...string) ([]map[string]any, error) {
	c.questions++
	return []map[string]any{{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "owner", "namespace": "tools"},
		"data": map[string]any{"spec": `{"labelValue":"owner"}`},
	}}, nil
}

// However many objects of an application are taken over, its owner is looked for once.
func TestTheOwnerOfManyObjectsIsLookedForOnce(t *testing.T) {
	for name, metadata := range map[string]string{
		"OLM":                   `{name: a%d, namespace: n, labels: {olm.owner: owner, olm.owner.namespace: tools}}`,
		"OLM v1":                `{name: a%d, namespace: n, labels: {olm.operatorframework.io/owner-name: owner}}`,
		"Flux":                  `{name: a%d, namespace: n, labels: {kustomize.toolkit.fluxcd.io/name: owner, helm.toolkit.fluxcd.io/name: owner}}`,
		"Argo CD's tracking id": `{name: a%[1]d, namespace: n, annotations: {argocd.argoproj.io/tracking-id: "owner:/ConfigMap:n/a%[1]d"}}`,
		"Argo CD's label":       `{name: a%d, namespace: n, labels: {argocd.argoproj.io/instance: owner}}`,
		"Carvel":                `{name: a%d, namespace: n, labels: {kapp.k14s.io/app: owner}}`,
		"a reference":           `{name: a%d, namespace: n, ownerReferences: [{apiVersion: example.com/v1, kind: App, name: owner, uid: "1"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &counting{}
			finder := owners.NewFinder(cluster, preview.Release{Name: "r", Namespace: "n"})
			first := 0
			for i := range 50 {
				text := fmt.Sprintf(metadata, i)
				values, err := preview.Decode([]byte("{apiVersion: v1, kind: ConfigMap, metadata: " + text + "}"))
				if err != nil {
					t.Fatal(err)
				}
				found, err := finder.Find(t.Context(), values[0].(map[string]any))
				if err != nil || found.None() {
					t.Fatalf("found %v, %v", found, err)
				}
				if first == 0 {
					first = cluster.questions
				}
			}
			if cluster.questions == 0 || cluster.questions != first {
				t.Errorf("%d questions for one object, %d for all", first, cluster.questions)
			}
		})
	}
}
