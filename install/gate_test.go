package install_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

var (
	critical = preview.Finding{
		ID: "rbac-secrets-read/rbac.authorization.k8s.io/ClusterRole/-/reader", Rule: "rbac-secrets-read",
		Severity: preview.Critical, Title: "reads every Secret",
		Object:      "rbac.authorization.k8s.io/ClusterRole/-/reader",
		Fingerprint: preview.TextFingerprint("rbac-secrets-read", "grant"),
	}
	warning  = preview.Finding{ID: "image-by-tag/x", Severity: preview.Warning, Fingerprint: preview.TextFingerprint("image-by-tag", "x")}
	unjudged = preview.Finding{
		ID: "unknown-kind/example.com/Thing/ns/x", Rule: "unknown-kind", Severity: preview.NotKnown, Title: "Thing x: is of an unknown kind",
		Object: "example.com/Thing/ns/x", Fingerprint: preview.TextFingerprint("unknown-kind", "x"),
	}
	unknown = preview.Finding{
		ID: "unknown/core/ConfigMap/ns/hidden", Rule: "unknown", Severity: preview.NotKnown,
		Object: "core/ConfigMap/ns/hidden", Fingerprint: preview.TextFingerprint("unknown", "forbidden"),
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
			Kind: "ClusterRole", Name: "reader", Action: preview.ActionCreate, Planned: map[string]any{"kind": "ClusterRole"},
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
	notServed := func(p *preview.Plan) {
		notRead("API app/v1 Thing is not installed in the cluster")(p)
		p.Unknowns[0].Reason = preview.ReasonNotServed
	}
	accept := func(list ...preview.Finding) func(*record.Approval) {
		return func(a *record.Approval) {
			for _, f := range list {
				a.Accepted = append(a.Accepted, record.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
			}
		}
	}
	misfit := critical
	misfit.Rule, misfit.Pieces = "not-appliable", []preview.Piece{{Object: misfit.Object, What: ".data.a must be a string, and is the number 1"}}
	earlier := critical
	earlier.Severity, earlier.AcceptedIn = preview.Warning, 2
	acceptBare := func(a *record.Approval) { a.Accepted = []record.Acceptance{{ID: critical.ID}} }
	ruleset := func(n int) func(*record.Approval) { return func(a *record.Approval) { a.Ruleset = n } }
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
		approve func(*record.Approval)
		refused string // part of the refusal, empty when the gate is open
	}{
		{"a harmless plan passes on its own", nil, record.ApprovedByYes, nil, ""},
		{"a warning needs nobody", findings(warning), record.ApprovedByYes, nil, ""},
		{"a critical finding stops a bare yes", findings(critical), record.ApprovedByYes, nil, critical.ID + "=" + critical.Fingerprint},
		{"what a record says was accepted does not open a bare yes", findings(earlier), record.ApprovedByYes, nil, "was accepted in revision 2"},
		{"it needs no second approval beside a digest", findings(earlier), record.ApprovedByDigest, nil, ""},
		{"nor on a screen", findings(earlier), record.ApprovedOnScreen, nil, ""},
		{"yes passes with it named", findings(earlier), record.ApprovedByYes, accept(earlier), ""},
		{"yes passes where nothing is sent", func(p *preview.Plan) {
			p.Findings, p.Objects[0].Action = []preview.Finding{earlier}, preview.ActionUnchanged
		}, record.ApprovedByYes, nil, ""},
		{"yes passes with the critical accepted by fingerprint", findings(critical), record.ApprovedByYes, accept(critical), ""},
		{"a bare id is not enough for yes", findings(critical), record.ApprovedByYes, acceptBare, critical.ID},
		{"a bare id is enough beside a digest", findings(critical), record.ApprovedByDigest, acceptBare, ""},
		{"an acceptance of other words says why it does not count", findings(critical), record.ApprovedByDigest, func(a *record.Approval) {
			a.Ruleset, a.Accepted = preview.Ruleset-1, []record.Acceptance{{ID: critical.ID, Fingerprint: preview.TextFingerprint(critical.Rule, "other words")}}
		}, "an earlier ruleset had other words for it"},
		{"what a saved plan has in other words is asked for again", func(p *preview.Plan) {
			findings(critical)(p)
			p.Findings[0].Unreviewed = true
		}, record.ApprovedByPlan, nil, "the saved plan does not have it as it is now"},
		{"what a revision accepted in other words is asked for again", func(p *preview.Plan) {
			findings(critical)(p)
			p.Findings[0].Held, p.Base.Accepted = true, map[string]int{preview.TextFingerprint(critical.Rule, "other words"): 1}
		}, record.ApprovedByYes, nil, "no earlier revision accepted it as it is now"},
		{"another fingerprint accepts nothing", findings(critical), record.ApprovedByDigest, func(a *record.Approval) {
			a.Accepted = []record.Acceptance{{ID: critical.ID, Fingerprint: warning.Fingerprint}}
		}, critical.Fingerprint},
		{"a digest without ruleset approves no critical", findings(critical), record.ApprovedByDigest, ruleset(0), critical.ID},
		{"a digest with an older ruleset approves no critical", findings(critical), record.ApprovedByDigest, ruleset(preview.Ruleset - 1), critical.ID},
		{"a digest with today's ruleset approves its criticals", findings(critical), record.ApprovedByDigest, ruleset(preview.Ruleset), ""},
		{"a plan file approves the criticals it shows", findings(critical), record.ApprovedByPlan, accept(critical), ""},
		{"a plan file does not approve what it does not show", findings(critical), record.ApprovedByPlan, nil, critical.ID},
		{"a screen approves only what was looked at", findings(critical), record.ApprovedOnScreen, nil, critical.ID},
		{"an unknown needs its own acceptance", notRead("forbidden"), record.ApprovedByDigest, ruleset(preview.Ruleset), unknown.Object},
		{"a kind that is not known stops a bare yes", findings(unjudged), record.ApprovedByYes, nil, "unknown finding " + unjudged.ID + "=" + unjudged.Fingerprint},
		{"a kind that is not known passes by its fingerprint", findings(unjudged), record.ApprovedByYes, accept(unjudged), ""},
		{"a digest does not stand for it", findings(unjudged), record.ApprovedByDigest, ruleset(preview.Ruleset), unjudged.ID},
		{"nor does a content digest", findings(unjudged), record.ApprovedByContent, ruleset(preview.Ruleset), unjudged.ID},
		{"nor a screen that did not show it", findings(unjudged), record.ApprovedOnScreen, nil, unjudged.ID},
		{"content with it accepted passes", findings(unjudged), record.ApprovedByContent, accept(unjudged), ""},
		{"an accepted unknown passes", notRead("forbidden"), record.ApprovedByDigest, accept(unknown), ""},
		{"a kind that is not served cannot be accepted", notServed, record.ApprovedByDigest, accept(unknown), "neither served"},
		{"an object that does not fit its schema cannot be accepted", findings(misfit), record.ApprovedByDigest, accept(misfit), "does not fit the schema of its kind: .data.a must be a string"},
		{"replace passes with the review digest", action(preview.ActionReplace), record.ApprovedByDigest, nil, ""},
		{"content does not cover a replacement", action(preview.ActionReplace), record.ApprovedByContent, nil, "replacing"},
		{"adopt is refused without --adopt", action(preview.ActionAdopt), record.ApprovedByDigest, nil, "--adopt"},
		{"blocked is refused with the owner", func(p *preview.Plan) {
			p.Objects[0].Action = preview.ActionBlocked
			p.Objects[0].LiveBody = map[string]any{"metadata": map[string]any{"annotations": map[string]any{"meta.helm.sh/release-name": "web"}}}
		}, record.ApprovedByDigest, nil, "Helm release web"},
		{"shared passes with the review digest", action(preview.ActionShared), record.ApprovedByDigest, nil, ""},
		{"content does not cover sharing", action(preview.ActionShared), record.ApprovedByContent, nil, "sharing"},
		{"a conflict is refused with manager and path", func(p *preview.Plan) {
			p.Objects[0].Conflicts = []preview.Conflict{{Manager: "helm", Path: ".spec.replicas"}}
		}, record.ApprovedByDigest, nil, `"helm" owns .spec.replicas`},
		{"an offline plan is never applied", func(p *preview.Plan) { p.ReadMode = preview.ReadOffline }, record.ApprovedByPlan, nil, "offline"},
		{"delete passes with the review digest", action(preview.ActionDelete), record.ApprovedByDigest, nil, ""},
		{"content covers a create", nil, record.ApprovedByContent, nil, ""},
		{"content covers an update", action(preview.ActionUpdate), record.ApprovedByContent, nil, ""},
		{"content does not cover a delete", action(preview.ActionDelete), record.ApprovedByContent, nil, "deleting"},
		{"content does not cover an unknown", notRead("forbidden"), record.ApprovedByContent, accept(unknown), "unknown"},
		{"content covers a critical about its own object", findings(critical), record.ApprovedByContent, ruleset(preview.Ruleset), ""},
		{"content does not cover a critical about the cluster", func(p *preview.Plan) {
			f := critical
			f.Object = "rbac.authorization.k8s.io/ClusterRole/-/elsewhere"
			p.Findings = []preview.Finding{f}
		}, record.ApprovedByContent, ruleset(preview.Ruleset), critical.ID},
		{"content covers a grant through its own role", grant(preview.GrantWidened, "ClusterRole/reader"), record.ApprovedByContent, nil, ""},
		{"content does not cover a grant through a role of the cluster", grant(preview.GrantNew, "ClusterRole/admin"), record.ApprovedByContent, nil, "ClusterRole/admin"},
		{"content covers a grant of the cluster that stays", grant(preview.GrantSame, "ClusterRole/admin"), record.ApprovedByContent, nil, ""},
		{"nobody approves in an unknown way", nil, "hearsay", nil, "hearsay"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := gatePlan(t, tt.change)
			approval := record.Approval{Digest: plan.Digest, How: tt.how}
			if tt.how == record.ApprovedByContent {
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
	for _, how := range []string{record.ApprovedOnScreen, record.ApprovedByYes, record.ApprovedByDigest, record.ApprovedByContent, record.ApprovedByPlan} {
		err := install.Gate(plan, record.Approval{Digest: other, How: how})
		if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), other) {
			t.Errorf("approved by %s for another digest: %v", how, err)
		}
	}
	for _, how := range []string{record.ApprovedOnScreen, record.ApprovedByDigest, record.ApprovedByContent, record.ApprovedByPlan} {
		if install.Gate(plan, record.Approval{How: how}) == nil {
			t.Errorf("approved by %s without a digest", how)
		}
	}
	if install.Gate(plan, record.Approval{Digest: plan.ContentDigest, How: record.ApprovedByDigest}) == nil {
		t.Error("a content digest passed as a review digest")
	}
}

func TestGateNamesEveryReasonInThreeLines(t *testing.T) {
	plan := gatePlan(t, func(p *preview.Plan) {
		for range 20 {
			p.Findings = append(p.Findings, critical)
		}
	})
	err := install.Gate(plan, record.Approval{Digest: plan.Digest, How: record.ApprovedByYes})
	var refused *install.Error
	if !errors.As(err, &refused) || len(refused.Reasons) != 20 {
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
		want  record.Acceptance
		fails bool
	}{
		{"id and fingerprint", critical.ID + "=" + critical.Fingerprint, false, record.Acceptance{ID: critical.ID, Fingerprint: critical.Fingerprint}, false},
		{"a bare id beside a digest", critical.ID, true, record.Acceptance{ID: critical.ID}, false},
		{"a bare id alone", critical.ID, false, record.Acceptance{}, true},
		{"an id that the plan does not have", "nothing/x=" + critical.Fingerprint, true, record.Acceptance{}, true},
		{"a label of a screen", "C1", true, record.Acceptance{}, true},
		{"a fingerprint cut short", critical.ID + "=sha256:12", true, record.Acceptance{}, true},
		{"nothing", "", true, record.Acceptance{}, true},
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
