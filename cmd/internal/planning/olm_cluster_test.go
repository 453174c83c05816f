package planning_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/deps"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// olmStory is an upgrade that OLM v0 carries out. Watches is "" for the namespace of the
// operator, "*" for all namespaces.
type olmStory struct {
	name      string
	from, to  fs.FS
	watches   string
	config    map[string]any
	installed *catalogBundle
	next      *catalogBundle
}

// catalogBundle is a bundle in the catalog.
type catalogBundle struct{ pkg, name, version, image string }

// corpusBundle is a bundle of the corpus.
func corpusBundle(t *testing.T, name, version string) fs.FS {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "corpus", "bundles", name, version)
	if corpus := os.Getenv("CORPUS"); corpus != "" {
		dir = filepath.Join(corpus, "bundles", name, version)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return os.DirFS(dir)
}

// written is a bundle without webhooks; see [writtenFrom].
func written(t *testing.T, pkg, version string, more map[string]string, replaced ...string) fs.FS {
	t.Helper()
	return writtenFrom(t, "1.10.0", pkg, version, more, replaced...)
}

// writtenFrom is a version of mongodb of the test data as another package with changes: pairs
// of texts in its ClusterServiceVersion, and files besides.
func writtenFrom(t *testing.T, from, pkg, version string, more map[string]string, replaced ...string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	content := os.DirFS(bundle(t, "mongodb", from))
	err := fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(content, name)
		text := strings.NewReplacer("  replaces: mongodb.v1.9.0\n", "", "mongodb.v"+from, pkg+".v"+version, "version: "+from, "version: "+version, "mongodb", pkg).Replace(string(data))
		for i := 0; i < len(replaced); i += 2 {
			text = strings.ReplaceAll(text, replaced[i], replaced[i+1])
		}
		out[strings.ReplaceAll(name, "mongodb", pkg)] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range more {
		out["manifests/"+name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

// olmWorld is a control plane with the real OLM v0.
type olmWorld struct {
	*fluxWorld
	catalog string // directory
}

// newOLMWorld starts OLM v0 with a catalog of the bundles of stories.
func newOLMWorld(t *testing.T, stories []*olmStory) *olmWorld {
	t.Helper()
	slowtest.Skip(t, "tests against the embedded control plane")
	bin, err := filepath.Abs(filepath.Join("..", "..", "..", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "olm-operator")); err != nil {
		t.Skip("skipped: OLM is not built; run \"make olm\"")
	}
	sb := sandboxtest.New(t)
	w := &olmWorld{fluxWorld: &fluxWorld{T: t, box: sb, raw: sandboxtest.NewRawClient(t, sb.Kubeconfig()), registry: sourcetest.Plain(t), log: filepath.Join(t.TempDir(), "catalog-operator.log")}}
	if w.client, err = k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sb.Kubeconfig()}); err != nil {
		t.Fatal(err)
	}
	crds := filepath.Join(bin, "olm-crds.yaml")
	for _, args := range [][]string{
		{"apply", "--server-side", "-f", crds}, {"wait", "--for=condition=Established", "--timeout=60s", "-f", crds}, {"create", "namespace", "olm"},
	} {
		c := exec.Command(sandboxtest.Kubectl(t), args...)
		c.Env = append(os.Environ(), "KUBECONFIG="+sb.Kubeconfig())
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	w.publish(t, stories)
	registry := exec.Command(filepath.Join(bin, "olm-registry"), "-configs", w.catalog)
	out, err := registry.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registry.StdinPipe(); err != nil { // its end is the end of the program
		t.Fatal(err)
	}
	w.start(t, registry, "registry.log")
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"catalog-operator", "operator"} {
		c := exec.Command(filepath.Join(bin, "olm-"+name), "--namespace", "olm")
		c.Env = append(os.Environ(), "KUBECONFIG="+sb.Kubeconfig(), "GRPC_PROXY="+strings.TrimSpace(address), "OPERATOR_NAMESPACE=olm", "OPERATOR_NAME=olm-operator")
		w.start(t, c, name+".log")
	}
	w.apply(t, `{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": {"name": "demo", "namespace": "olm"},
 "spec": {"sourceType": "grpc", "image": "`+w.registry.Host+`/catalogs/demo:latest"}}`)
	return w
}

// start starts a program until the test ends.
func (w *olmWorld) start(t *testing.T, c *exec.Cmd, log string) {
	t.Helper()
	keep := os.Getenv("OLM_LOGS")
	if keep != "" {
		keep = filepath.Join(keep, log)
	}
	startLogged(t, c, filepath.Join(filepath.Dir(w.log), log), keep)
}

// publish writes the catalog, and what the pods of OLM's unpacking Jobs would write.
func (w *olmWorld) publish(t *testing.T, stories []*olmStory) {
	t.Helper()
	var text strings.Builder
	write := json.NewEncoder(&text)
	encode := func(document map[string]any) {
		if err := write.Encode(document); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range stories {
		var entries []any
		for i, content := range []fs.FS{s.from, s.to} {
			info, err := registryv1.New().Detect(content)
			if err != nil || info == nil {
				t.Fatal(s.name, err)
			}
			b := &catalogBundle{info.Package, info.Bundle, info.Version, push(t, w.registry, fmt.Sprintf("bundles/%s:v%d", s.name, i), content)}
			properties, err := deps.FromContent(content)
			if err != nil {
				t.Fatal(err)
			}
			// As the package of the story, so that no two stories have the same.
			properties = append(properties, catalog.Property{Type: "olm.package", Value: map[string]any{"packageName": b.pkg, "version": b.version}})
			var list []any
			for _, p := range properties {
				list = append(list, map[string]any{"type": p.Type, "value": p.Value})
			}
			encode(map[string]any{"schema": "olm.bundle", "package": b.pkg, "name": b.name, "image": b.image, "properties": list})
			entry := map[string]any{"name": b.name}
			if s.next = b; i == 0 {
				s.installed = b
			} else {
				entry["replaces"] = s.installed.name
			}
			entries = append(entries, entry)
			w.unpacked(t, b.image, content)
		}
		encode(map[string]any{"schema": "olm.package", "name": s.next.pkg, "defaultChannel": "stable"})
		encode(map[string]any{"schema": "olm.channel", "package": s.next.pkg, "name": "stable", "entries": entries})
	}
	w.catalog = files(t, map[string]string{"catalog.jsonl": text.String()})
}

// unpacked writes the files of a bundle into a ConfigMap by the name of the image.
func (w *olmWorld) unpacked(t *testing.T, image string, content fs.FS) {
	t.Helper()
	names, err := fs.Glob(content, "manifests/*")
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]any{}
	for _, name := range names {
		text, err := fs.ReadFile(content, name)
		if err != nil {
			t.Fatal(err)
		}
		data[path.Base(name)] = string(text)
	}
	w.send(t, http.MethodPost, "/api/v1/namespaces/olm/configmaps", "application/json", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": fmt.Sprintf("%x", sha256.Sum256([]byte(image)))[:63], "namespace": "olm", "labels": map[string]any{"olm.managed": "true"}},
	})
}

