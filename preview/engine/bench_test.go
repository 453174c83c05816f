package engine_test

import (
	"bytes"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// The steps of a preview without a cluster, on the largest bundle.
func BenchmarkOffline(b *testing.B) {
	dir := corpustest.Dir(b, "bundles", "argocd-operator", "0.18.0")
	content, release, err := contentOf(b, dir, format.Params{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("content", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := contentOf(b, dir, format.Params{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	var p *preview.Plan
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			if p, err = build(b, content, release, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	if p == nil { // -bench chose only reports
		if p, err = build(b, content, release, nil); err != nil {
			b.Fatal(err)
		}
	}
	for _, form := range []string{report.Text, report.Markdown, report.JSON, report.YAML, report.Manifests} {
		b.Run("report-"+form, func(b *testing.B) {
			for b.Loop() {
				if err := report.Write(io.Discard, p, report.Options{Format: form}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPlanning plans the same mixture of kinds without a cluster, in sizes up to the
// most objects that one package may have. The user time of each object should not grow by
// more than 30 %.
func BenchmarkPlanning(b *testing.B) {
	var mixture strings.Builder
	for i, kind := range slices.Sorted(maps.Keys(manyKinds)) {
		if i > 0 {
			mixture.WriteString("\n---\n")
		}
		mixture.WriteString(strings.ReplaceAll(manyKinds[kind], "a%[1]d", string(rune('a'+i))+"%[1]d"))
	}
	schemas := k8s.NewSchemas()
	objects := len(planOfMany(b, schemas, mixture.String(), 2)().Objects) - len(planOfMany(b, schemas, mixture.String(), 1)().Objects)
	first := 0.0
	for _, n := range []int{1000, 5000, 20000, 40000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			plan := planOfMany(b, schemas, mixture.String(), n/objects)
			b.ReportAllocs()
			before := userTime(b)
			for b.Loop() {
				plan()
			}
			each := (userTime(b) - before).Seconds() * 1e6 / float64(b.N) / float64(n)
			b.ReportMetric(each, "user-µs/object")
			if first == 0 {
				first = each
			}
			b.ReportMetric(each/first, "times-smallest")
			if each > 1.3*first {
				b.Errorf("each of %d objects takes %.0f µs, of the smallest plan %.0f", n, each, first)
			}
		})
	}
}

// userTime returns the processor time of this process outside of the kernel.
func userTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

// A whole plan against a real API server, nearby and far away: the difference
// is what round trips cost. Discovery is cold, as it is for a command.
func BenchmarkDryRun(b *testing.B) {
	content, release, err := contentOf(b, corpustest.Dir(b, "bundles", "mongodb-kubernetes", "1.10.0"), format.Params{})
	if err != nil {
		b.Fatal(err)
	}
	box := sandboxtest.Start(b)
	for name, trip := range map[string]time.Duration{"near": 0, "50ms-away": 50 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			kubeconfig := farAway(b, box.Kubeconfig(), trip)
			for b.Loop() {
				client, err := k8s.Connect(b.Context(), k8s.Options{Kubeconfig: kubeconfig})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := build(b, content, release, client); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func build(b *testing.B, content planned.Content, release preview.Release, cluster engine.Cluster) (*preview.Plan, error) {
	return engine.Build(b.Context(), []planned.Content{content}, cluster, engine.Options{
		Release: release, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		Request: preview.Request{Action: preview.RequestInstall},
	})
}

// farAway returns a kubeconfig that reaches the same API server through a
// connection whose round trip takes longer.
func farAway(b *testing.B, kubeconfig string, trip time.Duration) string {
	b.Helper()
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "https://")
	address := strings.Trim(strings.Fields(rest)[0], `"'`)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				_ = client.Close()
				continue
			}
			go delayed(server, client, trip/2)
			go delayed(client, server, trip/2)
		}
	}()
	path := filepath.Join(b.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), address, listener.Addr().String())), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// delayed copies a stream; every piece arrives as much later as the others.
func delayed(to, from net.Conn, delay time.Duration) {
	type piece struct {
		due  time.Time
		data []byte
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				pieces <- piece{time.Now().Add(delay), bytes.Clone(buffer[:n])}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	_, _ = to.Close(), from.Close()
	for range pieces { // the reader must not block
	}
}
