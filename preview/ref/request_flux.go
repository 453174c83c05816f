package ref

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/assignment"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
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
		{"spec.install.disableOpenAPIValidation", "the review checks against the schemas"}, {"spec.upgrade.disableOpenAPIValidation", "the review checks against the schemas"},
		{"spec.install.replace", "what the name of a release means"}, {"spec.upgrade.chartNameChangeStrategy", "what the name of a release means"},
		{"spec.rollback", "how the controller rolls back"}, {"spec.uninstall", "how the controller uninstalls"}, {"spec.test", "Helm's tests do not run here"},
	}
}

// helmRelease reads Flux's HelmRelease.
func (r *reader) helmRelease(f *strictReader) {
	spec := f.At("spec")
	r.Namespace = spec.At("targetNamespace").Text()
	if r.Release = spec.At("releaseName").Text(); r.Release == "" {
		r.Release = fluxRelease(r.Namespace, r.asked.Name)
	}
	if r.Namespace == "" {
		r.Namespace = r.asked.Namespace
	}
	r.Format = "helm"
	r.suspended(spec)
	// CustomResourceDefinitions are reviewed like all else.
	r.ofHelmRelease(spec)
	spec.At("upgrade.force").Flag()
	spec.At("upgrade.preserveValues").Flag()
	switch chart, named := spec.At("chart.spec"), spec.At("chartRef"); {
	case chart.Set() && named.Set():
		named.Fail("there is a chart too; give one of them")
	case chart.Set():
		r.fluxChart(chart)
	default:
		r.fluxChartRef(named)
	}
	own := preview.FileNumbers(spec.At("values").Mapping())
	r.valuesFrom(spec.At("valuesFrom"), own)
	r.Values = Merged(r.Values, own)
}

// leftOut reads what an install or upgrade leaves out.
func leftOut(v field) LeftOut {
	return LeftOut{Hooks: v.At("disableHooks").Flag(), CRDs: v.At("crds").OneOf("Skip", "Create", "CreateReplace") == "Skip"}
}

// RenderingOf returns what a HelmRelease of the cluster does with the objects of its chart.
func RenderingOf(helmRelease map[string]any) Rendering {
	var out Rendering
	out.ofHelmRelease(newStrictReader("", helmRelease, nil).At("spec"))
	return out
}

// ofHelmRelease reads the changes that helm-controller makes in rendered objects.
func (r *Rendering) ofHelmRelease(spec field) {
	r.OnInstall, r.OnUpgrade = leftOut(spec.At("install")), leftOut(spec.At("upgrade"))
	for _, item := range spec.At("postRenderers").Items() {
		by := item.At("kustomize")
		r.PostRender = append(r.PostRender, PostRender{Patches: mappings(by.At("patches")), Images: mappings(by.At("images"))})
	}
	r.PostRenderHooks = spec.At("postRenderStrategy").OneOf("combined", "separate", "nohooks")
	r.commonMetadata(spec)
}

// commonMetadata reads the labels and annotations that all objects get.
func (r *Rendering) commonMetadata(spec field) {
	common := spec.At("commonMetadata")
	if labels, annotations := common.At("labels").TextMap(), common.At("annotations").TextMap(); len(labels)+len(annotations) > 0 {
		r.PostRender = append(r.PostRender, PostRender{Labels: labels, Annotations: annotations})
	}
}

// fluxRelease returns the name that Flux gives to a release: at most 53
// characters; longer names become their first 40 characters and the beginning of
// their hash.
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
	if spec.At("suspend").Flag() {
		r.Paused = spec.Path + ".suspend"
	}
}

// fluxChart reads the field chart.spec of a HelmRelease: a chart by name and the
// HelmRepository or GitRepository that has it.
func (r *reader) fluxChart(v field) {
	name, version := v.At("chart").Need(), v.At("version").Text()
	from := v.At("sourceRef")
	namespace := from.At("namespace").Text()
	if namespace == "" {
		namespace = r.asked.Namespace
	}
	switch from.At("kind").OneOf("HelmRepository", "GitRepository") {
	case "HelmRepository":
		s := r.fluxSource("HelmRepository", namespace, from.At("name").Need())
		if s == nil {
			return
		}
		s.helmRepository(name, version)
	case "GitRepository":
		if s := r.fluxSource("GitRepository", namespace, from.At("name").Need()); s != nil {
			s.gitRepository("")
			r.Path = cleanSubdir(name)
		}
	default:
		from.At("kind").Need()
	}
	files := v.At("valuesFiles").Texts()
	if single := v.At("valuesFile").Text(); single != "" {
		files = []string{single}
	}
	for i, file := range files {
		file = cleanSubdir(file)
		// In Flux a list stands in place of the chart's own values.
		if own := path.Join(r.Path, "values.yaml"); i == 0 && file != own {
			v.At("valuesFiles").Fail("a list that leaves out the chart's own values is not supported; begin it with %s", own)
		} else if i > 0 {
			r.ValuesFiles = append(r.ValuesFiles, file)
		}
	}
	v.At("ignoreMissingValuesFiles").Flag()
}

