package install_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

var (
	critical = preview.Finding{
		ID: "rbac-secrets-read/rbac.authorization.k8s.io/ClusterRole/-/reader", Rule: "rbac-secrets-read",
		Severity: preview.Critical, Title: "reads every Secret",
		Object:      "rbac.authorization.k8s.io/ClusterRole/-/reader",
		Fingerprint: preview.FindingFingerprint("rbac-secrets-read", "grant"),
	}
	warning = preview.Finding{ID: "image-by-tag/x", Severity: preview.Warning, Fingerprint: preview.FindingFingerprint("image-by-tag", "x")}
	unknown = preview.Finding{
		ID: "unknown/core/ConfigMap/ns/hidden", Rule: "unknown", Severity: preview.NotKnown,
		Object: "core/ConfigMap/ns/hidden", Fingerprint: preview.FindingFingerprint("unknown", "forbidden"),
	}
)

// gatePlan is a sealed plan that creates one ClusterRole, after change.
func gatePlan(t *testing.T, change func(*preview.Plan)) *preview.Plan {
	t.Helper()
	p := &preview.Plan{
		Release:  preview.Release{Name: "demo", Namespace: "ns"},
		ReadMode: preview.ReadDryRun,
		Packages: []preview.Package{{Name: "demo", ContentDigest: preview.HashBytes([]byte("content"))}},
		Objects: []preview.Object{{
			ID: "rbac.authorization.k8s.io/ClusterRole/-/reader", Package: "demo", APIVersion: "rbac.authorization.k8s.io/v1",
			Kind: "ClusterRole", Name: "reader", Action: preview.ActionCreate, Sealed: map[string]any{"kind": "ClusterRole"},
		}},
	}
	if change != nil {
		change(p)
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGate(t *testing.T) {
	findings := func(list ...preview.Finding) func(*preview.Plan) {
		return func(p *preview.Plan) { p.Findings = list }
	}
	action := func(a preview.Action) func(*preview.Plan) {
		return func(p *preview.Plan) { p.Objects[0].Action = a }
	}
	notRead := func(why string) func(*preview.Plan) {
		return func(p *preview.Plan) {
			p.Unknowns = []preview.Unknown{{Object: unknown.Object, Why: why}}
			p.Findings = []preview.Finding{unknown}
		}
	}
	accept := func(list ...preview.Finding) func(*install.Approval) {
		return func(a *install.Approval) {
			for _, f := range list {
				a.Accepted = append(a.Accepted, install.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
			}
		}
	}
	earlier := critical
	earlier.Severity, earlier.AcceptedIn = preview.Warning, 2
	acceptBare := func(a *install.Approval) { a.Accepted = []install.Acceptance{{ID: critical.ID}} }
	ruleset := func(n int) func(*install.Approval) { return func(a *install.Approval) { a.Ruleset = n } }
	grant := func(change, via string) func(*preview.Plan) {
		return func(p *preview.Plan) {
			p.Access.Grants = []preview.Grant{{
				Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "ns", Name: "sa"}, Change: change, Via: []string{via, "ClusterRoleBinding/b"},
			}}
		}
	}
	tests := []struct {
		name    string
		change  func(*preview.Plan)
		how     string
		approve func(*install.Approval)
		refused string // part of the refusal, empty when the gate is open
	}{
		{"a harmless plan passes on its own", nil, install.ApprovedByYes, nil, ""},
		{"a warning needs nobody", findings(warning), install.ApprovedByYes, nil, ""},
		{"a critical finding stops a bare yes", findings(critical), install.ApprovedByYes, nil, critical.ID + "=" + critical.Fingerprint},
		{"what a record says was accepted does not open a bare yes", findings(earlier), install.ApprovedByYes, nil, "was accepted in revision 2"},
		{"it needs no second approval beside a digest", findings(earlier), install.ApprovedByDigest, nil, ""},
		{"nor on a screen", findings(earlier), install.ApprovedOnScreen, nil, ""},
		{"yes passes with it named", findings(earlier), install.ApprovedByYes, accept(earlier), ""},
		{"yes passes where nothing is sent", func(p *preview.Plan) {
			p.Findings, p.Objects[0].Action = []preview.Finding{earlier}, preview.ActionUnchanged
		}, install.ApprovedByYes, nil, ""},
		{"yes passes with the critical accepted by fingerprint", findings(critical), install.ApprovedByYes, accept(critical), ""},
		{"a bare id is not enough for yes", findings(critical), install.ApprovedByYes, acceptBare, critical.ID},
		{"a bare id is enough beside a digest", findings(critical), install.ApprovedByDigest, acceptBare, ""},
		{"another fingerprint accepts nothing", findings(critical), install.ApprovedByDigest, func(a *install.Approval) {
			a.Accepted = []install.Acceptance{{ID: critical.ID, Fingerprint: warning.Fingerprint}}
		}, critical.Fingerprint},
		{"a digest without ruleset approves no critical", findings(critical), install.ApprovedByDigest, ruleset(0), critical.ID},
		{"a digest with an older ruleset approves no critical", findings(critical), install.ApprovedByDigest, ruleset(preview.Ruleset - 1), critical.ID},
		{"a digest with today's ruleset approves its criticals", findings(critical), install.ApprovedByDigest, ruleset(preview.Ruleset), ""},
		{"a plan file approves the criticals it shows", findings(critical), install.ApprovedByPlan, accept(critical), ""},
		{"a plan file does not approve what it does not show", findings(critical), install.ApprovedByPlan, nil, critical.ID},
		{"a screen approves only what was looked at", findings(critical), install.ApprovedOnScreen, nil, critical.ID},
		{"an unknown needs its own acceptance", notRead("forbidden"), install.ApprovedByDigest, ruleset(preview.Ruleset), unknown.Object},
		{"an accepted unknown passes", notRead("forbidden"), install.ApprovedByDigest, accept(unknown), ""},
		{"a kind that is not served cannot be accepted", notRead(string(preview.ReasonNotServed)), install.ApprovedByDigest, accept(unknown), "neither served"},
		{"replace passes with the review digest", action(preview.ActionReplace), install.ApprovedByDigest, nil, ""},
		{"content does not cover a replacement", action(preview.ActionReplace), install.ApprovedByContent, nil, "created again"},
		{"adopt is refused without --adopt", action(preview.ActionAdopt), install.ApprovedByDigest, nil, "--adopt"},
		{"blocked is refused with the owner", func(p *preview.Plan) {
			p.Objects[0].Action = preview.ActionBlocked
			p.Objects[0].LiveBody = map[string]any{"metadata": map[string]any{"annotations": map[string]any{"meta.helm.sh/release-name": "web"}}}
		}, install.ApprovedByDigest, nil, "Helm release web"},
		{"shared passes with the review digest", action(preview.ActionShared), install.ApprovedByDigest, nil, ""},
		{"content does not cover sharing", action(preview.ActionShared), install.ApprovedByContent, nil, "shared"},
		{"a conflict is refused with manager and path", func(p *preview.Plan) {
			p.Objects[0].Conflicts = []preview.Conflict{{Manager: "helm", Path: ".spec.replicas"}}
		}, install.ApprovedByDigest, nil, `"helm" owns .spec.replicas`},
		{"an offline plan is never applied", func(p *preview.Plan) { p.ReadMode = preview.ReadOffline }, install.ApprovedByPlan, nil, "offline"},
		{"delete passes with the review digest", action(preview.ActionDelete), install.ApprovedByDigest, nil, ""},
		{"content covers a create", nil, install.ApprovedByContent, nil, ""},
		{"content covers an update", action(preview.ActionUpdate), install.ApprovedByContent, nil, ""},
		{"content does not cover a delete", action(preview.ActionDelete), install.ApprovedByContent, nil, "deleted"},
		{"content does not cover an unknown", notRead("forbidden"), install.ApprovedByContent, accept(unknown), "unknown"},
		{"content covers a critical about its own object", findings(critical), install.ApprovedByContent, ruleset(preview.Ruleset), ""},
		{"content does not cover a critical about the cluster", func(p *preview.Plan) {
			f := critical
			f.Object = "rbac.authorization.k8s.io/ClusterRole/-/elsewhere"
			p.Findings = []preview.Finding{f}
		}, install.ApprovedByContent, ruleset(preview.Ruleset), critical.ID},
		{"content covers a grant through its own role", grant(preview.GrantWidened, "ClusterRole/reader"), install.ApprovedByContent, nil, ""},
		{"content does not cover a grant through a role of the cluster", grant(preview.GrantNew, "ClusterRole/admin"), install.ApprovedByContent, nil, "ClusterRole/admin"},
		{"content covers a grant of the cluster that stays", grant(preview.GrantSame, "ClusterRole/admin"), install.ApprovedByContent, nil, ""},
		{"nobody approves in an unknown way", nil, "hearsay", nil, "hearsay"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := gatePlan(t, tt.change)
			approval := install.Approval{Digest: plan.Digest, How: tt.how}
			if tt.how == install.ApprovedByContent {
				approval.Digest = plan.ContentDigest
			}
			if tt.approve != nil {
				tt.approve(&approval)
			}
			err := install.Gate(plan, approval)
			switch {
			case tt.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.refused != "" && err == nil:
				t.Error("the gate is open")
			case err != nil && (install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), tt.refused)):
				t.Errorf("kind %d: %v\nwant a refusal that names %q", install.KindOf(err), err, tt.refused)
			}
		})
	}
}

