package source_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// chartArchive packs a chart as Helm does.
func chartArchive(t testing.TB, version string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(sourcetest.Tar(t,
		sourcetest.File("demo/Chart.yaml", "apiVersion: v2\nname: demo\nversion: "+version+"\n"),
		sourcetest.File("demo/templates/cm.yaml", "kind: ConfigMap\n"),
	))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// chartRepository serves files, asking for a name and password when user is
// not empty.
type chartRepository struct {
	mu             sync.Mutex
	files          map[string][]byte
	user, password string
	authorizations []string // of every request
}

func (c *chartRepository) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.authorizations = append(c.authorizations, r.Header.Get("Authorization"))
	user, password, _ := r.BasicAuth()
	if c.user != "" && (user != c.user || password != c.password) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	data, ok := c.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

func (c *chartRepository) put(path string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path] = data
}

// chartReference names the chart of a server's repository at /stable.
func chartReference(url, query string) string {
	return "chart+" + url + "/stable/demo" + query
}

func noNetrc(t *testing.T) {
	t.Helper()
	t.Setenv("NETRC", filepath.Join(t.TempDir(), "none"))
}

func TestARangeOfAChartIsPinnedToTheArchiveOfOneVersion(t *testing.T) {
	noNetrc(t)
	one, two, pre := chartArchive(t, "1.2.0"), chartArchive(t, "2.0.0"), chartArchive(t, "3.0.0-rc.1")
	repository := &chartRepository{files: map[string][]byte{
		"/stable/demo-1.2.0.tgz": one, "/stable/sub/demo-2.0.0.tgz": two, "/stable/demo-3.tgz": pre,
	}}
	server, o := tlsServer(t, repository)
	repository.put("/stable/index.yaml", fmt.Appendf(nil, `apiVersion: v1
entries:
  demo:
  - {version: 1.2.0, urls: [demo-1.2.0.tgz], digest: %s}
  - {version: 2.0.0, urls: ["%s/stable/sub/demo-2.0.0.tgz"]}
  - {version: 3.0.0-rc.1, urls: [/stable/demo-3.tgz]}
  - {version: 9.9.9, urls: [gone.tgz], removed: true}
  - {version: not a version, urls: [gone.tgz]}
`, strings.TrimPrefix(sha256Of(one), "sha256:"), server.URL))
	tests := []struct {
		name, query string
		want        []byte
	}{
		{"the newest release when no version is asked for", "", two},
		{"the highest of a range", "?version=>=1 <2", one},
		{"one version", "?version=1.2.0", one},
		{"a pre-release, asked for", "?version=3.0.0-rc.1", pre},
		{"a range that takes pre-releases in", "?version=>=2.0.0-0", pre},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pin, content, err := get(t.Context(), o, chartReference(server.URL, test.query))
			if err != nil {
				t.Fatal(err)
			}
			if pin.Source.Digest != sha256Of(test.want) || pin.Source.Kind != "chart" {
				t.Errorf("pinned %+v, want %s", pin.Source, sha256Of(test.want))
			}
			mustHold(t, content.FS, "Chart.yaml", "templates/cm.yaml")
		})
	}
	server.Close()
	o.Offline = true
	pin, _, err := get(t.Context(), o, chartReference(server.URL, "?version=>=1 <2"))
	if err != nil || pin.Source.Digest != sha256Of(one) {
		t.Errorf("offline: %+v, %v", pin.Source, err)
	}
	o.CacheDir = t.TempDir()
	_, _, err = get(t.Context(), o, chartReference(server.URL, ""))
	mustFail(t, err, "is not in the cache")
}

func TestAnIndexMayBeLargerThanWhatIsDecoded(t *testing.T) {
	noNetrc(t)
	archive := chartArchive(t, "1.2.0")
	var index bytes.Buffer
	index.WriteString("apiVersion: v1\nentries:\n")
	for i := 0; index.Len() < 34<<20; i++ {
		fmt.Fprintf(&index, "  chart-%d:\n  - version: 1.0.0\n    description: %s\n", i, strings.Repeat("text ", 200))
	}
	fmt.Fprintf(&index, "  demo:\n  - version: 1.2.0\n    urls:\n    - demo.tgz\n")
	server, o := tlsServer(t, &chartRepository{files: map[string][]byte{"/stable/demo.tgz": archive, "/stable/index.yaml": index.Bytes()}})
	pin, _, err := get(t.Context(), o, chartReference(server.URL, ""))
	if err != nil || pin.Source.Digest != sha256Of(archive) {
		t.Errorf("pinned %+v, %v", pin.Source, err)
	}
}

func TestAPinnedChartIsFetchedByItsDigestWhenTheRangeLeadsElsewhere(t *testing.T) {
	noNetrc(t)
	one, two := chartArchive(t, "1.0.0"), chartArchive(t, "2.0.0")
	digests := []string{strings.TrimPrefix(sha256Of(one), "sha256:"), strings.TrimPrefix(sha256Of(two), "sha256:")}
	repository := &chartRepository{files: map[string][]byte{
		"/stable/1.tgz": one, "/stable/2.tgz": two,
		"/stable/index.yaml": fmt.Appendf(nil, "entries: {demo: [{version: 1.0.0, urls: [1.tgz], digest: %s}]}", digests[0]),
	}}
	server, o := tlsServer(t, repository)
	pin, _, err := get(t.Context(), o, chartReference(server.URL, ""))
	if err != nil {
		t.Fatal(err)
	}
	repository.put("/stable/index.yaml", fmt.Appendf(nil,
		"entries: {demo: [{version: 2.0.0, urls: [2.tgz], digest: %s}, {version: 1.0.0, urls: [1.tgz], digest: %s}]}", digests[1], digests[0]))
	o.CacheDir = t.TempDir()
	content, err := source.New(o).Open(t.Context(), pin)
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t, content.FS)["Chart.yaml"]; !strings.Contains(got, "version: 1.0.0") {
		t.Errorf("opened %q", got)
	}
	repository.put("/stable/1.tgz", two)
	o.CacheDir = t.TempDir()
	if _, err := source.New(o).Open(t.Context(), pin); !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v, want a digest mismatch", err)
	}
}

