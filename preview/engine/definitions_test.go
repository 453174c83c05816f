package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// topics are stored under the definitions of 0.51.0, which take them all.
const topics = `
apiVersion: v1
kind: Namespace
metadata: {name: kafka}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: good, namespace: kafka}
spec: {partitions: 1, replicas: 1}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: without-spec, namespace: kafka}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnect
metadata: {name: old-style, namespace: kafka}
spec:
  bootstrapServers: "kafka:9092"
  config: {group.id: a, offset.storage.topic: b, config.storage.topic: c, status.storage.topic: d}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaBridge
metadata: {name: traced, namespace: kafka}
spec:
  replicas: 1
  bootstrapServers: "kafka:9092"
  http: {port: 8080}
  tracing: {type: jaeger}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaBridge
metadata: {name: fine, namespace: kafka}
spec: {replicas: 1, bootstrapServers: "kafka:9092", http: {port: 8080}}
`

// Strimzi 1.0.0 takes v1beta2 away. Planned over 0.51.0 with stored objects, the review
// names the ones that would break, and why; a recomputation from the saved bodies, and a
// new plan, give the same.
func TestClusterUpgradeOfStrimziNamesTheStoredObjectsThatWouldBreak(t *testing.T) {
	dir := corpustest.Dir(t, "bundles", "strimzi-kafka-operator")
	box := sandboxtest.Borrow(t)
	before, _ := strimzi(t, dir+"/0.51.0")
	applyDefinitions(t, box, before)
	client := connected(t, box)
	for _, body := range parseAll(t, topics) {
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: body}); err != nil {
			t.Fatalf("storing %s: %v", preview.RefOf(body).ID(), err)
		}
	}
	after, release := strimzi(t, dir+"/1.0.0")
	p, err := engine.Build(t.Context(), []planned.Content{after}, client, engine.Options{
		Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]map[string]string{
		"crd-stored-objects-break": {
			"kafkatopics":   "1 of 2 objects: kafka/without-spec (as v1: spec: is required)",
			"kafkaconnects": "1 of 1 objects: kafka/old-style (as v1: spec.configStorageTopic: is required, as v1: spec.groupId: is required,",
			"kafkabridges":  "1 of 2 objects: kafka/traced (as v1: spec.tracing.type: should be one of [opentelemetry])",
		},
		"crd-stored-version-removed": {"kafkas": "v1beta2 stored version defined → none", "kafkatopics": "v1beta2 stored version defined → none"},
		"crd-version-not-served":     {"kafkatopics": "v1alpha1 version served → none; v1beta1 version served → none"},
	} {
		for plural, text := range want {
			id := rule + "/apiextensions.k8s.io/CustomResourceDefinition/-/" + plural + ".kafka.strimzi.io"
			if f := findingOf(p, id); f == nil || !strings.Contains(f.Evidence, text) {
				t.Errorf("%s: want %q, got %+v", id, text, f)
			}
		}
	}
	for _, f := range p.Findings {
		if f.Rule == "crd-stored-objects-break" && (f.Severity != preview.Critical || strings.Contains(f.Evidence, "good") || strings.Contains(f.Evidence, "kafka/fine")) {
			t.Errorf("%+v", f)
		}
		if f.Rule == "crd-stored-objects-unchecked" {
			t.Errorf("unchecked: %s", f.Evidence)
		}
	}
	if _, _, err := engine.Verify(p, k8s.NewSchemas()); err != nil {
		t.Errorf("recomputed: %v", err)
	}
	again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
	if err != nil || again.Digest != p.Digest {
		t.Errorf("planned again: %v, %v", err, engine.FactChanges(p, again, k8s.NewSchemas()))
	}
	// One more object that breaks moves the digest; one more that fits does not.
	store := func(name, spec string) *preview.Plan {
		text := fmt.Sprintf("{apiVersion: kafka.strimzi.io/v1beta2, kind: KafkaRebalance, metadata: {name: %s, namespace: kafka}%s}", name, spec)
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: parseAll(t, text)[0]}); err != nil {
			t.Fatal(err)
		}
		now, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	if now := store("fits", ", spec: {goals: [a]}"); now.Digest != p.Digest {
		t.Errorf("an object that fits moved %v", engine.FactChanges(p, now, k8s.NewSchemas()))
	}
	if now := store("breaks", ""); now.Digest == p.Digest {
		t.Error("an object that breaks moved nothing")
	}
	objectsThatMayNotBeListed(t, box, after, release)
}

