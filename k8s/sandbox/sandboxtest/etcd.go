package sandboxtest

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
)

// Etcd sends a request to the etcd of a control plane, not through the API
// server, and returns the answer. call is a path such as /v3/kv/compaction and
// body its JSON (etcd documentation, "gRPC gateway"). It skips the test on a
// machine whose processes cannot be listed.
func Etcd(t testing.TB, sb *sandbox.Sandbox, call, body string) []byte {
	t.Helper()
	data, code := RoundTrip(t, sb, http.MethodPost, etcdURL(t, sb)+call, body)
	if code != http.StatusOK {
		t.Fatalf("etcd answers %s with %d: %s", call, code, data)
	}
	return data
}

// RoundTrip sends a request to the API server or to etcd as an administrator,
// without package k8s in between, and returns the answer and its status code.
func RoundTrip(t testing.TB, sb *sandbox.Sandbox, method, url, body string) (data []byte, code int) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", User(t, sb, "root", "system:masters"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if data, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return data, response.StatusCode
}

// etcdURL returns the URL of etcd, from the arguments of etcd's process, which
// the control plane's program has started.
func etcdURL(t testing.TB, sb *sandbox.Sandbox) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(sb.State().Logs)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		args := strings.Split(string(data), "\x00")
		if !slices.Contains(args, "--data-dir="+filepath.Join(dir, "etcd")) {
			continue
		}
		for _, arg := range args {
			if url, ok := strings.CutPrefix(arg, "--advertise-client-urls="); ok {
				return url
			}
		}
	}
	t.Skip("skipped: the processes of the control plane cannot be listed here")
	return ""
}
