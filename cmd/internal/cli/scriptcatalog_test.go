package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// pushcatalog NAME:TAG DIR pushes a catalog image and sets DIGEST.
func pushCatalogCommand(ts *testscript.TestScript, _ bool, args []string) {
	tree := fstest.MapFS{}
	dir := os.DirFS(ts.MkAbs(args[1]))
	ts.Check(fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		tree["configs/"+name] = &fstest.MapFile{Data: data}
		return err
	}))
	labels := map[string]string{source.LabelConfigs: "/configs"}
	digest, err := source.PushDir(context.Background(), ts.Getenv("REGISTRY")+"/"+args[0], tree, labels, source.Options{PlainHTTP: true})
	ts.Check(err)
	ts.Setenv("DIGEST", digest)
}

// catalogd NAME DIR serves a catalog as catalogd does, at every address of a pod
// that the API server passes requests on to.
func catalogdCommand(ts *testscript.TestScript, _ bool, args []string) {
	var lines bytes.Buffer
	dir := os.DirFS(ts.MkAbs(args[1]))
	ts.Check(fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		docs, err := preview.Decode(data)
		for _, doc := range docs {
			if err == nil {
				err = json.NewEncoder(&lines).Encode(doc)
			}
		}
		return err
	}))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/catalogs/" + args[0] + "/api/v1/all":
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = w.Write(lines.Bytes())
		case "/catalogs/elsewhere/api/v1/all":
			http.Redirect(w, r, "https://registry.example.com/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	ts.Defer(server.Close)
	ts.Check(podNetwork(ts, server.Listener.Addr().String()))
}

// podNetwork is the network of pods that the sandbox lacks: its API server sends
// everything that is meant for a pod to a proxy at a socket where no one listens. This
// one leads to one server, whatever the address.
func podNetwork(ts *testscript.TestScript, server string) error {
	listener, err := listenForPods(ts.Value(sandboxKey{}).(*sandbox.Sandbox), server)
	if err != nil {
		return err
	}
	ts.Defer(func() { _ = listener.Close() })
	return nil
}

// listenForPods leads what the API server of a sandbox sends to Services and pods to
// one server, until the listener is closed.
func listenForPods(box *sandbox.Sandbox, server string) (net.Listener, error) {
	sockets, err := filepath.Glob(filepath.Join(filepath.Dir(box.Kubeconfig()), "config", "egress.yaml"))
	if err != nil || len(sockets) != 1 {
		return nil, fmt.Errorf("no egress.yaml beside %s: %w", box.Kubeconfig(), err)
	}
	listener, err := net.Listen("unix", filepath.Join(filepath.Dir(sockets[0]), "the-sandbox-has-no-pod-network"))
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go tunnel(from, server)
		}
	}()
	return listener, nil
}

// tunnel answers one CONNECT (RFC 9110, section 9.3.6).
func tunnel(from net.Conn, server string) {
	defer func() { _ = from.Close() }()
	reader := bufio.NewReader(from)
	if r, err := http.ReadRequest(reader); err != nil || r.Method != http.MethodConnect {
		return
	}
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() { _, _ = io.Copy(to, reader) }()
	_, _ = io.Copy(from, to)
}
