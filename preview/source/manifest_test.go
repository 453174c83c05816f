package source_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

const (
	imageType = "application/vnd.oci.image.manifest.v1+json"
	indexType = "application/vnd.oci.image.index.v1+json"
)

// putManifest stores a manifest as it is, and returns its digest.
func putManifest(t *testing.T, r sourcetest.Registry, tag, mediaType, body string) string {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body)))
	for _, name := range []string{tag, digest} {
		send(t, http.MethodPut, "http://"+r.Host+"/v2/b/manifests/"+name, mediaType, body)
	}
	return digest
}

// putBlob stores a blob and returns its descriptor.
func putBlob(t *testing.T, r sourcetest.Registry, mediaType, body string) string {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body)))
	send(t, http.MethodPost, "http://"+r.Host+"/v2/b/blobs/uploads/?digest="+digest, "application/octet-stream", body)
	return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, mediaType, digest, len(body))
}

func send(t *testing.T, method, url, mediaType, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", mediaType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = response.Body.Close(); response.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s: %s", method, url, response.Status)
	}
}

func image(config string, layers ...string) string {
	return fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":%s,"layers":[%s]}`, imageType, config, strings.Join(layers, ","))
}

func TestAnIndexLeadsToTheSamePlatformOnEveryMachine(t *testing.T) {
	registry := sourcetest.Plain(t)
	push := func(name string) string {
		config := putBlob(t, registry, "application/vnd.oci.image.config.v1+json", `{"config":{"Labels":{"name":"`+name+`"}}}`)
		layer := putBlob(t, registry, "application/vnd.oci.image.layer.v1.tar", string(sourcetest.Tar(t, sourcetest.File(name, "x"))))
		return putManifest(t, registry, name, imageType, image(config, layer))
	}
	child := func(digest, os, arch string) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":1,"platform":{"os":%q,"architecture":%q}}`, imageType, digest, os, arch)
	}
	amd64, arm64 := push("amd64"), push("arm64")
	index := fmt.Sprintf(`{"schemaVersion":2,"manifests":[%s,%s,%s]}`,
		child(arm64, "linux", "arm64"), child(amd64, "linux", "amd64"), child(arm64, "unknown", "unknown"))
	digest := putManifest(t, registry, "index", indexType, index)

	pin, content, err := get(t.Context(), registry.Options(t), registry.Host+"/b:index")
	if err != nil {
		t.Fatal(err)
	}
	if pin.Source.Digest != digest {
		t.Errorf("pinned to %s, want the index %s", pin.Source.Digest, digest)
	}
	mustHold(t, content.FS, "amd64")

	o := registry.Options(t)
	o.Platform = "linux/arm64"
	if _, content, err = get(t.Context(), o, registry.Host+"/b:index"); err != nil {
		t.Fatal(err)
	}
	mustHold(t, content.FS, "arm64")
	o.Platform = "linux/s390x"
	_, _, err = get(t.Context(), o, registry.Host+"/b:index")
	mustFail(t, err, `no image for linux/s390x; it has "linux/amd64", "linux/arm64"`)
	o.Platform = "linux"
	_, _, err = get(t.Context(), o, registry.Host+"/b:index")
	mustFail(t, err, "is not a platform")

	silent := func(digest string) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":1}`, imageType, digest)
	}
	indexOf := func(children ...string) string {
		return putManifest(t, registry, "other", indexType, `{"schemaVersion":2,"manifests":[`+strings.Join(children, ",")+`]}`)
	}
	for name, outer := range map[string]string{
		"an index within an index":                  indexOf(child(digest, "linux", "amd64")),
		"one within that, and no platform":          indexOf(silent(indexOf(silent(digest)))),
		"one image without a platform":              indexOf(silent(amd64), child(arm64, "unknown", "unknown")),
		"the one without where others have another": indexOf(child(arm64, "linux", "arm64"), silent(amd64)),
	} {
		_, content, err := get(t.Context(), registry.Options(t), registry.Host+"/b@"+outer)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		mustHold(t, content.FS, "amd64")
	}
	_, _, err = get(t.Context(), registry.Options(t), registry.Host+"/b@"+indexOf(silent(amd64), silent(arm64)))
	mustFail(t, err, "no image for linux/amd64")
	deep := digest
	for range 5 {
		deep = indexOf(silent(deep))
	}
	_, _, err = get(t.Context(), registry.Options(t), registry.Host+"/b@"+deep)
	mustFail(t, err, "an index within an index, more than 4 deep")
}

