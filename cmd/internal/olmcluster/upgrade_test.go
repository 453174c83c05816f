package olmcluster

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// listed has objects as they were read, by kind.
type listed map[string][]map[string]any

// Get implements [Reader].
func (l listed) Get(_ context.Context, ref preview.Ref) (map[string]any, error) {
	for _, object := range l[ref.Kind] {
		if preview.String(object, "metadata", "name") == ref.Name {
			return object, nil
		}
	}
	return nil, nil
}

// List implements [Reader].
func (l listed) List(_ context.Context, _, kind, _, _ string, _ ...string) ([]map[string]any, error) {
	return l[kind], nil
}

// DryRun implements [Reader].
func (listed) DryRun(context.Context, []preview.DryRun) []preview.DryRunResult { return nil }

// objects returns the objects of a text, by kind.
func objects(t *testing.T, text string) listed {
	t.Helper()
	all, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := listed{}
	for _, object := range all {
		body := object.(map[string]any)
		kind := preview.String(body, "kind")
		out[kind] = append(out[kind], body)
	}
	return out
}

// A namespace whose OperatorGroup leads to two namespaces, where OLM upgrades two
// Subscriptions with one InstallPlan, which holds a dependency too.
const twoUpgrades = `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: cache, namespace: shop}
spec: {name: redis, channel: stable, source: demo, sourceNamespace: olm, installPlanApproval: Manual}
status: {installedCSV: redis.v1, currentCSV: redis.v2, installPlanRef: {name: install-1}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: mongodb, namespace: shop}
spec: {name: mongodb, channel: fast, source: demo, sourceNamespace: olm, installPlanApproval: Manual}
status: {installedCSV: mongodb.v1, currentCSV: mongodb.v2, installPlanRef: {name: install-1}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: install-1, namespace: shop}
spec: {approved: false, clusterServiceVersionNames: [redis.v2, mongodb.v2, kafka.v1]}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: one, namespace: shop}
status: {namespaces: [b, a]}
`

func TestOneInstallPlanOfSeveralSubscriptionsIsReviewedAsAWhole(t *testing.T) {
	cluster := objects(t, twoUpgrades)
	for _, name := range []string{"mongodb", "cache", "redis"} { // the last is the package of cache
		w, err := FindPending(t.Context(), cluster, "shop", name, "")
		if err != nil {
			t.Fatal(err)
		}
		redis := planning.BundleUpgrade{Package: "redis", Catalog: "catalogsource:olm/demo", Channel: "stable", Bundle: "redis.v2", Installed: "redis.v1"}
		mongodb := planning.BundleUpgrade{Package: "mongodb", Catalog: "catalogsource:olm/demo", Channel: "fast", Bundle: "mongodb.v2", Installed: "mongodb.v1"}
		want := []planning.BundleUpgrade{redis, mongodb}
		if name == "mongodb" {
			want = []planning.BundleUpgrade{mongodb, redis}
		}
		if !slices.Equal(w.Upgrades, want) {
			t.Errorf("of %s: %v, want %v", name, w.Upgrades, want)
		}
		if mode, watch := w.Mode(); mode != "MultiNamespace" || !slices.Equal(watch, []string{"a", "b"}) {
			t.Errorf("%s of %v, want MultiNamespace of a and b", mode, watch)
		}
		plan := &preview.Plan{Packages: []preview.Package{{Name: "redis", Bundle: "redis.v2", Version: "2.0.0"}, {Name: "mongodb", Bundle: "mongodb.v2", Version: "2.0.0"}}}
		if err := w.Check(plan, ""); err == nil || !strings.Contains(err.Error(), "installs kafka.v1 too") {
			t.Errorf("a bundle that no review holds: %v", err)
		}
		plan.Packages = append(plan.Packages, preview.Package{Name: "kafka", Bundle: "kafka.v1", Version: "1.0.0"})
		if err := w.Check(plan, ">=2"); err != nil {
			t.Errorf("the version that was asked for: %v", err)
		}
	}
}

func TestWhatHasNoUpgradeToReviewSaysWhatToDo(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"it is approved":        {"approved: false", "approved: true", "no InstallPlan of it waits for an approval; which versions its catalog has: kubectl operator describe redis"},
		"its plan is gone":      {"name: install-1, namespace", "name: install-2, namespace", "no InstallPlan of it waits"},
		"it is the newest":      {"currentCSV: redis.v2", "currentCSV: redis.v1", "no InstallPlan of it waits"},
		"nothing is installed":  {"installedCSV: redis.v1, ", "", "has nothing installed yet, so that there is nothing to upgrade"},
		"OLM approves it":       {"installPlanApproval: Manual", "installPlanApproval: Automatic", "OLM itself approves its InstallPlans"},
		"there is no such one":  {"redis", "valkey", "namespace shop has no Subscription to package redis"},
		"no group":              {"kind: OperatorGroup", "kind: Other", "namespace shop has 0 OperatorGroups"},
		"it follows another":    {"channel: stable", "channel: slow", "follows channel slow, and not stable"},
		"it follows no channel": {"channel: stable, ", "", "follows channel by default, and not stable"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(twoUpgrades, tt.old, tt.new)
			if text == twoUpgrades {
				t.Fatalf("there is no %q", tt.old)
			}
			if _, err := FindPending(t.Context(), objects(t, text), "shop", "redis", "stable"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := FindPending(t.Context(), listed{}, "", "redis", ""); err == nil || !strings.Contains(err.Error(), "choose it with -n") {
		t.Errorf("without a namespace: %v", err)
	}
}
