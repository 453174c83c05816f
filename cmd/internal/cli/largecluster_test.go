package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// clusterSize is how much a cluster has that is not planned.
type clusterSize struct {
	rbac       int // roles and bindings
	crds       int
	releases   int
	nodes      int
	namespaces int
}

// largestCluster is the largest cluster that a plan is measured against.
func largestCluster() clusterSize {
	return clusterSize{rbac: 40_000, crds: 3_000, releases: 3_000, nodes: 5_000, namespaces: 500}
}

// managed are the managedFields of an object as Helm and controllers leave them: more
// bytes than the object itself.
func managed(fields ...string) []any {
	var own strings.Builder
	for i, field := range fields {
		if i > 0 {
			own.WriteString(",")
		}
		fmt.Fprintf(&own, `"f:%s":{".":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/instance":{},"f:helm.sh/chart":{}}`, field)
	}
	v, _ := preview.DecodeJSON([]byte(`[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{},"f:meta.helm.sh/release-namespace":{}},"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:helm.sh/chart":{}}},` +
		own.String() + `},"manager":"helm","operation":"Update","time":"2026-01-01T00:00:00Z"}]`))
	return v.([]any)
}

// chartMeta is the metadata of an object that Helm has applied.
func chartMeta(name, namespace string, i int, fields ...string) map[string]any {
	meta := map[string]any{
		"name": name, "managedFields": managed(fields...),
		"labels":      map[string]any{"app.kubernetes.io/instance": name, "app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/name": "part", "helm.sh/chart": fmt.Sprintf("part-1.%d.0", i%40)},
		"annotations": map[string]any{"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": "n"},
	}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	return meta
}

// namespace is the name of the namespace that an object with this number is in.
func (s clusterSize) namespace(i int) string { return fmt.Sprintf("team-%03d", i%s.namespaces) }

// rulesOf are the rules of the role with a number: mostly what an operator reads and
// writes, in each tenth what an escalation path may use.
func rulesOf(i int) []any {
	rule := func(group string, resources, verbs []any) any {
		return map[string]any{"apiGroups": []any{group}, "resources": resources, "verbs": verbs}
	}
	read, write := []any{"get", "list", "watch"}, []any{"create", "delete", "get", "list", "patch", "update", "watch"}
	out := []any{
		rule("", []any{"configmaps", "services", "endpoints"}, read),
		rule("coordination.k8s.io", []any{"leases"}, write),
		rule(fmt.Sprintf("group%d.example.com", i%300), []any{fmt.Sprintf("things%d", i%3000), fmt.Sprintf("things%d/status", i%3000)}, write),
	}
	switch i % 20 {
	case 0:
		out = append(out, rule("apps", []any{"deployments"}, write))
	case 10:
		out = append(out, rule("", []any{"secrets"}, read))
	}
	return out
}

// objects are the objects of a cluster of that size, but for its releases.
func (s clusterSize) objects() iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		const rbac = "rbac.authorization.k8s.io/v1"
		for i := range s.namespaces {
			if !yield(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": s.namespace(i), "labels": map[string]any{"kubernetes.io/metadata.name": s.namespace(i)}}, "spec": map[string]any{"finalizers": []any{"kubernetes"}}, "status": map[string]any{"phase": "Active"}}) {
				return
			}
		}
		for i := range s.rbac / 2 {
			cluster, namespace, name := i%5 == 0, s.namespace(i), fmt.Sprintf("part-%05d", i)
			role, binding, in := "Role", "RoleBinding", namespace
			if cluster {
				role, binding, in = "ClusterRole", "ClusterRoleBinding", ""
			}
			if !yield(map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name, "namespace": namespace}}) ||
				!yield(map[string]any{"apiVersion": rbac, "kind": role, "metadata": chartMeta(name, in, i, "rules"), "rules": rulesOf(i)}) ||
				!yield(map[string]any{
					"apiVersion": rbac, "kind": binding, "metadata": chartMeta(name, in, i, "roleRef", "subjects"),
					"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name},
					"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": name, "namespace": namespace}},
				}) {
				return
			}
		}
		for i := range s.nodes {
			if !yield(node(i)) {
				return
			}
		}
		for i := range s.crds {
			if !yield(crd(i)) {
				return
			}
		}
	}
}

