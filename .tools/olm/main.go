// Command olm serves a file-based catalog as the pod of a CatalogSource does, for tests of
// the real OLM on a control plane without a network of pods: it prints the address of a
// SOCKS5 proxy (RFC 1928), for GRPC_PROXY of OLM's catalog operator; every address there is
// the catalog's gRPC API. The module builds OLM's own programs, too: see "make olm".
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"

	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/cache"
	"github.com/operator-framework/operator-registry/pkg/server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	configs := flag.String("configs", "", "directory of the file-based catalog")
	flag.Parse()
	if err := serve(*configs); err != nil {
		log.Fatal(err)
	}
}

func serve(configs string) error {
	dir, err := os.MkdirTemp("", "kubectl-operator-olm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := cache.New(dir)
	if err != nil {
		return err
	}
	if err := cache.LoadOrRebuild(context.Background(), store, os.DirFS(configs)); err != nil {
		return err
	}
	registry, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	api.RegisterRegistryServer(s, server.NewRegistryServer(store))
	healthpb.RegisterHealthServer(s, health.NewServer())
	go func() { _ = s.Serve(registry) }()
	go func() { // the parent is gone when its end of the pipe is
		_, _ = io.Copy(io.Discard, os.Stdin)
		s.Stop()
		proxy.Close()
	}()
	fmt.Printf("socks5://%s\n", proxy.Addr())
	for {
		from, err := proxy.Accept()
		if err != nil {
			return nil
		}
		go forward(from, registry.Addr().String())
	}
}

// forward answers one request of SOCKS5 to connect to a name with a connection to the
// registry.
func forward(from net.Conn, to string) {
	defer from.Close()
	header := make([]byte, 2)
	if _, err := io.ReadFull(from, header); err != nil {
		return
	}
	if _, err := io.CopyN(io.Discard, from, int64(header[1])); err != nil { // methods
		return
	}
	if _, err := from.Write([]byte{5, 0}); err != nil { // no authentication
		return
	}
	request := make([]byte, 5)
	if _, err := io.ReadFull(from, request); err != nil {
		return
	}
	rest := map[byte]int64{1: 3 + 2, 3: int64(request[4]) + 2, 4: 15 + 2}[request[3]] // of the address, and the port
	if _, err := io.CopyN(io.Discard, from, rest); err != nil {
		return
	}
	registry, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer registry.Close()
	if _, err := from.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil {
		return
	}
	go func() { _, _ = io.Copy(registry, from) }()
	_, _ = io.Copy(from, registry)
}
