package k8s_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestClusterCreateMakesAnAbsentObjectOurs(t *testing.T) {
	c := admin(t)
	body := create(t, c, configMap(newNamespace(t, c), "a", "{k: v}"))
	fields, err := (&preview.Object{}).OwnedFields(body)
	if err != nil || !strings.Contains(fields.String(), ".data.k") {
		t.Errorf("our manager owns %v, %v", fields, err)
	}
}

func TestClusterCreateIsRefusedWhenSomebodyMadeTheObject(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	kubectl(t, configMap(namespace, "a", "{theirs: x}"), "apply", "--server-side", "-f", "-")
	_, err := c.Apply(t.Context(), preview.DryRun{Body: parse(t, configMap(namespace, "a", "{k: v}")), Force: true})
	_ = requireReason(t, err, preview.ReasonChanged)
	live, err := c.Get(t.Context(), preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "a"})
	if err != nil || preview.Value(live, "data", "k") != nil {
		t.Errorf("it was merged: %v, %v", live["data"], err)
	}
}

func TestClusterOfTwoCreatesOneWins(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	results := make(chan error, 2)
	for _, holder := range []string{"one", "two"} {
		body := parse(t, fmt.Sprintf("{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: lock, namespace: %s}, spec: {holderIdentity: %s}}", namespace, holder))
		go func() {
			_, err := c.Apply(t.Context(), preview.DryRun{Body: body})
			results <- err
		}()
	}
	reasons := []preview.Reason{preview.ReasonOf(<-results), preview.ReasonOf(<-results)}
	slices.Sort(reasons)
	if !slices.Equal(reasons, []preview.Reason{"", preview.ReasonChanged}) {
		t.Errorf("the two ended as %q", reasons)
	}
}

func TestClusterUpdateIsPinnedToTheObjectThatWasRead(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "a"}
	item := preview.DryRun{Body: parse(t, configMap(namespace, "a", "{k: new}"))}

	item.UID, item.ResourceVersion = pin(create(t, c, configMap(namespace, "a", "{k: old, gone: x}")))
	updated, err := c.Apply(t.Context(), item)
	if err != nil || preview.String(updated, "data", "k") != "new" || preview.Value(updated, "data", "gone") != nil {
		t.Fatalf("got %v, %v", updated["data"], err)
	}
	if managed := fmt.Sprint(preview.Value(updated, "metadata", "managedFields")); strings.Contains(managed, "f:uid") || strings.Contains(managed, "f:resourceVersion") {
		t.Errorf("the preconditions became managed fields: %s", managed)
	}

	_, err = c.Apply(t.Context(), item) // the resourceVersion has moved
	_ = requireReason(t, err, preview.ReasonChanged)

	item.UID, item.ResourceVersion = pin(updated)
	if _, err := c.Delete(t.Context(), ref, item.UID, item.ResourceVersion, preview.Background); err != nil {
		t.Fatal(err)
	}
	_, err = c.Apply(t.Context(), item) // the object is gone
	_ = requireReason(t, err, preview.ReasonChanged)
	if live, err := c.Get(t.Context(), ref); live != nil || err != nil {
		t.Errorf("the deleted object came back: %v, %v", live, err)
	}

	item.ResourceVersion = ""
	if _, err := c.Apply(t.Context(), item); err == nil || !strings.Contains(err.Error(), "go together") {
		t.Errorf("a uid without resourceVersion was sent: %v", err)
	}
}

func TestClusterDeleteIsPinnedToTheObjectThatWasRead(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "a"}
	uid, version := pin(create(t, c, configMap(namespace, "a", "{}")))
	_, err := c.Delete(t.Context(), ref, "another", version, preview.Background)
	_ = requireReason(t, err, preview.ReasonChanged)
	_, err = c.Delete(t.Context(), ref, uid, "1", preview.Background)
	_ = requireReason(t, err, preview.ReasonChanged)
	if gone, err := c.Delete(t.Context(), ref, uid, version, preview.Background); err != nil || !gone {
		t.Fatalf("gone is %t: %v", gone, err)
	}
	_, err = c.Delete(t.Context(), ref, uid, version, preview.Background)
	_ = requireReason(t, err, preview.ReasonNotFound)
	if _, err := c.Delete(t.Context(), ref, "", "", preview.Background); err == nil {
		t.Error("a delete without preconditions was sent")
	}

	role := preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: unique("missing")}
	_, err = c.Delete(t.Context(), role, "a", "2", preview.Background)
	_ = requireReason(t, err, preview.ReasonNotFound)
	missing := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: unique("missing")}
	_, err = c.Delete(t.Context(), missing, "a", "2", preview.Background)
	_ = requireReason(t, err, preview.ReasonNotFound)
}

func TestClusterDeleteInTheForegroundLeavesTheObjectUntilItsDependentsAreGone(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "a"}
	body := create(t, c, configMap(namespace, "a", "{}"))
	uid, version := pin(body)
	create(t, c, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: child, namespace: %s, finalizers: [example.com/hold], ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: %s, blockOwnerDeletion: true}]}}", namespace, uid))
	if _, err := c.Delete(t.Context(), ref, uid, version, preview.Foreground); err != nil {
		t.Fatal(err)
	}
	live, err := c.Get(t.Context(), ref)
	if err != nil || !slices.Contains(preview.List(live, "metadata", "finalizers"), any("foregroundDeletion")) {
		t.Errorf("got %v, %v", live["metadata"], err)
	}
}

