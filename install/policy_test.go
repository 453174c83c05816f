package install_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/policy"
)

const policyHead = "apiVersion: kubectl-operator/v1alpha1\nkind: Policy\n"

// judgeBy is a policy as a user hands it to apply.
func judgeBy(t *testing.T, text string) func(*preview.Plan) error {
	t.Helper()
	p, err := policy.Parse([]byte(policyHead+text), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return p.Judge
}

// readsSecrets has one critical finding.
const readsSecrets = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{kind: ServiceAccount, name: op, namespace: NAME}]
`

// An interrupted run was judged when it began. When it goes on, the policy of that day
// counts, whichever way the plan comes.
func TestClusterResumedApplyIsJudgedByTodaysPolicy(t *testing.T) {
	const (
		noB    = "rules: [{name: no-b, expression: \"!plan.objects.exists(o, o.name == 'b')\", message: b is not wanted, severity: critical}]\n"
		waived = "waivers: [{rule: rbac-secrets-read, owner: team, reason: known, expires: 2999-12-31}]\n"
	)
	for _, test := range []struct {
		name      string
		content   []string
		then, now string // policies; empty means none
		want      string // in the refusal; empty means that it goes on
	}{
		{"a rule that came meanwhile refuses", []string{configMap("a", "1"), configMap("b", "1")}, "", noB, "policy-rule/policy/no-b"},
		{"a waiver that went meanwhile counts no more", []string{configMap("a", "1"), readsSecrets}, waived, "", "is not accepted"},
		{"the same waiver goes on to hold", []string{configMap("a", "1"), readsSecrets}, waived, waived, ""},
		{"a rule that went meanwhile counts no more", []string{configMap("a", "1"), configMap("b", "1")}, strings.Replace(noB, "critical", "warning", 1), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			name := "judged-" + strings.Fields(test.name)[1] + "-" + strings.Fields(test.name)[3]
			w := newWorld(t, name)
			for i := range test.content {
				test.content[i] = strings.ReplaceAll(test.content[i], "NAME", name)
			}
			plan := w.plan(t, w.content(t, "1.0.0", test.content...))
			first := w.options(t)
			if test.then != "" {
				first.Judge = judgeBy(t, test.then)
				if err := first.Judge(plan); err != nil { // as front ends do before they ask
					t.Fatal(err)
				}
			}
			approval := record.Approval{Digest: plan.Digest, How: record.ApprovedByYes, By: "test"}
			ctx, stop := context.WithCancel(t.Context())
			_, err := install.Apply(ctx, plan, approval, &cancelling{Cluster: w.Client, stop: stop, at: 1}, first)
			if install.KindOf(err) != install.Interrupted {
				t.Fatalf("the run was not interrupted: %v", err)
			}

			stored, err := record.Load(t.Context(), w, w.release)
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := record.LoadPlan(t.Context(), w, stored, nil)
			if err != nil {
				t.Fatal(err)
			}
			for way, plan := range map[string]*preview.Plan{"the plan of the first run": plan, "the recorded plan": recorded} {
				opts, before := w.options(t), len(w.writes(t))
				if test.now != "" {
					opts.Judge = judgeBy(t, test.now)
				}
				_, err := install.Apply(t.Context(), plan, approval, w, opts)
				if test.want == "" {
					if err != nil {
						t.Errorf("%s: %v, want it applied", way, err)
					}
					return // applied, so there is no second way to go on
				}
				if install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: kind %d, %v; want a refusal that says %q", way, install.KindOf(err), err, test.want)
				}
				if wrote := w.writes(t)[before:]; len(wrote) > 0 {
					t.Errorf("%s: refused, and wrote %v", way, wrote)
				}
			}
		})
	}
}
