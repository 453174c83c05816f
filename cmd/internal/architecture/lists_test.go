package architecture

import (
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// wholeLists are the files that list objects of a cluster whole, and why.
var wholeLists = map[string]string{
	"preview/admission/configuration.go":        "webhooks and policies are few, and decoded by their types",
	"preview/engine/lookups.go":                 "the hash of a lookup is that of whole objects",
	"preview/engine/olm_migration.go":           "the Subscriptions of one namespace",
	"preview/flyte/read.go":                     "the quotas, policies and templates of projects, which are used whole",
	"preview/applier/kapp.go":                   "a label selects the objects of one app, which are compared whole",
	"preview/owners/owners.go":                  "a label selects the owners of one object",
	"install/history/history.go":                "records of one name",
	"install/rollout/pod_reader.go":             "the pods of one workload",
	"cmd/internal/planning/fetching.go":         "lookups of Helm templates, which see whole objects",
	"k8s/inspect.go":                            "the EndpointSlices of one Service",
	"cmd/internal/planning/cluster_catalogs.go": "a label selects catalogs, which are few",
	"cmd/internal/olmcluster/catalog.go":        "Subscriptions",
	"cmd/internal/olmcluster/upgrade.go":        "the objects of OLM in one namespace, and Subscriptions",
	"cmd/internal/olmcluster/subscription.go":   "the objects of OLM in one namespace",
}

// TestListsNameTheFieldsThatAreUsed requires each list of objects to name the fields
// used: other fields are not kept, which saves most of the memory in a large cluster.
func TestListsNameTheFieldsThatAreUsed(t *testing.T) {
	found := map[string]bool{}
	lists := 0
	eachSource(t, wholeRepository, func(path string, files *token.FileSet, file *ast.File) {
		path = filepath.ToSlash(path)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "List" || len(call.Args) < 5 {
				return true
			}
			if lists++; len(call.Args) > 5 {
				return true
			}
			if found[path] = true; wholeLists[path] == "" {
				t.Errorf("%s lists objects whole: name the fields that are used, or say in wholeLists why all are", files.Position(call.Pos()))
			}
			return true
		})
	})
	if lists < 20 {
		t.Fatalf("%d lists: they are not found", lists)
	}
	for _, path := range slices.Sorted(maps.Keys(wholeLists)) {
		if !found[path] {
			t.Errorf("%s lists nothing whole any more; take it out of wholeLists", path)
		}
	}
}
