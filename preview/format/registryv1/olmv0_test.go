package registryv1

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// asOLMv0 renders a bundle of the test data as OLM v0 installs it.
func asOLMv0(t *testing.T, version, namespace string) map[string]map[string]any {
	t.Helper()
	in := format.Input{
		Content: os.DirFS(filepath.Join("..", "..", "..", "testdata", "bundles", "mongodb", version)),
		Release: preview.Release{Name: "mongodb", Namespace: namespace}, Info: format.Info{Package: "mongodb"},
	}
	out, err := OLMv0{Group: "group", Properties: []Property{
		{"olm.gvk", map[string]any{"group": "mongodb.example.com", "kind": "MongoDBCommunity", "version": "v1"}},
		{"olm.package", map[string]any{"packageName": "mongodb", "version": version}},
	}}.Render(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]map[string]any{}
	for _, o := range out.Objects {
		objects[preview.RefOf(o.Body).ID()] = o.Body
	}
	return objects
}

// The names and hashes are those that the real OLM (v0.40.0) gave the same bundle, which
// TestClusterOLMv0UpgradesAsPredicted compares for many.
func TestOLMv0NamesAndHashes(t *testing.T) {
	objects := asOLMv0(t, "1.10.0", "story-11")
	role := objects["rbac.authorization.k8s.io/Role/story-11/mongodb.v1.10.0-mongodb--ck0kSbHykVzqHIjxrXUA55E0B810BRLlrOhRQm"]
	owners := preview.Maps(role, "metadata", "ownerReferences")
	if len(owners) != 1 || preview.String(owners[0], "name") != "mongodb.v1.10.0" || owners[0]["uid"] != nil {
		t.Errorf("the role is %v", role)
	}
	deployment := objects["apps/Deployment/story-11/mongodb-operator"]
	labels := preview.Map(deployment, "metadata", "labels")
	if got := labels["olm.deployment-spec-hash"]; got != "7uD0N5Yb9sfUbDncOfznJ3MPLETjssd7ZkcXK5" {
		t.Errorf("the hash of the Deployment is %v", got)
	}
	for key, want := range map[string]string{
		"olm.owner": "mongodb.v1.10.0", "olm.owner.namespace": "story-11", "olm.owner.kind": "ClusterServiceVersion", "olm.managed": "true",
		"operators.coreos.com/mongodb.story-11": "",
	} {
		if got, has := labels[key]; !has || got != want {
			t.Errorf("the label %s is %v", key, got)
		}
	}
}

// OLM's own records are no part of the review.
func TestOLMv0RendersNoRecords(t *testing.T) {
	var kinds []string
	for id := range asOLMv0(t, "1.9.0", "shop") {
		kind, _, _ := strings.Cut(strings.SplitN(id, "/", 2)[1], "/")
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	want := []string{
		"ClusterRole", "ClusterRole", "ClusterRole", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Deployment",
		"Role", "Role", "RoleBinding", "RoleBinding", "RoleBinding", "Secret", "Service", "ServiceAccount", "ValidatingWebhookConfiguration",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("kinds = %v", kinds)
	}
}