func TestGateWantsTheDigestOfThisPlan(t *testing.T) {
	plan := gatePlan(t, nil)
	other := preview.HashBytes([]byte("other"))
	for _, how := range []string{install.ApprovedOnScreen, install.ApprovedByYes, install.ApprovedByDigest, install.ApprovedByContent, install.ApprovedByPlan} {
		err := install.Gate(plan, install.Approval{Digest: other, How: how})
		if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), other) {
			t.Errorf("approved by %s for another digest: %v", how, err)
		}
	}
	for _, how := range []string{install.ApprovedOnScreen, install.ApprovedByDigest, install.ApprovedByContent, install.ApprovedByPlan} {
		if install.Gate(plan, install.Approval{How: how}) == nil {
			t.Errorf("approved by %s without a digest", how)
		}
	}
	if install.Gate(plan, install.Approval{Digest: plan.ContentDigest, How: install.ApprovedByDigest}) == nil {
		t.Error("a content digest passed as a review digest")
	}
}

func TestGateNamesEveryReasonInThreeLines(t *testing.T) {
	plan := gatePlan(t, func(p *preview.Plan) {
		for range 20 {
			p.Findings = append(p.Findings, critical)
		}
	})
	err := install.Gate(plan, install.Approval{Digest: plan.Digest, How: install.ApprovedByYes})
	refused, ok := err.(*install.Error)
	if !ok || len(refused.Reasons) != 20 {
		t.Fatalf("%T with reasons %v, want 20", err, refused)
	}
	if n := strings.Count(err.Error(), "\n"); n > 2 {
		t.Errorf("the message has %d lines, want at most 3", n+1)
	}
}

