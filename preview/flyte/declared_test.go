package flyte

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestPluginsAreDeclaredByTheirCRDOrTheEnginesConfig(t *testing.T) {
	definition := func(annotations string) string {
		return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: sleeps.example.com, annotations: {" + annotations +
			"}}, spec: {group: example.com, names: {kind: Sleep, plural: sleeps}}}"
	}
	config := func(list string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  annotations:\n    kubectl-operator/flyte-plugins: |\n      " + list
	}
	for _, tt := range []struct {
		name, docs, want, wrong string
	}{
		{"nothing", definition("a: b"), "", ""},
		{"by the CRD", definition("kubectl-operator/flyte-plugin: Sleep, kubectl-operator/flyte-account: sleeper, kubectl-operator/flyte-task-types: 'sleep, Nap'"),
			"sleep sleeps.example.com sleeper sleep,nap", ""},
		{"by the engine's config", config("[{id: sleep, group: example.com, resource: sleeps, account: sleeper, taskTypes: [sleep]}]"), "sleep sleeps.example.com sleeper sleep", ""},
		{"by both in one way", definition("kubectl-operator/flyte-plugin: sleep") + "\n---\n" + config("[{id: sleep, group: example.com, resource: sleeps}]"), "sleep sleeps.example.com  ", ""},
		{"by both in two ways", definition("kubectl-operator/flyte-plugin: sleep") + "\n---\n" + config("[{id: sleep, group: example.org, resource: sleeps}]"), "sleep sleeps.example.com  ",
			"annotation kubectl-operator/flyte-plugins of ConfigMap config declares sleep in another way than it was declared before"},
		{"with the id of one that Flyte has", definition("kubectl-operator/flyte-plugin: spark"), "", "CRD sleeps.example.com declares spark, which is a plugin of Flyte's own"},
		{"with an id that is no name", definition("kubectl-operator/flyte-plugin: 'a b'"), "", `CRD sleeps.example.com declares a plugin whose id, group, resource or account is not a name: "a b", "example.com", "sleeps", ""`},
		{"with a field that is not known", config("[{id: sleep, group: example.com, resource: sleeps, kind: Sleep}]"), "",
			"annotation kubectl-operator/flyte-plugins of ConfigMap config: the field plugins[0].kind is not supported"},
		{"without a group", config("[{id: sleep, resource: sleeps}]"), "", "ConfigMap config: plugins[0].group: it is missing"},
		{"as something else", config("'['"), "", "ConfigMap config: plugins: it is text where a list is due"},
		{"in no YAML", config("["), "", "ConfigMap config is not one YAML list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			docs, err := preview.Decode([]byte(tt.docs))
			if err != nil {
				t.Fatal(err)
			}
			p := &preview.Plan{}
			for _, doc := range docs {
				body, _ := doc.(map[string]any)
				ref := preview.RefOf(body)
				p.Objects = append(p.Objects, preview.Object{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, Planned: body})
			}
			got := declaredIn(p)
			var all []string
			for _, plugin := range got.plugins {
				all = append(all, strings.Join([]string{plugin.id, plugin.definition(), plugin.account, strings.Join(plugin.taskTypes, ",")}, " "))
			}
			if text := strings.Join(all, "; "); text != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
			if text := strings.Join(got.wrong, "; "); !strings.Contains(text, tt.wrong) || (tt.wrong == "") != (text == "") {
				t.Errorf("wrong is %q, want %q", text, tt.wrong)
			}
		})
	}
}
