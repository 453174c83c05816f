package ref

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func ignoredInHelmRelease() []ignoredField {
	return []ignoredField{
		{"spec.interval", "when the controller looks again"}, {"spec.chart.spec.interval", "when the controller looks again"},
		{"spec.chart.spec.sourceRef.apiVersion", "the kind says enough"}, {"spec.chartRef.apiVersion", "the kind says enough"},
		{"spec.chart.metadata", "labels of an object that the controller keeps for itself"},
		{"spec.chart.spec.reconcileStrategy", "when the controller looks again"},
		{"spec.timeout", "how long the controller waits"}, {"spec.maxHistory", "how many revisions Helm keeps"},
		{"spec.storageNamespace", "where Helm keeps its own record"}, {"spec.persistentClient", "how the controller connects"},
		{"spec.serviceAccountName", "whose rights the controller takes; here the user's own count"},
		{"spec.dependsOn", "what the controller waits for; what is there, the review shows"},
		{"spec.driftDetection", "what the controller does afterwards"}, {"spec.healthCheckExprs", "what the controller waits for"},
		{"spec.waitStrategy", "how the controller waits"},
		{"spec.install.timeout", "how long Helm waits"}, {"spec.install.remediation", "what happens after a failure"},
		{"spec.install.strategy", "what happens after a failure"}, {"spec.install.createNamespace", "the review shows whether the namespace is created"},
		{"spec.install.disableWait", "how Helm waits"}, {"spec.install.disableWaitForJobs", "how Helm waits"},
		{"spec.install.disableTakeOwnership", "nothing of another owner is taken here"}, {"spec.install.serverSideApply", "how Helm writes"},
		{"spec.upgrade.timeout", "how long Helm waits"}, {"spec.upgrade.remediation", "what happens after a failure"},
		{"spec.upgrade.strategy", "what happens after a failure"}, {"spec.upgrade.cleanupOnFail", "what happens after a failure"},
		{"spec.upgrade.disableWait", "how Helm waits"}, {"spec.upgrade.disableWaitForJobs", "how Helm waits"},
		{"spec.upgrade.disableTakeOwnership", "nothing of another owner is taken here"}, {"spec.upgrade.serverSideApply", "how Helm writes"},
		{"spec.rollback", "how the controller rolls back"}, {"spec.uninstall", "how the controller uninstalls"}, {"spec.test", "Helm's tests do not run here"},
	}
}

// helmRelease reads Flux's HelmRelease.
func (r *reader) helmRelease(f *fields) {
	spec := f.at("spec")
	r.Namespace = spec.at("targetNamespace").text()
	if r.Release = spec.at("releaseName").text(); r.Release == "" {
		r.Release = fluxRelease(r.Namespace, r.asked.Name)
	}
	if r.Namespace == "" {
		r.Namespace = r.asked.Namespace
	}
	r.Format = "helm"
	r.suspended(spec)
	// CustomResourceDefinitions are reviewed like all else.
	spec.at("install.crds").oneOf("Create", "CreateReplace")
	spec.at("upgrade.crds").oneOf("Create", "CreateReplace")
	switch chart, named := spec.at("chart.spec"), spec.at("chartRef"); {
	case chart.set() && named.set():
		named.fail("there is a chart besides; give one of them")
	case chart.set():
		r.fluxChart(chart)
	default:
		r.fluxChartRef(named)
	}
	r.valuesFrom(spec.at("valuesFrom"))
	r.Values = merged(r.Values, spec.at("values").mapping())
}

// fluxRelease is the name that Flux gives to a release: at most 53 characters,
// of longer ones 40 and the beginning of their hash.
func fluxRelease(namespace, name string) string {
	if namespace != "" {
		name = namespace + "-" + name
	}
	if len(name) <= 53 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:40] + "-" + hex.EncodeToString(sum[:])[:12]
}

func (r *reader) suspended(spec field) {
	if spec.at("suspend").flag() {
		r.Paused = spec.path + ".suspend"
	}
}

