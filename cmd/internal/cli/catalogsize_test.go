package cli_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/catalogtest"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

const (
	// largeCatalog is the real catalog repeated, with other package names.
	largeCatalog = 500 << 20
	// catalogRSS is the memory that a process may hold, whatever the catalog's size.
	catalogRSS = 200 << 20 // a busy machine collects later: 122 to 151 MB were seen
)

// A catalog of 500 MB, in a directory and in an image: neither the first look
// at it nor any later one holds it.
func TestSlowLargeCatalogIsNotHeldInMemory(t *testing.T) {
	slowtest.Skip(t, "a catalog of 500 MB")
	dir := filepath.Join(t.TempDir(), "catalog")
	last := repeatedCatalog(t, dir, largeCatalog)
	for _, catalog := range []string{dir, "oci-layout:" + catalogImage(t, dir)} {
		program := catalogProgram(t)
		for _, when := range []string{"cold", "warm"} {
			u, stderr := program("preview", "mongodb-operator"+last, "--version", "999", "--offline", "--catalog", catalog)
			if want := `package "mongodb-operator` + last + `" has no version "999"`; !strings.Contains(stderr, want) {
				t.Fatalf("%s: %s", when, stderr)
			}
			t.Logf("%s: %d ms, %d MB", when, u.wall.Milliseconds(), u.rss>>20)
			if u.rss > catalogRSS {
				t.Errorf("%s: %d MB, want under %d", when, u.rss>>20, catalogRSS>>20)
			}
		}
	}
}

// catalogImage packs a directory into a catalog image, in a layout.
func catalogImage(t testing.TB, dir string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "layer.tar")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(file)
	err = errors.Join(w.AddFS(os.DirFS(filepath.Dir(dir))), w.Close(), file.Close())
	if err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromFile(name, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layer)
	if err == nil {
		image, err = mutate.Config(image, v1.Config{Labels: map[string]string{source.LabelConfigs: "/" + filepath.Base(dir)}})
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "layout")
	path, err := layout.Write(out, empty.Index)
	if err == nil {
		err = path.AppendImage(image)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The limits of the generated catalog, of 70,000 bundles: see [BenchmarkCatalog].
const (
	catalogTime   = 100 * time.Millisecond // limit for a process to resolve a package
	catalogCold   = 8 * time.Second
	catalogMemory = 300 << 20
)

// The real catalog, the same repeated to 500 MB, and a generated one of 70,000 bundles
// in 2 GB: the first look, and one package out of the index, next to "version", which is
// what any command costs.
func BenchmarkCatalog(b *testing.B) {
	repeated := func(size int64) func(b *testing.B, dir string) string {
		return func(b *testing.B, dir string) string { return "mongodb-operator" + repeatedCatalog(b, dir, size) }
	}
	for _, test := range []struct {
		name  string
		write func(b *testing.B, dir string) (last string)
	}{
		{"9MB", repeated(0)},
		{"500MB", repeated(largeCatalog)},
		{"2GB", func(b *testing.B, dir string) string {
			catalogtest.Generate(b, dir, catalogtest.Size{Packages: 3_500, Bundles: 20, BundleBytes: 30_000})
			return catalogtest.PackageName(3_499)
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "catalog")
			last := test.write(b, dir)
			program := catalogProgram(b)
			resolve := func() usage {
				u, stderr := program("preview", last, "--version", "999", "--offline", "--catalog", dir)
				if !strings.Contains(stderr, "has no version") {
					b.Fatal(stderr)
				}
				return u
			}
			cold := resolve()
			var versions []usage
			warm := sample(b, 11, func() usage {
				u, _ := program("version")
				versions = append(versions, u)
				return resolve()
			})
			wall := median(warm, usage.time)
			b.ReportMetric(cold.time()*1000, "ms/cold")
			b.ReportMetric(cold.memory()/(1<<20), "MB-cold")
			b.ReportMetric(wall*1000, "ms/warm")
			b.ReportMetric(median(warm, usage.memory)/(1<<20), "MB-warm")
			b.ReportMetric(median(versions, usage.time)*1000, "ms/version")
			b.ReportMetric(median(warm, usage.cpuTime)/median(versions, usage.cpuTime), "times-version-cpu")
			if wall > catalogTime.Seconds() || cold.wall > catalogCold || cold.rss > catalogMemory {
				b.Errorf("median of %d: %.0f ms, want under %s; the first time %.1f s and %.0f MB, want under %s and %d MB",
					len(warm), wall*1000, catalogTime, cold.time(), cold.memory()/(1<<20), catalogCold, catalogMemory>>20)
			}
		})
	}
}

// catalogProgram runs the program with its own cache: the build of "make build" if
// present, else this binary.
func catalogProgram(t testing.TB) func(args ...string) (usage, string) {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(root(t), "bin", "kubectl-operator")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, isTest := t.(*testing.T); isTest {
		path = self // always what is being tested
	}
	return func(args ...string) (usage, string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Args[0] = "kubectl-operator" // see TestMain
		peak := filepath.Join(home, "peak")
		cmd.Env = []string{"HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "no-kubeconfig"), peakFile + "=" + peak}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		start := time.Now()
		_ = cmd.Run() // resolving ends with an error here: the image is not ours to fetch
		u := usageOf(cmd, time.Since(start))
		if path == self {
			u.rss = peakIn(t, peak)
		}
		return u, stderr.String()
	}
}

// peakFile names, to a program that is this binary, where to write what it held.
const peakFile = "TEST_PEAK_FILE"

// reportPeak writes the most memory that this process has held, in kilobytes, where the
// test asked for it. wait(2) never reports less than the parent process held, and that
// is all the other tests' memory.
func reportPeak() {
	file := os.Getenv(peakFile)
	status, err := os.ReadFile("/proc/self/status")
	if file == "" || err != nil {
		return
	}
	for line := range strings.Lines(string(status)) {
		if held, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_ = os.WriteFile(file, []byte(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(held), "kB"))), 0o600)
		}
	}
}

// peakIn reads what reportPeak wrote, in bytes. Only Linux tells.
func peakIn(t testing.TB, file string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skip("skipped: this system does not say what a process has held")
	}
	kilobytes, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// named matches the package name of a document.
var named = regexp.MustCompile(`("schema":"olm\.package","name":"|"package(?:Name)?":")([^"]*)"`)

// repeatedCatalog writes the real catalog of 332 packages to a directory, as
// often as needed for size bytes, and returns what the last ones' names end in.
func repeatedCatalog(t testing.TB, dir string, size int64) string {
	t.Helper()
	corpus := corpusDir(t)
	if corpus == "" {
		t.Skip("skipped: no corpus (set CORPUS)")
	}
	packed, err := os.Open(filepath.Join(corpus, "catalogs", "community-operators-derived", "catalog.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	const place = "\x00"
	parts := bytes.Split(named.ReplaceAll(text, []byte("${1}${2}"+place+`"`)), []byte(place))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	last := ""
	for i, written := 0, int64(0); i == 0 || written < size; i++ {
		if i > 0 {
			last = fmt.Sprintf("-%d", i)
		}
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("catalog-%d.jsonl", i)))
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewWriterSize(file, 1<<20)
		for j, part := range parts {
			if j > 0 {
				_, _ = out.WriteString(last)
			}
			_, _ = out.Write(part)
			written += int64(len(part))
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return last
}
