package risk

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// upgraded is the review of after where before is installed and its findings
// were accepted, as receipts record it.
func upgraded(t *testing.T, before, after *preview.Plan) []preview.Finding {
	t.Helper()
	accepted := map[string]int{}
	for _, f := range evaluate(t, Input{Plan: before}) {
		accepted[f.Fingerprint] = 1
	}
	bodies := func(p *preview.Plan) (out []map[string]any) {
		for _, o := range p.Objects {
			out = append(out, o.Planned)
		}
		return out
	}
	was, is := bodies(before), bodies(after)
	after.Access.Grants = access.Delta(access.Compute(access.Input{Objects: was}), access.Compute(access.Input{Objects: is}))
	after.Cloud = cloud.Delta(cloud.Scan(cloud.Input{Objects: was}), cloud.Scan(cloud.Input{Objects: is}))
	for i := range after.Objects {
		o := &after.Objects[i]
		o.Action = preview.ActionUpdate
		if old := before.Object(o.ID); old != nil {
			o.LiveBody = old.Planned
			if reflect.DeepEqual(o.Planned, old.Planned) {
				o.Action = preview.ActionUnchanged
			}
		}
	}
	return evaluate(t, Input{Plan: after, Accepted: accepted})
}

func criticals(findings []preview.Finding) []string {
	var out []string
	for _, f := range findings {
		if f.Severity == preview.Critical {
			out = append(out, f.ID)
		}
	}
	return out
}

const (
	opAccount = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: app}\n---\n"
	opBinding = "---\n" + bindingHead + "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\nsubjects: [{kind: ServiceAccount, name: op, namespace: app}]\n---\n"
	someRole  = roleHead + "}\nrules:\n- {apiGroups: [''], resources: [nodes/proxy], verbs: [get]}\n- {apiGroups: [apps], resources: [deployments], verbs: [create, get, list, watch]}\n"
)

func TestAddedSecretsGetIsRankedFirst(t *testing.T) {
	secrets := "- {apiGroups: [''], resources: [secrets], verbs: [get]}\n"
	before := planOf(t, opAccount+someRole+opBinding+pod("serviceAccountName: op, ", "image: 'c:v1'"))
	after := planOf(t, opAccount+someRole+secrets+opBinding+pod("serviceAccountName: op, ", "image: 'c:v2'"))
	found := upgraded(t, before, after)
	if len(found) == 0 || found[0].Rule != "rbac-secrets-read" || found[0].Severity != preview.Critical || found[0].AcceptedIn != 0 {
		t.Errorf("findings %v", ids(found))
	}
}

// What was accepted of grants holds, as the cluster has them; the pod that gets
// another image is sent anew, and what it may do is critical again.
func TestAnUpgradeOfTheImageAloneHasOnlyItsPodCritical(t *testing.T) {
	before := planOf(t, opAccount+someRole+opBinding+pod("serviceAccountName: op, hostPID: true, ", "image: 'c:v1', securityContext: {privileged: true}"))
	after := planOf(t, opAccount+someRole+opBinding+pod("serviceAccountName: op, hostPID: true, ", "image: 'c:v2', securityContext: {privileged: true}"))
	if len(criticals(evaluate(t, Input{Plan: before}))) == 0 {
		t.Fatal("the installed revision has nothing critical, which shows nothing")
	}
	if got := criticals(upgraded(t, before, after)); !slices.Equal(got, []string{"pod-privileged/apps/Deployment/app/op"}) {
		t.Errorf("critical: %v", got)
	}
	if got := criticals(upgraded(t, before, before)); len(got) > 0 {
		t.Errorf("critical where nothing is sent: %v", got)
	}
}

// A patch release of an AWS controller changes an image and little else.
func TestPatchUpgradesOfACKControllersHaveNothingCritical(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "ack-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
	pairs := 0
	for _, from := range dirs {
		for _, to := range dirs {
			if filepath.Dir(from) != filepath.Dir(to) || from == to || minor(from) != minor(to) {
				continue
			}
			before, _ := planOfBundle(t, from)
			after, _ := planOfBundle(t, to)
			if before == nil || after == nil {
				continue
			}
			pairs++
			if got := criticals(upgraded(t, before, after)); len(got) > 0 {
				t.Errorf("%s to %s: %v", from, to, got)
			}
		}
	}
	t.Logf("%d upgrades", pairs)
	if pairs == 0 {
		t.Skip("no two patch releases of one controller")
	}
}

// minor is the version in the name of a directory without its patch level.
func minor(dir string) string {
	version := filepath.Base(dir)
	if i := strings.LastIndexByte(version, '.'); i > 0 {
		return version[:i]
	}
	return version
}