func TestClusterConflictNamesManagersAndPaths(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	kubectl(t, configMap(namespace, "a", "{contested: theirs, also: theirs, same: x}"), "apply", "--server-side", "--field-manager=helm", "-f", "-")
	item := preview.DryRun{Body: parse(t, configMap(namespace, "a", "{contested: ours, also: ours, same: x}"))}
	_, err := update(t, c, item)
	refusal := requireReason(t, err, preview.ReasonConflict)
	want := []preview.Conflict{{Manager: "helm", Path: ".data.also"}, {Manager: "helm", Path: ".data.contested"}}
	if !slices.Equal(refusal.Conflicts, want) {
		t.Errorf("got %v, want %v", refusal.Conflicts, want)
	}
	item.Force = true
	if body, err := update(t, c, item); err != nil || preview.String(body, "data", "contested") != "ours" {
		t.Errorf("forced: %v, %v", body["data"], err)
	}
}

func TestClusterConflictWithTheScaleSubresourceNamesItsManager(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	text := strings.Replace(deployment(""), "namespace: default", "namespace: "+namespace, 1)
	create(t, c, strings.Replace(text, "spec:\n", "spec:\n  replicas: 1\n", 1))
	// Not to 0: the scale subresource leaves that out, and records no manager.
	kubectl(t, "", "scale", "deployment/web", "--replicas=3", "-n", namespace)
	_, err := update(t, c, preview.DryRun{Body: parse(t, strings.Replace(text, "spec:\n", "spec:\n  replicas: 1\n", 1))})
	refusal := requireReason(t, err, preview.ReasonConflict)
	if !slices.Equal(refusal.Conflicts, []preview.Conflict{{Manager: filepath.Base(sandboxtest.Kubectl(t)), Path: ".spec.replicas"}}) {
		t.Errorf("got %v from %q", refusal.Conflicts, refusal.Message)
	}
}

func TestClusterDryRunAnswersInOrderAndPersistsNothing(t *testing.T) {
	c := admin(t)
	sb := sandboxtest.Start(t)
	namespace := newNamespace(t, c)
	old := create(t, c, configMap(namespace, "old", "{k: before}"))
	uid, version := pin(old)
	before := len(sandboxtest.Mutations(t, sb, sandboxtest.Admin))
	results := c.DryRun(t.Context(), []preview.DryRun{
		{Body: parse(t, configMap(namespace, "new", "{k: v}"))},
		{Body: parse(t, configMap(namespace, "old", "{k: after}")), UID: uid, ResourceVersion: version},
		{Body: parse(t, configMap(namespace, "old", "{k: after}"))},
		{Body: parse(t, "{apiVersion: gone.example/v1, kind: Thing, metadata: {name: a, namespace: a}}")},
		{Body: parse(t, fmt.Sprintf("{apiVersion: v1, kind: Endpoints, metadata: {name: a, namespace: %s}}", namespace))},
	})
	if results[0].Err != nil || preview.String(results[0].Body, "data", "k") != "v" {
		t.Errorf("create: %+v", results[0])
	}
	if results[1].Err != nil || preview.String(results[1].Body, "data", "k") != "after" {
		t.Errorf("update: %+v", results[1])
	}
	_ = requireReason(t, results[2].Err, preview.ReasonChanged)
	_ = requireReason(t, results[3].Err, preview.ReasonNotServed)
	if !slices.ContainsFunc(results[4].Warnings, func(w string) bool { return strings.Contains(w, "deprecated") }) {
		t.Errorf("the server's warning is lost: %+v", results[4])
	}
	if mutations := sandboxtest.Mutations(t, sb, sandboxtest.Admin)[before:]; len(mutations) > 0 {
		t.Errorf("persisted: %v", mutations)
	}
}

func TestClusterIntegersStayExactOnEveryWay(t *testing.T) {
	c := admin(t)
	namespace, apiVersion := newNamespace(t, c), newKind(t, c)
	text := func(name string, count int64) string {
		return fmt.Sprintf("{apiVersion: %s, kind: Thing, metadata: {name: %s, namespace: %s}, spec: {count: %d, ratio: 1.5}}", apiVersion, name, namespace, count)
	}
	const odd = int64(9007199254740993) // a double would be …992
	created := create(t, c, text("a", odd))
	ref := preview.RefOf(created)
	read, err := c.Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := c.List(t.Context(), apiVersion, "Thing", namespace, "")
	if err != nil || len(listed) != 1 {
		t.Fatalf("listed %d objects, %v", len(listed), err)
	}
	uid, version := pin(read)
	dry := c.DryRun(t.Context(), []preview.DryRun{{Body: parse(t, text("a", odd)), UID: uid, ResourceVersion: version}})[0]
	if dry.Err != nil {
		t.Fatal(dry.Err)
	}
	for way, body := range map[string]map[string]any{"apply": created, "get": read, "list": listed[0], "dry run": dry.Body} {
		if got := preview.Value(body, "spec", "count"); got != odd {
			t.Errorf("%s returned %v of type %T", way, got, got)
		}
		if got := preview.Value(body, "spec", "ratio"); got != 1.5 {
			t.Errorf("%s returned ratio %v", way, got)
		}
		if _, err := preview.Canonical(body); err != nil {
			t.Errorf("%s returned a body without canonical form: %v", way, err)
		}
	}
	next, err := update(t, c, preview.DryRun{Body: parse(t, text("a", odd-1))})
	if err != nil || preview.Value(next, "spec", "count") != odd-1 {
		t.Errorf("…993 and …992 are one to the server: %v, %v", preview.Value(next, "spec"), err)
	}
}
