package olmcluster

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A dependency of the reviewed package is subscribed to as it was reviewed, and not with
// what a writer of the InstallPlan adds.
func TestASubscriptionInAnInstallPlanIsThatOfAReviewedDependency(t *testing.T) {
	dependencies := []bundle{{Name: "cert.v1", Package: "cert", Channel: "stable", Catalog: "olm/community"}}
	made := func(more string) string {
		return `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"cert-stable-community-olm","namespace":"db","creationTimestamp":null},` +
			`"spec":{"channel":"stable","installPlanApproval":"Automatic","name":"cert","source":"community","sourceNamespace":"olm","startingCSV":"cert.v1"` + more + `},"status":{"lastUpdated":null}}`
	}
	for name, test := range map[string]struct{ manifest, want string }{
		"as OLM makes it":      {made(""), ""},
		"another version":      {strings.Replace(made(""), "cert.v1", "cert.v2", 1), `"cert.v2", which was not reviewed`},
		"another catalog":      {strings.Replace(made(""), "community\",\"s", "evil\",\"s", 1), "reviewed was package cert, channel stable of catalog olm/community"},
		"another channel":      {strings.Replace(made(""), ":\"stable", ":\"edge", 1), "channel edge"},
		"another package":      {strings.Replace(made(""), "name\":\"cert\",", "name\":\"spy\",", 1), "package spy"},
		"another namespace":    {strings.Replace(made(""), "namespace\":\"db", "namespace\":\"kube-system", 1), `in namespace "kube-system"`},
		"with a setting":       {made(`,"config":{"env":[{"name":"A","value":"b"}]}`), "says more"},
		"another kind":         {strings.Replace(made(""), "kind\":\"Subscription", "kind\":\"Secret", 1), "it is a Secret"},
		"text that is no JSON": {"kind: Subscription", "says more"},
	} {
		t.Run(name, func(t *testing.T) {
			err := compareSubscription(test.manifest, "db", dependencies)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// stored has the ConfigMaps that OLM unpacked, by name.
type stored map[string]map[string]any

// Get implements [planReader].
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
			reviewed := []bundle{{Name: "db.v1", Digest: "sha256:aa", Manifests: []map[string]any{decoded(t, csvText)}}}
			err := comparePlan(t.Context(), stored{"one": {"data": tt.data}}, reviewed, decoded(t, tt.plan))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
