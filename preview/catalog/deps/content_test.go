package deps

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const smallCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: app.v1.0.0
  annotations:
    olm.properties: '[{"type": "olm.package.required", "value": {"packageName": "annotated", "versionRange": "1.0.0"}}]'
spec:
  customresourcedefinitions:
    owned: [{name: apps.x.example, version: v1, kind: App}]
    required: [{name: certificates.x.example, version: v1, kind: Certificate}]
  apiservicedefinitions:
    required: [{group: metrics.example, version: v1, kind: Metric}]
`

func content(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestABundleDirectorySaysWhatItRequires(t *testing.T) {
	list, err := FromContent(content(map[string]string{
		"manifests/crd.yaml": "kind: CustomResourceDefinition\n",
		"manifests/csv.yaml": smallCSV,
		propertiesFile:       "properties:\n- {type: olm.constraint, value: {package: {packageName: certs, versionRange: '>1.0.0'}}}\n- {type: olm.maxOpenShiftVersion, value: '4.23'}\n",
		dependenciesFile:     "dependencies:\n- {type: olm.package, value: {packageName: queue, version: '>=1.0.0 <2.0.0'}}\n- {type: olm.gvk, value: {group: x.example, version: v1, kind: Queue}}\n- {type: olm.label, value: {label: gold}}\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Requirements(list)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"API x.example/v1/Certificate", "API metrics.example/v1/Metric", "package annotated 1.0.0",
		"package certs >1.0.0", "package queue >=1.0.0 <2.0.0", "API x.example/v1/Queue", "label gold",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	f, err := readProperties(list, newCEL())
	if err != nil || !f.provides[API{"x.example", "v1", "App"}] {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestOtherContentRequiresNothing(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nothing":        {},
		"a chart":        {"Chart.yaml": "name: x\n"},
		"plain objects":  {"manifests/x.yaml": "kind: ConfigMap\n"},
		"a word of it":   {"manifests/x.yaml": "kind: ConfigMap\ndata: {x: ClusterServiceVersion}\n"},
		"a binary":       {"manifests/x.bin": "\x00\x01\x02"},
		"an empty list":  {"manifests/csv.yaml": "kind: ClusterServiceVersion\n", dependenciesFile: "dependencies: []\n"},
		"an empty file":  {"manifests/csv.yaml": "kind: ClusterServiceVersion\n", dependenciesFile: ""},
		"another format": {dependenciesFile: "dependencies: [{type: chart}]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if list, err := FromContent(content(files)); err != nil || len(list) != 0 {
				t.Errorf("got %v, %v", list, err)
			}
		})
	}
}

func TestBadDependencyFiles(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no list", "dependencies: {a: b}", "want a list of {type, value}"},
		{"no mapping", "- x", "want one mapping"},
		{"two documents", "dependencies: []\n---\na: b", "want one mapping"},
		{"no YAML", "dependencies: [", "metadata/dependencies.yaml: "},
		{"no type", "dependencies: [{value: {}}]", "entry 1: field type is empty"},
		{"a type of the future", "dependencies: [{type: olm.moon, value: {}}]", `entry 1: type "olm.moon" is not one of`},
		{"a value that is text", "dependencies: [{type: olm.gvk, value: x}]", "entry 1: its value is no mapping"},
		{"no version", "dependencies: [{type: olm.package, value: {packageName: a}}]", "field version is empty"},
		{"a version that is a number", "dependencies: [{type: olm.package, value: {packageName: a, version: 1.0}}]", "field version is not text"},
		{"an API without a group", "dependencies: [{type: olm.gvk, value: {version: v1, kind: A}}]", "field group is empty"},
		{"an empty label", "dependencies: [{type: olm.label, value: {label: ''}}]", "field label is empty"},
		{"an alias bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ndependencies: [*d,*d,*d,*d,*d,*d,*d,*d]", "aliases"},
		{"too large", "# " + strings.Repeat("x", maxMetadataBytes), "exceeds the size it may have"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := FromContent(content(map[string]string{"manifests/csv.yaml": "kind: ClusterServiceVersion\n", dependenciesFile: test.text}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	t.Run("a bad annotation", func(t *testing.T) {
		_, err := FromContent(content(map[string]string{"manifests/csv.yaml": strings.Replace(smallCSV, "'[{", "'[[{", 1)}))
		if err == nil || !strings.Contains(err.Error(), "annotation olm.properties") {
			t.Errorf("got %v", err)
		}
	})
}
