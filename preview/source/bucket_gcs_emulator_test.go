package source_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// gcsServer starts fake-gcs-server with the objects of a directory and returns its host
// and port. It is its own program, since its module would bring hundreds of others into
// ours.
func gcsServer(t *testing.T, data string) string {
	t.Helper()
	slowtest.Skip(t, "tests against fake-gcs-server")
	binary := os.Getenv("FAKE_GCS_SERVER")
	if binary == "" {
		binary = filepath.Join("..", "..", "bin", "fake-gcs-server")
	}
	if _, err := os.Stat(binary); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no fake-gcs-server: %v; run \"make gcs\"", err)
		}
		t.Skipf("skipped: no fake-gcs-server at %s; \"make gcs\" builds it", binary)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), binary, "-scheme", "http", "-backend", "memory", "-host", "127.0.0.1",
		"-port", strconv.Itoa(address.Port), "-data", data, "-log-level", "error")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for deadline := time.Now().Add(20 * time.Second); ; {
		response, err := http.Get("http://" + address.String() + "/_internal/healthcheck")
		if err == nil {
			_ = response.Body.Close()
			return address.String()
		}
		if time.Now().After(deadline) {
			t.Fatalf("fake-gcs-server does not answer: %v", err)
		}
	}
}

func TestSlowGCSObjectIsPinnedByItsBytesAndOpensAgainOffline(t *testing.T) {
	archive := bundleTar(t, "kind: ClusterServiceVersion\n")
	data := write(t, t.TempDir(), map[string]string{"bundles/team a/mongodb.tar": string(archive)})
	host := gcsServer(t, data)
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	o := source.Options{CacheDir: t.TempDir(), PlainHTTP: true}
	var last source.Progress
	o.Progress = func(p source.Progress) { last = p }

	pin, content, err := get(t.Context(), o, "gs://bundles/team a/mongodb.tar")
	if err != nil {
		t.Fatal(err)
	}
	if pin.Source.Digest != sha256Of(archive) || pin.Source.Kind != "bucket" {
		t.Errorf("pin %+v", pin.Source)
	}
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
	if last.Done != int64(len(archive)) || last.Total != last.Done {
		t.Errorf("progress ended at %+v", last)
	}
	o.Offline = true
	if again, _, err := get(t.Context(), o, "gs://bundles/team a/mongodb.tar"); err != nil || again.Source != pin.Source {
		t.Errorf("offline: %+v, %v", again.Source, err)
	}
	o.Offline = false
	_, _, err = get(t.Context(), o, "gs://bundles/none.tar")
	mustFail(t, err, "does not have it (404)")
}
