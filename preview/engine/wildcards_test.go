package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// planFrom plans documents as a release and in a namespace of that name, against
// a cluster, or offline when that is nil.
func planFrom(t *testing.T, cluster engine.Cluster, name, docs string) *preview.Plan {
	t.Helper()
	release := preview.Release{Name: name, Namespace: name}
	content, err := planned.Prepare(release, material(t, docs))
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, cluster, engine.Options{
		Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const wildcards = `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: wild-op}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: wild-op}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: wild-op}, subjects: [{kind: ServiceAccount, name: op, namespace: wild}]}
`

// A plan expands wildcards with the resources of its cluster. It moves no digest, and of
// a saved plan no one can vouch for it: whatever the file says, what is shown is
// recomputed from what is built in.
func TestWildcardsAreExpandedAgainstTheCluster(t *testing.T) {
	client := recorded(t, "wildcards", "").cluster("")
	p := planFrom(t, client, "wild", wildcards)
	w := p.Access.Wildcards
	if w == nil || w.Against != preview.AgainstCluster || w.Why != "" || len(w.Meanings) != 1 {
		t.Fatalf("%+v", w)
	}
	m := w.Meanings[0]
	if m.Count < 80 || len(m.Dangerous) == 0 || m.Dangerous[0].Resource != "secrets" || strings.Join(m.Dangerous[0].Verbs, " ") != "get" {
		t.Errorf("%d reached, dangerous %+v", m.Count, m.Dangerous)
	}
	again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
	if err != nil || again.Digest != p.Digest {
		t.Errorf("planned again: %v, %v", err, engine.FactChanges(p, again, k8s.NewSchemas()))
	}
	files := unpack(t, encode(t, p))
	verified, _, err := engine.Verify(reload(t, pack(t, files)), k8s.NewSchemas())
	if err != nil || verified.Access.Wildcards.Against != preview.AgainstBuiltIn {
		t.Fatalf("%v, %+v", err, verified)
	}
	want := show(t, verified)
	whole, _ := parse(t, files["plan.json"]).(map[string]any)
	stored := preview.Map(whole, "access")["wildcards"]
	for i := range countLeaves(stored) {
		altered, path := alterLeaf(stored, i)
		preview.Map(whole, "access")["wildcards"] = altered
		data, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		files["plan.json"] = data
		loaded, err := planfile.Decode(bytes.NewReader(pack(t, files)))
		if err != nil {
			continue
		}
		var refusal *engine.RefusedError
		if got, _, err := engine.Verify(loaded, k8s.NewSchemas()); !errors.As(err, &refusal) && (err != nil || show(t, got) != want) {
			t.Fatalf("access.wildcards.%s was changed, and is shown (%v)", path, err)
		}
		if i > 40 {
			break // of the hundreds that follow each is like the one before
		}
	}
}

// silent is a cluster that refuses to tell this user what it serves.
type silent struct {
	*k8s.Client
	refused *k8s.Client
}

func (s silent) Served(ctx context.Context) (preview.Discovery, error) { return s.refused.Served(ctx) }

const broken = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.broken.example.com}
spec: {group: broken.example.com, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, service: {namespace: default, name: nothing}}
`

// The plan names APIs that it could not ask for: all of them, or one whose own server is
// down.
func TestClusterWildcardsOfAClusterThatDoesNotTell(t *testing.T) {
	box := sandboxtest.Start(t)
	client := connected(t, box)
	config, err := clientcmd.LoadFromFile(box.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:anonymous"
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	nobody, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	w := planFrom(t, silent{client, nobody}, "wild", wildcards).Access.Wildcards
	if w == nil || w.Against != preview.AgainstBuiltIn || w.Version == "" || w.Why == "" || w.Meanings[0].Count < 80 {
		t.Errorf("%+v", w)
	}
	if text := words.DiscoveryText(w); !strings.Contains(text, "the cluster could not be asked") {
		t.Error(text)
	}
	service := parseAll(t, broken)[0]
	if _, err := client.Apply(t.Context(), preview.DryRun{Body: service}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, box, "apiregistration.k8s.io/v1", "apiservices", "", "v1beta1.broken.example.com") })
	deadline := time.Now().Add(time.Minute)
	for {
		found, err := client.Served(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(found.Unanswered, "broken.example.com/v1beta1") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a minute later %v", found.Unanswered)
		}
	}
	w = planFrom(t, client, "wild", wildcards).Access.Wildcards
	if w.Against != preview.AgainstCluster || !slices.Contains(w.Unanswered, "broken.example.com/v1beta1") {
		t.Errorf("%+v", w)
	}
}

// remove deletes an object of a test.
func remove(t *testing.T, box *sandbox.Sandbox, apiVersion, resource, namespace, name string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", box.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	group, version, _ := strings.Cut(apiVersion, "/")
	err = dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).
		Namespace(namespace).Delete(context.Background(), name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
