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

func parsed(text string) (events []AuditEvent, err error) {
	_, err = parseAudit(strings.NewReader(text), func(e AuditEvent) { events = append(events, e) })
	return events, err
}

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
			events, err := parsed(line)
			if err != nil || len(events) != 1 {
				t.Fatalf("parsed %v, %v; want one event", events, err)
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
		events, err := parsed(line + line[:40])
		if err != nil || len(events) != 1 {
			t.Fatalf("got %d events, %v; want 1", len(events), err)
		}
		if diff := cmp.Diff("create core/pods ns/n", events[0].String()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("refuses what is not JSON", func(t *testing.T) {
		if _, err := parsed(line + "x\n"); err == nil || !strings.Contains(err.Error(), "entry 2") {
			t.Errorf("error = %v, want one naming entry 2", err)
		}
	})
	t.Run("refuses an entry beyond the cap", func(t *testing.T) {
		if _, err := parsed(strings.Repeat("x", maxAuditLine+1)); err == nil {
			t.Error("want an error")
		}
	})
}

func TestMutationsAreReadOnFromWhereTheLastLookEnded(t *testing.T) {
	entry := func(verb, name string) string {
		return strings.NewReplacer("<VERB>", verb, "<URI>", "/api", "<GROUP>", "", "<RESOURCE>", "pods", "<SUB>", "", "<CODE>", "200", `"n"`, `"`+name+`"`).Replace(auditLine)
	}
	path := filepath.Join(t.TempDir(), "audit.log")
	s := &Sandbox{state: State{AuditLog: path}}
	written := ""
	look := func(more string, want ...string) {
		t.Helper()
		written += more
		if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		events, err := s.Mutations("u")
		var got []string
		for _, e := range events {
			got = append(got, e.String())
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	half := entry("delete", "b")
	look(entry("create", "a")+entry("get", "a")+half[:50], "create core/pods ns/a")
	look(half[50:]+strings.ReplaceAll(entry("create", "c"), `"u"`, `"other"`), "create core/pods ns/a", "delete core/pods ns/b")
	look("", "create core/pods ns/a", "delete core/pods ns/b")

	// The API server renames it in between, and begins another.
	rename := func(to string) {
		t.Helper()
		if err := os.Rename(path, filepath.Join(filepath.Dir(path), to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Forget(); err != nil {
		t.Fatal(err)
	}
	written += entry("update", "d")
	if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	rename("audit-2026-01-01T00-00-00.000.log")
	written = ""
	look(entry("patch", "e"), "update core/pods ns/d", "patch core/pods ns/e")
	look(entry("patch", "f"), "update core/pods ns/d", "patch core/pods ns/e", "patch core/pods ns/f")
	if requests, err := s.Requests(); err != nil || len(requests) != 3 {
		t.Errorf("%d requests since, %v; want 3", len(requests), err)
	}
	rename("audit-2026-01-02T00-00-00.000.log")
	written = ""
	look("", "update core/pods ns/d", "patch core/pods ns/e", "patch core/pods ns/f")
	if _, err := s.Requests(); err == nil || !strings.Contains(err.Error(), "begun anew") {
		t.Errorf("requests since before a log that is gone: %v", err)
	}

	// The part cut off is lost.
	look(entry("patch", "g"), "update core/pods ns/d", "patch core/pods ns/e", "patch core/pods ns/f", "patch core/pods ns/g")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Mutations("u"); err == nil || !strings.Contains(err.Error(), "begun anew") {
		t.Errorf("a log that was rotated: %v", err)
	}
}

func FuzzParseAudit(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(auditLine, "<CODE>", "200")))
	f.Fuzz(func(_ *testing.T, data []byte) {
		events, _ := parsed(string(data))
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
