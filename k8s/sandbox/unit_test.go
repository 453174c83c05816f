package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Run("takes the file that the environment names", func(t *testing.T) {
		t.Setenv(BinaryEnv, program)
		got, err := Find()
		if err != nil || got != program {
			t.Errorf("Find() = %q, %v; want %q", got, err, program)
		}
	})
	t.Run("refuses a directory in the environment", func(t *testing.T) {
		t.Setenv(BinaryEnv, filepath.Dir(program))
		if got, err := Find(); err == nil {
			t.Errorf("Find() = %q, want an error", got)
		}
	})
	t.Run("does not fall back when the named file is missing", func(t *testing.T) {
		t.Setenv(BinaryEnv, program+"-missing")
		_, err := Find()
		if !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrNotBuilt) {
			t.Errorf("Find() error = %v, want one about the missing file", err)
		}
	})
	t.Run("says how to build it", func(t *testing.T) {
		t.Setenv(BinaryEnv, "")
		_, err := Find()
		if !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "make sandbox") {
			t.Errorf("Find() error = %v, want ErrNotBuilt naming the make target", err)
		}
	})
}

func TestStateDir(t *testing.T) {
	for name, test := range map[string]struct{ xdg, want string }{
		"under XDG_STATE_HOME":                  {"/state", "/state/kubectl-operator/sandbox"},
		"under ~/.local/state by default":       {"", "/home/u/.local/state/kubectl-operator/sandbox"},
		"ignoring an XDG_STATE_HOME not rooted": {"state", "/home/u/.local/state/kubectl-operator/sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", "/home/u")
			t.Setenv("XDG_STATE_HOME", test.xdg)
			got, err := StateDir()
			if err != nil || got != test.want {
				t.Errorf("StateDir() = %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

const auditLine = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":"<VERB>","requestURI":"<URI>","user":{"username":"u"},` +
	`"objectRef":{"apiGroup":"<GROUP>","resource":"<RESOURCE>","subresource":"<SUB>","namespace":"ns","name":"n"},"responseStatus":{"code":<CODE>}}` + "\n"

func TestPersisted(t *testing.T) {
	for name, test := range map[string]struct {
		verb, uri, group, resource, sub, code string
		want                                  bool
	}{
		"a create is":                     {"create", "/api", "", "pods", "", "201", true},
		"a server-side apply is":          {"patch", "/api?fieldManager=x", "apps", "deployments", "", "200", true},
		"a status update is":              {"update", "/api", "", "pods", "status", "200", true},
		"an eviction is":                  {"create", "/api", "", "pods", "eviction", "201", true},
		"a read is not":                   {"get", "/api", "", "pods", "", "200", false},
		"a dry run is not":                {"patch", "/api?fieldManager=x&dryRun=All", "", "pods", "", "200", false},
		"a refused request is not":        {"create", "/api", "", "pods", "", "403", false},
		"a conflict is not":               {"patch", "/api", "", "pods", "", "409", false},
		"an access review is not":         {"create", "/api", "authorization.k8s.io", "selfsubjectaccessreviews", "", "201", false},
		"a request for a token is not":    {"create", "/api", "", "serviceaccounts", "token", "201", false},
		"an object named dryRun still is": {"delete", "/api/dryRun", "", "pods", "", "200", true},
	} {
		t.Run(name, func(t *testing.T) {
			line := strings.NewReplacer("<VERB>", test.verb, "<URI>", test.uri, "<GROUP>", test.group,
				"<RESOURCE>", test.resource, "<SUB>", test.sub, "<CODE>", test.code).Replace(auditLine)
			events, err := parseAudit(strings.NewReader(line))
			if err != nil || len(events) != 1 {
				t.Fatalf("parseAudit = %v, %v; want one event", events, err)
			}
			if got := events[0].Persisted(); got != test.want {
				t.Errorf("Persisted() = %v, want %v", got, test.want)
			}
		})
	}
}

func TestParseAudit(t *testing.T) {
	line := strings.NewReplacer("<VERB>", "create", "<URI>", "/api", "<GROUP>", "", "<RESOURCE>", "pods", "<SUB>", "", "<CODE>", "201").Replace(auditLine)
	t.Run("leaves out an entry that is still being written", func(t *testing.T) {
		events, err := parseAudit(strings.NewReader(line + line[:40]))
		if err != nil || len(events) != 1 {
			t.Fatalf("got %d events, %v; want 1", len(events), err)
		}
		if diff := cmp.Diff("create core/pods ns/n", events[0].String()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("refuses what is not JSON", func(t *testing.T) {
		if _, err := parseAudit(strings.NewReader(line + "x\n")); err == nil || !strings.Contains(err.Error(), "entry 2") {
			t.Errorf("error = %v, want one naming entry 2", err)
		}
	})
	t.Run("refuses an entry beyond the cap", func(t *testing.T) {
		if _, err := parseAudit(strings.NewReader(strings.Repeat("x", maxAuditLine+1))); err == nil {
			t.Error("want an error")
		}
	})
}

func FuzzParseAudit(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(auditLine, "<CODE>", "200")))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := parseAudit(strings.NewReader(string(data)))
		if err != nil && events != nil {
			t.Error("events returned together with an error")
		}
		for _, e := range events {
			_, _ = e.Persisted(), e.String()
		}
	})
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"pid":1,"server":"https://127.0.0.1:1","kubeconfig":"/k"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, err := parseState(data)
		if err == nil && (state.Server == "" || state.Kubeconfig == "") {
			t.Errorf("accepted an incomplete state %+v", state)
		}
	})
}
