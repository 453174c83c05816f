package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// limited makes a plan of a workload in a namespace that has the limits given.
func limited(t *testing.T, workload string, limits ...string) *preview.Plan {
	t.Helper()
	p := planOf(t, workload)
	for _, text := range limits {
		body := planOf(t, text).Objects[0].Planned
		p.Reads = append(p.Reads, preview.Read{ID: preview.RefOf(body).ID(), UID: "u", Fingerprint: "f", Body: body})
	}
	return p
}

func quotaOf(hard string) string {
	return "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: app}\nspec: {hard: {" + hard + "}}\n"
}

func ranges(fields string) string {
	return "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: app}\nspec: {limits: [{type: Container, " + fields + "}]}\n"
}

func TestPodsAgainstQuotasAndLimits(t *testing.T) {
	two := strings.Replace(pod("", "resources: {requests: {cpu: 600m, memory: 1Gi}}"), "spec: {template", "spec: {replicas: 2, template", 1)
	tests := []struct {
		name, workload string
		limits         []string
		want           string // in the evidence; empty for no finding
	}{
		{"two replicas ask for more than the quota has", two, []string{quotaOf("requests.cpu: 1")}, "allows requests.cpu 1, and the plan needs 1200m"},
		{"a short name means requests", two, []string{quotaOf("cpu: 1")}, "allows cpu 1, and the plan needs 1200m"},
		{"what fits is no finding", two, []string{quotaOf("cpu: '2', memory: 2Gi, pods: 2")}, ""},
		{"more pods than the quota counts", two, []string{quotaOf("pods: 1")}, "allows pods 1, and the plan needs 2"},
		{"a quota on limits refuses pods without", two, []string{quotaOf("limits.cpu: 100")}, "limits limits.cpu, and container c"},
		{"a default of the LimitRange fills them in", two, []string{quotaOf("limits.cpu: 100"), ranges("default: {cpu: 1}")}, ""},
		{"a default counts against the quota", two, []string{quotaOf("limits.cpu: 1"), ranges("default: {cpu: 1}")}, "allows limits.cpu 1, and the plan needs 2"},
		{"a quota with scopes is left out", two, []string{strings.Replace(quotaOf("cpu: 1"), "spec: {", "spec: {scopes: [BestEffort], ", 1)}, ""},
		{"more than the largest container", two, []string{ranges("max: {memory: 512Mi}")}, "max memory is 512Mi"},
		{"less than the smallest container", two, []string{ranges("min: {cpu: 1}")}, "min cpu is 1"},
		{"a quota that no number says", two, []string{quotaOf("cpu: lots")}, ""},
		{"a quota of another namespace", two, []string{strings.Replace(quotaOf("cpu: 1"), "namespace: app", "namespace: b", 1)}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: limited(t, test.workload, test.limits...)}), "quota-refused")
			switch {
			case f == nil && test.want != "":
				t.Error("nothing was found")
			case f != nil && (test.want == "" || !strings.Contains(f.Evidence, test.want)):
				t.Errorf("evidence %s", f.Evidence)
			case f != nil && (f.Severity != preview.Critical || f.Object != "core/Namespace/-/app"):
				t.Errorf("finding %+v", f)
			}
		})
	}
}

func TestAQuotaOfThePlanItselfCounts(t *testing.T) {
	p := planOf(t, quotaOf("pods: 0")+"---\n"+pod("", "image: c"))
	if find(evaluate(t, Input{Plan: p}), "quota-refused") == nil {
		t.Error("nothing was found")
	}
}

func TestQuotasThatMayNotBeReadAreTold(t *testing.T) {
	p := planOf(t, pod("", "image: c"))
	p.Reads = append(p.Reads, preview.Read{ID: UnreadID("ResourceQuota", "app")}, preview.Read{ID: UnreadID("LimitRange", "app")})
	f := find(evaluate(t, Input{Plan: p}), "quota-unread")
	if f == nil || f.Severity != preview.Info || !strings.Contains(f.Evidence, "LimitRanges may not be listed") {
		t.Errorf("finding %+v", f)
	}
}

