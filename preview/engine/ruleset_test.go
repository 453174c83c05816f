package engine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
)

// testdata/ruleset7 has content and the plan of it that the program of ruleset 7 saved, whose
// fingerprints are hashes of words. It is loaded and verified. Its critical finding with
// evidence in the same words is approved with the file; of another one the last step has
// other words now, so that it is asked for again.
func TestAPlanOfRuleset7IsAcceptedWhereItsEvidenceIsTheSame(t *testing.T) {
	data, err := os.ReadFile("testdata/ruleset7/plan.tgz")
	if err != nil {
		t.Fatal(err)
	}
	file, err := planfile.Open(data, planfile.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	p, notice, err := engine.Verify(file.Plan, k8s.NewSchemas())
	if err != nil {
		t.Fatal(err)
	}
	if want := "the plan was made with ruleset 7"; !strings.Contains(notice, want) {
		t.Errorf("the notice is %q, want %q", notice, want)
	}
	if p.Digest != file.Plan.Digest {
		t.Errorf("the digest is %s, and was %s", p.Digest, file.Plan.Digest)
	}
	approval := record.Approval{How: record.ApprovedByPlan}.WithReviewed(p.Findings)
	for rule, same := range map[string]bool{"rbac-granters-write": true, "access-reach": false} {
		now, before := findingOfRule(p, rule), findingOfRule(file.Plan, rule)
		if now == nil || before == nil || now.Severity != preview.Critical || now.Fingerprint == before.Fingerprint {
			t.Fatalf("%s: %+v was %+v", rule, now, before)
		}
		if (now.Evidence == before.Evidence) != same {
			t.Errorf("%s: evidence %q was %q", rule, now.Evidence, before.Evidence)
		}
		if approval.Passes(*now, true) != same {
			t.Errorf("%s passes: %v, want %v", rule, !same, same)
		}
		byHand := record.Approval{How: record.ApprovedByYes, Accepted: []record.Acceptance{{ID: now.ID, Fingerprint: before.Fingerprint}}}
		if byHand.Passes(*now, true) != same {
			t.Errorf("%s passes with --accept of ruleset 7: %v, want %v", rule, !same, same)
		}
		kept := record.AcceptedFindings(p, &record.Record{Accepted: map[string]int{before.Fingerprint: 2}}, 5)
		if first := kept[now.Fingerprint]; first != map[bool]int{true: 2, false: 5}[same] {
			t.Errorf("%s is on record as accepted in %d", rule, first)
		}
	}
}

// A changed word in the file's finding makes it another one.
func TestAPlanOfRuleset7WithAnotherFingerprintIsAskedForAgain(t *testing.T) {
	data, err := os.ReadFile("testdata/ruleset7/plan.tgz")
	if err != nil {
		t.Fatal(err)
	}
	file, err := planfile.Open(data, planfile.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range file.Plan.Findings {
		f := &file.Plan.Findings[i]
		f.Fingerprint = preview.TextFingerprint(f.Rule, f.Evidence+" ")
	}
	p, _, err := engine.Verify(file.Plan, k8s.NewSchemas())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Findings {
		if f.Severity == preview.Critical && !f.Unreviewed {
			t.Errorf("%s counts as reviewed", f.ID)
		}
	}
}

func findingOfRule(p *preview.Plan, rule string) *preview.Finding {
	for i := range p.Findings {
		if p.Findings[i].Rule == rule {
			return &p.Findings[i]
		}
	}
	return nil
}