// node is a node as a kubelet reports it, with the images that it has.
func node(i int) map[string]any {
	name := fmt.Sprintf("node-%04d", i)
	var images []any
	for n := range 50 {
		images = append(images, map[string]any{"names": []any{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", n, i), fmt.Sprintf("registry.example.com/team/image-%d:1.%d", n, i%9)}, "sizeBytes": 100_000_000 + n})
	}
	var conditions []any
	for _, kind := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		status := "False"
		if kind == "Ready" {
			status = "True"
		}
		conditions = append(conditions, map[string]any{"type": kind, "status": status, "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Kubelet", "message": "as the kubelet says"})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name}, "managedFields": managed("status", "spec")},
		"spec":     map[string]any{"podCIDR": "10.0.0.0/24", "unschedulable": true, "taints": []any{map[string]any{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}}},
		"status": map[string]any{
			"images": images, "conditions": conditions,
			"capacity":    map[string]any{"cpu": "8", "memory": "32Gi", "pods": "110"},
			"allocatable": map[string]any{"cpu": "8", "memory": "32Gi", "pods": "110"},
			"nodeInfo":    map[string]any{"operatingSystem": "linux", "architecture": "amd64", "kubeletVersion": "v1.37.1", "machineID": name, "systemUUID": name, "bootID": name, "kernelVersion": "6.1", "osImage": "x", "containerRuntimeVersion": "containerd://2", "kubeProxyVersion": ""},
		},
	}
}

// crd is a CRD that is served.
func crd(i int) map[string]any {
	group, plural, kind := fmt.Sprintf("group%d.example.com", i%300), fmt.Sprintf("things%d", i), fmt.Sprintf("Thing%d", i)
	properties := map[string]any{}
	for n := range 30 {
		properties[fmt.Sprintf("field%02d", n)] = map[string]any{"type": "string", "description": "One of the fields that a custom resource of this kind may have."}
	}
	names := map[string]any{"kind": kind, "plural": plural, "singular": strings.ToLower(kind), "listKind": kind + "List"}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + "." + group},
		"spec": map[string]any{
			"group": group, "names": names, "scope": "Namespaced", "conversion": map[string]any{"strategy": "None"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": properties}},
			}}}},
		},
		"status": map[string]any{"acceptedNames": names, "storedVersions": []any{"v1"}, "conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
			map[string]any{"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
		}},
	}
}

// releasesLike are releases with the record of one that was installed.
func releasesLike(t testing.TB, client *k8s.Client, release preview.Release, size clusterSize) iter.Seq[map[string]any] {
	t.Helper()
	secret, err := client.Get(t.Context(), preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: release.Namespace, Name: preview.RecordName(release.Name)})
	if err != nil || secret == nil {
		t.Fatal("the record of the release: ", secret, err)
	}
	packed, err := base64.StdEncoding.DecodeString(preview.String(secret, "data", "record"))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(map[string]any) bool) {
		for i := range size.releases {
			other := preview.Release{Name: fmt.Sprintf("release-%04d", i), Namespace: size.namespace(i)}
			var packed bytes.Buffer
			w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
			_, _ = w.Write(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(release.Name), []byte(other.Name)), []byte(`"namespace":"`+release.Namespace+`"`), []byte(`"namespace":"`+other.Namespace+`"`)))
			_ = w.Close()
			body := preview.CloneBody(secret)
			meta := preview.Map(body, "metadata")
			delete(meta, "resourceVersion")
			meta["name"], meta["namespace"] = preview.RecordName(other.Name), other.Namespace
			labels := preview.Map(meta, "labels")
			labels[preview.LabelSetID], labels[preview.LabelRelease] = preview.SetID(other), other.Name
			preview.Map(body, "data")["record"] = base64.StdEncoding.EncodeToString(packed.Bytes())
			if !yield(body) {
				return
			}
		}
	}
}

// The most that the plan of an operator may take against the largest cluster: processor
// time, as what else the machine does does not count in that, and memory.
const (
	largeClusterTime = 5 * time.Second
	largeClusterRSS  = 500 << 20
)