func TestATagThatMovedSinceTheInstalledRevision(t *testing.T) {
	images := func(now, was string) *preview.Plan {
		p := planOf(t, pod("", "image: '"+now+"'"))
		o := &p.Objects[0]
		o.LiveBody = planOf(t, pod("", "image: '"+was+"'")).Objects[0].Planned
		preview.Mark(o.LiveBody, p.Release)
		return p
	}
	if f := find(evaluate(t, Input{Plan: images("c:v1@sha256:22", "c:v1@sha256:11")}), "image-moved"); f == nil || !strings.Contains(f.Evidence, "c:v1 was sha256:11 and is sha256:22") {
		t.Errorf("finding %+v", f)
	}
	for now, was := range map[string]string{"c:v1@sha256:11": "c:v1@sha256:11", "c:v2@sha256:22": "c:v1@sha256:11", "c@sha256:22": "c@sha256:11", "c:v1": "c:v1"} {
		if f := find(evaluate(t, Input{Plan: images(now, was)}), "image-moved"); f != nil {
			t.Errorf("%s after %s: %s", now, was, f.Evidence)
		}
	}
}

// The labels that count are those after the apply: live ones stay unless the
// plan sets them.
// A label of a live namespace refuses pods of others from then on, as it does those of the plan.
func TestALevelOfALiveNamespaceRefusesPodsOfOthers(t *testing.T) {
	workloads := preview.PlannedBodies(planOf(t, pod("", "securityContext: {privileged: true}")).Objects)
	for _, test := range []struct {
		before, after   string
		refused, warned int
	}{
		{"audit: privileged", "enforce: baseline", 1, 0}, {"audit: privileged", "warn: baseline", 0, 1}, {"audit: privileged", "audit: restricted", 0, 1},
		{"enforce: baseline", "enforce: restricted", 0, 0}, {"enforce: restricted", "enforce: privileged", 0, 0},
	} {
		p := planOf(t, namespaceOf(test.after))
		p.Objects[0].Action, p.Objects[0].LiveBody = preview.ActionAdopt, planOf(t, namespaceOf(test.before)).Objects[0].Planned
		if refused, warned := NoLongerAdmitted(p, &p.Objects[0], workloads); len(refused) != test.refused || len(warned) != test.warned {
			t.Errorf("%s, then %s: %v refused, %v warned of", test.before, test.after, refused, warned)
		}
	}
}

func TestLabelsOfTheNamespace(t *testing.T) {
	restricted := planOf(t, namespaceOf("enforce: restricted")).Objects[0].Planned
	p := planOf(t, pod("", "securityContext: {privileged: true}"))
	p.Reads = []preview.Read{{ID: "core/Namespace/-/app", UID: "u", Body: restricted}}
	if find(evaluate(t, Input{Plan: p}), "pod-security-refused") == nil {
		t.Error("a level that was read does not count")
	}
	p = planOf(t, namespaceOf("warn: baseline")+pod("", "securityContext: {privileged: true}"))
	p.Objects[0].LiveBody = restricted
	if find(evaluate(t, Input{Plan: p}), "pod-security-refused") == nil {
		t.Error("a live label that the plan does not set is lost")
	}
	p = planOf(t, namespaceOf("enforce: privileged")+pod("", "securityContext: {privileged: true}"))
	p.Objects[0].LiveBody = restricted
	if f := find(evaluate(t, Input{Plan: p}), "pod-security-refused"); f != nil {
		t.Errorf("a label that the plan sets does not count: %s", f.Evidence)
	}
	p = planOf(t, namespaceOf("enforce: no-such-level")+pod("", "image: c"))
	if find(evaluate(t, Input{Plan: p}), "pod-security-refused") == nil {
		t.Error("the API server takes a level it does not know for restricted")
	}
}
