package planning_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func TestASavedPlanIsThePlan(t *testing.T) {
	registry := sourcetest.Plain(t)
	p := offline(t, config.Config{})
	p.Source.PlainHTTP = true
	plan := must(t, p, bundle(t, "mongodb", "1.10.0"), "")
	file := filepath.Join(t.TempDir(), "plan.tgz")
	for to, place := range map[string]string{file: file, planning.RegistryPrefix + registry.Host + "/plans/mongodb": ""} {
		if err := p.Saved().Save(t.Context(), plan, planning.SaveOptions{To: to}); err != nil {
			t.Fatal(err)
		}
		if place == "" {
			place = plan.SavedAs
		}
		loaded, err := p.Saved().Load(t.Context(), place, planfile.Keys{})
		if err != nil || loaded.Digest != plan.Digest || loaded.SavedAs != place {
			t.Errorf("%s: loaded %+v, %v", to, loaded, err)
		}
	}
	if _, err := p.Saved().Load(t.Context(), planning.RegistryPrefix+registry.Host+"/plans/mongodb:latest", planfile.Keys{}); !isUsage(err, "a tag can be moved to another plan") {
		t.Errorf("by tag: error = %v", err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Saved().Load(t.Context(), file, planfile.Keys{}); err == nil {
		t.Error("a plan without its end was read")
	}
}

// signer makes a key, the file of the one approver who has it, and its public half
// in a file.
func signer(t *testing.T) (key *approval.Key, approvers, public string) {
	t.Helper()
	half, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err = approval.ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), func() ([]byte, error) { return nil, errors.New("no passphrase") })
	if err != nil {
		t.Fatal(err)
	}
	if der, err = x509.MarshalPKIXPublicKey(half); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	dir := files(t, map[string]string{
		"key.pub":        text + "\n",
		"approvers.yaml": "apiVersion: kubectl-operator/v1alpha1\nkind: Approvers\ncontentApprovals: true\napprovers:\n- name: ada\n  key: |\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n  users: [ada@example.com]\n",
	})
	return key, filepath.Join(dir, "approvers.yaml"), filepath.Join(dir, "key.pub")
}

// Approvals lie beside the plan: in its directory, or as artifacts that refer to
// it.
func TestApprovalsBesideAPlanAreCounted(t *testing.T) {
	registry := sourcetest.Plain(t)
	key, approvers, _ := signer(t)
	p := offline(t, config.Config{})
	p.Source.PlainHTTP = true
	for _, to := range []string{filepath.Join(t.TempDir(), "plan.tgz"), planning.RegistryPrefix + registry.Host + "/plans/mongodb"} {
		plan := must(t, p, bundle(t, "mongodb", "1.10.0"), "")
		if err := p.Saved().Save(t.Context(), plan, planning.SaveOptions{To: to}); err != nil {
			t.Fatal(err)
		}
		saved, err := p.Saved().Load(t.Context(), plan.SavedAs, planfile.Keys{})
		if err != nil {
			t.Fatal(err)
		}
		quorum, err := p.Saved().Quorum(t.Context(), saved, 1, approvers)
		if err != nil || len(quorum.Found) != 0 {
			t.Fatalf("before anyone approved: %+v, %v", quorum, err)
		}
		signed, err := approval.Sign(approval.NewStatement(saved.Plan, saved.FileSHA256), key, time.Now(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Saved().KeepApproval(t.Context(), saved, signed); err != nil {
			t.Fatal(err)
		}
		if quorum, err = p.Saved().Quorum(t.Context(), saved, 1, approvers); err != nil || len(quorum.Found) != 1 {
			t.Fatalf("approved once: %+v, %v", quorum, err)
		}
		if by, _, err := quorum.Check(saved.Plan, []string{"grace@example.com"}, time.Now()); err != nil || len(by) != 1 || by[0].Approver != "ada" {
			t.Errorf("%s: approved by %+v, %v", to, by, err)
		}
		if _, err := p.Saved().Quorum(t.Context(), saved, 2, approvers); !isUsage(err, "names 1 approvers") {
			t.Errorf("two of one: error = %v", err)
		}
	}
}
