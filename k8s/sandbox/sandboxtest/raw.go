package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// RawClient is a second client of the cluster, which sends any request that a
// test wants.
type RawClient struct {
	client *http.Client
	server string
}

// NewRawClient returns a client that acts as the user of a kubeconfig.
func NewRawClient(t testing.TB, kubeconfig string) *RawClient {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &RawClient{client: client, server: config.Host}
}

// Content types of patches.
const (
	MergePatch = "application/merge-patch+json"
	ApplyPatch = "application/apply-patch+yaml"
)

// Do sends one request with a JSON body, none if nil, and returns the status
// code and the object in the answer.
func (r *RawClient) Do(ctx context.Context, method, path, contentType string, body any) (status int, answer map[string]any, err error) {
	var data []byte
	if body != nil {
		if data, err = json.Marshal(body); err != nil {
			return 0, nil, fmt.Errorf("encoding the body: %w", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, r.server+path, bytes.NewReader(data))
	if err != nil {
		return 0, nil, err
	}
	if contentType == "" {
		contentType = "application/json"
	}
	request.Header.Set("Content-Type", contentType)
	response, err := r.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	if data, err = io.ReadAll(response.Body); err != nil {
		return response.StatusCode, nil, err
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return response.StatusCode, nil, fmt.Errorf("%s %s answered %.200q", method, path, data)
	}
	return response.StatusCode, answer, nil
}
