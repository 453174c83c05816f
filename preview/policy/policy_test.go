package policy

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

const head = "apiVersion: kubectl-operator/v1alpha1\nkind: Policy\n"

func on(day string) func() time.Time {
	return func() time.Time {
		at, err := time.Parse(time.RFC3339, day+"T12:00:00Z")
		if err != nil {
			panic(err)
		}
		return at
	}
}

func finding(rule, object string, severity preview.Severity) preview.Finding {
	evidence := rule + " of " + object
	return preview.Finding{
		ID: rule + "/" + object, Rule: rule, Object: object, Severity: severity,
		Title: rule, Why: "Because.", Evidence: evidence, Fingerprint: preview.TextFingerprint(rule, evidence),
	}
}

const operator, agent = "apps/Deployment/app/operator", "apps/DaemonSet/app/agent"

func plan() *preview.Plan {
	return &preview.Plan{
		Release:  preview.Release{Name: "op", Namespace: "app"},
		Base:     preview.Base{Revision: 3},
		Packages: []preview.Package{{Name: "op", Version: "1.2.0"}},
		Objects:  []preview.Object{{ID: operator, Kind: "Deployment"}},
		Findings: []preview.Finding{
			finding("pod-privileged", agent, preview.Critical),
			finding("not-appliable", operator, preview.Critical),
			finding("image-by-tag", operator, preview.Warning),
			finding("unknown", "core/Secret/app/x", preview.NotKnown),
		},
		ContentDigest: "sha256:content", Digest: "sha256:review",
	}
}

func judge(t *testing.T, p *preview.Plan, day, body string) {
	t.Helper()
	policy, err := Parse([]byte(head+body), on(day))
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Judge(p); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, p *preview.Plan, id string) preview.Finding {
	t.Helper()
	for _, f := range p.Findings {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("no finding %s in %v", id, p.Findings)
	return preview.Finding{}
}

func TestARuleThatDoesNotHoldIsAFinding(t *testing.T) {
	for name, c := range map[string]struct {
		expression, message, want string
	}{
		"it holds":                           {`plan.packages.all(p, p.name == "op")`, "", ""},
		"integers are integers":              {`plan.base.revision == 3 && plan.base.revision > 2.5`, "", ""},
		"it does not hold":                   {`plan.objects.all(o, o.kind != "Deployment")`, "", "no Deployments"},
		"the plan's own names":               {`false`, `"found " + plan.objects.map(o, o.id).join(", ")`, "found " + operator},
		"a message that cannot be made":      {`false`, `plan.nothing`, "no Deployments"},
		"a message of nothing":               {`false`, `""`, "no Deployments"},
		"findings as the built-in rules say": {`!plan.findings.exists(f, f.severity == "critical" && f.rule == "pod-privileged")`, "", "no Deployments"},
		"versions compare":                   {`semver(plan.packages[0].version).isLessThan(semver("1.1.0"))`, "", "no Deployments"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan()
			body := "rules:\n- name: mine\n  severity: critical\n  message: no Deployments\n  expression: |-\n    " + c.expression + "\n"
			if c.message != "" {
				body += "  messageExpression: |-\n    " + c.message + "\n"
			}
			judge(t, p, "2026-11-20", body)
			i := slices.IndexFunc(p.Findings, func(f preview.Finding) bool { return f.Rule == rules.PolicyRule.Name })
			switch {
			case c.want == "" && i >= 0:
				t.Errorf("%+v", p.Findings[i])
			case c.want != "" && (i < 0 || p.Findings[i].Title != "policy mine: "+c.want || p.Findings[i].Severity != preview.Critical):
				t.Errorf("want %q in %+v", c.want, p.Findings)
			}
		})
	}
}

