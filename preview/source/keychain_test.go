package source_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// homes are the places of the user's config files, empty.
type homes struct{ docker, runtime, config, home string }

func newHomes(t *testing.T) homes {
	t.Helper()
	h := homes{t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()}
	for name, value := range map[string]string{
		"DOCKER_CONFIG": h.docker, "XDG_RUNTIME_DIR": h.runtime, "XDG_CONFIG_HOME": h.config, "HOME": h.home,
		"REGISTRY_AUTH_FILE": "", "DOCKER_AUTH_CONFIG": "",
	} {
		t.Setenv(name, value)
	}
	return h
}

func writeFile(t *testing.T, text string, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func auths(entries map[string]string) string {
	var list []string
	for key, login := range entries {
		list = append(list, fmt.Sprintf(`%q:{"auth":%q}`, key, base64.StdEncoding.EncodeToString([]byte(login))))
	}
	return `{"auths":{` + strings.Join(list, ",") + `}}`
}

// lockedRegistry lets in one user, and holds org/b:v1.
func lockedRegistry(t *testing.T) sourcetest.Registry {
	t.Helper()
	registry := sourcetest.TLS(t, sourcetest.Basic("me", "hunter2"))
	o := registry.Options(t)
	o.RegistryConfig = configFile(t, registry.Host, "me:hunter2")
	_, err := source.PushDir(t.Context(), registry.Host+"/org/b:v1", bundleDir(), nil, o)
	must(t, err)
	return registry
}

func TestConfigFilesAreAskedInTheirOrder(t *testing.T) {
	registry := lockedRegistry(t)
	good := auths(map[string]string{registry.Host: "me:hunter2"})
	bad := auths(map[string]string{registry.Host: "me:wrong"})
	other := auths(map[string]string{"other.example.com": "you:x"})
	for _, test := range []struct {
		name  string
		files func(t *testing.T, h homes)
		want  string // of the error
	}{
		{"none", func(*testing.T, homes) {}, "refuses access (401"},
		{"Docker's", func(t *testing.T, h homes) { writeFile(t, good, h.docker, "config.json") }, ""},
		{"Podman's of the session behind an empty one of Docker", func(t *testing.T, h homes) {
			writeFile(t, "{}", h.docker, "config.json")
			writeFile(t, good, h.runtime, "containers", "auth.json")
		}, ""},
		{"Podman's of the user behind two others", func(t *testing.T, h homes) {
			writeFile(t, other, h.docker, "config.json")
			writeFile(t, other, h.runtime, "containers", "auth.json")
			writeFile(t, good, h.config, "containers", "auth.json")
		}, ""},
		{"Docker's before Podman's", func(t *testing.T, h homes) {
			writeFile(t, good, h.docker, "config.json")
			writeFile(t, bad, h.runtime, "containers", "auth.json")
		}, ""},
		{"REGISTRY_AUTH_FILE behind Docker's, in place of Podman's", func(t *testing.T, h homes) {
			writeFile(t, other, h.docker, "config.json")
			writeFile(t, bad, h.runtime, "containers", "auth.json")
			t.Setenv("REGISTRY_AUTH_FILE", writeFile(t, good, t.TempDir(), "auth.json"))
		}, ""},
		{"DOCKER_AUTH_CONFIG before all", func(t *testing.T, h homes) {
			t.Setenv("DOCKER_AUTH_CONFIG", good)
			writeFile(t, bad, h.docker, "config.json")
		}, ""},
		{"the longest part of the repository", func(t *testing.T, h homes) {
			writeFile(t, auths(map[string]string{
				registry.Host: "me:wrong", registry.Host + "/org": "me:hunter2", registry.Host + "/or": "me:no", registry.Host + "/other/b": "me:no",
			}), h.docker, "config.json")
		}, ""},
		{"an entry of another repository is for that alone", func(t *testing.T, h homes) {
			writeFile(t, auths(map[string]string{registry.Host + "/other": "me:hunter2"}), h.docker, "config.json")
		}, "refuses access (401"},
		{"an old entry with a scheme", func(t *testing.T, h homes) {
			writeFile(t, auths(map[string]string{"https://" + registry.Host + "/v1/": "me:hunter2"}), h.docker, "config.json")
		}, ""},
		{"a file that is none", func(t *testing.T, h homes) { writeFile(t, "hunter2", h.docker, "config.json") }, "is not a Docker config file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.files(t, newHomes(t))
			_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/org/b:v1")
			if test.want == "" {
				must(t, err)
				return
			}
			mustFail(t, err, test.want)
			if strings.Contains(err.Error(), "hunter2") {
				t.Error(err)
			}
		})
	}
}