// fluxChart reads a chart that is named within a repository.
func (r *reader) fluxChart(v field) {
	name, version := v.at("chart").need(), v.at("version").text()
	from := v.at("sourceRef")
	namespace := from.at("namespace").text()
	if namespace == "" {
		namespace = r.asked.Namespace
	}
	switch from.at("kind").oneOf("HelmRepository", "GitRepository") {
	case "HelmRepository":
		s := r.fluxSource("HelmRepository", namespace, from.at("name").need())
		if s == nil {
			return
		}
		s.helmRepository(v, name, version)
	case "GitRepository":
		if s := r.fluxSource("GitRepository", namespace, from.at("name").need()); s != nil {
			s.gitRepository("")
			r.Path = cleanSubdir(name)
		}
	default:
		from.at("kind").need()
	}
	files := v.at("valuesFiles").texts()
	if single := v.at("valuesFile").text(); single != "" {
		files = []string{single}
	}
	for i, file := range files {
		file = cleanSubdir(file)
		// In Flux a list stands in place of the chart's own values.
		if own := path.Join(r.Path, "values.yaml"); i == 0 && file != own {
			v.at("valuesFiles").fail("a list that leaves out the chart's own values is not supported; begin it with %s", own)
		} else if i > 0 {
			r.ValuesFiles = append(r.ValuesFiles, file)
		}
	}
	v.at("ignoreMissingValuesFiles").flag()
}

// fluxChartRef reads a chart that is an object of its own.
func (r *reader) fluxChartRef(v field) {
	namespace := v.at("namespace").text()
	if namespace == "" {
		namespace = r.asked.Namespace
	}
	if v.at("kind").need() == "" || v.at("kind").oneOf("OCIRepository") == "" {
		return
	}
	if s := r.fluxSource("OCIRepository", namespace, v.at("name").need()); s != nil {
		s.ociRepository()
	}
}

// valuesFrom reads values from ConfigMaps and Secrets, later ones over earlier
// ones.
func (r *reader) valuesFrom(v field) {
	for _, item := range v.items() {
		kind, name := item.at("kind").oneOf("ConfigMap", "Secret"), item.at("name").need()
		key := item.at("valuesKey").text()
		if key == "" {
			key = "values.yaml"
		}
		if kind == "" || len(item.f.wrong) > 0 {
			item.at("kind").need()
			return
		}
		if item.at("optional").flag() && r.more == nil {
			item.at("optional").fail("whether %s %s exists is not known without a cluster", kind, name)
			return
		}
		body := r.find("", []string{"v1"}, kind, r.asked.Namespace, name)
		if body == nil {
			return
		}
		text, err := dataOf(body, key)
		if err != nil {
			item.fail("%s", err)
			return
		}
		if _, err := preview.Decode([]byte(text)); err != nil && kind == "Secret" {
			item.fail("what key %s of the Secret holds is not YAML", clip(key)) // and is not quoted
			return
		}
		r.Values = merged(r.Values, valuesText(item, text))
		if kind == "Secret" {
			r.SecretValues = true
			r.note(RuleValuesFromSecret, "values come from Secret %s/%s", r.asked.Namespace, name)
		}
	}
}

// merged lays values over others: maps merge, all else replaces.
func merged(under, over map[string]any) map[string]any {
	if len(under) == 0 {
		return over
	}
	out := make(map[string]any, len(under)+len(over))
	for key, v := range under {
		out[key] = v
	}
	for key, v := range over {
		a, aMap := out[key].(map[string]any)
		if b, bMap := v.(map[string]any); aMap && bMap {
			v = merged(a, b)
		}
		out[key] = v
	}
	return out
}

func ignoredInKustomization() []ignoredField {
	return []ignoredField{
		{"spec.interval", "when the controller looks again"}, {"spec.retryInterval", "when the controller looks again"},
		{"spec.timeout", "how long the controller waits"}, {"spec.wait", "how the controller waits"}, {"spec.healthChecks", "what the controller waits for"},
		{"spec.healthCheckExprs", "what the controller waits for"}, {"spec.dependsOn", "what the controller waits for; what is there, the review shows"},
		{"spec.prune", "what leaves the set is deleted here as reviewed"}, {"spec.deletionPolicy", "how the controller uninstalls"},
		{"spec.force", "nothing is replaced here that the review does not show"},
		{"spec.serviceAccountName", "whose rights the controller takes; here the user's own count"},
		{"spec.sourceRef.apiVersion", "the kind says enough"},
	}
}

