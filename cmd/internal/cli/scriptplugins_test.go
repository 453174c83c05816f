package cli_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// objects DIR serves the files of a directory as the objects of the bucket "plugins": by
// the S3 protocol, and where fake-gcs-server is built by Google's. It sets the variables
// that the SDKs read.
func objectsCommand(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	backend := s3mem.New()
	ts.Check(backend.CreateBucket("plugins"))
	entries, err := os.ReadDir(filepath.Join(dir, "plugins"))
	ts.Check(err)
	for _, entry := range entries {
		file, err := os.Open(filepath.Join(dir, "plugins", entry.Name()))
		ts.Check(err)
		info, err := file.Stat()
		ts.Check(err)
		_, err = backend.PutObject("plugins", entry.Name(), map[string]string{}, io.Reader(file), info.Size(), nil)
		ts.Check(err)
		ts.Check(file.Close())
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	ts.Defer(server.Close)
	ts.Setenv("AWS_ENDPOINT_URL", server.URL)
	ts.Setenv("AWS_ACCESS_KEY_ID", "id")
	ts.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	ts.Setenv("AWS_REGION", "eu-west-1")
	ts.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	ts.Setenv("STORAGE_EMULATOR_HOST", googleStore(ts, dir))
}

// googleStore starts fake-gcs-server; where it is not built the script is
// skipped.
func googleStore(ts *testscript.TestScript, dir string) string {
	binary := ts.Getenv("FAKE_GCS_SERVER")
	if _, err := os.Stat(binary); err != nil {
		ts.Fatalf("no fake-gcs-server at %s; \"make gcs\" builds it", binary)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	address := listener.Addr().(*net.TCPAddr)
	ts.Check(listener.Close())
	server := exec.Command(binary, "-scheme", "http", "-backend", "memory", "-host", "127.0.0.1",
		"-port", strconv.Itoa(address.Port), "-data", dir, "-log-level", "error")
	ts.Check(server.Start())
	ts.Defer(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; {
		response, err := http.Get("http://" + address.String() + "/_internal/healthcheck")
		if err == nil {
			_ = response.Body.Close()
			return address.String()
		}
		if time.Now().After(deadline) {
			ts.Fatalf("fake-gcs-server does not answer: %v", err)
		}
	}
}

// expand FILE replaces $NAME in a file by the variables of the script.
func expandCommand(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	text := os.Expand(ts.ReadFile(path), ts.Getenv)
	ts.Check(os.WriteFile(path, []byte(strings.TrimLeft(text, "\n")), 0o600))
}
