package cli_test

import (
	"archive/tar"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

type registryKey struct{}

// scriptRegistry is the registry a script started last.
type scriptRegistry struct {
	server *httptest.Server
	login  atomic.Bool // asks for the user me and the password hunter2
}

// registry starts an in-memory registry without TLS and sets REGISTRY. With
// "tamper" it changes one byte of every blob it serves; with "tls" it has TLS,
// and registry.pem is its root.
func registryCommand(ts *testscript.TestScript, _ bool, args []string) {
	handler := source.NewRegistry()
	if slices.Contains(args, "tamper") {
		handler = tampering(handler)
	}
	started := ts.Value(registryKey{}).(*scriptRegistry)
	started.login.Store(false)
	started.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); started.login.Load() && (user != "me" || password != "hunter2") {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	started.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if slices.Contains(args, "tls") {
		started.server.StartTLS()
		root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: started.server.Certificate().Raw})
		ts.Check(os.WriteFile(ts.MkAbs("registry.pem"), root, 0o600))
	} else {
		started.server.Start()
	}
	ts.Defer(started.server.Close)
	_, host, _ := strings.Cut(started.server.URL, "://")
	ts.Setenv("REGISTRY", host)
}

// stopregistry ends the registry.
func stopRegistryCommand(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Value(registryKey{}).(*scriptRegistry).server.Close()
}

// loginregistry makes the registry ask for a login from now on.
func loginRegistryCommand(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Value(registryKey{}).(*scriptRegistry).login.Store(true)
}

// layout IMAGE TAG DIR copies an image of the registry into an OCI layout, and
// that into DIR.tar.
func layoutCommand(ts *testscript.TestScript, _ bool, args []string) {
	repo, tag, _ := strings.Cut(strings.TrimPrefix(args[0], ts.Getenv("REGISTRY")+"/"), ":")
	base := "http://" + ts.Getenv("REGISTRY") + "/v2/" + repo
	manifest := download(ts, base+"/manifests/"+tag)
	var m struct {
		MediaType string `json:"mediaType"`
		Config    struct{ Digest string }
		Layers    []struct{ Digest string }
	}
	ts.Check(json.Unmarshal(manifest, &m))
	members := map[string][]byte{
		blobPath(ts.Getenv("DIGEST")): manifest,
		"oci-layout":                  []byte(`{"imageLayoutVersion":"1.0.0"}`),
		"index.json": fmt.Appendf(nil,
			`{"schemaVersion":2,"manifests":[{"mediaType":%q,"size":%d,"digest":%q,"annotations":{"org.opencontainers.image.ref.name":%q}}]}`,
			m.MediaType, len(manifest), ts.Getenv("DIGEST"), args[1]),
	}
	for _, blob := range append(m.Layers, m.Config) {
		members[blobPath(blob.Digest)] = download(ts, base+"/blobs/"+blob.Digest)
	}
	dir := ts.MkAbs(args[2])
	archive, err := os.Create(dir + ".tar")
	ts.Check(err)
	w := tar.NewWriter(archive)
	for name, data := range members {
		ts.Check(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		ts.Check(os.WriteFile(filepath.Join(dir, name), data, 0o600))
		ts.Check(w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o600}))
		_, err := w.Write(data)
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(archive.Close())
}

// imageindex REPO:TAG OTHER PLATFORM... makes an index under the tag OTHER that
// has the image of the registry for each of the platforms.
func imageIndexCommand(ts *testscript.TestScript, _ bool, args []string) {
	repo, tag, _ := strings.Cut(args[0], ":")
	base := "http://" + ts.Getenv("REGISTRY") + "/v2/" + repo + "/manifests/"
	manifest := download(ts, base+tag)
	var members []string
	for _, platform := range args[2:] {
		system, arch, _ := strings.Cut(platform, "/")
		members = append(members, fmt.Sprintf(`{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":%d,"digest":%q,"platform":{"os":%q,"architecture":%q}}`,
			len(manifest), ts.Getenv("DIGEST"), system, arch))
	}
	const mediaType = "application/vnd.oci.image.index.v1+json"
	request, err := http.NewRequest(http.MethodPut, base+args[1], strings.NewReader(`{"schemaVersion":2,"mediaType":"`+mediaType+`","manifests":[`+strings.Join(members, ",")+`]}`))
	ts.Check(err)
	request.Header.Set("Content-Type", mediaType)
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	ts.Check(response.Body.Close())
	if response.StatusCode != http.StatusCreated {
		ts.Fatalf("%s: %s", args[1], response.Status)
	}
}

func blobPath(digest string) string { return "blobs/" + strings.Replace(digest, ":", "/", 1) }

func download(ts *testscript.TestScript, url string) []byte {
	response, err := http.Get(url)
	ts.Check(err)
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	ts.Check(err)
	if response.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s", url, response.Status)
	}
	return data
}

// spoil DIR adds a byte to every file of a directory.
func spoilCommand(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	entries, err := os.ReadDir(dir)
	ts.Check(err)
	if len(entries) == 0 {
		ts.Fatalf("%s is empty", dir)
	}
	for _, entry := range entries {
		file, err := os.OpenFile(filepath.Join(dir, entry.Name()), os.O_APPEND|os.O_WRONLY, 0)
		ts.Check(err)
		_, err = file.Write([]byte{'x'})
		ts.Check(err)
		ts.Check(file.Close())
	}
}
