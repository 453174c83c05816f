package registryv1

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func TestDetect(t *testing.T) {
	csv := map[string]string{"manifests/csv.yaml": baseCSV, annotationsFile: baseAnnotations}
	with := func(name, text string) map[string]string {
		files := map[string]string{name: text}
		for k, v := range csv {
			if _, set := files[k]; !set {
				files[k] = v
			}
		}
		return files
	}
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  *format.Info
		err   string
	}{
		{name: "a bundle", files: csv,
			want: &format.Info{Format: "registry+v1", Package: "demo", Version: "1.0.0", Bundle: "demo.v1.0.0", SuggestedNamespace: "demo-system"}},
		{name: "annotations for catalogs need not be strings", files: with(annotationsFile, baseAnnotations+"  com.example: true\n"),
			want: &format.Info{Format: "registry+v1", Package: "demo", Version: "1.0.0", Bundle: "demo.v1.0.0", SuggestedNamespace: "demo-system"}},
		{name: "broken manifests beside the CSV are for Render to report", files: with("manifests/crd.yaml", "{"),
			want: &format.Info{Format: "registry+v1", Package: "demo", Version: "1.0.0", Bundle: "demo.v1.0.0", SuggestedNamespace: "demo-system"}},
		{name: "nothing", files: map[string]string{}},
		{name: "plain manifests", files: map[string]string{"manifests/cm.yaml": "kind: ConfigMap\napiVersion: v1\n"}},
		{name: "a bundle of another media type", files: with(annotationsFile, "annotations: {"+keyMediaType+": helm+v0}")},
		{name: "a CSV without annotations", files: with(annotationsFile, ""),
			err: "reading the bundle: missing metadata/annotations.yaml; manifests/csv.yaml holds a ClusterServiceVersion without it"},
		{name: "annotations without manifests", files: with("manifests/csv.yaml", ""), err: "reading the bundle: missing directory manifests"},
		{name: "no CSV", files: with("manifests/csv.yaml", "kind: ConfigMap\napiVersion: v1\n"), err: "reading the bundle: no ClusterServiceVersion in manifests"},
		{name: "a directory among the manifests", files: with("manifests/sub/cm.yaml", "x"), err: "reading the bundle: manifests/sub is a directory; manifests must be flat"},
		{name: "no package", files: with(annotationsFile, "annotations: {}"), err: errNoPackage.Error()},
		{name: "a package that is a number", files: with(annotationsFile, "annotations: {"+keyPackage+": 3}"),
			err: "metadata/annotations.yaml: " + keyPackage + " is an integer, not a string"},
		{name: "annotations that are a list", files: with(annotationsFile, "[a]"), err: "metadata/annotations.yaml: want one mapping"},
		{name: "annotations set twice", files: with(annotationsFile, "annotations:\nannotations:\n"), err: `metadata/annotations.yaml: line 2: key "annotations" is set twice`},
		{name: "a CSV that is no YAML", files: with("manifests/csv.yaml", "kind: ClusterServiceVersion\n\tx"), err: "manifests/csv.yaml: line 2: found a tab character that violates indentation"},
		{name: "a CSV of other types", files: with("manifests/csv.yaml", strings.Replace(baseCSV, "version: 1.0.0", "version: 1.0", 1)),
			err: "ClusterServiceVersion in manifests/csv.yaml: spec.version is an integer, not a string"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			content := fstest.MapFS{}
			for name, text := range tc.files {
				if text != "" {
					content[name] = &fstest.MapFile{Data: []byte(text)}
				}
			}
			info, err := New().Detect(content)
			if tc.err != "" || err != nil {
				wantError(t, err, tc.err)
				return
			}
			if (info == nil) != (tc.want == nil) || info != nil && *info != *tc.want {
				t.Errorf("got %+v, want %+v", info, tc.want)
			}
		})
	}
}

func TestRenderRefusesBrokenContent(t *testing.T) {
	for _, tc := range []struct {
		name string
		more map[string]string
		want []string
	}{
		{"every file that does not decode is named", map[string]string{"manifests/a.yaml": "a: 1\na: 2\n", "manifests/b.yaml": "kind: ConfigMap\n"}, []string{
			`manifests/a.yaml: line 2: key "a" is set twice`,
			"manifests/b.yaml: document 1: an object without kind or apiVersion",
		}},
		{"missing annotations", map[string]string{annotationsFile: ""}, []string{"reading the bundle: missing metadata/annotations.yaml"}},
		{"a kind spelt with escapes, which Detect would not have seen",
			map[string]string{"manifests/z.yaml": `{"kind": "Cluster\u0053erviceVersion", "apiVersion": "operators.coreos.com/v1alpha1", "metadata": {"name": "other.v2"}}`},
			[]string{"manifests/z.yaml: write the kind ClusterServiceVersion without escapes"}},
		{"properties of another shape", map[string]string{propertiesFile: "properties: [text]"},
			[]string{"metadata/properties.yaml: properties[0] is a string, not a mapping"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := renderFS(t, makeBundle(t, nil, tc.more), format.Params{})
			wantError(t, err, tc.want...)
		})
	}
}

