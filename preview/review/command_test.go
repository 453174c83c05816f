package review

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// unrepeatablePlan returns a plan with a certificate that was made for it.
func unrepeatablePlan(t *testing.T) *preview.Plan {
	t.Helper()
	p := *reviewtest.Plans(t)["fresh-install"]
	p.Request = preview.Request{Action: preview.RequestInstall, Reference: "./chart", Flags: []string{"--context=prod", "--set=size=2", "--no-wait"}}
	p.Packages = slices.Clone(p.Packages)
	p.Packages[0].Parameters.Certs = preview.CertsGenerated
	p.Packages[0].Notes = append(slices.Clone(p.Packages[0].Notes), preview.Note{Rule: rules.CertificateMade.Name, Object: "core/Secret/databases/cert"})
	p.Objects = append(slices.Clone(p.Objects), reviewtest.Object(t, preview.ActionCreate, "", "{apiVersion: v1, kind: Secret, metadata: {name: cert, namespace: databases}, stringData: {key: own}}"))
	return &p
}

// What y and Y copy, and what the roles are printed with, names no file that was not saved.
func TestAPlanThatNoOtherRepeatsIsReviewedFromItsSource(t *testing.T) {
	p, narrow := unrepeatablePlan(t), unrepeatablePlan(t)
	narrow.Packages[0].Parameters.InstallMode, narrow.Packages[0].Parameters.WatchNamespaces = "SingleNamespace", []string{"orders"}
	for got, want := range map[string]string{
		RepeatCommand(p):                                        "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --context=prod --set=size=2",
		RepeatCommand(p, "--certs", "none"):                     "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --context=prod --set=size=2 --certs none",
		RepeatCommand(narrow, "--install-mode", "OwnNamespace"): "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --certs generated --context=prod --set=size=2 --install-mode OwnNamespace",
		RoleCommand(p):                                          "kubectl operator preview ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --context=prod --set=size=2 -o installer-role",
		strings.Join(installNotes(p)[:1], " "):                  "It holds values that another plan would not have, which no digest approves: the first command makes such a plan again and saves it, the second applies that file. The file has the secret values in the clear; --plan-recipient KEY in place of --plaintext-secrets encrypts it.",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	p.SavedAs = "plan.tgz"
	if got, want := Command(p), "kubectl operator install --plan plan.tgz --yes --context=prod"; got != want {
		t.Errorf("saved: got %s\nwant %s", got, want)
	}
}

// An interrupted run is resumed by its digest, though no digest approves another plan.
func TestResumeCommand(t *testing.T) {
	p := unrepeatablePlan(t)
	want := "kubectl operator install ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --yes --approve sha256:run --ruleset " +
		strconv.Itoa(preview.Ruleset) + " --context=prod --set=size=2 --no-wait"
	if got := ResumeCommand(p, "sha256:run"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.SavedAs = "plan.tgz"
	if got, want := ResumeCommand(p, "sha256:run"), "kubectl operator install --plan plan.tgz --yes --context=prod"; got != want {
		t.Errorf("saved: got  %s\nwant %s", got, want)
	}
	p.SavedAs, p.Request.Reference = "", ""
	if got := ResumeCommand(p, "sha256:run"); got != "" {
		t.Errorf("a plan whose source and file are not known is resumed by %s", got)
	}
}

func TestCommand(t *testing.T) {
	all := reviewtest.Plans(t)
	from := *all["fresh-install"]
	from.Request.Reference = ""
	uninstall := *all["upgrade"]
	uninstall.Request.Action = preview.RequestUninstall
	for _, tt := range []struct {
		name string
		plan *preview.Plan
		want string
	}{
		{"an offline plan is approved by content", all["offline"],
			"install './bundle dir' --namespace databases --install-mode AllNamespaces --certs cert-manager --yes --approve CONTENT --ruleset RULESET"},
		{"unknowns are accepted by id", all["unknowns"],
			"install mongodb second --namespace databases --version '>=1.8' --channel stable --catalog registry.example.com/catalog:latest" +
				" --install-mode AllNamespaces --certs cert-manager --yes --approve REVIEW --ruleset RULESET" +
				" --accept unknown/admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/mongodb"},
		{"choices are repeated", all["upgrade"],
			"upgrade mongodb mongodb --namespace databases --version '>=1.8' --channel stable --catalog registry.example.com/catalog:latest" +
				" --install-mode AllNamespaces --certs cert-manager --conflicts take --yes --approve REVIEW --ruleset RULESET"},
		{"an uninstall needs no reference", &uninstall,
			"uninstall mongodb --namespace databases --conflicts take --yes --approve REVIEW --ruleset RULESET"},
		{"of a plan that no other repeats there are two", unrepeatablePlan(t),
			"preview ./chart --namespace databases --catalog registry.example.com/catalog:latest --install-mode AllNamespaces --certs generated --context=prod --set=size=2 --out mongodb.tgz --plaintext-secrets &&\n" +
				"kubectl operator install --plan mongodb.tgz --yes --context=prod --no-wait"},
		{"a loaded plan does not say where it came from", &from, "install --plan PLANFILE --yes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.NewReplacer("REVIEW", tt.plan.Digest, "CONTENT", tt.plan.ContentDigest, "RULESET", strconv.Itoa(preview.Ruleset)).Replace("kubectl operator " + tt.want)
			if got := Command(tt.plan); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// The command of a comparison approves the critical findings that it shows as such, and
// no others.
func TestTheCommandOfAComparisonApprovesWhatItShows(t *testing.T) {
	shown := preview.Finding{ID: "pod-privileged/a", Rule: "pod-privileged", Severity: preview.Critical, Fingerprint: "sha256:aa"}
	lowered := preview.Finding{ID: "pod-privileged/b", Rule: "pod-privileged", Severity: preview.Warning, Fingerprint: "sha256:bb", AlsoIn: "1.0.0", Lowered: true}
	p := &preview.Plan{Ruleset: 3, ReadMode: preview.ReadOffline, Against: &preview.Baseline{}, Findings: []preview.Finding{shown}}
	if text := strings.Join(approvalWords(p, "sha256:11"), " "); text != "--yes --approve sha256:11 --ruleset 3" {
		t.Errorf("all are shown as critical: %s", text)
	}
	p.Findings = append(p.Findings, lowered)
	if text := strings.Join(approvalWords(p, "sha256:11"), " "); text != "--yes --approve sha256:11 --accept pod-privileged/a=sha256:aa" {
		t.Errorf("one is shown as a warning: %s", text)
	}
}

// The printed command leaves out what the plan leaves out, and asks for no value that
// the record has.
func TestTheCommandDropsWhatThePlanDrops(t *testing.T) {
	value := preview.OptionChange{Option: "set", Keys: []string{"size"}, Change: preview.OptionDropped, From: "3"}
	for name, tt := range map[string]struct {
		changes []preview.OptionChange
		want    string
		asks    bool // for values
	}{
		"what is kept":                    {[]preview.OptionChange{{Option: "set", Keys: []string{"size"}, Change: preview.OptionKept, To: "3"}}, "", false},
		"a value that is secret":          {[]preview.OptionChange{{Option: "set", Keys: []string{"word"}, Change: preview.OptionKept, To: preview.Masked}}, "", true},
		"a value that changes":            {[]preview.OptionChange{{Option: "set", Keys: []string{"size"}, Change: preview.OptionChanged, From: "1", To: "3"}}, "", true},
		"values, once":                    {[]preview.OptionChange{value, value}, " --values-from-defaults", true},
		"switches":                        {[]preview.OptionChange{{Option: "pin-images", Change: preview.OptionDropped}, {Option: "strict", Change: preview.OptionDropped}}, " --pin-images=false --strict=false", false},
		"a path":                          {[]preview.OptionChange{{Option: "path", Change: preview.OptionDropped, From: "deploy"}}, " --path ''", false},
		"conflicts":                       {[]preview.OptionChange{{Option: "conflicts", Change: preview.OptionDropped, From: "leave"}}, " --conflicts fail", false},
		"what an older version installed": {[]preview.OptionChange{{Change: preview.OptionUnrecorded, From: "revision 3"}}, "", true},
	} {
		plan := upgraded(tt.changes...)
		if got, want := RepeatCommand(plan), "kubectl operator upgrade web ./chart --namespace shop"+tt.want; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if asks := strings.Contains(strings.Join(installNotes(plan), " "), "Add the same --values"); asks != tt.asks && !nothingToDo(plan) {
			t.Errorf("%s: asks for values: %v", name, asks)
		}
	}
	plan := upgraded()
	plan.ReleaseOptions.Platform, plan.ReleaseOptions.PinImages = "linux/arm64", true
	if got := RepeatCommand(plan); !strings.HasSuffix(got, " --platform linux/arm64 --pin-images") {
		t.Errorf("with what is kept: %s", got)
	}
}

func TestManyOptionsAreCounted(t *testing.T) {
	var many []preview.OptionChange
	for range maxOptions + 5 {
		many = append(many, preview.OptionChange{Option: "set", Keys: []string{"size"}, Change: preview.OptionKept, To: "3"})
	}
	if rows := optionSection(upgraded(many...)).Texts(); len(rows) != maxOptions+1 || rows[maxOptions] != "and 5 more, -o json has them" {
		t.Errorf("%d rows, the last %q", len(rows), rows[len(rows)-1])
	}
}

func upgraded(changes ...preview.OptionChange) *preview.Plan {
	p := &preview.Plan{
		Request: preview.Request{Action: preview.RequestUpgrade, Reference: "./chart"}, Release: preview.Release{Name: "web", Namespace: "shop"},
		Base: preview.Base{Revision: 3}, Options: preview.DefaultOptions(), Packages: []preview.Package{{Name: "web", Version: "2.0.0"}},
		OptionChanges: changes, ReleaseOptions: &preview.ReleaseOptions{Values: []preview.SetValue{{Keys: []string{"size"}, JSON: "3"}}},
	}
	p.Packages[0].Parameters.Values = "sha256:00"
	return p
}

func TestTheRoleCommandThatRendersTakesValues(t *testing.T) {
	for name, tt := range map[string]struct {
		request preview.Request
		savedAs string
		command string
		renders bool
	}{
		"an install":            {preview.Request{Action: preview.RequestInstall, Reference: "./chart"}, "", " preview ./chart ", true},
		"an upgrade":            {preview.Request{Action: preview.RequestUpgrade, Reference: "./chart"}, "", " upgrade web ./chart ", true},
		"a rollback":            {preview.Request{Action: preview.RequestRollback, Revision: 2}, "", " rollback web ", false},
		"a saved plan":          {preview.Request{Action: preview.RequestInstall, Reference: "./chart"}, "plan.tgz", " show plan.tgz ", false},
		"an install of a file":  {preview.Request{Action: preview.RequestInstall, Reference: "web", File: "request.yaml"}, "", " preview -f request.yaml ", false},
		"an uninstall, of none": {preview.Request{Action: preview.RequestUninstall}, "", " uninstall web ", false},
	} {
		plan := &preview.Plan{Request: tt.request, SavedAs: tt.savedAs, Release: preview.Release{Name: "web", Namespace: "shop"}}
		plan.Packages = []preview.Package{{Name: "web"}}
		plan.Packages[0].Parameters.Values = "sha256:00"
		if got := RoleCommand(plan); !strings.Contains(got, tt.command) {
			t.Errorf("%s: %q, want %q", name, got, tt.command)
		}
		if RoleCommandRenders(plan) != tt.renders {
			t.Errorf("%s: renders = %v", name, !tt.renders)
		}
		plan.Packages[0].Parameters.Values = ""
		if RoleCommandRenders(plan) {
			t.Errorf("%s without values takes values", name)
		}
	}
}

// What keeps a plan from being applied is no finding to accept; others of the plan are.
func TestAnObstacleIsNotOfferedToBeAccepted(t *testing.T) {
	const served, unserved = "core/ConfigMap/databases/settings", "cert-manager.io/Issuer/databases/issuer"
	p := reviewtest.Base(preview.RequestInstall)
	p.Findings = []preview.Finding{
		reviewtest.Finding(preview.NotKnown, rules.Unknown.Name, served, "ConfigMap settings: could not be read", "", "forbidden"),
		reviewtest.Finding(preview.NotKnown, rules.Unknown.Name, unserved, "Issuer issuer: could not be read", "", "not served"),
	}
	for name, obstacles := range map[string][]preview.Obstacle{
		"both are open":      nil,
		"one is an obstacle": {{Object: unserved, Cause: "is of a kind that is not served"}},
	} {
		p.Verdict = verdict.Of(p, obstacles)
		list := strings.Join(acceptSection(findings(p)).Texts(), "\n")
		if !strings.Contains(list, served) || strings.Contains(list, unserved) != (obstacles == nil) {
			t.Errorf("%s: to be accepted are\n%s", name, list)
		}
	}
}