func (w *olmWorld) olmRef(namespace, kind, name string) preview.Ref {
	version := "v1alpha1"
	if kind == "OperatorGroup" {
		version = "v1"
	}
	return preview.Ref{APIVersion: "operators.coreos.com/" + version, Kind: kind, Namespace: namespace, Name: name}
}

// subscription is the request of a story: a Subscription, in JSON.
func (s *olmStory) subscription(namespace string) string {
	spec := map[string]any{
		"name": s.next.pkg, "channel": "stable", "source": "demo", "sourceNamespace": "olm", "installPlanApproval": "Manual", "startingCSV": s.installed.name,
	}
	if s.config != nil {
		spec["config"] = s.config
	}
	text, _ := json.Marshal(map[string]any{ // of texts
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": map[string]any{"name": s.next.pkg, "namespace": namespace}, "spec": spec,
	})
	return string(text)
}

// install previews the Subscription of a story, creates it, and has OLM install the first
// bundle as predicted.
func (w *olmWorld) install(t *testing.T, s *olmStory, namespace string) {
	t.Helper()
	target := `"targetNamespaces": ["` + namespace + `"]`
	switch s.watches {
	case "*":
		target = ""
	case "":
	default:
		target = `"targetNamespaces": ["` + s.watches + `"]`
	}
	w.apply(t, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "`+namespace+`"}}
