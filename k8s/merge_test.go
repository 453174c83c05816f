package k8s_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

func TestClusterMergeHereIsWhatADryRunAnswers(t *testing.T) {
	c := admin(t)
	deployment := func(namespace, spec, container string) string {
		return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: %s}, spec: {%s
selector: {matchLabels: {a: a}}, template: {metadata: {labels: {a: a}}, spec: {containers: [{name: a, image: x, %s}]}}}}`, namespace, spec, container)
	}
	const env = "env: [{name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]"
	for name, tt := range map[string]struct {
		before, after func(namespace string) string
		kubectl       []string // by another user in between
	}{
		"nothing changes": {
			func(ns string) string { return deployment(ns, "", env) },
			func(ns string) string { return deployment(ns, "", env) }, nil,
		},
		"a quantity in another spelling": {
			func(ns string) string { return deployment(ns, "", `resources: {limits: {cpu: "1"}}`) },
			func(ns string) string { return deployment(ns, "", `resources: {limits: {cpu: 1000m}}`) }, nil,
		},
		"a field more, one less and one changed": {
			func(ns string) string { return configMap(ns, "a", "{same: x, gone: x, other: x}") },
			func(ns string) string { return configMap(ns, "a", "{same: x, fresh: x, other: z}") }, nil,
		},
		"what somebody else added stays": {
			func(ns string) string { return configMap(ns, "a", "{k: x}") },
			func(ns string) string { return configMap(ns, "a", "{k: z}") },
			[]string{"patch", "configmap", "a", "--type=merge", "-p", `{"data":{"theirs":"x"}}`},
		},
		"a field of another type fits no schema": {
			func(ns string) string { return configMap(ns, "a", "{k: x}") },
			func(ns string) string { return configMap(ns, "a", "{k: true}") }, nil,
		},
		"a field that somebody else took is a conflict": {
			func(ns string) string { return deployment(ns, "replicas: 1,\n", env) },
			func(ns string) string { return deployment(ns, "replicas: 3,\n", env) },
			[]string{"scale", "deployment", "a", "--replicas=2"},
		},
		"a field that somebody else took to the same value is none": {
			func(ns string) string { return configMap(ns, "a", "{k: x}") },
			func(ns string) string { return configMap(ns, "a", "{k: z}") },
			[]string{"patch", "configmap", "a", "--type=merge", "-p", `{"data":{"k":"z"}}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := newNamespace(t, c)
			ref := preview.RefOf(create(t, c, tt.before(namespace)))
			if tt.kubectl != nil {
				kubectl(t, "", append(slices.Clone(tt.kubectl), "-n", namespace)...)
			}
			sealed := parse(t, tt.after(namespace))
			var live map[string]any
			var want preview.DryRunResult
			eventually(t, "an object that no controller writes meanwhile", func() bool {
				var err error
				if live, err = c.Get(t.Context(), ref); err != nil {
					t.Fatal(err)
				}
				item := preview.DryRun{Body: sealed}
				item.UID, item.ResourceVersion = pin(live)
				want = c.DryRun(t.Context(), []preview.DryRun{item})[0]
				return preview.ReasonOf(want.Err) != preview.ReasonChanged
			})
			got := c.Merge(t.Context(), live, preview.DryRun{Body: sealed})
			if a, b := preview.ReasonOf(want.Err), preview.ReasonOf(got.Err); a != b {
				t.Fatalf("the dry run answers %v, the merge %v", want.Err, got.Err)
			}
			if preview.ReasonOf(want.Err) == preview.ReasonNotAppliable {
				return
			}
			if want.Err != nil {
				a, b := requireReason(t, want.Err, preview.ReasonConflict), requireReason(t, got.Err, preview.ReasonConflict)
				if d := cmp.Diff(a.Conflicts, b.Conflicts); d != "" {
					t.Errorf("conflicts (-dry run +merge):\n%s", d)
				}
				return
			}
			o := preview.Object{LiveBody: live, Planned: sealed}
			if d := cmp.Diff(diff.Changes(o.Compared(want.Body)), diff.Changes(o.Compared(got.Body))); d != "" {
				t.Errorf("changes (-dry run +merge):\n%s", d)
			}
		})
	}
}
