package risk

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestSlowManyGrantsTakeLinearTime guards against rules that compare every grant
// with every other: four times as many would take sixteen times as long.
func TestSlowManyGrantsTakeLinearTime(t *testing.T) {
	slowtest.Skip(t, "plans of many thousand grants")
	took := func(n int) time.Duration {
		p := &preview.Plan{Release: preview.Release{Namespace: "app"}}
		for i := range n {
			g := grantOf("certificates.k8s.io,admissionregistration.k8s.io,|signers,secrets,validatingwebhookconfigurations|approve,patch,create")
			if i%2 == 0 {
				g.Subject.Name = fmt.Sprint(i)
			}
			p.Access.Grants = append(p.Access.Grants, g)
		}
		start := time.Now()
		evaluate(t, Input{Plan: p})
		return time.Since(start)
	}
	var few, many time.Duration
	for range 3 { // other processes can only make a run slower
		if few, many = took(5_000), took(20_000); many <= 10*few+time.Second {
			return
		}
	}
	t.Errorf("5,000 grants took %v, 20,000 took %v", few, many)
}

// TestJudgingManyObjectsTakesLinearWork counts what is allocated to judge a package with
// four times as many objects of the same kinds: a rule that gathers all objects for each
// of them shows at once, on any machine.
func TestJudgingManyObjectsTakesLinearWork(t *testing.T) {
	bundle := planOf(t, roleHead+"}\nrules: [{apiGroups: ['', rbac.authorization.k8s.io], resources: [secrets, pods, roles, clusterroles, rolebindings], verbs: [get, create, update, bind, escalate]}]\n---\n"+
		toRole("r", "{kind: ServiceAccount, name: op, namespace: app}")+
		"---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: app}}\n---\n"+pod("serviceAccountName: op, ", "image: c, args: [--serve]")+
		"---\n{apiVersion: v1, kind: Service, metadata: {name: s, namespace: app}, spec: {selector: {app: op}, ports: [{port: 80}]}}\n"+
		"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: app}, data: {a.sh: 'set -e'}}\n---\n"+custom("argoproj.io/v1alpha1", "Application", "a: b"))
	each := func(n int) float64 {
		p := repeated(bundle, n)
		in := Input{Plan: p}
		in.Reach.Roles.Objects = preview.PlannedBodies(p.Objects)
		return testing.AllocsPerRun(1, func() { evaluate(t, in) }) / float64(n)
	}
	few, many := each(350), each(1400)
	t.Logf("%.0f allocations for each of 350 objects, %.0f for each of 1,400", few, many)
	if many > 1.2*few {
		t.Errorf("each of 350 objects takes %.0f allocations, each of 1,400 takes %.0f", few, many)
	}
}
