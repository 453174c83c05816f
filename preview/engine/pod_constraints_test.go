package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

const surroundings = `
apiVersion: v1
kind: Namespace
metadata: {name: surrounded, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: surrounded}
spec: {hard: {pods: "1"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: narrow, namespace: surrounded}
spec: {limits: [{type: Container, max: {memory: 64Mi}}]}
`

const surroundedImage = "example.com/op:v1@sha256:1111111111111111111111111111111111111111111111111111111111111111"

const surrounded = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: surrounded}
spec:
  replicas: 2
  selector: {matchLabels: {app: op}}
  template:
    metadata: {labels: {app: op}}
    spec: {containers: [{name: op, image: "` + surroundedImage + `", resources: {limits: {memory: 128Mi}}}]}
`

// A plan's facts about the namespace and the nodes of its pods come from the cluster: in
// a saved plan, none can be changed.
func TestSlowEveryLeafOfAPlanWithQuotasAndNodesIsRefusedOrNotShown(t *testing.T) {
	slowtest.Skip(t, "hundreds of tampered plans")
	_, p := planWithQuotasAndNodes(t)
	tamperEveryLeaf(t, p)
}

func TestQuotasAndNodesAreFindingsAndFacts(t *testing.T) {
	client, p := planWithQuotasAndNodes(t)
	for id, want := range map[string]string{
		"quota-refused/core/Namespace/-/surrounded":        "allows pods 1, and the plan needs 2",
		"pod-security-refused/core/Namespace/-/surrounded": "level restricted",
		"image-platform/apps/Deployment/surrounded/op":     "runs on linux/s390x, and pods may go to nodes of linux/",
	} {
		if f := findingOf(p, id); f == nil || !strings.Contains(f.Evidence, want) {
			t.Errorf("%s: want %q, got %+v", id, want, f)
		}
	}
	platformsMove(t, client, p)
}

func planWithQuotasAndNodes(t *testing.T) (engine.Cluster, *preview.Plan) {
	t.Helper()
	client := recorded(t, "quotas", surroundings).cluster("")
	release := preview.Release{Name: "op", Namespace: "surrounded"}
	content, err := planned.Prepare(release, planned.Material{
		Info:    format.Info{Package: "op"},
		Output:  &format.Output{Objects: []format.RenderedObject{{Body: parseAll(t, surrounded)[0]}}, Notes: []preview.Note{risk.PinnedNote("op", surroundedImage, []string{"linux/s390x"})}},
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes([]byte(surrounded))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, client, engine.Options{
		Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		Undo: &engine.PriorRevision{}, // none of what a failure leads to can be changed either
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, p
}

// platformsMove says of a plan that was applied in part that nodes of one platform came,
// and nodes of another went.
func platformsMove(t *testing.T, client engine.Cluster, p *preview.Plan) {
	t.Helper()
	readAgain(t, client, p)
	recorded := *p
	recorded.Reads = slices.DeleteFunc(slices.Clone(p.Reads), func(r preview.Read) bool { return strings.HasPrefix(r.ID, risk.NodesID("")) })
	recorded.Reads = append(recorded.Reads, preview.Read{ID: risk.NodesID("linux/s390x"), Fingerprint: "there"})
	moved, err := engine.StaleReads(t.Context(), &recorded, client)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"nodes/linux/s390x is gone since the review", " is new since the review"} {
		if !slices.ContainsFunc(moved, func(m string) bool { return strings.HasPrefix(m, "nodes/linux/") && strings.HasSuffix(m, want) }) {
			t.Errorf("want %q, got %q", want, moved)
		}
	}
}