func TestWhatWasAcceptedForOneContentIsNotForAnother(t *testing.T) {
	const body = "rules: [{name: mine, severity: critical, message: not so, expression: \"false\"}]"
	first := plan()
	judge(t, first, "2026-11-20", body)
	f := find(t, first, "policy-rule/policy/mine")

	same, other, sent := plan(), plan(), plan()
	sent.Base.Accepted = map[string]int{f.Fingerprint: 2}
	judge(t, sent, "2026-11-20", body)
	if got := find(t, sent, f.ID); got.Severity != preview.Critical {
		t.Errorf("accepted by the word of a record for what the plan brings: %+v", got)
	}
	for i := range same.Objects {
		same.Objects[i].Action = preview.ActionUnchanged
	}
	same.Base.Accepted = map[string]int{f.Fingerprint: 2}
	other.Base.Accepted, other.ContentDigest = same.Base.Accepted, "sha256:other"
	judge(t, same, "2026-11-20", body)
	judge(t, other, "2026-11-20", body)
	if got := find(t, same, f.ID); got.Severity != preview.Warning || got.AcceptedIn != 2 {
		t.Errorf("%+v", got)
	}
	if got := find(t, other, f.ID); got.Severity != preview.Critical {
		t.Errorf("%+v", got)
	}
}

func TestSeveritiesAreChanged(t *testing.T) {
	p := plan()
	judge(t, p, "2026-11-20", `
severities:
- {rule: image-by-tag, severity: info, reason: a mirror pins them}
- {rule: image-by-tag, object: "apps/*", severity: critical, reason: not in production}
- {rule: pod-privileged, object: "*/nothing", severity: info, reason: another object}
`)
	f := find(t, p, "image-by-tag/"+operator)
	if f.Severity != preview.Critical || f.Judged == nil || *f.Judged != (preview.PolicyDecision{By: "severity", Was: preview.Warning, Reason: "not in production"}) {
		t.Errorf("%+v %+v", f, f.Judged)
	}
	if f := find(t, p, "pod-privileged/"+agent); f.Severity != preview.Critical || f.Judged != nil {
		t.Errorf("%+v", f)
	}
	if !slices.IsSortedFunc(p.Findings, func(a, b preview.Finding) int { return a.Severity.Rank() - b.Severity.Rank() }) {
		t.Error("the findings are out of order")
	}
	if p.Digest != "sha256:review" || p.Policy == nil || !strings.HasPrefix(p.Policy.SHA256, "sha256:") {
		t.Errorf("%+v", p.Policy)
	}
}

func TestWaivers(t *testing.T) {
	privileged := finding("pod-privileged", agent, preview.Critical)
	for name, c := range map[string]struct {
		day, waiver string
		want        preview.Severity
		ended       bool
	}{
		"by id":                            {"2026-11-20", "finding: pod-privileged/" + agent, preview.Info, false},
		"by rule":                          {"2026-11-20", "rule: pod-privileged", preview.Info, false},
		"by rule and object":               {"2026-11-20", `rule: pod-privileged, object: "apps/DaemonSet/*"`, preview.Info, false},
		"of another object":                {"2026-11-20", `rule: pod-privileged, object: "apps/Deployment/*"`, preview.Critical, false},
		"of this fingerprint":              {"2026-11-20", "rule: pod-privileged, fingerprint: " + privileged.Fingerprint, preview.Info, false},
		"of another fingerprint":           {"2026-11-20", "rule: pod-privileged, fingerprint: " + preview.HashBytes([]byte("x")), preview.Critical, false},
		"on its last day":                  {"2026-12-31", "rule: pod-privileged", preview.Info, false},
		"on the day after":                 {"2027-01-01", "rule: pod-privileged", preview.Critical, true},
		"ended, of what is not there":      {"2027-01-01", "rule: pod-privileged, object: x", preview.Critical, false},
		"of another rule, and there is no": {"2026-11-20", "rule: pod-host-network", preview.Critical, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan()
			judge(t, p, c.day, "waivers:\n- {"+c.waiver+", owner: team-a, reason: needs the node, expires: 2026-12-31}\n")
			f := find(t, p, privileged.ID)
			if f.Severity != c.want {
				t.Errorf("%s, want %s", f.Severity, c.want)
			}
			if waived := c.want == preview.Info; waived != slices.Equal(p.Policy.Waived, []string{f.ID}) || waived != (f.Judged != nil) {
				t.Errorf("waived %v, judged %+v", p.Policy.Waived, f.Judged)
			}
			ended := slices.ContainsFunc(p.Findings, func(f preview.Finding) bool {
				return f.Rule == rules.PolicyWaiverExpired.Name && f.Severity == preview.Warning && strings.Contains(f.Title, "2026-12-31")
			})
			if ended != c.ended {
				t.Errorf("it is said to have ended: %v", ended)
			}
		})
	}
}

