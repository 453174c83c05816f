package source_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// The environment of a second process, which is this test program again and
// runs TestAsAnotherProcess alone.
const (
	processReference = "SOURCE_TEST_REFERENCE"
	processCache     = "SOURCE_TEST_CACHE"
	processCA        = "SOURCE_TEST_CA"
	processFileBytes = "SOURCE_TEST_FILE_BYTES" // no file may grow beyond 1 KiB
)

func TestAsAnotherProcess(t *testing.T) {
	text := os.Getenv(processReference)
	if text == "" {
		t.Skip("skipped: only other tests run this, in a process of its own")
	}
	if os.Getenv(processFileBytes) != "" {
		signal.Ignore(syscall.SIGXFSZ) // then writing fails instead
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1024, Max: 1024}))
	}
	o := source.Options{CacheDir: os.Getenv(processCache), CAFile: os.Getenv(processCA)}
	_, content, err := get(t.Context(), o, text)
	must(t, err)
	if len(files(t, content.FS)) == 0 {
		t.Error("no files")
	}
}

func another(t *testing.T, o source.Options, text string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAsAnotherProcess$", "-test.v")
	cmd.Env = append(os.Environ(), processReference+"="+text, processCache+"="+o.CacheDir, processCA+"="+o.CAFile)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func TestSeveralProcessesShareACache(t *testing.T) {
	registry := sourcetest.TLS(t)
	digest := push(t, registry, "b:v1", large(), nil)
	o := registry.Options(t)
	var running []*exec.Cmd
	var outputs []*strings.Builder
	for range 4 {
		cmd, out := another(t, o, registry.Host+"/b:v1"), &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		must(t, cmd.Start())
		running, outputs = append(running, cmd), append(outputs, out)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, outputs[i])
		}
	}
	if names := blobs(t, o); len(names) != 3 {
		t.Errorf("cached %q", names)
	}
	o.Offline = true
	pin, _, err := get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	if pin.Source.Digest != digest {
		t.Errorf("remembered %s, want %s", pin.Source.Digest, digest)
	}
}

// A limit on file sizes stands for a disk that is full: the same calls fail.
func TestAFullDiskIsOneErrorAndLeavesNothingHalf(t *testing.T) {
	registry := sourcetest.TLS(t)
	push(t, registry, "b:v1", large(), nil)
	o := registry.Options(t)
	out, err := another(t, o, registry.Host+"/b:v1", processFileBytes+"=1").CombinedOutput()
	if err == nil || strings.Count(string(out), "writing the cache") != 1 || !strings.Contains(string(out), "file too large") {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, data := range files(t, os.DirFS(o.CacheDir)) {
		if strings.Contains(name, ".partial") || len(data) >= 1024 || filepath.Dir(name) != "blobs/sha256" {
			t.Errorf("left %s of %d bytes", name, len(data))
		}
	}
	_, content, err := get(t.Context(), o, registry.Host+"/b:v1")
	must(t, err)
	mustHold(t, content.FS, "manifests/csv.yaml", "manifests/noise")
}

// large is a bundle with a layer that does not fit into a few KiB.
func large() fstest.MapFS {
	noise := make([]byte, 256<<10)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(noise) // never fails
	return fstest.MapFS{"manifests/csv.yaml": {Data: []byte("kind: x\n")}, "manifests/noise": {Data: noise}}
}
