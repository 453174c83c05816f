package installplan

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// stored has the ConfigMaps that OLM unpacked, by name.
type stored map[string]map[string]any

// Get implements [Reader].
func (s stored) Get(_ context.Context, ref preview.Ref) (map[string]any, error) {
	return s[ref.Name], nil
}

const csvText = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: db.v1}\nspec: {replicas: 1}\n"

// decoded returns the object of a text.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	objects, err := preview.Decode([]byte(text))
	if err != nil || len(objects) != 1 {
		t.Fatal(err)
	}
	return objects[0].(map[string]any)
}

func TestOnlyAnInstallPlanOfWhatWasReviewedIsApproved(t *testing.T) {
	const inConfigMap = `{"kind":"ConfigMap","name":"one","namespace":"olm"}`
	plan := func(names, path string, steps ...string) string {
		text := "apiVersion: operators.coreos.com/v1alpha1\nkind: InstallPlan\nmetadata: {name: i}\nspec: {clusterServiceVersionNames: [" + names + "]}\nstatus:\n" +
			"  bundleLookups: [{identifier: db.v1, path: \"" + path + "\"}]\n  plan:\n"
		for i := 0; i < len(steps); i += 3 {
			text += "  - {resolving: " + steps[i] + ", resource: {kind: " + steps[i+1] + ", name: x, manifest: '" + steps[i+2] + "'}}\n"
		}
		return text
	}
	const reviewed = "registry.example.com/db@sha256:aa"
	for name, tt := range map[string]struct {
		plan string
		data map[string]any
		want string // of the error; empty for none
	}{
		"it holds the reviewed bundle": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap, "db.v1", "ServiceAccount", inConfigMap),
		},
		"its image has a tag, and the content is the same": {
			plan: plan("db.v1", "registry.example.com/db:v1", "db.v1", "ClusterServiceVersion", inConfigMap),
		},
		"it installs another version": {
			plan: plan("db.v2", reviewed), want: "it installs db.v2 too",
		},
		"it installs a second operator": {
			plan: plan("db.v1, spy.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap), want: "it installs spy.v1 too",
		},
		"it installs nothing": {
			plan: plan("", reviewed), want: "and not db.v1",
		},
		"its image has another digest": {
			plan: plan("db.v1", "registry.example.com/db@sha256:bb", "db.v1", "ClusterServiceVersion", inConfigMap), want: "and reviewed was sha256:aa",
		},
		"an object is written in a step": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap, "db.v1", "ClusterRole", `{"kind":"ClusterRole"}`), want: "ClusterRole x is written in it",
		},
		"a step is of an operator that it does not name": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap, "spy.v1", "Deployment", inConfigMap), want: `is of "spy.v1", which was not reviewed`,
		},
		"a step is from another ConfigMap": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap, "db.v1", "Service", `{"kind":"ConfigMap","name":"two","namespace":"olm"}`), want: "into several ConfigMaps",
		},
		"a Subscription is a step, and there is no dependency": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap, "db.v1", "Subscription", inConfigMap), want: "Subscription x is written in it",
		},
		"the ConfigMap is gone": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", `{"kind":"ConfigMap","name":"gone","namespace":"olm"}`), want: "cannot be read, ConfigMap gone in namespace olm: it is gone",
		},
		"an object was changed": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap),
			data: map[string]any{"csv.yaml": strings.Replace(csvText, "replicas: 1", "replicas: 2", 1)}, want: "ClusterServiceVersion/-/db.v1 is another",
		},
		"an object was added": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap),
			data: map[string]any{"csv.yaml": csvText, "role.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: spy}\n"}, want: "Secret/-/spy is added",
		},
		"an object is missing": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap),
			data: map[string]any{"readme": "text"}, want: "ClusterServiceVersion/-/db.v1 is missing",
		},
		"the ConfigMap holds no YAML": {
			plan: plan("db.v1", reviewed, "db.v1", "ClusterServiceVersion", inConfigMap),
			data: map[string]any{"csv.yaml": "a: [b"}, want: "ConfigMap one in namespace olm",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.data == nil {
				tt.data = map[string]any{"csv.yaml": csvText}
			}
			reviewed := []Bundle{{Name: "db.v1", Digest: "sha256:aa", Manifests: []map[string]any{decoded(t, csvText)}}}
			err := Compare(t.Context(), stored{"one": {"data": tt.data}}, reviewed, decoded(t, tt.plan))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
