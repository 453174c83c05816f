package plugins

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// site serves files by their path behind TLS; it returns its address and the
// file of its root certificate.
func site(t *testing.T, files map[string][]byte) (address, caFile string) {
	t.Helper()
	server, caFile := sourcetest.HTTPS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		switch {
		case strings.HasPrefix(r.URL.Path, "/private/") && r.Header.Get("Authorization") != "Bearer hunter2":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/truncated.tar":
			w.Header().Set("Content-Length", strconv.Itoa(len(data)+1000))
			_, _ = w.Write(data)
		case !ok:
			http.NotFound(w, r)
		default:
			_, _ = w.Write(data)
		}
	}))
	return server.URL, caFile
}

// reviewed parses, fetches and lays out a config for a platform.
func reviewed(t *testing.T, config string, o Options, opts source.Options, q Request) (*Set, []FetchedPlugin, []File, error) {
	t.Helper()
	set, err := Parse([]byte(config), o)
	if err != nil {
		return nil, nil, nil, err
	}
	opts.Artifacts, opts.Platform, opts.CacheDir = true, q.Platform, t.TempDir()
	q.Sources = source.New(opts)
	if q.Getenv == nil {
		q.Getenv = func(string) string { return "" }
	}
	got, err := Fetch(t.Context(), set, q)
	if err != nil {
		return set, nil, nil, err
	}
	files, err := Files(got)
	return set, got, files, err
}

func tarOf(t *testing.T, members ...tar.Header) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.tar")
	packed(t, name, members...)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bomb is a small archive of a large file.
func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	packer, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(packer)
	const size = 64 << 20
	if err := w.WriteHeader(&tar.Header{Name: "neo", Mode: 0o644, Size: size}); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range size / len(zeros) {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), packer.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A fault of a web source is one sentence that names the plugin and the address, and no
// credential.
func TestWhatCannotBeFetchedIsRefusedWithOneSentence(t *testing.T) {
	good := tarOf(t, tar.Header{Name: "neo", Mode: 0o755})
	address, caFile := site(t, map[string][]byte{
		"/good.tar": good, "/truncated.tar": good, "/private/neo.tar": good, "/bomb.tgz": bomb(t),
		"/out.tar":      tarOf(t, tar.Header{Name: "../neo", Mode: 0o755}),
		"/absolute.tar": tarOf(t, tar.Header{Name: "/etc/neo", Mode: 0o755}),
		"/link.tar":     tarOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "neo", Linkname: "../../etc/passwd"}),
		"/cut.tgz":      {0x1f, 0x8b, 8, 0},
	})
	sum := strings.Repeat("0a", 32)
	for _, test := range []struct{ name, plugin, want string }{
		{"an archive bomb", `{output: a, reference: ADDRESS/bomb.tgz}`, "more than 200 times"},
		{"a path out of the archive", `{output: a, reference: ADDRESS/out.tar}`, `a path with ".."`},
		{"an absolute path", `{output: a, reference: ADDRESS/absolute.tar}`, "/etc/neo"},
		{"a link out of the location", `{output: a, reference: ADDRESS/link.tar}`, "is a symbolic link"},
		{"a wrong checksum", `{output: a, reference: ADDRESS/good.tar, sha256: ` + sum + `}`, "sha256:0a0a"},
		{"404", `{output: a, reference: ADDRESS/none.tar}`, "404"},
		{"a truncated download", `{output: a, reference: ADDRESS/truncated.tar}`, "ends too early"},
		{"an archive that is cut off", `{output: a, reference: ADDRESS/cut.tgz}`, "EOF"},
		{"a missing credential", `{output: a, reference: ADDRESS/private/neo.tar}`, "401"},
		{"a wrong credential", `{output: a, reference: ADDRESS/private/neo.tar, auth: {bearer: swordfish}}`, "401"},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := own(strings.ReplaceAll(test.plugin, "ADDRESS", address))
			_, _, _, err := reviewed(t, config, Options{}, source.Options{CAFile: caFile}, Request{Platform: "linux/amd64"})
			switch {
			case err == nil:
				t.Fatal("it is taken")
			case !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "plugin a: "):
				t.Errorf("error %q, want %q", err, test.want)
			case strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "swordfish"):
				t.Errorf("not one sentence, or a credential: %q", err)
			}
		})
	}
	t.Run("the right credential, by reference", func(t *testing.T) {
		config := own(strings.ReplaceAll(`{output: a, reference: ADDRESS/private/neo.tar, auth: {bearer: {env: TOKEN}}}`, "ADDRESS", address))
		_, _, files, err := reviewed(t, config, Options{}, source.Options{CAFile: caFile}, Request{
			Platform: "linux/amd64", Getenv: func(name string) string { return map[string]string{"TOKEN": "hunter2"}[name] },
		})
		if err != nil || len(files) != 1 || files[0].Path != "a" || files[0].Mode != "0755" {
			t.Errorf("files %+v, %v", files, err)
		}
	})
}

