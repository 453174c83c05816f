package sandboxtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
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
	url, err := etcdURL(sb)
	if err != nil {
		t.Skip("skipped: the processes of the control plane cannot be read here:", err)
	}
	data, code := RoundTrip(t, sb, http.MethodPost, url+call, body)
	if code != http.StatusOK {
		t.Fatalf("etcd answers %s with %d: %s", call, code, data)
	}
	return data
}

// RoundTrip sends a request to the API server or to etcd as an administrator,
// without package k8s in between, and returns the answer and its status code.
func RoundTrip(t testing.TB, sb *sandbox.Sandbox, method, url, body string) (data []byte, code int) {
	t.Helper()
	client, err := rootClient(sb)
	if err == nil {
		data, code, err = roundTrip(t.Context(), client, method, url, body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data, code
}

// rootClient returns a client with the certificate of an administrator, which etcd
// takes too.
func rootClient(sb *sandbox.Sandbox) (*http.Client, error) {
	kubeconfig, err := sb.User("root", "system:masters")
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return rest.HTTPClientFor(config)
}

func roundTrip(ctx context.Context, client *http.Client, method, url, body string) (data []byte, code int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	data, err = io.ReadAll(response.Body)
	return data, response.StatusCode, err
}

// etcdURL returns the URL of etcd's JSON API, from the arguments of its process, which the
// control plane's program has started. It is an error where those cannot be read.
func etcdURL(sb *sandbox.Sandbox) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", sb.State().Processes["etcd"]))
	if err != nil {
		return "", fmt.Errorf("reading the arguments of etcd: %w", err)
	}
	for arg := range strings.SplitSeq(string(data), "\x00") {
		if url, ok := strings.CutPrefix(arg, "--listen-client-http-urls="); ok {
			return url, nil
		}
	}
	return "", errors.New("reading the arguments of etcd: they name no address")
}

// etcdClient asks the etcd of a control plane.
type etcdClient struct {
	http *http.Client
	url  string
}

func newEtcdClient(sb *sandbox.Sandbox) (*etcdClient, error) {
	url, err := etcdURL(sb)
	if err != nil {
		return nil, err
	}
	client, err := rootClient(sb)
	return &etcdClient{client, url}, err
}

// keys returns the keys of all objects, such as /registry/configmaps/NAMESPACE/NAME, and
// the revision of each one's last write.
func (e *etcdClient) keys(ctx context.Context) (map[string]string, error) {
	ask, err := json.Marshal(map[string]any{"key": []byte("/registry/"), "range_end": []byte("/registry0"), "keys_only": true})
	if err != nil {
		return nil, err
	}
	data, code, err := roundTrip(ctx, e.http, http.MethodPost, e.url+"/v3/kv/range", string(ask))
	if err != nil {
		return nil, err
	}
	if code != http.StatusOK {
		return nil, fmt.Errorf("etcd answers with %d: %.300s", code, data)
	}
	var answer struct {
		Kvs []struct {
			Key      []byte
			Revision string `json:"mod_revision"`
		}
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(answer.Kvs))
	for _, kv := range answer.Kvs {
		out[string(kv.Key)] = kv.Revision
	}
	return out, nil
}
