package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// badArchive is a gzipped archive of one member.
func badArchive(t *testing.T, member tar.Header, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	packer := gzip.NewWriter(&out)
	w := tar.NewWriter(packer)
	if member.Mode = 0o644; member.Typeflag == 0 {
		member.Typeflag, member.Size = tar.TypeReg, size
	}
	err := w.WriteHeader(&member)
	zeros := make([]byte, 1<<20)
	for left := member.Size; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = w.Write(zeros[:min(left, int64(len(zeros)))])
	}
	if err = errors.Join(err, w.Close(), packer.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// badSite serves archives that are not to be taken. One ends before its length.
func badSite(t *testing.T) (address, caFile string) {
	t.Helper()
	good := badArchive(t, tar.Header{Name: "neo"}, 10)
	files := map[string][]byte{
		"/good.tgz": good, "/truncated.tgz": good, "/private.tgz": good,
		"/bomb.tgz": badArchive(t, tar.Header{Name: "neo"}, 64<<20),
		"/out.tgz":  badArchive(t, tar.Header{Name: "../neo"}, 10),
		"/link.tgz": badArchive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "neo", Linkname: "../../etc/passwd"}, 0),
	}
	server, caFile := sourcetest.HTTPS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
			return
		case r.URL.Path == "/private.tgz":
			w.WriteHeader(http.StatusUnauthorized)
			return
		case r.URL.Path == "/truncated.tgz":
			w.Header().Set("Content-Length", strconv.Itoa(len(data)+1000))
		}
		_, _ = w.Write(data)
	}))
	return server.URL, caFile
}

// Bad input ends with its exit code and one sentence that names the plugin or
// the field, and nothing is installed. A full disk and an interrupted switch are
// shown in install/plugins.
func TestBadInputOfPluginSets(t *testing.T) {
	address, caFile := badSite(t)
	const web = "providers: [{type: url, name: w, url: ADDRESS}]\nplugins: "
	sum := strings.Repeat("0a", 32)
	for _, test := range []struct {
		name, config string
		code         int
		want         string
	}{
		{"an archive bomb", web + "[{provider: w, output: a, path: bomb.tgz}]", 1, "\"neo\": it inflates to more than 200 times its size"},
		{"a path out of the archive", web + "[{provider: w, output: a, path: out.tgz}]", 1, "\"../neo\": a path with \"..\""},
		{"a link out of the location", web + "[{provider: w, output: a, path: link.tgz}]", 1, "\"neo\" is a symbolic link; only plain files and directories are read"},
		{"a wrong checksum", web + "[{provider: w, output: a, path: good.tgz, sha256: " + sum + "}]", 1, "the bytes do not match their digest"},
		{"404", web + "[{provider: w, output: a, path: none.tgz}]", 1, "does not have it (404), or hides it; check the name, or give credentials"},
		{"a truncated download", web + "[{provider: w, output: a, path: truncated.tgz}]", 1, "ends too early; try again"},
		{"an unknown kind of provider", "providers: [{type: ftp, name: w}]\nplugins: [{provider: w, output: a, path: a}]", 1, "ftp is not a kind of provider"},
		{"an unknown provider", web + "[{provider: v, output: a, path: a}]", 1, "plugins[0].provider: no provider is called v"},
		{"a missing credential", "providers: [{type: url, name: w, url: ADDRESS, auth: {bearer: {env: NONE}}}]\nplugins: [{provider: w, output: a, path: good.tgz}]", 1, "the credential is to come from the environment variable NONE, which is not set"},
		{"a credential that the server wants", web + "[{provider: w, output: a, path: private.tgz}]", 1, "refuses access (401); give credentials for it"},
		{"two plugins with one output", web + "[{provider: w, output: a, path: a}, {provider: w, output: a, path: b}]", 1, "plugins a and a have one output, a"},
		{"a list where a map is due", web + "[[a]]", 1, "plugins[0]: it is a list where a map is due"},
		{"base64 that is not", "providers: [{type: gcs, name: w, bucket: abc, service_account: '%%%'}]\nplugins: [{provider: w, output: a, path: a}]", 1, "service_account: it is not base64"},
		{"an output outside the location", web + "[{provider: w, output: ../a, path: good.tgz}]", 1, `output "../a" is not a path below the location`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			config := filepath.Join(dir, "config.yaml")
			if err := os.WriteFile(config, []byte(strings.ReplaceAll(test.config, "ADDRESS", address)), 0o600); err != nil {
				t.Fatal(err)
			}
			o := testOptions(t)
			code := Main(t.Context(), []string{"plugin", "install", "-c", config, "--yes", "--ca-file", caFile, "--cache-dir", filepath.Join(dir, "cache"), "--location", filepath.Join(dir, "there")}, o)
			said := contents(t, o.Err)
			if code != test.code || !strings.Contains(said, test.want) || strings.Count(said, "\n") != 1 {
				t.Errorf("exit code %d, %q; want %d and one line with %q", code, said, test.code, test.want)
			}
			if _, err := os.Lstat(filepath.Join(dir, "there.generations")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
}

// No one may write below /sys, root included.
func TestALocationThatCannotBeWritten(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /sys")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	text := "providers: [{type: file, name: here, path: .}]\nplugins: [{provider: here, output: config, path: config.yaml}]"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := testOptions(t)
	code := Main(t.Context(), []string{"plugin", "install", "-c", config, "--yes", "--location", "/sys/kernel/plugins/.plugins"}, o)
	if said := contents(t, o.Err); code != 1 || !strings.Contains(said, "run it as a user who may write there, or name another place with --location; nothing was changed") {
		t.Errorf("exit code %d, %q", code, said)
	}
}
