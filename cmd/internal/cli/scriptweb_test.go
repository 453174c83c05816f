package cli_test

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// web DIR serves a directory over TLS, and the git repositories in it by git's
// own server. It sets WEB (HOST:PORT) and CAFILE; stopregistry ends it. It asks
// for the password hunter2 below /private/, breaks off halfway what is below /cut/,
// and what is below /moved/ has moved to the root.
func webCommand(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	path, err := exec.Command("git", "--exec-path").Output()
	ts.Check(err)
	files := http.FileServer(http.Dir(dir))
	repositories := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"},
		Stderr: io.Discard,
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch {
		case strings.HasPrefix(r.URL.Path, "/private/") && password != "hunter2":
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/cut/"):
			breakOffHalfway(w, filepath.Join(dir, filepath.FromSlash(r.URL.Path)))
		case strings.HasPrefix(r.URL.Path, "/moved/"):
			http.Redirect(w, r, strings.TrimPrefix(r.URL.Path, "/moved"), http.StatusMovedPermanently)
		case r.FormValue("service") != "" || r.Method == http.MethodPost:
			repositories.ServeHTTP(w, r)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	ts.Defer(server.Close)
	ts.Value(registryKey{}).(*scriptRegistry).server = server
	ca := ts.MkAbs("ca.pem")
	ts.Check(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	ts.Setenv("WEB", strings.TrimPrefix(server.URL, "https://"))
	ts.Setenv("CAFILE", ca)
}

// breakOffHalfway promises a whole file, and sends the first half of it.
func breakOffHalfway(w http.ResponseWriter, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data[:len(data)/2]) // the server closes what is shorter than its header
}

// same FILE FILE asserts that two plans are of the same content.
func sameCommand(ts *testscript.TestScript, neg bool, args []string) {
	var plans [2]preview.Plan
	for i := range plans {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[i])), &plans[i]))
		if plans[i].ContentDigest == "" {
			ts.Fatalf("%s is not a plan", args[i])
		}
	}
	if (plans[0].ContentDigest == plans[1].ContentDigest) == neg {
		ts.Fatalf("%s and %s", plans[0].ContentDigest, plans[1].ContentDigest)
	}
}