func TestZstdAndPlainLayersAreRead(t *testing.T) {
	registry := sourcetest.Plain(t)
	archive := sourcetest.Tar(t, sourcetest.File("manifests/x", "x"))
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(archive); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	config := putBlob(t, registry, "application/vnd.oci.image.config.v1+json", `{}`)
	for kind, body := range map[string]string{"tar": string(archive), "tar+zstd": packed.String()} {
		layer := putBlob(t, registry, "application/vnd.oci.image.layer.v1."+kind, body)
		putManifest(t, registry, "v1", imageType, image(config, layer))
		_, content, err := get(t.Context(), registry.Options(t), registry.Host+"/b:v1")
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, content.FS, "manifests/x")
	}
}

func TestManifestsThatAreRefused(t *testing.T) {
	registry := sourcetest.Plain(t)
	const layerType = "application/vnd.oci.image.layer.v1.tar"
	config := putBlob(t, registry, "application/vnd.oci.image.config.v1+json", `{"config":{}}`)
	badConfig := putBlob(t, registry, "application/vnd.oci.image.config.v1+json", `{"config":{"Labels":7}}`)
	layer := putBlob(t, registry, layerType, string(sourcetest.Tar(t, sourcetest.File("x", "x"))))
	chart := strings.Replace(layer, layerType, "application/vnd.cncf.helm.chart.content.v1.tar+gzip", 1)
	tests := []struct{ name, body, want string }{
		{"no JSON", "<html>", "not JSON"},
		{"nothing in it", `{"schemaVersion":2}`, "no config or no layers"},
		{"no layers", image(config), "no config or no layers"},
		{"an image and an index at once", strings.Replace(image(config, layer), "{", `{"manifests":[],`, 1), "both an image and an index"},
		{"an image that says it is an index", strings.Replace(image(config, layer), imageType, indexType, 1), "both an image and an index"},
		{"an index that says it is an image", `{"schemaVersion":2,"mediaType":"` + imageType + `","manifests":[]}`, "both an image and an index"},
		{"schema 1", `{"schemaVersion":1,"fsLayers":[]}`, "schema 1"},
		{"a layer over the cap", image(config, strings.Replace(layer, `"size":`, `"size":99999999`, 1)), "larger than its cap"},
		{"a negative size", image(config, strings.Replace(layer, `"size":`, `"size":-`, 1)), "larger than its cap"},
		{"a size that is too small", image(config, strings.Replace(layer, `"size":2048`, `"size":2047`, 1)), "more bytes than it has"},
		{"a digest of another kind", image(config, strings.Replace(layer, "sha256:", "sha512:", 1)), "not JSON of the expected shape"},
		{"a layer outside the registry", image(config, strings.Replace(layer, "{", `{"urls":["https://example.com/x"],`, 1)), "outside the registry"},
		{"a layer that is no file system", image(config, chart), "is no file system"},
		{"a config that is no config", image(badConfig, layer), "config is not JSON"},
		{"too many layers", image(config, strings.Repeat(layer+",", 128)+layer), "at most 128"},
		{"over the cap", image(config, layer) + strings.Repeat(" ", 5<<20), "the manifest is larger than its cap of 4 MiB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			digest := putManifest(t, registry, "v1", imageType, test.body)
			for _, text := range []string{"/b:v1", "/b@" + digest} {
				_, _, err := get(t.Context(), registry.Options(t), registry.Host+text)
				mustFail(t, err, test.want)
			}
		})
	}
}

func TestOptionsThatDoNotWorkSaySo(t *testing.T) {
	tests := []struct {
		name, want string
		options    source.Options
	}{
		{"no CA file", "reading --ca-file", source.Options{CAFile: "missing.pem"}},
		{"a CA file without certificates", "no PEM certificate", source.Options{CAFile: "manifest_test.go"}},
		{"no registry config", "reading --registry-config", source.Options{RegistryConfig: "missing.json"}},
		{"a registry config that is none", "not a Docker config file", source.Options{RegistryConfig: "manifest_test.go"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.CacheDir = t.TempDir()
			_, _, err := get(t.Context(), test.options, "127.0.0.1:1/b:v1")
			mustFail(t, err, test.want)
		})
	}
}