// fluxChartRef reads the field chartRef of a HelmRelease, which refers to an
// OCIRepository. Charts of a HelmRepository keep their version, also in OCI registries.
func (r *reader) fluxChartRef(v field) {
	namespace := v.At("namespace").Text()
	if namespace == "" {
		namespace = r.asked.Namespace
	}
	if v.At("kind").Need() == "" || v.At("kind").OneOf("OCIRepository") == "" {
		return
	}
	if s := r.fluxSource("OCIRepository", namespace, v.At("name").Need()); s != nil {
		r.ChartDigest = true
		s.ociRepository()
	}
}

// valuesFrom merges the values that ConfigMaps and Secrets contain, as the controller does:
// later ones override earlier ones, the release's own override files of values, and values
// at a targetPath override both.
func (r *reader) valuesFrom(v field, own map[string]any) {
	indices := &assignment.Values{}
	for _, item := range v.Items() {
		key := item.At("valuesKey").Text()
		if key == "" {
			key = "values.yaml"
		}
		target, literal, optional := item.At("targetPath").Text(), item.At("literal").Flag(), item.At("optional").Flag()
		body := r.valuesObject(item)
		switch {
		case body == nil && (r.err != nil || item.Document().Failed()):
			return
		case body == nil:
			continue // it is optional
		}
		text, err := dataOf(body, key)
		if err != nil && optional && !holdsKey(body, key) {
			continue
		}
		if err != nil {
			item.Fail("%s", err)
			return
		}
		if target == "" {
			if !r.valuesOf(item, body, key, text) {
				return
			}
			continue
		}
		// As in the controller, what is below a mapping that own alone has is set in own
		// too, which overrides the other values in the end.
		if r.Values = Merged(r.Values, own); r.Values == nil {
			r.Values = map[string]any{}
		}
		indices.Map = r.Values
		if err := setTarget(indices, target, text, literal); err != nil {
			item.At("targetPath").Fail("%q: %s", clip(target), err)
			return
		}
	}
}

// valuesOf merges the values in a key of an object.
func (r *reader) valuesOf(item field, body map[string]any, key, text string) bool {
	if _, err := preview.Decode([]byte(text)); err != nil && preview.String(body, "kind") == "Secret" {
		item.Fail("what key %s of the Secret holds is not YAML", clip(key)) // and is not quoted
		return false
	}
	r.Values = Merged(r.Values, valuesText(item, text))
	return !item.Document().Failed()
}

// setTarget sets the value at a targetPath: a text in quotes or a literal one is a text,
// and any other is read as --set does.
func setTarget(values *assignment.Values, target, text string, literal bool) error {
	quoted := func(quote string) bool { return strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) }
	switch {
	case literal:
		return values.SetLiteral(target, text)
	case quoted("'"), quoted(`"`):
		return values.SetString(target + "=" + strings.Trim(text, `'"`))
	}
	return values.Set(target + "=" + text)
}

// holdsKey reports whether a ConfigMap or Secret has a key.
func holdsKey(body map[string]any, key string) bool {
	for _, field := range []string{"data", "stringData", "binaryData"} {
		if _, found := preview.Map(body, field)[key]; found {
			return true
		}
	}
	return false
}

// valuesObject returns the ConfigMap or Secret in the request's namespace that item
// refers to; nil, with an error set unless it is optional, if there is none.
func (r *reader) valuesObject(item field) map[string]any {
	kind, name := item.At("kind").OneOf("ConfigMap", "Secret"), item.At("name").Need()
	if kind == "" || item.Document().Failed() {
		item.At("kind").Need()
		return nil
	}
	if item.At("optional").Flag() && r.inFile("", kind, r.asked.Namespace, name) == nil {
		if r.more == nil {
			item.At("optional").Fail("whether %s %s exists is not known without a cluster", kind, name)
			return nil
		}
		// Unreadable parts are reported below.
		ref := preview.Ref{APIVersion: "v1", Kind: kind, Namespace: r.asked.Namespace, Name: name}
		if body, err := r.more.Get(r.ctx, ref); err == nil && body == nil {
			return nil
		}
	}
	body := r.find("", []string{"v1"}, kind, r.asked.Namespace, name)
	if body != nil && kind == "Secret" {
		r.SecretValues = true
		r.note(rules.ValuesFromSecret, r.asked.Namespace, name)
	}
	return body
}

