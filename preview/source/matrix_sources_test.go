package source_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func matrixBundle() fstest.MapFS {
	return fstest.MapFS{"manifests/csv.yaml": {Data: []byte("csv")}, "metadata/annotations.yaml": {Data: []byte("annotations")}}
}

func (s *matrixServer) image(t *testing.T) matrixCell {
	server := s.front(t, source.NewRegistry())
	pushing := source.Options{CacheDir: t.TempDir(), CAFile: server.caFile}
	digest, err := source.PushDir(t.Context(), server.host+"/b:v1", matrixBundle(), nil, pushing)
	must(t, err)
	o := source.Options{CAFile: bothRoots(t, server, s.other)}
	return matrixCell{text: server.host + "/b:v1", sealed: server.host + "/b@" + digest, o: o, secret: s.login(server.host), move: func() {
		s.live.Store(false)
		_, err := source.PushDir(t.Context(), server.host+"/b:v1", bundleDir(), nil, pushing)
		must(t, err)
		s.live.Store(true)
	}}
}

func (s *matrixServer) layout(t *testing.T) matrixCell {
	registry := sourcetest.Plain(t)
	push(t, registry, "b:v1", matrixBundle(), nil)
	dir := layoutOf(t, map[string]v1.Image{"v1": pull(t, registry, "b:v1")})
	largest := func() string {
		var name string
		var size int64
		blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
		must(t, err)
		for _, blob := range blobs {
			if info, err := os.Stat(blob); err == nil && info.Size() > size {
				name, size = blob, info.Size()
			}
		}
		return name
	}
	edit := func(change func([]byte) []byte) func() {
		return func() {
			data, err := os.ReadFile(largest())
			must(t, err)
			must(t, os.WriteFile(largest(), change(data), 0o600))
		}
	}
	return matrixCell{text: "oci-layout:" + dir + ":v1", spoil: map[string]func(){
		"truncated":    edit(func(b []byte) []byte { return b[:len(b)/2] }),
		"wrong digest": edit(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }),
	}}
}

func (s *matrixServer) gitHTTPS(t *testing.T) matrixCell {
	repo := newRepository(t)
	repo.commit(map[string]string{"manifests/csv.yaml": "csv", "metadata/annotations.yaml": "annotations"})
	fronted := s.front(t, repo.backend())
	return matrixCell{
		text: fronted.git("?ref=main"), o: source.Options{CAFile: bothRoots(t, fronted, s.other)}, secret: s.login(fronted.host),
		move: func() { repo.commit(map[string]string{"manifests/csv.yaml": "another"}) },
	}
}

func (s *matrixServer) gitSSH(t *testing.T) matrixCell {
	repo := newRepository(t)
	repo.commit(map[string]string{"manifests/csv.yaml": "csv", "metadata/annotations.yaml": "annotations"})
	mine, signer := newKey(t)
	if s.fault == "401" {
		_, signer = newKey(t)
	}
	server := serveSSH(t, filepath.Dir(filepath.Dir(repo.dir)), signer.PublicKey())
	hosts := server.key
	if s.fault == "redirect" { // another machine answers under the name
		_, other := newKey(t)
		hosts = other.PublicKey()
	}
	return matrixCell{
		text:   "git+ssh://git@" + server.address + "/org/repo?ref=main",
		secret: secret("kubernetes.io/ssh-auth", "ssh-privatekey", privateKey(t, mine), "ssh-knownhosts", knownhosts.Line([]string{server.address}, hosts)),
		move:   func() { repo.commit(map[string]string{"manifests/csv.yaml": "another"}) },
	}
}

func (s *matrixServer) gitFile(t *testing.T) matrixCell {
	repo := newRepository(t)
	repo.commit(map[string]string{"manifests/csv.yaml": "csv", "metadata/annotations.yaml": "annotations"})
	return matrixCell{text: "git+file://" + repo.dir + "?ref=main", move: func() { repo.commit(map[string]string{"manifests/csv.yaml": "another"}) }}
}

func (s *matrixServer) archive(t *testing.T) matrixCell {
	data := bundleTar(t, "csv")
	var now atomic.Pointer[[]byte]
	now.Store(&data)
	server := s.front(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(*now.Load()) }))
	text := "https://" + server.host + "/x.tar"
	return matrixCell{
		text: text, sealed: text + "#sha256=" + strings.TrimPrefix(sha256Of(data), "sha256:"),
		o: source.Options{CAFile: bothRoots(t, server, s.other)}, secret: s.login(server.host),
		move: func() { another := bundleTar(t, "another"); now.Store(&another) },
	}
}

func (s *matrixServer) directory(t *testing.T) matrixCell {
	dir := write(t, t.TempDir(), map[string]string{"manifests/csv.yaml": "csv", "metadata/annotations.yaml": "annotations"})
	return matrixCell{text: dir, move: func() { write(t, dir, map[string]string{"manifests/csv.yaml": "another"}) }, spoil: map[string]func(){
		"too large": func() { must(t, os.Truncate(filepath.Join(dir, "manifests/csv.yaml"), 10_000_000_000)) },
	}}
}

func (s *matrixServer) configMap(_ *testing.T) matrixCell {
	objects := secrets{"ns/cm": {"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"csv.yaml": "csv"}}}
	return matrixCell{text: "configmap://ns/cm", o: source.Options{Cluster: objects}, move: func() {
		objects["ns/cm"] = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"csv.yaml": "another"}}
	}}
}

func (s *matrixServer) s3(t *testing.T) matrixCell {
	inner, _ := s3Server(t)
	server := s.front(t, inner.Config.Handler)
	data := bundleTar(t, "csv")
	put := func(body []byte) { putObject(t, inner, "/bundles/x.tar", body) }
	put(data)
	return matrixCell{
		text: "s3://bundles/x.tar?region=us-east-1&endpoint=https://" + server.host, o: source.Options{CAFile: bothRoots(t, server, s.other)},
		move: func() { put(bundleTar(t, "another")) },
	}
}

func (s *matrixServer) gs(t *testing.T) matrixCell {
	objects := write(t, t.TempDir(), map[string]string{"bundles/x.tar": string(bundleTar(t, "csv"))})
	emulator := gcsServer(t, objects)
	server := s.front(t, &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: emulator})
	}})
	return matrixCell{
		text: "gs://bundles/x.tar?endpoint=https://" + server.host, o: source.Options{CAFile: bothRoots(t, server, s.other)},
		move: func() {
			address := "http://" + emulator + "/upload/storage/v1/b/bundles/o?uploadType=media&name=x.tar"
			response, err := http.Post(address, "application/x-tar", bytes.NewReader(bundleTar(t, "another")))
			must(t, err)
			must(t, response.Body.Close())
		},
	}
}

func (s *matrixServer) chart(t *testing.T) matrixCell {
	archive := chartArchive(t, "1.0.0")
	repository := &chartRepository{files: map[string][]byte{"/stable/demo-1.0.0.tgz": archive}}
	index := "apiVersion: v1\nentries:\n  demo:\n  - {version: 1.0.0, urls: [demo-1.0.0.tgz], digest: %s}\n"
	repository.put("/stable/index.yaml", fmt.Appendf(nil, index, strings.TrimPrefix(sha256Of(archive), "sha256:")))
	server := s.front(t, repository)
	return matrixCell{
		text: chartReference("https://"+server.host, ""), o: source.Options{CAFile: bothRoots(t, server, s.other)}, secret: s.login(server.host),
		move: func() { repository.put("/stable/demo-1.0.0.tgz", chartArchive(t, "9.9.9")) },
	}
}