// kustomization reads Flux's Kustomization. What it changes about the content
// is written as a kustomization around it, which is how Flux does it.
func (r *reader) kustomization(f *fields) {
	spec := f.at("spec")
	r.Release, r.Format = r.asked.Name, "kustomize"
	r.suspended(spec)
	from := spec.at("sourceRef")
	namespace := from.at("namespace").text()
	if namespace == "" {
		namespace = r.asked.Namespace
	}
	kind, name := from.at("kind").oneOf("GitRepository", "OCIRepository"), from.at("name").need()
	if kind == "" {
		from.at("kind").need()
		return
	}
	s := r.fluxSource(kind, namespace, name)
	if s == nil {
		return
	}
	if kind == "GitRepository" {
		s.gitRepository("")
	} else {
		s.ociRepository()
	}
	r.Path = cleanSubdir(spec.at("path").text())
	r.Namespace = spec.at("targetNamespace").text()
	over := overlay{Namespace: r.Namespace}
	over.Prefix, over.Suffix = spec.at("namePrefix").text(), spec.at("nameSuffix").text()
	over.Patches, over.Images = spec.at("patches").mappings(), spec.at("images").mappings()
	for _, component := range spec.at("components").texts() {
		over.Components = append(over.Components, path.Join(sourceDir, r.Path, component))
	}
	// Flux makes a kustomization where there is none.
	kustomized := r.Path
	if r.around(over); len(r.Files) > 0 {
		kustomized = path.Join(sourceDir, kustomized)
	}
	r.Kustomized = &kustomized
	if r.Namespace == "" {
		r.Namespace = r.asked.Namespace
	}
}

// overlay is what a request changes about a kustomization.
type overlay struct {
	Namespace, Prefix, Suffix string
	Components                []string
	Patches, Images, Replicas []any
	CommonLabels              map[string]any
	CommonAnnotations         map[string]any
}

// sourceDir is where content lies that a kustomization is put around.
const sourceDir = "source"

// around puts a kustomization around the content, where it changes anything.
func (r *reader) around(o overlay) {
	body := map[string]any{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
	changes := len(body)
	for key, text := range map[string]string{"namespace": o.Namespace, "namePrefix": o.Prefix, "nameSuffix": o.Suffix} {
		if text != "" {
			body[key] = text
		}
	}
	for key, list := range map[string][]any{"patches": o.Patches, "images": o.Images, "replicas": o.Replicas} {
		if len(list) > 0 {
			body[key] = list
		}
	}
	for key, m := range map[string]map[string]any{"commonLabels": o.CommonLabels, "commonAnnotations": o.CommonAnnotations} {
		if len(m) > 0 {
			body[key] = m
		}
	}
	if len(o.Components) > 0 {
		body["components"] = o.Components
	}
	if len(body) == changes {
		return
	}
	body["resources"] = []string{path.Join(sourceDir, r.Path)}
	for i := range r.Sources {
		r.Sources[i].Destination = path.Join(sourceDir, r.Sources[i].Destination)
	}
	r.Path = ""
	r.Files = map[string]string{"kustomization.yaml": jsonText(body)}
}

func ignoredInSource() []ignoredField {
	return []ignoredField{
		{"spec.interval", "when the controller looks again"}, {"spec.timeout", "how long the controller waits"},
		{"spec.accessFrom", "which namespaces may refer to it; never enforced by Flux itself"},
		{"spec.suspend", "that the controller does not look again"}, {"spec.gitImplementation", "which library the controller uses"},
	}
}

func (r *reader) standsAlone(s *fluxSource) {
	r.Release = r.asked.Name
	r.suspended(s.at("spec"))
}

// ociRepository reads Flux's OCIRepository where it stands alone.
func (r *reader) ociRepository(f *fields) {
	s := &fluxSource{fields: f, r: r, document: r.asked}
	r.standsAlone(s)
	r.Namespace = r.asked.Namespace
	s.ociRepository()
}

// errNoKey says that an object lacks what is asked of it.
func errNoKey(key string) error { return fmt.Errorf("it has no key %s", strings.TrimSpace(clip(key))) }