// Merged returns values with over merged into under: maps are merged, everything else
// is replaced.
func Merged(under, over map[string]any) map[string]any {
	if len(under) == 0 {
		return maps.Clone(over)
	}
	out := make(map[string]any, len(under)+len(over))
	for key, v := range under {
		out[key] = v
	}
	for key, v := range over {
		a, aMap := out[key].(map[string]any)
		if b, bMap := v.(map[string]any); aMap && bMap {
			v = Merged(a, b)
		}
		out[key] = v
	}
	return out
}

func ignoredInKustomization() []ignoredField {
	return []ignoredField{
		{"spec.interval", "when the controller looks again"}, {"spec.retryInterval", "when the controller looks again"},
		{"spec.timeout", "how long the controller waits"}, {"spec.wait", "how the controller waits"}, {"spec.healthChecks", "what the controller waits for"},
		{"spec.ignore", "what the controller does afterwards"},
		{"spec.healthCheckExprs", "what the controller waits for"}, {"spec.dependsOn", "what the controller waits for; what is there, the review shows"},
		{"spec.prune", "what leaves the set is deleted here as reviewed"}, {"spec.deletionPolicy", "how the controller uninstalls"},
		{"spec.force", "nothing is replaced here that the review does not show"},
		{"spec.serviceAccountName", "whose rights the controller takes; here the user's own count"},
		{"spec.sourceRef.apiVersion", "the kind says enough"},
	}
}

// kustomization reads Flux's Kustomization. Its changes to the content become a
// generated kustomization that has the content as resource, as in Flux.
func (r *reader) kustomization(f *strictReader) {
	spec := f.At("spec")
	r.Release, r.Format = r.asked.Name, "kustomize"
	r.suspended(spec)
	r.commonMetadata(spec)
	r.Decrypts = spec.At("decryption").Mapping() != nil
	from := spec.At("sourceRef")
	namespace := from.At("namespace").Text()
	if namespace == "" {
		namespace = r.asked.Namespace
	}
	kind, name := from.At("kind").OneOf("GitRepository", "OCIRepository", kindExternalArtifact), from.At("name").Need()
	switch kind {
	case "":
		from.At("kind").Need()
		return
	case kindExternalArtifact:
		r.externalArtifact(namespace, name, spec)
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
	r.Path = cleanSubdir(spec.At("path").Text())
	r.postBuild(spec.At("postBuild"))
	r.Namespace = spec.At("targetNamespace").Text()
	over := overlay{Namespace: r.Namespace}
	over.Prefix, over.Suffix = spec.At("namePrefix").Text(), spec.At("nameSuffix").Text()
	over.Patches, over.Images = mappings(spec.At("patches")), mappings(spec.At("images"))
	for _, component := range spec.At("components").Texts() {
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

var variableName = lazyregexp.New(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// postBuild reads the variables that are substituted in the built objects: first from
// ConfigMaps and Secrets, where later ones override earlier ones, then from the request.
func (r *reader) postBuild(v field) {
	variables := map[string]string{}
	for _, item := range v.At("substituteFrom").Items() {
		body := r.valuesObject(item)
		if body == nil && (r.err != nil || item.Document().Failed()) {
			return
		}
		for key := range preview.Map(body, "data") {
			text, err := dataOf(body, key)
			if err != nil {
				item.Fail("%s", err)
				return
			}
			variables[key] = text
		}
	}
	maps.Copy(variables, v.At("substitute").TextMap())
	for name, text := range variables {
		if !variableName.MatchString(name) {
			v.Fail("%q is not the name of a variable", clip(name))
			return
		}
		variables[name] = strings.ReplaceAll(text, "\n", "") // as in Flux
	}
	if len(variables) > 0 {
		r.Variables = variables
	}
}

// overlay has what a request changes in a kustomization, as fields of
// kustomization.yaml.
type overlay struct {
	Namespace, Prefix, Suffix string
	Components                []string
	Patches, Images, Replicas []any
	CommonLabels              map[string]any
	CommonAnnotations         map[string]any
}

// sourceDir is the directory that the content moves to if a kustomization is generated
// at the root.
const sourceDir = "source"

// around adds a kustomization.yaml that makes the changes of o to the content, unless
// there are none.
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
	r.suspended(s.At("spec"))
}

// ociRepository reads an OCIRepository of Flux that is itself the request.
func (r *reader) ociRepository(f *strictReader) {
	s := &fluxSource{strictReader: f, r: r, document: r.asked}
	r.standsAlone(s)
	r.Namespace = r.asked.Namespace
	s.ociRepository()
}

// errNoKey returns the error for a ConfigMap or Secret that lacks a key.
func errNoKey(key string) error { return fmt.Errorf("it has no key %s", strings.TrimSpace(clip(key))) }