func TestAWaiverOfARuleOfThePolicyHolds(t *testing.T) {
	p := plan()
	judge(t, p, "2026-11-20", `
rules: [{name: mine, severity: critical, message: not so, expression: "false"}]
waivers: [{finding: policy-rule/policy/mine, owner: a, reason: b, expires: 2026-12-31}]
`)
	if f := find(t, p, "policy-rule/policy/mine"); f.Severity != preview.Info {
		t.Errorf("%+v", f)
	}
}

// Of an upgrade of a CustomResourceDefinition each check can be waived on its
// own, for one definition, until a day.
func TestEachCheckOfDefinitionsCanBeWaived(t *testing.T) {
	const things, others = "apiextensions.k8s.io/CustomResourceDefinition/-/things.example.com", "apiextensions.k8s.io/CustomResourceDefinition/-/others.example.com"
	definitions := slices.DeleteFunc(rules.All(), func(r rules.Rule) bool { return !strings.HasPrefix(r.Name, "crd-") })
	for _, rule := range definitions {
		if rule.Severity() == preview.NotKnown || rule.Severity() == preview.Info {
			continue // nothing to lower, or accepted by its own name alone
		}
		t.Run(rule.Name, func(t *testing.T) {
			p := plan()
			p.Findings = nil
			for _, r := range definitions {
				p.Findings = append(p.Findings, finding(r.Name, things, r.Severity()), finding(r.Name, others, r.Severity()))
			}
			judge(t, p, "2026-11-20", "waivers:\n- {rule: "+rule.Name+", object: "+things+", owner: team-a, reason: nobody uses it, expires: 2026-12-31}\n")
			for _, r := range definitions {
				want := r.Severity()
				if r.Name == rule.Name {
					want = preview.Info
				}
				if f := find(t, p, r.Name+"/"+things); f.Severity != want {
					t.Errorf("%s is %s", f.ID, f.Severity)
				}
				if f := find(t, p, r.Name+"/"+others); f.Severity != r.Severity() {
					t.Errorf("%s is %s", f.ID, f.Severity)
				}
			}
		})
	}
}

