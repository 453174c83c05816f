package helm

import (
	"fmt"
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
	cases := map[string]struct {
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
	}
	var templates []string
	for name, c := range cases {
		job := strings.ReplaceAll(strings.ToLower(name), " ", "-")
		templates = append(templates, "templates/"+job+".yaml", strings.Replace(hookOf(c.events, "-5"), "name: job", "name: "+job, 1))
	}
	for _, upgrade := range []bool{false, true} {
		in := input(chartOf(templates...)) // of all hooks: a rendering is a process
		in.Upgrade = upgrade
		out := renderChart(t, in)
		hooks := map[string]*preview.Hook{}
		for _, o := range out.Objects {
			hooks[preview.String(o.Body, "metadata", "name")] = o.Hook
		}
		notRun := notesOf(out.Notes, rules.HookNotRun.Name)
		if len(hooks)+len(notRun) != len(cases) {
			t.Errorf("upgrade %v: %d hooks, and %q are not run, of %d", upgrade, len(hooks), notRun, len(cases))
		}
		for name, c := range cases {
			want := c.install
			if upgrade {
				want = c.upgrade
			}
			job := strings.ReplaceAll(strings.ToLower(name), " ", "-")
			noted := slices.ContainsFunc(notRun, func(n string) bool { return strings.HasPrefix(n, "batch/Job/here/"+job+": it runs at ") })
			switch hook, runs := hooks[job]; {
			case want == nil:
				if runs || !noted {
					t.Errorf("%s, upgrade %v: hook %+v, notes %q", name, upgrade, hook, notRun)
				}
			case !runs || noted || *hook != *want:
				t.Errorf("%s, upgrade %v: hook %+v, want %+v, notes %q", name, upgrade, hook, want, notRun)
			}
		}
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

// Helm writes a newline behind each document of a manifest, and none behind a hook.
func TestABlockScalarAtTheEndOfADocumentHasTheNewlineOfHelm(t *testing.T) {
	const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a%s\ndata:\n  text: |\n    end"
	for annotations, want := range map[string]string{"": "end\n", "\n  annotations: {helm.sh/hook: pre-install}": "end"} {
		docs, err := documents(file{Name: "a.yaml", Data: []byte(fmt.Sprintf(manifest, annotations))}, false)
		if err != nil || len(docs) != 1 || preview.String(docs[0].body, "data", "text") != want {
			t.Errorf("with annotations %q: %v, %v; want %q", annotations, docs, err, want)
		}
	}
}
