package k8s_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// names makes names that no other test of this run has.
var names atomic.Int64

func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, names.Add(1)) }

// admin connects as the user who may do everything.
func admin(t testing.TB) *k8s.Client {
	t.Helper()
	return connect(t, sandboxtest.Start(t).Kubeconfig())
}

func connect(t testing.TB, kubeconfig string) *k8s.Client {
	t.Helper()
	c, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: kubeconfig, UserAgent: "kubectl-operator/test", PollInterval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// restricted connects as a new user with some rights: the rules of a Role in
// the namespace, in YAML.
func restricted(t testing.TB, c *k8s.Client, namespace, rules string) *k8s.Client {
	t.Helper()
	user := unique("user")
	create(t, c, fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s, namespace: %s}, rules: %s}", user, namespace, rules))
	create(t, c, fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s, namespace: %s},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %s}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]}`, user, namespace, user, user))
	return connect(t, sandboxtest.User(t, sandboxtest.Start(t), user))
}

// create writes a new object.
func create(t testing.TB, c *k8s.Client, text string) map[string]any {
	t.Helper()
	body, err := c.Apply(t.Context(), preview.DryRun{Body: parse(t, text)})
	if err != nil {
		t.Fatalf("creating %s: %v", preview.RefOf(parse(t, text)).ID(), err)
	}
	return body
}

// update is an apply pinned to the object as it is now. Controllers move the
// resourceVersion of some kinds, so that a refusal as changed is tried again.
func update(t testing.TB, c *k8s.Client, item preview.DryRun) (map[string]any, error) {
	t.Helper()
	for {
		live, err := c.Get(t.Context(), preview.RefOf(item.Body))
		if err != nil || live == nil {
			t.Fatalf("reading %s: %v, %v", preview.RefOf(item.Body).ID(), live, err)
		}
		item.UID, item.ResourceVersion = pin(live)
		body, err := c.Apply(t.Context(), item)
		if preview.ReasonOf(err) != preview.ReasonChanged || t.Context().Err() != nil {
			return body, err
		}
	}
}

func pin(body map[string]any) (uid, resourceVersion string) {
	return preview.String(body, "metadata", "uid"), preview.String(body, "metadata", "resourceVersion")
}

// newNamespace creates a namespace and waits for nothing: no test runs pods in it.
func newNamespace(t testing.TB, c *k8s.Client) string {
	t.Helper()
	name := unique("ns")
	create(t, c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name))
	return name
}

func configMap(namespace, name, data string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}, data: %s}", name, namespace, data)
}

// newKind creates a CRD and waits until its kind is served.
func newKind(t testing.TB, c *k8s.Client) (apiVersion string) {
	t.Helper()
	group := unique("group") + ".example"
	create(t, c, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              count: {type: integer, format: int64}
              ratio: {type: number}
              list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key], items: {type: object, required: [key], properties: {key: {type: string}}}}
`, group))
	apiVersion = group + "/v1"
	eventually(t, "the kind is served", func() bool {
		_, err := c.Kind(t.Context(), apiVersion, "Thing")
		if err != nil && preview.ReasonOf(err) != preview.ReasonNotServed {
			t.Fatal(err)
		}
		return err == nil
	})
	return apiVersion
}

// eventually waits for something the control plane does in its own time.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline.C:
			t.Fatalf("waited 30 s until %s", what)
		case <-tick.C:
		}
	}
}

// kubectl runs the real kubectl as another tool at work on the same objects.
func kubectl(t testing.TB, stdin string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), sandboxtest.Kubectl(t), append(args, "--kubeconfig", sandboxtest.Start(t).Kubeconfig())...)
	cmd.Stdin = strings.NewReader(stdin)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output.String())
	}
}

func requireReason(t testing.TB, err error, want preview.Reason) *preview.Refusal {
	t.Helper()
	var refusal *preview.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != want {
		t.Fatalf("got %v, want a refusal of reason %q", err, want)
	}
	return refusal
}

func TestClusterVersionsThatAClusterServes(t *testing.T) {
	slowtest.Skip(t, "tests against the embedded control plane")
	versions, err := admin(t).APIVersions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"v1", "v1/ConfigMap", "apps/v1", "apps/v1/Deployment", "apiextensions.k8s.io/v1/CustomResourceDefinition"} {
		if !slices.Contains(versions, want) {
			t.Errorf("%s is not among %d versions", want, len(versions))
		}
	}
	if !slices.IsSorted(versions) {
		t.Error("they are not in order")
	}
}
