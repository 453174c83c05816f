package access_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

var update = flag.Bool("update", false, "rewrite the tables from the API server")

func TestClusterBuiltInRolesAreThoseOfAnAPIServer(t *testing.T) {
	box := sandboxtest.Start(t)
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	target, err := client.Target(t.Context())
	if err != nil || !strings.HasPrefix(target.Version, access.BuiltInVersion+".") {
		t.Fatalf("the API server is %s, the table %s (%v)", target.Version, access.BuiltInVersion, err)
	}
	var roles []map[string]any
	for _, kind := range []string{"ClusterRole", "Role"} {
		list, err := client.List(t.Context(), "rbac.authorization.k8s.io/v1", kind, "", "kubernetes.io/bootstrapping=rbac-defaults")
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range list {
			roles = append(roles, access.Essence(body))
		}
	}
	slices.SortFunc(roles, func(a, b map[string]any) int {
		return strings.Compare(preview.RefOf(a).ID(), preview.RefOf(b).ID())
	})
	holdTable(t, "builtin.json", roles)
	holdTable(t, "bindings.json", defaultBindings(t, client))
	discovery, err := client.Served(t.Context())
	if err != nil || len(discovery.Unanswered) > 0 {
		t.Fatalf("unanswered %v, %v", discovery.Unanswered, err)
	}
	holdTable(t, "served.json", discovery.Served)
	if *update {
		return
	}
	bindings, err := client.List(t.Context(), "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "")
	account := map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "op", "namespace": "app"}}
	if held, far := access.RelevantBindings([]map[string]any{account}, bindings, roles); err != nil || len(held)+len(far) > 0 {
		t.Errorf("a new account already holds something: %v, %v", held, err)
	}
	if len(access.BuiltIn()) != len(roles) || len(roles) < 50 {
		t.Errorf("%d roles in the table, %d in the cluster", len(access.BuiltIn()), len(roles))
	}
}

// defaultBindings are the bindings that an API server makes at its start.
func defaultBindings(t *testing.T, client *k8s.Client) []map[string]any {
	t.Helper()
	var bindings []map[string]any
	for _, kind := range []string{"ClusterRoleBinding", "RoleBinding"} {
		list, err := client.List(t.Context(), "rbac.authorization.k8s.io/v1", kind, "", "kubernetes.io/bootstrapping=rbac-defaults")
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range list {
			if len(preview.List(body, "subjects")) > 0 {
				bindings = append(bindings, access.Essence(body))
			}
		}
	}
	slices.SortFunc(bindings, func(a, b map[string]any) int {
		return strings.Compare(preview.RefOf(a).ID(), preview.RefOf(b).ID())
	})
	if len(bindings) < 20 {
		t.Fatalf("%d bindings with subjects", len(bindings))
	}
	return bindings
}

// holdTable compares a table of ours with what an API server has, or writes it.
func holdTable[T any](t *testing.T, name string, rows []T) {
	t.Helper()
	var data bytes.Buffer
	data.WriteString("[\n")
	for i, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		data.Write(line)
		if i < len(rows)-1 {
			data.WriteByte(',')
		}
		data.WriteByte('\n')
	}
	data.WriteString("]\n")
	if *update {
		if err := os.WriteFile(name, data.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, data.Bytes()) {
		t.Errorf("%s is not what this API server has; run the test with -update and read the difference", name)
	}
}