// reader may read and apply definitions, and list no object of them.
const reader = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: definitions-only}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list, create, patch]}
- {apiGroups: [""], resources: [namespaces], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: definitions-only}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: definitions-only}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: definitions-only}]
`

// Who may not list the objects is told so for each definition, and the rest of
// the review stands.
func objectsThatMayNotBeListed(t *testing.T, box *sandbox.Sandbox, content planned.Content, release preview.Release) {
	t.Helper()
	admin := connected(t, box)
	for _, body := range parseAll(t, reader) {
		if _, err := admin.Apply(t.Context(), preview.DryRun{Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sandboxtest.User(t, box, "definitions-only")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, client, engine.Options{
		Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
	if err != nil {
		t.Fatal(err)
	}
	f := findingOf(p, "crd-stored-objects-unchecked/apiextensions.k8s.io/CustomResourceDefinition/-/kafkatopics.kafka.strimzi.io")
	if f == nil || f.Severity != preview.NotKnown || !strings.HasSuffix(f.Evidence, ": its objects may not be listed") {
		t.Errorf("got %+v", f)
	}
	if f := findingOf(p, "crd-stored-version-removed/apiextensions.k8s.io/CustomResourceDefinition/-/kafkatopics.kafka.strimzi.io"); f == nil {
		t.Error("the rest is not judged")
	}
}

func findingOf(p *preview.Plan, id string) *preview.Finding {
	for i := range p.Findings {
		if p.Findings[i].ID == id {
			return &p.Findings[i]
		}
	}
	return nil
}

func strimzi(t *testing.T, dir string) (planned.Content, preview.Release) {
	t.Helper()
	content, release, err := contentOf(t, dir, format.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return content, release
}

func connected(t *testing.T, box *sandbox.Sandbox) *k8s.Client {
	t.Helper()
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// applyDefinitions applies the content's definitions and waits until they are
// established.
func applyDefinitions(t *testing.T, box *sandbox.Sandbox, content planned.Content) {
	t.Helper()
	client := connected(t, box)
	waiting := map[string]bool{}
	var refs []preview.Ref
	for i := range content.Objects {
		o := &content.Objects[i]
		if o.Kind != "CustomResourceDefinition" {
			continue
		}
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: o.Planned}); err != nil {
			t.Fatal(err)
		}
		waiting[o.Name] = true
		refs = append(refs, o.Ref())
		defer untilServed(t, client, o.Planned)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := client.Observe(ctx, refs, func(ref preview.Ref, body map[string]any, _ error) {
		for _, condition := range preview.Maps(preview.Map(body, "status"), "conditions") {
			if condition["type"] == "Established" && condition["status"] == "True" {
				delete(waiting, ref.Name)
			}
		}
		if len(waiting) == 0 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// untilServed waits until discovery knows every served version of a definition,
// which it does a moment after the definition is established.
func untilServed(t *testing.T, client *k8s.Client, definition map[string]any) {
	t.Helper()
	spec := preview.Map(definition, "spec")
	for _, version := range preview.Maps(spec, "versions") {
		if served, _ := version["served"].(bool); !served {
			continue
		}
		apiVersion, kind := preview.String(spec, "group")+"/"+preview.String(version, "name"), preview.String(spec, "names", "kind")
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			_, err := client.Kind(t.Context(), apiVersion, kind)
			if err == nil {
				break
			}
			if preview.ReasonOf(err) != preview.ReasonNotServed || time.Now().After(deadline) {
				t.Fatalf("waiting for %s of %s: %v", kind, apiVersion, err)
			}
		}
	}
}

func parseAll(t testing.TB, text string) []map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, doc := range docs {
		out = append(out, doc.(map[string]any))
	}
	return out
}
