package sourcetest

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	emptyType    = "application/vnd.oci.empty.v1+json"
)

// Tag stores signatures of an image under the tag that cosign derives from its digest
// and a suffix (sig, att or sbom). It returns the digest of their manifest.
func (r Registry) Tag(t testing.TB, repo, digest, suffix string, signatures ...source.Signature) string {
	t.Helper()
	return r.attach(t, repo, strings.Replace(digest, ":", "-", 1)+"."+suffix, map[string]any{
		"config": r.blob(t, repo, emptyType, []byte("{}")),
	}, signatures)
}

// Refer pushes a manifest with an artifact type whose subject is the digest, and
// returns the manifest's own digest.
func (r Registry) Refer(t testing.TB, repo, digest, artifactType string, signatures ...source.Signature) string {
	t.Helper()
	return r.attach(t, repo, "", map[string]any{
		"artifactType": artifactType,
		// The registry in process takes the type from here.
		"config":  r.blob(t, repo, artifactType, []byte("{}")),
		"subject": map[string]any{"mediaType": manifestType, "digest": digest, "size": 1},
	}, signatures)
}

// Manifest pushes a manifest unchecked, under a tag or, without one, by its digest,
// which it returns.
func (r Registry) Manifest(t testing.TB, repo, tag, mediaType string, data []byte) string {
	t.Helper()
	digest := digestOf(data)
	if tag == "" {
		tag = digest
	}
	r.send(t, http.MethodPut, "/v2/"+repo+"/manifests/"+tag, mediaType, data)
	return digest
}

func (r Registry) attach(t testing.TB, repo, tag string, manifest map[string]any, signatures []source.Signature) string {
	t.Helper()
	var layers []any
	for _, s := range signatures {
		layer := r.blob(t, repo, s.MediaType, s.Payload)
		layer["annotations"] = s.Annotations
		layers = append(layers, layer)
	}
	manifest["schemaVersion"], manifest["mediaType"], manifest["layers"] = 2, manifestType, layers
	data, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return r.Manifest(t, repo, tag, manifestType, data)
}

// blob pushes bytes and returns their descriptor.
func (r Registry) blob(t testing.TB, repo, mediaType string, data []byte) map[string]any {
	t.Helper()
	digest := digestOf(data)
	r.send(t, http.MethodPost, "/v2/"+repo+"/blobs/uploads/?digest="+digest, "application/octet-stream", data)
	return map[string]any{"mediaType": mediaType, "digest": digest, "size": len(data)}
}

func (r Registry) send(t testing.TB, method, path, mediaType string, body []byte) {
	t.Helper()
	client, scheme := &http.Client{}, "http://"
	if r.CAFile != "" {
		pem, err := os.ReadFile(r.CAFile)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
		defer transport.CloseIdleConnections()
		client.Transport, scheme = transport, "https://"
	}
	request, err := http.NewRequestWithContext(t.Context(), method, scheme+r.Host+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", mediaType)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s: %s", method, path, response.Status)
	}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Artifact pushes a manifest with the given layers and an empty config, without a tag,
// and returns its digest and size.
func (r Registry) Artifact(t testing.TB, repo string, layers ...source.Signature) (digest string, size int) {
	t.Helper()
	var list []any
	for _, l := range layers {
		list = append(list, r.blob(t, repo, l.MediaType, l.Payload))
	}
	data, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": r.blob(t, repo, emptyType, []byte("{}")), "layers": list,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Manifest(t, repo, "", manifestType, data), len(data)
}