// helped makes a helper out of a script, the only one that there is.
func helped(t *testing.T, host, script string) {
	t.Helper()
	h := newHomes(t)
	bin := t.TempDir()
	path := writeFile(t, "#!/bin/sh\n"+script, bin, "docker-credential-test")
	must(t, os.Chmod(path, 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	writeFile(t, fmt.Sprintf(`{"credHelpers":{%q:"test"}}`, host), h.docker, "config.json")
}

func TestCredentialHelpers(t *testing.T) {
	registry := lockedRegistry(t)
	for _, test := range []struct{ name, script, want string }{
		{"one that works", `read host; test "$host" = "` + registry.Host + `" && echo '{"ServerURL":"x","Username":"me","Secret":"hunter2"}'`, ""},
		{"one that has nothing", `echo "credentials not found in native keychain"; exit 1`, "refuses access (401"},
		{"one that fails", `echo "hunter2 is wrong"; echo "hunter2 again" >&2; exit 3`, "it failed (exit status 3); echo " + registry.Host + " | docker-credential-test get says why"},
		{"one that prints rubbish", `echo "hunter2"`, "docker-credential-test: it answers with something that is not JSON"},
		{"one that prints without end", `yes hunter2`, "it prints more than 64 KiB"},
		{"one that hangs", `sleep 1000 & sleep 1000`, "it did not end in time, 500ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			helped(t, registry.Host, test.script)
			o := registry.Options(t)
			if strings.Contains(test.name, "hangs") {
				o.RequestTimeout = 500 * time.Millisecond
			}
			_, _, err := get(t.Context(), o, registry.Host+"/org/b:v1")
			if test.want == "" {
				must(t, err)
				return
			}
			mustFail(t, err, test.want)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the helper's words are shown: %v", err)
			}
		})
	}
	t.Run("one that is not there", func(t *testing.T) {
		h := newHomes(t)
		writeFile(t, `{"credsStore":"absent"}`, h.docker, "config.json")
		_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/org/b:v1")
		mustFail(t, err, "docker-credential-absent: it is not on the PATH")
	})
	t.Run("a path instead of a name", func(t *testing.T) {
		h := newHomes(t)
		writeFile(t, `{"credsStore":"/../../bin/sh"}`, h.docker, "config.json")
		_, _, err := get(t.Context(), registry.Options(t), registry.Host+"/org/b:v1")
		mustFail(t, err, "not the name of a program")
	})
}

// A helper and what it started end with the run.
func TestACredentialHelperEndsWithTheRun(t *testing.T) {
	registry := lockedRegistry(t)
	started := filepath.Join(t.TempDir(), "pid")
	must(t, syscall.Mkfifo(started, 0o600))
	helped(t, registry.Host, `sleep 1000 & echo $! >"`+started+`"; wait`)
	ctx, cancel := context.WithCancel(t.Context())
	var child int
	results := make(chan error, 1)
	go func() {
		data, err := os.ReadFile(started) // waits for the helper
		if err == nil {
			child, err = strconv.Atoi(strings.TrimSpace(string(data)))
		}
		results <- err
		cancel()
	}()
	_, _, err := get(ctx, registry.Options(t), registry.Host+"/org/b:v1")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	must(t, <-results)
	for deadline := time.Now().Add(10 * time.Second); ; {
		// A process that ended may wait to be reaped, when init is slow.
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if err != nil || strings.Contains(string(state), ") Z ") {
			break
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(child, syscall.SIGKILL)
			t.Fatal("what the helper started still runs")
		}
	}
}
