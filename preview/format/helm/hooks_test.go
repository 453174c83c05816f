package helm

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// hookOf is a Job that is a hook.
func hookOf(events, weight string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: job\n  annotations: {helm.sh/hook: '" + events + "', helm.sh/hook-weight: '" + weight + "'}\n"
}

func TestHooksBelongToAPhaseByWhatThePlanDoes(t *testing.T) {
	pre, post := &preview.Hook{Phase: preview.HookPre, Weight: -5}, &preview.Hook{Phase: preview.HookPost, Weight: -5}
	for name, c := range map[string]struct {
		events           string
		install, upgrade *preview.Hook
	}{
		"before an install":              {"pre-install", pre, nil},
		"after an install":               {"post-install", post, nil},
		"before an upgrade":              {"pre-upgrade", nil, pre},
		"after both":                     {"post-install, post-upgrade", post, post},
		"before and after":               {"post-install,pre-install", pre, nil},
		"in capitals":                    {"Pre-Install", pre, nil},
		"a test":                         {"test", nil, nil},
		"before a delete and a rollback": {"pre-delete,post-rollback", nil, nil},
		"a definition of Helm 2":         {"crd-install", nil, nil},
		"of a moment that there is not":  {"whenever", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, upgrade := range []bool{false, true} {
				in := input(chartOf("templates/a.yaml", hookOf(c.events, "-5")))
				in.Upgrade = upgrade
				want := c.install
				if upgrade {
					want = c.upgrade
				}
				out := renderChart(t, in)
				notRun := notesOf(out.Notes, rules.HookNotRun.Name)
				switch {
				case want == nil:
					if len(out.Objects) != 0 || len(notRun) != 1 || !strings.HasPrefix(notRun[0], "batch/Job/here/job: it runs at ") {
						t.Errorf("upgrade %v: %d objects, notes %v", upgrade, len(out.Objects), notRun)
					}
				case len(out.Objects) != 1 || len(notRun) != 0 || *out.Objects[0].Hook != *want:
					t.Errorf("upgrade %v: %+v, notes %v", upgrade, out.Objects, notRun)
				}
			}
		})
	}
}

func TestADeletePolicyIsToldAndNotCarriedOut(t *testing.T) {
	job := strings.Replace(hookOf("pre-install", "0"), "'0'}", "'0', helm.sh/hook-delete-policy: hook-succeeded}", 1)
	out := renderChart(t, input(chartOf("templates/a.yaml", job)))
	want := []string{"package/demo: Helm would delete after their hooks have run, and here stay until the release is removed: batch/Job/here/job"}
	if got := notesOf(out.Notes, rules.HookKept.Name); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestAHookJobIsNamedByWhatItDoes(t *testing.T) {
	named := func(image string) string {
		job := strings.Replace(hookOf("pre-install", "0"), "name: job", "generateName: job-", 1) + "spec: {template: {spec: {containers: [{image: " + image + "}]}}}\n"
		body := renderChart(t, input(chartOf("templates/a.yaml", job))).Objects[0].Body
		if preview.String(body, "metadata", "generateName") != "" {
			t.Error("generateName is still there")
		}
		return preview.String(body, "metadata", "name")
	}
	one, again, two := named("a"), named("a"), named("b")
	if one != again || one == two || !strings.HasPrefix(one, "job-") || len(one) != len("job-")+10 {
		t.Errorf("named %s, %s and %s", one, again, two)
	}
}