---
{"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": "group", "namespace": "`+namespace+`"}, "spec": {`+target+`}}`)
	w.until(t, w.olmRef(namespace, "OperatorGroup", "group"), "resolved", func(body map[string]any) bool {
		return len(preview.List(body, "status", "namespaces")) > 0
	})
	plan := w.previewOLM(t, s, namespace)
	w.apply(t, s.subscription(namespace))
	w.approve(t, s, namespace, s.installed.name)
	w.asPredicted(t, plan, s.installed)
}

// asPredicted compares the objects of a plan, once OLM applied it.
func (w *olmWorld) asPredicted(t *testing.T, plan *preview.Plan, of *catalogBundle) {
	t.Helper()
	want, fields := predicted(plan), 0
	for i := range plan.Objects {
		o := &plan.Objects[i]
		fields += w.same(t, o.Ref(), want[o.ID], of)
	}
	t.Logf("%s: %d objects, %d fields", of.name, len(plan.Objects), fields)
}

// approve approves the InstallPlan of a bundle, and waits until OLM installed it and is done
// with the one before.
func (w *olmWorld) approve(t *testing.T, s *olmStory, namespace, csv string) {
	t.Helper()
	sub := w.until(t, w.olmRef(namespace, "Subscription", s.next.pkg), "asked for "+csv, func(body map[string]any) bool {
		return preview.String(body, "status", "currentCSV") == csv && preview.String(body, "status", "installPlanRef", "name") != ""
	})
	plan := w.olmRef(namespace, "InstallPlan", preview.String(sub, "status", "installPlanRef", "name"))
	w.until(t, plan, "waiting", func(body map[string]any) bool { return preview.String(body, "status", "phase") == "RequiresApproval" })
	w.send(t, http.MethodPatch, pathOf(plan), sandboxtest.MergePatch, map[string]any{"spec": map[string]any{"approved": true}})
	w.until(t, plan, "complete", func(body map[string]any) bool {
		if preview.String(body, "status", "phase") == "Failed" {
			t.Fatalf("%v", preview.Map(body, "status")["conditions"])
		}
		return preview.String(body, "status", "phase") == "Complete"
	})
	w.until(t, w.olmRef(namespace, "ClusterServiceVersion", csv), "installed", func(body map[string]any) bool {
		return preview.String(body, "status", "phase") == "Succeeded"
	})
	w.until(t, w.olmRef(namespace, "Subscription", s.next.pkg), "at "+csv, func(body map[string]any) bool {
		return preview.String(body, "status", "installedCSV") == csv
	})
	w.settled(t, namespace, csv)
}

// settled waits until each Deployment with webhooks has the certificate that OLM makes anew
// because the garbage collector takes the one of the version that is replaced.
func (w *olmWorld) settled(t *testing.T, namespace, csv string) {
	t.Helper()
	all, err := w.client.List(t.Context(), "apps/v1", "Deployment", namespace, "olm.owner="+csv)
	if err != nil {
		t.Fatal(err)
	}
	for _, deployment := range all {
		for _, volume := range preview.Maps(deployment, "spec", "template", "spec", "volumes") {
			if preview.String(volume, "name") != "webhook-cert" {
				continue
			}
			secret := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: preview.String(volume, "secret", "secretName")}
			made := w.until(t, secret, "that of "+csv, func(body map[string]any) bool {
				owners := preview.Maps(body, "metadata", "ownerReferences")
				return len(owners) == 1 && preview.String(owners[0], "name") == csv
			})
			hash := preview.String(made, "metadata", "annotations", "olmcahash")
			ref := preview.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: namespace, Name: preview.RefOf(deployment).Name}
			w.until(t, ref, "with its certificate", func(body map[string]any) bool {
				return preview.String(body, "spec", "template", "metadata", "annotations", "olmcahash") == hash
			})
		}
	}
	w.until(t, w.olmRef(namespace, "ClusterServiceVersion", csv), "installed", func(body map[string]any) bool {
		return preview.String(body, "status", "phase") == "Succeeded"
	})
}

// olmStories are the upgrades.
func olmStories(t *testing.T) []*olmStory {
	t.Helper()
	var out []*olmStory
	for _, c := range []struct{ name, from, to, watches string }{
		{"ack-iam-controller", "1.8.0", "1.8.1", "*"}, {"ack-s3-controller", "1.9.0", "1.10.0", ""}, {"attune", "0.1.22", "0.1.23", "*"},
		{"koku-metrics-operator", "4.4.0", "4.4.1", ""}, {"limitador-operator", "0.10.0", "0.11.0", "*"},
		{"mongodb-atlas-kubernetes", "2.15.1", "2.16.0", ""}, {"project-quay", "3.17.4", "3.18.0", "*"},
		{"rabbitmq-cluster-operator", "2.22.2", "2.22.3", "*"}, {"mongodb-kubernetes", "1.8.1", "1.9.1", ""},
		{"aws-load-balancer-operator", "1.3.1", "1.3.2", "*"}, {"authorino-operator", "0.12.0", "0.13.0", "*"},
	} {
		if from, to := corpusBundle(t, c.name, c.from), corpusBundle(t, c.name, c.to); from != nil {
			out = append(out, &olmStory{name: c.name, from: from, to: to, watches: c.watches})
		}
	}
	return append(out, &olmStory{name: "mongodb", from: os.DirFS(bundle(t, "mongodb", "1.9.0")), to: os.DirFS(bundle(t, "mongodb", "1.10.0"))},
		&olmStory{name: "one-image", from: written(t, "one", "1.0.0", nil), to: written(t, "one", "1.1.0", nil, "- --leader-elect", "- --leader-elect\n                - --verbose")},
		&olmStory{
			name: "configured", from: written(t, "two", "1.0.0", nil), to: written(t, "two", "1.1.0", nil, "replicas: 1", "replicas: 2"),
			config: map[string]any{
				"env": []any{map[string]any{"name": "A", "value": "b"}}, "tolerations": []any{map[string]any{"operator": "Exists"}},
				"annotations": map[string]any{"team": "data"}, "resources": map[string]any{"requests": map[string]any{"cpu": "15m", "memory": "16Mi"}},
			},
		},
		&olmStory{name: "more-files", from: written(t, "three", "1.0.0", moreFiles("three", "a")), to: written(t, "three", "1.1.0", moreFiles("three", "b"))},
		&olmStory{
			name: "renamed-deployment", from: written(t, "four", "1.0.0", nil),
			to: written(t, "four", "1.1.0", nil, "- name: four-operator\n        label:", "- name: four-manager\n        label:", "serviceAccountName: four-operator", "serviceAccountName: four-manager"),
		},
		&olmStory{name: "webhooks", from: writtenFrom(t, "1.9.0", "six", "1.0.0", nil), to: writtenFrom(t, "1.9.0", "six", "1.1.0", nil, "replicas: 1", "replicas: 2")},
		&olmStory{name: "another-namespace", watches: "watched", from: written(t, "five", "1.0.0", nil, "SingleNamespace\n    supported: false", "SingleNamespace\n    supported: true"),
			to: written(t, "five", "1.1.0", nil, "SingleNamespace\n    supported: false", "SingleNamespace\n    supported: true", "[create, patch]", "[create, patch, delete]")},
	)
}

// moreFiles are objects of a bundle besides its ClusterServiceVersion and CRDs.
func moreFiles(pkg, value string) map[string]string {
	return map[string]string{
		"config.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + pkg + "-settings, labels: {own: x}}\ndata: {key: " + value + "}\n",
		"service.yaml":  "apiVersion: v1\nkind: Service\nmetadata: {name: " + pkg + "-metrics}\nspec: {selector: {app: " + value + "}, ports: [{name: http, port: 8080}]}\n",
		"pdb.yaml":      "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " + pkg + "}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: " + value + "}}}\n",
		"priority.yaml": "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " + pkg + "}\nvalue: 1000\ndescription: " + value + "\n",
		"role.yaml":     "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + pkg + "-reader}\nrules: [{apiGroups: [\"\"], resources: [pods], verbs: [get, " + map[string]string{"a": "list", "b": "watch"}[value] + "]}]\n",
	}
}

// olmKinds are what OLM v0 adds to the ClusterRole view.
var olmKinds = []string{
	"subscriptions.operators.coreos.com", "clusterserviceversions.operators.coreos.com", "operatorgroups.operators.coreos.com",
	"installplans.operators.coreos.com", "catalogsources.operators.coreos.com",
}

// TestClusterOLMv0UpgradesAsPredicted writes down what a preview says, has the real OLM v0
// upgrade, and compares the objects field by field.
func TestClusterOLMv0UpgradesAsPredicted(t *testing.T) {
	stories := olmStories(t)
	w := newOLMWorld(t, stories)
	w.apply(t, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "watched"}}`)
	for i, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			namespace := fmt.Sprintf("story-%d", i)
			w.install(t, s, namespace)
			plan := w.previewOLM(t, s, namespace)
			if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierOLMv0 || by.State != s.installed.name {
				t.Fatalf("applied by %+v", by)
			}
			w.sameCriticals(t, s, plan)
			if w.viewer = ""; i == 0 {
				w.viewer = viewer(t, w.box, "viewer-of-olm", olmKinds...)
			}
			read, err := w.planText(t, s.subscription(namespace), preview.ReadGet)
			if err != nil {
				t.Fatal(err)
			}
			got, want := changes(read), changes(plan)
			if w.viewer != "" {
				got, want = visible(got), visible(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("by reads alone (-by dry runs):\n%s", cmp.Diff(want, got))
			}
			w.approve(t, s, namespace, s.next.name)
			w.asPredicted(t, plan, s.next)
			again := w.previewOLM(t, s, namespace)
			if got := changes(again); len(got) > 0 {
				t.Errorf("afterwards: %v", got)
			}
		})
	}
}