// A plugin of PipeCD in a registry is one layer with its own media type, by platform,
// behind a login of either kind.
func TestAPluginOfPipeCDComesFromARegistry(t *testing.T) {
	const layerType = "application/vnd.pipecd.piped.plugin"
	for name, login := range map[string]struct {
		front sourcetest.Middleware
		auth  string
	}{
		"without a login":    {nil, ""},
		"with a password":    {sourcetest.Basic("me", "hunter2"), "me:hunter2"},
		"with a token":       {sourcetest.Bearer("me", "hunter2", 99), "me:hunter2"},
		"with another login": {sourcetest.Basic("me", "hunter2"), "me:swordfish"},
	} {
		t.Run(name, func(t *testing.T) {
			var asks atomic.Bool // for the login; the first push needs none
			registry := sourcetest.TLS(t, func(next http.Handler) http.Handler {
				guarded := next
				if login.front != nil {
					guarded = login.front(next)
				}
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if asks.Load() {
						guarded.ServeHTTP(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			program := map[string][]byte{"amd64": []byte("\x7fELF for amd64"), "arm64": []byte("\x7fELF for arm64")}
			var manifests []any
			for _, arch := range []string{"amd64", "arm64"} {
				digest, size := registry.Artifact(t, "org/neo", source.Signature{MediaType: layerType, Payload: program[arch]})
				manifests = append(manifests, map[string]any{
					"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": size,
					"platform": map[string]any{"os": "linux", "architecture": arch},
				})
			}
			index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests})
			if err != nil {
				t.Fatal(err)
			}
			registry.Manifest(t, "org/neo", "v1", "application/vnd.oci.image.index.v1+json", index)
			asks.Store(true)
			config := "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  plugins: [{name: neo, url: \"oci://" + registry.Host + "/org/neo:v1\", port: 7001}]\n"
			if login.auth != "" {
				config = "providers: [{type: oci, name: r, url: " + registry.Host + "/org, auth: \"" + login.auth + "\"}]\nplugins: [{provider: r, output: neo, path: \"neo:v1\"}]\n"
			}
			for arch, want := range program {
				_, got, files, err := reviewed(t, config, Options{}, registry.Options(t), Request{Platform: "linux/" + arch})
				if strings.HasSuffix(login.auth, "swordfish") {
					if err == nil || !strings.HasPrefix(err.Error(), "plugin neo: ") || strings.Contains(err.Error(), "swordfish") {
						t.Errorf("another password: %v", err)
					}
					continue
				}
				if err != nil || len(files) != 1 || !bytes.Equal(files[0].Data, want) || files[0].Mode != "0755" {
					t.Errorf("%s: files %+v, %v", arch, files, err)
					continue
				}
				if got[0].Source.Kind != "image" || !strings.HasPrefix(got[0].Source.Digest, "sha256:") {
					t.Errorf("its source is %+v", got[0].Source)
				}
			}
		})
	}
}

// A manifest of krew as its index has it: two platforms, a zip and a tar, one
// with files that are moved.
func TestAKrewManifestIsLaidOutAsKrewWould(t *testing.T) {
	packedTar := tarOf(t, tar.Header{Name: "dist/neo", Mode: 0o755}, tar.Header{Name: "dist/LICENSE", Mode: 0o644}, tar.Header{Name: "dist/notes", Mode: 0o644})
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	for _, name := range []string{"neo.exe", "LICENSE"} {
		one, err := w.Create(name)
		if err == nil {
			_, err = one.Write([]byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	address, caFile := site(t, map[string][]byte{"/neo.tar": packedTar, "/neo.zip": zipped.Bytes()})
	config := fmt.Sprintf(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {name: view-neo}
spec:
  version: v1.2.3
  shortDescription: Shows neo
  homepage: https://example.com
  platforms:
    - selector: {matchExpressions: [{key: os, operator: In, values: [linux, darwin]}, {key: arch, operator: NotIn, values: [386]}]}
      uri: %[1]s/neo.tar
      sha256: %[2]s
      files: [{from: "dist/neo", to: "."}, {from: "dist/LICENSE", to: "."}]
      bin: neo
    - selector: {matchLabels: {os: windows, arch: amd64}}
      uri: %[1]s/neo.zip
      sha256: %[3]s
      bin: neo.exe
    - selector: {matchLabels: {os: darwin, arch: 386}}
      uri: %[1]s/neo.zip
      sha256: none
      bin: neo
`, address, sumOf(packedTar), sumOf(zipped.Bytes()))
	for platform, want := range map[string]string{
		"linux/arm64":   "0644 .krew-receipt.yaml, 0644 LICENSE, 0755 neo",
		"windows/amd64": "0644 .krew-receipt.yaml, 0644 LICENSE, 0755 neo.exe",
		"darwin/386":    "plugin view-neo: spec.platforms[2].sha256: it is not 64 lower-case hexadecimal digits",
		"freebsd/amd64": "plugin view-neo: it has no artifact for freebsd/amd64; --platform names another platform",
	} {
		set, got, files, err := reviewed(t, config, Options{File: "view-neo.yaml"}, source.Options{CAFile: caFile}, Request{Platform: platform})
		text := ""
		if err != nil {
			text = err.Error()
		}
		var list []string
		for _, f := range files {
			list = append(list, f.Mode+" "+f.Path)
		}
		if text += strings.Join(list, ", "); text != want {
			t.Errorf("%s: %s, want %s", platform, text, want)
			continue
		}
		if err == nil && (!got[0].Pinned || set.Version != "v1.2.3") {
			t.Errorf("%s: pinned %v, version %s", platform, got[0].Pinned, set.Version)
		}
	}
	wrong := strings.Replace(config, sumOf(packedTar), strings.Repeat("0a", 32), 1)
	if _, _, _, err := reviewed(t, wrong, Options{File: "view-neo.yaml"}, source.Options{CAFile: caFile}, Request{Platform: "linux/amd64"}); !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("another sha256: %v", err)
	}
}

// A set is as good as its worst artifact, wherever that stands.
func TestTheVerificationOfASetIsOfAllItsArtifacts(t *testing.T) {
	verified := preview.Verification{Status: "verified", Identity: "ci@example.com"}
	for _, tt := range []struct {
		name      string
		artifacts []preview.Verification
		want      preview.Verification
	}{
		{"all by one signer", []preview.Verification{verified, verified}, verified},
		{"by two signers", []preview.Verification{verified, {Status: "verified", Identity: "qa@example.com"}}, preview.Verification{Status: "verified"}},
		{"the last without a trusted signer", []preview.Verification{verified, {}}, preview.Verification{Status: "unverified"}},
		{"the first without a trusted signer", []preview.Verification{{}, verified}, preview.Verification{Status: "unverified"}},
		{"none with a trusted signer", []preview.Verification{{}, {}}, preview.Verification{}},
		{"unverified between verified", []preview.Verification{verified, {Status: "unverified"}, verified}, preview.Verification{Status: "unverified"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var fetched []FetchedPlugin
			for _, v := range tt.artifacts {
				fetched = append(fetched, FetchedPlugin{signed: SignerInfo{Verification: v}})
			}
			if got := commonVerification(fetched); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