func TestWrongTypesInTheCSVAreNamedByPath(t *testing.T) {
	for _, tc := range []struct{ path, value, want string }{
		{"install.spec.permissions", `[{rules: [{verbs: [1]}]}]`, "spec.install.spec.permissions[0].rules[0].verbs[0] is an integer, not a string"},
		{"install.spec.clusterPermissions", `{}`, "spec.install.spec.clusterPermissions is a mapping, not a list"},
		{"install.spec.deployments", `[text]`, "spec.install.spec.deployments[0] is a string, not a mapping"},
		{"install.spec.deployments", `[{name: a, spec: {template: {spec: {containers: [{volumeMounts: {}}]}}}}]`,
			"spec.install.spec.deployments[0].spec.template.spec.containers[0].volumeMounts is a mapping, not a list"},
		{"install.spec.deployments", `[{name: a, spec: {template: {metadata: {annotations: {x: true}}}}}]`,
			`spec.install.spec.deployments[0].spec.template.metadata.annotations["x"] is a boolean, not a string`},
		{"installModes", `[{type: AllNamespaces, supported: "true"}]`, "spec.installModes[0].supported is a string, not a boolean"},
		{"webhookdefinitions", `[{containerPort: "443"}]`, "spec.webhookdefinitions[0].containerPort is a string, not an integer"},
		{"webhookdefinitions", `[{targetPort: 1.5}]`, "spec.webhookdefinitions[0].targetPort is a number, not an integer or a string"},
		{"webhookdefinitions", `[{rules: [{apiGroups: "*"}]}]`, "spec.webhookdefinitions[0].rules[0].apiGroups is a string, not a list"},
	} {
		_, err := renderFS(t, makeBundle(t, set(t, tc.path, tc.value), nil), format.Params{})
		wantError(t, err, "ClusterServiceVersion in manifests/csv.yaml: "+tc.want)
	}
}

func TestRenderStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := format.Input{Content: makeBundle(t, nil, nil), Release: preview.Release{Namespace: "demo-system"}}
	if _, err := New().Render(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestBundleSizeIsCapped(t *testing.T) {
	many := fstest.MapFS{annotationsFile: {Data: []byte(baseAnnotations)}}
	for i := range maxFiles + 1 {
		many[index("manifests/f", i)] = &fstest.MapFile{}
	}
	_, err := New().Detect(many)
	wantError(t, err, "reading the bundle: 2001 files in manifests are more than 2000")

	big := fstest.MapFS{annotationsFile: {Data: make([]byte, 1<<20+1)}}
	_, err = New().Detect(big)
	wantError(t, err, "reading the bundle: metadata/annotations.yaml exceeds the size a bundle may have")
}

func TestListsOfTheCSVAreCapped(t *testing.T) {
	repeat := func(entry string, n int) string { return "[" + strings.Repeat(entry+",", n) + "]" }
	const at = "ClusterServiceVersion in manifests/csv.yaml: "
	_, err := renderFS(t, makeBundle(t, set(t, "relatedImages", repeat("{}", maxEntries+1)), nil), format.Params{})
	wantError(t, err, at+"spec.relatedImages has 10001 entries, more than 10000")

	_, err = renderFS(t, makeBundle(t, set(t, "install.spec.deployments", repeat("{}", maxDeployments+1)), nil), format.Params{})
	wantError(t, err, at+"spec.install.spec.deployments has 201 entries, more than 200")

	big := strings.Replace(baseCSV, "annotations: {", "annotations: {big: "+strings.Repeat("x", maxAnnotationBytes)+", ", 1)
	_, err = renderFS(t, makeBundle(t, nil, map[string]string{"manifests/csv.yaml": big}), format.Params{})
	wantError(t, err, at+"metadata.annotations hold 1048630 bytes, more than 1048576")
}

func TestErrorsOfAHostileBundleAreCounted(t *testing.T) {
	entry := "{type: " + strings.Repeat("x", 2*maxProblemText) + ", deploymentName: demo, generateName: a},"
	_, err := renderFS(t, makeBundle(t, set(t, hooks, "["+strings.Repeat(entry, 3*maxProblems)+"]"), nil), format.Params{})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxProblems+1 || lines[maxProblems] != "and 40 more errors" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	for _, line := range lines {
		if len(line) > maxProblemText+len("…") {
			t.Errorf("a sentence of %d bytes", len(line))
		}
	}
}

func TestPropertiesAreMergedIntoTheAnnotation(t *testing.T) {
	annotated := func(properties string) map[string]string {
		return map[string]string{"manifests/csv.yaml": strings.Replace(baseCSV, "annotations: {", "annotations: {olm.properties: '"+properties+"', ", 1)}
	}
	with := func(files map[string]string, properties string) map[string]string {
		files[propertiesFile] = properties
		return files
	}
	for _, tc := range []struct {
		name string
		more map[string]string
		want any
	}{
		{"neither", nil, nil},
		{"the annotation alone stays as written", annotated(`[ {"type":"a", "value": 1} ]`), `[ {"type":"a", "value": 1} ]`},
		{"the file alone", map[string]string{propertiesFile: "properties: [{type: b, value: {z: 1, a: <}}]"}, `[{"type":"b","value":{"a":"\u003c","z":1}}]`},
		{"the annotation's come first and keep their order of keys",
			with(annotated(`[{"value": {"z": 1, "a": 2}, "type": "a"}]`), "properties: [{type: b, value: text}]"),
			`[{"type":"a","value":{"z":1,"a":2}},{"type":"b","value":"text"}]`},
		{"a file without properties, as upstream", map[string]string{propertiesFile: "dependencies: []"}, `null`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := mustRender(t, makeBundle(t, nil, tc.more), format.Params{})
			body := find(t, out, "apps/Deployment/demo-system/demo")
			if got := preview.Map(body, "spec", "template", "metadata", "annotations")[keyProperties]; got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
