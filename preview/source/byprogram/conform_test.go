package byprogram

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// The program that authors are shown keeps to the protocol, and says what is wrong.
func TestTheExample(t *testing.T) {
	path := filepath.Join(t.TempDir(), program.Source.Prefix()+"sums")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/kubectl-operator-source-sums")
	cmd.Dir = corpustest.Repository(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, err := program.Source.Open("sums", path, program.Source.Limits())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("data"))
	digits := hex.EncodeToString(sum[:])
	served := map[string]string{
		"/good/SHA256SUMS": digits + "  b.yaml\n" + digits + "  dir/a.yaml\n", "/good/b.yaml": "data", "/good/dir/a.yaml": "data",
		"/moved/SHA256SUMS": digits + "  b.yaml\n", "/moved/b.yaml": "other",
		"/above/SHA256SUMS": digits + "  ../good/b.yaml\n",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := served[r.URL.Path]
		if !found {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)

	checks, err := Conform(t.Context(), p, server.URL+"/good/SHA256SUMS", filetree.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		t.Logf("%-40s %v %s", c.Name, c.OK, c.Detail)
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
	for address, want := range map[string]string{
		server.URL + "/moved/SHA256SUMS": "b.yaml is sha256 ",
		server.URL + "/above/SHA256SUMS": "is no line of sha256sum with a path below its directory",
		server.URL + "/none/SHA256SUMS":  "answered 404 Not Found",
		"file:///etc/passwd":             "want the URL of a file SHA256SUMS",
	} {
		if _, err := Fetch(t.Context(), p, address, filetree.DefaultLimits()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
}

func TestWhatDoesNotConformIsFound(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.tar")
	if err := os.WriteFile(good, archive(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, check, detail string
		lines               []string
	}{
		{"it answers everything", "nothing on standard input", "it ended with exit code 0", []string{"cat " + good}},
		{"it says nothing", "an address that nothing has", "standard error does not say why", []string{"exit 1"}},
		{"it prints nothing", "the sample", "it printed nothing", []string{"exit 0"}},
		{"it prints garbage", "the sample", "its answer", []string{"echo hello"}},
		{"it uses a random source", "the same answer twice", "two answers to one request differ", []string{"cat " + good, "head -c 8 /dev/urandom"}},
		{"it chatters", "nothing on standard error on success", "not so with: an address that nothing has, the sample", []string{"echo working >&2", "cat " + good}},
		{"it leaves something", "no process left behind", "not so with: an address that nothing has", []string{"sleep 1000 &", "cat " + good}},
		{"it succeeds with exit code 1", "exit code 0 exactly on success", "not so with: an address that nothing has", []string{"cat " + good, "echo no >&2", "exit 1"}},
		{"it refuses the sample", "the sample", "refused: not mine", []string{"echo not mine >&2", "exit 1"}},
		{"it hangs", "nothing on standard input", "it did not end within", []string{"exec sleep 1000"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limits := program.Source.Limits()
			if tt.name == "it hangs" {
				limits.Time = 200 * time.Millisecond
			}
			checks, err := Conform(t.Context(), script(t, limits, tt.lines...), "x", filetree.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range checks {
				if c.Name == tt.check {
					if c.OK || !strings.Contains(c.Detail, tt.detail) {
						t.Errorf("%s: ok %v, %q; want %q", c.Name, c.OK, c.Detail, tt.detail)
					}
					return
				}
			}
			t.Errorf("no check %q", tt.check)
		})
	}
}