func TestChartsThatCannotBeReadSayWhy(t *testing.T) {
	noNetrc(t)
	archive := chartArchive(t, "1.0.0")
	tests := []struct{ name, index, want string }{
		{"no index", "", "does not have it (404)"},
		{"an index that is a web page", "<!doctype html>", "not the index of a chart repository"},
		{"an index with a key twice", "entries: {demo: [], demo: []}", "not YAML that can be read"},
		{"another chart's index", "entries: {other: []}", "does not list the chart"},
		{"a chart without versions", "entries: {demo: []}", "none of its 0 versions"},
		{"pre-releases alone", "entries: {demo: [{version: 1.0.0-rc.1, urls: [x.tgz]}]}", "pre-releases"},
		{"no address", "entries: {demo: [{version: 1.0.0}]}", "has no address"},
		{"an archive that is not there", "entries: {demo: [{version: 1.0.0, urls: [x.tgz]}]}", "version 1.0.0"},
		{"a digest that is not a sha256", "entries: {demo: [{version: 1.0.0, urls: [demo.tgz], digest: abc}]}", "not a sha256"},
		{"a digest that is a number", "entries: {demo: [{version: 1.0.0, urls: [demo.tgz], digest: 1234}]}", "not a sha256"},
		{"another digest", "entries: {demo: [{version: 1.0.0, urls: [demo.tgz], digest: '" + strings.Repeat("0", 64) + "'}]}", "do not match their digest"},
		{"an archive in the file system", "entries: {demo: [{version: 1.0.0, urls: ['file:///etc/passwd']}]}", "not an https address"},
		{"an archive in a registry", "entries: {demo: [{version: 1.0.0, urls: ['oci://example.com/demo:1.0.0']}]}", "OCI registry"},
		{"an archive over plain http", "entries: {demo: [{version: 1.0.0, urls: ['http://127.0.0.1:1/demo.tgz']}]}", "--plain-http"},
		{"an address with a password", "entries: {demo: [{version: 1.0.0, urls: ['https://u:hunter2@127.0.0.1:1/demo.tgz']}]}", "credentials in it"},
		{"one version twice", "entries: {demo: [{version: 1.0.0, urls: [demo.tgz]}, {version: 1.0.0, urls: [x.tgz]}]}", "twice, and the two differ"},
		{"an alias bomb", "a: &a [x,x,x,x,x,x,x,x]\nb: &b [" + strings.Repeat("*a,", 400) + "*a]\nc: [" + strings.Repeat("*b,", 400) + "*b, " + strings.Repeat("*b,", 400) + "*b]\nentries: {}", "not YAML that can be read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			repository := &chartRepository{files: map[string][]byte{"/stable/demo.tgz": archive}}
			if test.index != "" {
				repository.put("/stable/index.yaml", []byte(test.index))
			}
			server, o := tlsServer(t, repository)
			_, _, err := get(t.Context(), o, chartReference(server.URL, ""))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want an error with %q", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error says too much: %q", err)
			}
		})
	}
}

func TestCredentialsOfARepositoryStayWithIt(t *testing.T) {
	archive := chartArchive(t, "1.0.0")
	other := &chartRepository{files: map[string][]byte{"/demo.tgz": archive}}
	elsewhere, _ := tlsServer(t, other)
	repository := &chartRepository{user: "me", password: "hunter2", files: map[string][]byte{"/stable/demo.tgz": archive}}
	server, o := tlsServer(t, repository)
	netrc := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(netrc, []byte("machine 127.0.0.1 login me password hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv("NETRC", filepath.Join(t.TempDir(), "none"))
	_, _, err := get(t.Context(), o, chartReference(server.URL, ""))
	mustFail(t, err, "refuses access (401)")

	t.Setenv("NETRC", netrc)
	repository.put("/stable/index.yaml", []byte("entries: {demo: [{version: 1.0.0, urls: [demo.tgz]}]}"))
	if _, _, err := get(t.Context(), o, chartReference(server.URL, "")); err != nil {
		t.Fatal(err)
	}

	// The netrc file has an entry for the other host too, because both are one
	// machine with two ports. The index must not decide that it is used.
	repository.put("/stable/index.yaml", fmt.Appendf(nil, "entries: {demo: [{version: 1.0.0, urls: ['%s/demo.tgz']}]}", elsewhere.URL))
	if _, _, err := get(t.Context(), o, chartReference(server.URL, "")); err != nil {
		t.Fatal(err)
	}
	if len(other.authorizations) != 1 || other.authorizations[0] != "" {
		t.Errorf("the other host was sent %q", other.authorizations)
	}
}
