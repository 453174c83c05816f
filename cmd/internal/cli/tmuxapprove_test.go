package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A person signs an approval: only the release name, typed as a whole, does it.
func TestTerminalApproveAsksForTheReleaseName(t *testing.T) {
	t.Parallel()
	p := newPane(t, 120, 50, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	private, _, err := signKey("cosign")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "key.pem"), private, 0o600); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(root(t), "testdata", "bundles", "mongodb", "1.11.0")
	p.run("kubectl-operator preview " + bundle + " --offline --out plan.tgz >/dev/null; echo saved=$?")
	p.wait("saved=0")
	ask := func(phrase, then string) {
		p.run("clear")
		p.until("an empty screen", func(s string) bool { return !strings.Contains(s, "=") })
		p.run("kubectl-operator approve plan.tgz --key key.pem; echo exit=$?")
		p.wait("Passphrase of key.pem:")
		p.text(phrase)
		if strings.Contains(p.screen(), "hunter2") {
			t.Error("the passphrase is shown")
		}
		p.keys(then)
	}
	signed := func() int {
		found, err := filepath.Glob(filepath.Join(p.dir, "plan.tgz.approval-*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	ask("wrong", "Enter")
	p.wait("the passphrase does not open it")
	p.wait("exit=1")
	ask("hunt", "C-c")
	p.wait("exit=2")
	p.sane()
	for name, keys := range map[string][]string{
		"Enter alone": {"Enter"}, "another word": {"y", "e", "s", "Enter"}, "a part of the name": {"m", "o", "n", "g", "o", "Enter"},
		"the end of input": {"C-d"}, "an interrupt": {"C-c"}, "the name and no Enter": {"m", "o", "n", "g", "o", "d", "b", "C-d", "C-d"},
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			ask("hunter2", "Enter")
			screen := p.wait("Type the release name")
			for _, want := range []string{"critical: ServiceAccount", "Secrets", "Signing with key sha256:"} {
				if !strings.Contains(screen, want) {
					t.Errorf("the review has no %q:\n%s", want, screen)
				}
			}
			p.keys(keys...)
			p.wait("exit=2")
			p.sane()
			if n := signed(); n != 0 {
				t.Errorf("%d approvals were signed", n)
			}
		})
	}
	p.t = t
	ask("hunter2", "Enter")
	p.wait("Type the release name")
	p.run("mongodb")
	p.wait("exit=0")
	p.wait("plan.tgz.approval-1.json")
	if n := signed(); n != 1 {
		t.Errorf("%d approvals were signed, want one", n)
	}
	p.sane()
}