// previewOLM plans what the Subscription of a story asks for.
func (w *olmWorld) previewOLM(t *testing.T, s *olmStory, namespace string) *preview.Plan {
	t.Helper()
	return w.previewText(t, s.subscription(namespace))
}

// sameCriticals compares the rules of critical findings with those of the same upgrade of a
// release of this program.
func (w *olmWorld) sameCriticals(t *testing.T, s *olmStory, plan *preview.Plan) {
	t.Helper()
	p := w.planner(t, "")
	p.Read.Offline = true
	switch parameters := plan.Packages[0].Parameters; parameters.InstallMode {
	case "AllNamespaces", "OwnNamespace":
		p.Render.InstallMode = parameters.InstallMode
	default:
		p.Render.InstallMode, p.Render.WatchNamespaces = parameters.InstallMode, parameters.WatchNamespaces
	}
	want, err := p.Request(s.next.image, s.next.pkg)
	if err != nil {
		t.Fatal(err)
	}
	own, err := p.Compare(t.Context(), want, s.installed.image, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := criticals(plan), criticals(own); !slices.Equal(got, want) {
		t.Errorf("criticals are %v, of a release of our own %v", got, want)
	}
}

// criticals are the rules of the critical findings of a plan, those included that a comparison
// lowers because the other version has them, and not those about an object that only this
// program sends: OLM decodes one by the name of its kind.
func criticals(plan *preview.Plan) []string {
	var out []string
	for _, f := range plan.Findings {
		if (f.Severity == preview.Critical || f.Lowered) && f.Rule != "not-appliable" {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// previewText plans what a request asks for of the catalog.
func (w *olmWorld) previewText(t *testing.T, text string) *preview.Plan {
	t.Helper()
	plan, err := w.planText(t, text, preview.ReadDryRun)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func (w *olmWorld) planText(t *testing.T, text string, mode preview.ReadMode) (*preview.Plan, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "request.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.planner(t, mode)
	p.Selection.Catalogs = []string{w.catalog}
	want, err := p.ReadRequest(t.Context(), file, "")
	if err != nil {
		t.Fatal(err)
	}
	return onlyReads(t, w.box, func() (*preview.Plan, error) { return p.Plan(t.Context(), want, nil) })
}

// same compares an object with what was predicted, as soon as OLM added its last labels, which
// it does after it says that it is done. It returns the number of fields.
func (w *olmWorld) same(t *testing.T, ref preview.Ref, want map[string]any, of *catalogBundle) (leaves int) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(20 * time.Second)
	for {
		is := w.liveOf(t, ref, of)
		leaves = 0
		diff := differences("", unpredictable(compared(want, true), of.name), unpredictable(compared(is, true), of.name), &leaves)
		if len(diff) == 0 {
			return leaves
		}
		if time.Now().After(deadline) {
			t.Errorf("%s:\n  %s", ref.ID(), strings.Join(diff, "\n  "))
			return leaves
		}
		<-tick.C
	}
}

// liveOf reads an object. OLM gives a configuration of webhooks a random name.
func (w *olmWorld) liveOf(t *testing.T, ref preview.Ref, of *catalogBundle) map[string]any {
	t.Helper()
	if strings.HasSuffix(ref.Kind, "WebhookConfiguration") {
		all, err := w.client.List(t.Context(), ref.APIVersion, ref.Kind, "", "olm.owner="+of.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range all {
			if preview.String(body, "metadata", "labels", "olm.webhook-description-generate-name") == ref.Name {
				return body
			}
		}
	}
	r := w.client.Read(t.Context(), []preview.Ref{ref})[0]
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r.Body
}

// unpredictable removes what cannot be predicted: uids of owners, and, of webhooks, the
// certificate, what is a hash of it and the random name; and what depends on how often OLM
// executes an InstallPlan, and on what its caches have. csv is the version that was written.
func unpredictable(body map[string]any, csv string) map[string]any {
	for _, owner := range preview.Maps(body, "metadata", "ownerReferences") {
		delete(owner, "uid")
	}
	labels := preview.Map(body, "metadata", "labels")
	if preview.String(body, "kind") == "CustomResourceDefinition" {
		// That of a version which is gone when OLM writes is kept or dropped, as OLM has to
		// repeat the InstallPlan or not.
		maps.DeleteFunc(preview.Map(body, "metadata", "annotations"), func(key string, value any) bool {
			return strings.HasPrefix(key, "operatorframework.io/installed-alongside-") && !strings.HasSuffix(fmt.Sprint(value), "/"+csv)
		})
	}
	if preview.String(body, "kind") == "ClusterRole" && labels["olm.owner.kind"] == nil {
		delete(labels, "olm.owner") // of a ClusterRole that the bundle brings, where OLM has to repeat the InstallPlan
	}
	if labels["olm.copiedFrom"] != nil { // with the labels that the copied one had by then
		maps.DeleteFunc(labels, func(key string, _ any) bool { return strings.HasPrefix(key, "operators.coreos.com/") })
	}
	if annotations := preview.Map(body, "spec", "template", "metadata", "annotations"); preview.Map(body, "spec", "template", "spec") != nil {
		for _, volume := range preview.Maps(body, "spec", "template", "spec", "volumes") {
			if preview.String(volume, "name") == "webhook-cert" {
				delete(annotations, "olmcahash")
				delete(labels, "olm.deployment-spec-hash")
			}
		}
	}
	if data := preview.Map(body, "data"); data["olmCAKey"] != nil {
		body["data"] = nil
		delete(preview.Map(body, "metadata"), "annotations")
	}
	for _, hook := range preview.Maps(body, "webhooks") {
		delete(preview.Map(hook, "clientConfig"), "caBundle")
		delete(preview.Map(body, "metadata"), "name")
		delete(preview.Map(body, "metadata"), "generateName")
	}
	delete(preview.Map(body, "spec", "conversion", "webhook", "clientConfig"), "caBundle")
	return body
}
