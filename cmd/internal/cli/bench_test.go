package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// The limits that "make bench" holds the built program to.
const (
	previewTime = time.Second
	previewRSS  = 300 << 20 // bytes
	versionTime = 1.2       // times kubectl version --client
)

// The largest bundle of the corpus, 4 MB, previewed without a cluster: time and
// memory of the whole process.
func BenchmarkPreviewLargestBundle(b *testing.B) {
	corpus := corpusDir(b)
	if corpus == "" {
		b.Skip("skipped: no corpus (set CORPUS)")
	}
	bundle := filepath.Join(corpus, "bundles", "argocd-operator", "0.18.0")
	for _, form := range []string{"text", "markdown", "html", "sarif", "json", "yaml", "manifests"} {
		b.Run(form, func(b *testing.B) {
			program := builtProgram(b)
			runs := sample(b, 5, func() usage { return run(b, program, "preview", bundle, "--offline", "-o", form) })
			wall, rss := median(runs, usage.time), median(runs, usage.memory)
			b.ReportMetric(wall*1000, "ms/preview")
			b.ReportMetric(median(runs, usage.cpuTime)*1000, "cpu-ms/preview")
			b.ReportMetric(rss/(1<<20), "MB-peak")
			if wall > previewTime.Seconds() {
				b.Errorf("median of %d: %.2f s, want under %s", len(runs), wall, previewTime)
			}
			if rss > previewRSS {
				b.Errorf("median of %d: %.0f MB, want under %d", len(runs), rss/(1<<20), previewRSS>>20)
			}
		})
	}
}

// The startup cost of every command, next to kubectl's: the two take turns, so that
// whatever else the machine does slows both.
func BenchmarkVersion(b *testing.B) {
	program, kubectl := builtProgram(b), sandboxtest.Kubectl(b)
	var theirs []usage
	ours := sample(b, 21, func() usage {
		theirs = append(theirs, run(b, kubectl, "version", "--client"))
		return run(b, program, "version")
	})
	wall, reference := median(ours, usage.time), median(theirs, usage.time)
	ratio := wall / reference
	b.ReportMetric(wall*1000, "ms/version")
	b.ReportMetric(reference*1000, "ms/kubectl")
	b.ReportMetric(ratio, "times-kubectl")
	b.ReportMetric(median(ours, usage.cpuTime)/median(theirs, usage.cpuTime), "times-kubectl-cpu")
	if ratio > versionTime {
		b.Errorf("median of %d: %.1f ms, %.2f times the %.1f ms of kubectl, want at most %.1f",
			len(ours), wall*1000, ratio, reference*1000, versionTime)
	}
}

// usage holds the time and memory of one process.
type usage struct {
	wall, cpu time.Duration
	rss       int64 // bytes
}

func (u usage) time() float64    { return u.wall.Seconds() }
func (u usage) cpuTime() float64 { return u.cpu.Seconds() }
func (u usage) memory() float64  { return float64(u.rss) }

// run runs a program to its end, which must be a success.
func run(b *testing.B, program string, args ...string) usage {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program, args...)
	cmd.Env = []string{"HOME=" + os.TempDir(), "KUBECONFIG=" + filepath.Join(os.TempDir(), "no-kubeconfig")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil || stdout.Len() == 0 {
		b.Fatalf("%s %v: %v, %d bytes of output, %s", program, args, err, stdout.Len(), &stderr)
	}
	return usageOf(cmd, wall)
}

// usageOf returns the usage of a process that has ended. Linux counts the memory of the
// parent process as a minimum.
func usageOf(cmd *exec.Cmd, wall time.Duration) usage {
	u := usage{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.rss = int64(r.Maxrss)
		if runtime.GOOS != "darwin" { // there it is bytes, elsewhere kilobytes
			u.rss <<= 10
		}
	}
	return u
}

// sample measures as often as the benchmark asks for, and at least n times.
func sample(b *testing.B, n int, measure func() usage) []usage {
	var samples []usage
	for b.Loop() {
		samples = append(samples, measure())
	}
	for len(samples) < n {
		samples = append(samples, measure())
	}
	return samples
}

func median(samples []usage, value func(usage) float64) float64 {
	values := make([]float64, 0, len(samples))
	for _, u := range samples {
		values = append(values, value(u))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// builtProgram returns the program that "make build" made.
func builtProgram(b *testing.B) string {
	b.Helper()
	path := filepath.Join(root(b), "bin", "kubectl-operator")
	if _, err := os.Stat(path); err != nil {
		message := fmt.Sprintf("%s is not built; run make build", path)
		if os.Getenv("CI") != "" {
			b.Fatal(message)
		}
		b.Skip("skipped: " + message)
	}
	return path
}