func TestWhatAPolicyMayNotSay(t *testing.T) {
	const rest = ", owner: a, reason: b, expires: 2026-12-31}]"
	long := strings.Repeat("a", maxExpression+1)
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                             {"", "0 documents; want one"},
		"a list":                              {"[]", "the top: a array"},
		"another kind":                        {"apiVersion: v1\nkind: ConfigMap\n", `apiVersion "v1", kind "ConfigMap"`},
		"a field that nobody knows":           {head + "waiver: []", `unknown field "waiver"`},
		"a waiver without owner":              {head + "waivers: [{rule: pod-privileged, reason: b, expires: 2026-12-31}]", "waivers[0] has no owner"},
		"a waiver without reason":             {head + "waivers: [{rule: pod-privileged, owner: a, reason: \" \", expires: 2026-12-31}]", "waivers[0] has no reason"},
		"a waiver without end":                {head + "waivers: [{rule: pod-privileged, owner: a, reason: b}]", "waivers[0] has no expires"},
		"a waiver until never":                {head + "waivers: [{rule: pod-privileged, owner: a, reason: b, expires: never}]", `waivers[0].expires "never": want a date`},
		"a day that is none":                  {head + "waivers: [{rule: pod-privileged, owner: a, reason: b, expires: 2026-02-30}]", "want a date"},
		"a waiver of everything":              {head + "waivers: [{object: \"*\"" + rest, "want either finding"},
		"a waiver of both":                    {head + "waivers: [{rule: pod-privileged, finding: a/b" + rest, "want either finding"},
		"a rule that is none":                 {head + "waivers: [{rule: pod-priviledged" + rest, "no rule is called that; did you mean pod-privileged?"},
		"an id that is none":                  {head + "waivers: [{finding: pod-privileged" + rest, "RULE/OBJECT"},
		"a fingerprint that is none":          {head + "waivers: [{rule: pod-privileged, fingerprint: abc" + rest, "64 hexadecimal digits"},
		"to apply what cannot be":             {head + "waivers: [{rule: not-appliable" + rest, "a policy cannot change that"},
		"to know what nobody read":            {head + "waivers: [{finding: unknown/core/Secret/a/b" + rest, "a policy cannot change that"},
		"to waive the end of waivers":         {head + "waivers: [{rule: policy-waiver-expired" + rest, "renew or remove"},
		"to call unknown what is not":         {head + "severities: [{rule: image-by-tag, severity: unknown, reason: a}]", "want critical, warning or info"},
		"a severity without a reason":         {head + "severities: [{rule: image-by-tag, severity: info}]", "severities[0] has no reason"},
		"a rule without a name":               {head + "rules: [{expression: \"true\", message: a, severity: info}]", `rules[0].name ""`},
		"two rules of one name":               {head + "rules: [{name: a, expression: \"true\", message: a, severity: info}, {name: a, expression: \"true\", message: a, severity: info}]", "is there twice"},
		"a rule without an expression":        {head + "rules: [{name: a, message: a, severity: info}]", "rule a has no expression"},
		"a rule without a message":            {head + "rules: [{name: a, expression: \"true\", severity: info}]", "rule a has no message"},
		"a rule without a severity":           {head + "rules: [{name: a, expression: \"true\", message: a}]", `rule a: severity "": want`},
		"CEL that is none":                    {head + "rules: [{name: a, expression: \"plan.\", message: a, severity: info}]", "rule a: expression: it does not compile: Syntax error"},
		"CEL of names that are none":          {head + "rules: [{name: a, expression: \"object.x\", message: a, severity: info}]", "undeclared reference to 'object'"},
		"CEL that gives something else":       {head + "rules: [{name: a, expression: \"1 + 1\", message: a, severity: info}]", "it gives int; want bool"},
		"a message that gives something else": {head + "rules: [{name: a, expression: \"true\", messageExpression: \"1\", message: a, severity: info}]", "messageExpression: it gives int; want string"},
		"CEL without end":                     {head + "rules: [{name: a, expression: \"" + long + "\", message: a, severity: info}]", "may have 10000 letters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text), on("2026-11-20"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestARuleThatCannotBeDecidedDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct{ expression, want string }{
		"a field that is not there": {`plan.nothing.at.all == 1`, "no such key: nothing"},
		"something else than asked": {`plan.release.name`, "it gives a string; want true or false"},
		"no end of work":            {`[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, [1,2,3,4,5,6,7,8,9,10].all(g, a+b+c+d+e+f+g+plan.base.revision > 0)))))))`, "it takes too long"},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := Parse([]byte(head+"rules:\n- name: a\n  message: m\n  severity: info\n  expression: |-\n    "+c.expression+"\n"), on("2026-11-20"))
			if err != nil {
				t.Fatal(err)
			}
			p := plan()
			before := slices.Clone(p.Findings)
			if err := policy.Judge(p); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "rule a") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if p.Policy != nil || !reflect.DeepEqual(p.Findings, before) {
				t.Error("the plan was changed all the same")
			}
		})
	}
}

func TestNoPolicyLeavesEverythingAsItIs(t *testing.T) {
	p := plan()
	if err := (*Policy)(nil).Judge(p); err != nil || p.Policy != nil || len(p.Findings) != 4 {
		t.Errorf("%v %+v", err, p.Policy)
	}
}

func TestAPlanIsJudgedOnce(t *testing.T) {
	policy, err := Parse([]byte(head), on("2026-11-20"))
	if err != nil {
		t.Fatal(err)
	}
	p := plan()
	if err := policy.Judge(p); err != nil {
		t.Fatal(err)
	}
	if err := policy.Judge(p); err == nil {
		t.Error("what is judged twice forgets what the built-in rules said")
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if _, err := Load(path, time.Now); err == nil {
		t.Error("there is no such file")
	}
	if err := os.WriteFile(path, []byte(head+strings.Repeat("#", maxBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, time.Now); err == nil || !strings.Contains(err.Error(), "larger than") || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head + "rules: [{name: a, expression: \"plan.x == 1\", message: a, severity: info}]"))
	f.Add([]byte(head + "waivers: [{rule: pod-privileged, owner: a, reason: b, expires: 2026-12-31}]"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		policy, err := Parse(data, on("2026-11-20"))
		if err == nil {
			_ = policy.Judge(plan())
		}
	})
}