// TestClusterALargeClusterIsReadInLittleMemory plans an operator that asks for rights,
// whose closure needs all roles and bindings, and lists all releases, in a cluster with
// 3,000 CRDs, 3,000 releases, 5,000 nodes and 40,000 roles and bindings. Only a soak
// does: package k8s counts at a smaller size how much the lists keep.
func TestClusterALargeClusterIsReadInLittleMemory(t *testing.T) {
	slowtest.Skip(t, "a cluster with thousands of objects")
	if !slowtest.Soak() {
		t.Skip("skipped: only a soak fills a cluster")
	}
	corpus := corpusDir(t)
	if corpus == "" {
		t.Skip("skipped: no corpus (set CORPUS)")
	}
	size, box := largestCluster(), sandboxtest.New(t)
	admin, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	run := largeClusterProgram(t, box)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(ownPackage), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, out := run("install", dir, "the-release", "-n", "default", "--yes"); !strings.Contains(out, "applied 2/2") {
		t.Fatal(out)
	}
	fill(t, box, size, admin)
	before := heapInUse()
	nodes, err := admin.List(t.Context(), "v1", "Node", "", "", "status.nodeInfo")
	if err != nil || len(nodes) <= size.nodes {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	if each := (heapInUse() - before) / int64(len(nodes)); each > 2500 {
		t.Errorf("%d bytes are kept of each node", each)
	}
	runtime.KeepAlive(nodes)
	for _, test := range []struct {
		says string
		args []string
	}{
		{"24 objects to write", []string{"preview", filepath.Join(corpus, "bundles", "mongodb-kubernetes", "1.10.0"), "mongodb", "-n", size.namespace(1)}},
		{fmt.Sprintf("release-%04d", size.releases-1), []string{"list"}},
	} {
		u, out := run(test.args...)
		t.Logf("%s: %d ms, %d ms of processor time, %d MB", test.args[0], u.wall.Milliseconds(), u.cpu.Milliseconds(), u.rss>>20)
		if !strings.Contains(out, test.says) {
			t.Errorf("%v does not say %q: %.2000s", test.args, test.says, out)
		}
		if u.cpu > largeClusterTime || u.rss > largeClusterRSS {
			t.Errorf("%v takes %s of processor time and %d MB, want at most %s and %d MB", test.args, u.cpu, u.rss>>20, largeClusterTime, largeClusterRSS>>20)
		}
	}
}

// heapInUse returns the bytes in use, after a collection.
func heapInUse() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// fill stores what a cluster of that size has, and returns when the API server has it, and
// has worked it off.
func fill(t testing.TB, box *sandbox.Sandbox, size clusterSize, client *k8s.Client) {
	t.Helper()
	sandboxtest.Store(t, box, size.objects())
	sandboxtest.Store(t, box, releasesLike(t, client, preview.Release{Name: "the-release", Namespace: "default"}, size))
	last := crd(size.crds - 1)
	group, kind := preview.String(last, "spec", "group"), preview.String(last, "spec", "names", "kind")
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for deadline := time.Now().Add(10 * time.Minute); ; <-poll.C {
		namespaced, err := client.Kind(t.Context(), group+"/v1", kind)
		nodes, countErr := client.Count(t.Context(), "v1", "Node")
		if namespaced && nodes > size.nodes {
			settle(t, box)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the API server has %d nodes of %d, and of the last CRD: %v, %v", nodes, size.nodes, err, countErr)
		}
	}
}

// settle waits until the API server takes less than half a processor: for minutes after it
// has got thousands of CRDs, it works on their OpenAPI documents.
func settle(t testing.TB, box *sandbox.Sandbox) {
	t.Helper()
	const tick, idle = 2 * time.Second, time.Second
	poll := time.NewTicker(tick)
	defer poll.Stop()
	before := processTime(t, box.State().Processes["kube-apiserver"])
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		<-poll.C
		now := processTime(t, box.State().Processes["kube-apiserver"])
		if now-before < idle {
			return
		}
		before = now
	}
	t.Log("the API server was still busy after five minutes")
}

// processTime returns the processor time of a process, from its line in /proc (proc_pid_stat(5)):
// the fields 14 and 15, in hundredths of a second. Where there is no /proc it is 0.
func processTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:])) // from field 3 on
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// largeClusterProgram returns what runs this program as its user would, and measures it.
func largeClusterProgram(t testing.TB, box *sandbox.Sandbox) func(args ...string) (usage, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return func(args ...string) (usage, string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), self, args...)
		cmd.Args[0] = "kubectl-operator" // see TestMain
		peak := filepath.Join(home, "peak")
		cmd.Env = []string{"HOME=" + home, "KUBECONFIG=" + box.Kubeconfig(), peakFile + "=" + peak}
		start := time.Now()
		out, _ := cmd.CombinedOutput() // a preview with critical findings exits with an error
		u := usageOf(cmd, time.Since(start))
		u.rss = peakIn(t, peak)
		return u, string(out)
	}
}

// ownPackage is the release that the others of the cluster are like.
const ownPackage = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: owns.own.example.com}
spec:
  group: own.example.com
  scope: Namespaced
  names: {kind: Own, plural: owns}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {x: {type: integer}}}}}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: default}}
`