func TestParseAccept(t *testing.T) {
	findings := []preview.Finding{critical, unknown}
	tests := []struct {
		name  string
		text  string
		bare  bool
		want  install.Acceptance
		fails bool
	}{
		{"id and fingerprint", critical.ID + "=" + critical.Fingerprint, false, install.Acceptance{ID: critical.ID, Fingerprint: critical.Fingerprint}, false},
		{"a bare id beside a digest", critical.ID, true, install.Acceptance{ID: critical.ID}, false},
		{"a bare id alone", critical.ID, false, install.Acceptance{}, true},
		{"an id that the plan does not have", "nothing/x=" + critical.Fingerprint, true, install.Acceptance{}, true},
		{"a label of a screen", "C1", true, install.Acceptance{}, true},
		{"a fingerprint cut short", critical.ID + "=sha256:12", true, install.Acceptance{}, true},
		{"nothing", "", true, install.Acceptance{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := install.ParseAccept([]string{tt.text}, findings, tt.bare)
			if tt.fails {
				if err == nil || install.KindOf(err) != install.NotStarted {
					t.Errorf("got %v, %v, want an error of kind 1", got, err)
				}
				return
			}
			if err != nil || len(got) != 1 || got[0] != tt.want {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func FuzzParseAccept(f *testing.F) {
	f.Add(critical.ID + "=" + critical.Fingerprint)
	f.Add("=")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := install.ParseAccept([]string{text}, []preview.Finding{critical}, true)
		if err == nil && (len(list) != 1 || list[0].ID != critical.ID) {
			t.Errorf("%q was read as %v", text, list)
		}
	})
}
