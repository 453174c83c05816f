package cli

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// bundle returns a Sigstore bundle as "cosign sign-blob --key --bundle" writes it.
func (p publisher) bundle(t *testing.T, data []byte) []byte {
	t.Helper()
	sum := sha256.Sum256(data)
	sig, err := ecdsa.SignASN1(rand.Reader, p.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(map[string]any{
		"mediaType":            "application/vnd.dev.sigstore.bundle.v0.3+json",
		"verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": ""}},
		"messageSignature": map[string]any{
			"messageDigest": map[string]any{"algorithm": "SHA2_256", "digest": sum[:]}, "signature": sig,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pluginRun runs a plugin command on the real program.
func pluginRun(t *testing.T, args ...string) (int, *preview.Plan, string) {
	t.Helper()
	o := testOptions(t)
	code := Main(t.Context(), append([]string{"plugin"}, args...), o)
	plan := &preview.Plan{}
	if code == exitDone {
		if err := json.Unmarshal([]byte(contents(t, o.Out)), plan); err != nil {
			t.Fatal(err)
		}
	}
	return code, plan, contents(t, o.Err)
}

func TestSignedPlugins(t *testing.T) {
	ours, theirs := newPublisher(t), newPublisher(t)
	registry := sourcetest.TLS(t)
	layer := source.Signature{MediaType: "application/vnd.pipecd.piped.plugin", Payload: []byte("#!/bin/sh\nneo\n")}
	digest, _ := registry.Artifact(t, "org/neo", layer)
	registry.Tag(t, "org/neo", digest, "sig", ours.sign(t, digest))
	layer.Payload = []byte("#!/bin/sh\ntrinity\n")
	unsigned, _ := registry.Artifact(t, "org/trinity", layer)

	dir := t.TempDir()
	data := []byte("#!/bin/sh\nrun\n")
	for name, text := range map[string][]byte{
		"run": data, "run.bundle": ours.bundle(t, data), "other.bundle": ours.bundle(t, []byte("something else")), "their.bundle": theirs.bundle(t, data), "no.bundle": []byte("{}"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := func(plugins ...string) string {
		path := filepath.Join(dir, "set.yaml")
		text := "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: host}\nspec: {plugins: [" + strings.Join(plugins, ", ") + "]}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	image := func(name, digest string) string {
		return fmt.Sprintf(`{output: %s, reference: "oci://%s/org/%s@%s"}`, name, registry.Host, name, digest)
	}
	signed := func(bundle string) string { return `{output: run, reference: ./run, signature: ./` + bundle + `}` }
	required := []string{"--verify", "required", "--verify-key", ours.file}
	for _, test := range []struct {
		name           string
		plugins        []string
		args           []string
		code           int
		status, rule   string
		errors, object string
	}{
		{"an image that is signed", []string{image("neo", digest)}, required, 0, "verified", "", "", ""},
		{"an image that is not", []string{image("trinity", unsigned)}, required, 5, "", "", "plugin trinity: ", ""},
		{"an image that is not signed, which is a finding", []string{image("trinity", unsigned)}, []string{"--verify", "if-present", "--verify-key", ours.file}, 0, "unverified", rules.SignatureMissing.Name, "", "plugin/trinity"},
		{"a file with a bundle beside it", []string{signed("run.bundle")}, required, 0, "verified", "", "", ""},
		{"an image and a file, both signed", []string{image("neo", digest), signed("run.bundle")}, required, 0, "verified", "", "", ""},
		{"one of two is signed", []string{image("neo", digest), image("trinity", unsigned)}, []string{"--verify", "if-present", "--verify-key", ours.file}, 0, "unverified", rules.SignatureMissing.Name, "", "plugin/trinity"},
		{"a bundle of something else", []string{signed("other.bundle")}, required, 5, "", "", "plugin run: ", ""},
		{"which if-present refuses as well", []string{signed("other.bundle")}, []string{"--verify", "if-present", "--verify-key", ours.file}, 5, "", "", "plugin run: ", ""},
		{"a bundle by somebody else", []string{signed("their.bundle")}, required, 5, "", "", "plugin run: ", ""},
		{"a bundle that is none", []string{signed("no.bundle")}, required, 5, "", "", "plugin run: ", ""},
		{"a file without a bundle, where one is due", []string{`{output: run, reference: ./run}`}, required, 5, "", "", "carries none", ""},
		{"nobody is trusted", []string{signed("run.bundle")}, nil, 0, "", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"preview", "-c", set(test.plugins...), "-o", "json", "--ca-file", registry.CAFile, "--cache-dir", t.TempDir(), "--location", filepath.Join(dir, "there")}, test.args...)
			code, plan, stderr := pluginRun(t, args...)
			if code != test.code || !strings.Contains(stderr, test.errors) {
				t.Fatalf("exit code %d, %q; want %d with %q", code, stderr, test.code, test.errors)
			}
			if code != exitDone {
				return
			}
			if got := plan.Packages[0].Verification.Status; got != test.status {
				t.Errorf("the set is %q, want %q", got, test.status)
			}
			rule, object := "", ""
			for _, f := range plan.Findings {
				if strings.HasPrefix(f.Rule, "signature-") {
					rule, object = f.Rule, f.Object
				}
			}
			if rule != test.rule || object != test.object {
				t.Errorf("finding %s about %s, want %s about %s", rule, object, test.rule, test.object)
			}
		})
	}
}

// A credential in a config does its work, and is in no output, no file that is
// written, no cache and no log.
func TestACredentialInAConfigIsNowhereElse(t *testing.T) {
	const secret = "hunter2-swordfish"
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		if r.Header.Get("Authorization") != "Bearer "+secret && password != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("#!/bin/sh\nneo\n"))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	config := fmt.Sprintf(`providers:
  - {type: url, name: token, url: %q, auth: {bearer: %s}}
  - {type: url, name: user, url: %q, auth: "me:%s"}
plugins:
  - {provider: token, output: optimus-neo_linux_amd64, path: neo, config: {db_password: %s, MODE: full}}
  - {provider: user, output: optimus-trinity_linux_amd64, path: trinity, config: {env: [{name: API_TOKEN, value: %s}]}}
`, server.URL, secret, server.URL, secret, secret, secret)
	given := filepath.Join(dir, "config.yaml")
	if err := errors.Join(os.WriteFile(given, []byte(config), 0o600), os.WriteFile(filepath.Join(dir, "ca.pem"), root, 0o600)); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) {
		t.Helper()
		o := testOptions(t)
		args = append(append([]string{"plugin"}, args...), "-c", given, "--ca-file", filepath.Join(dir, "ca.pem"), "--platform", "linux/amd64",
			"--cache-dir", filepath.Join(dir, "cache"), "--location", filepath.Join(dir, "there"), "--log-file", filepath.Join(dir, "log"))
		code := Main(t.Context(), args, o)
		said := contents(t, o.Out) + contents(t, o.Err)
		if code != want || strings.Contains(said, secret) {
			t.Errorf("%v: exit code %d, want %d; the secret in it: %v\n%s", args, code, want, strings.Contains(said, secret), said)
		}
	}
	for _, form := range []string{"text", "markdown", "html", "sarif", "json", "yaml", "manifests", "cloud-policy"} {
		run(exitDone, "preview", "-o", form)
	}
	run(exitDone, "preview", "--update-lock", "--out", filepath.Join(dir, "plan.tgz"))
	run(exitDone, "preview", "--against", given)
	if runtime.GOOS == "linux" {
		run(exitDone, "install", "--yes")
		run(exitDone, "preview")
	}
	searched := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == given {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if packed, gzErr := gzip.NewReader(bytes.NewReader(data)); gzErr == nil {
			if data, err = io.ReadAll(packed); err != nil {
				return err
			}
		}
		searched++
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s holds the secret", strings.TrimPrefix(path, dir))
		}
		return nil
	})
	if err != nil || searched < 5 {
		t.Errorf("%d files were searched, %v", searched, err)
	}
}
