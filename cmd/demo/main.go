// Command demo shows the program on a machine that has nothing: it starts the
// embedded control plane and a registry with the bundles of testdata, and runs
// "kubectl operator install mongodb" against them. When it ends, however it
// ends, nothing is left running.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		code = 1
	}
	os.Exit(code)
}

// run runs the whole demonstration. Before it returns, it stops everything that
// it has started, in the reverse order.
func run(ctx context.Context, args []string) (int, error) {
	program, err := siblingProgram("kubectl-operator")
	if err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "kubectl-operator-demo-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)

	host, stopRegistry, err := serveRegistry()
	if err != nil {
		return 0, err
	}
	defer stopRegistry()
	if err := publish(ctx, "testdata", filepath.Join(work, "catalog"), host, source.Options{PlainHTTP: true}); err != nil {
		return 0, err
	}
	fmt.Fprintln(os.Stderr, "demo: starting a Kubernetes control plane on this machine")
	started := time.Now()
	box, err := sandbox.Start(ctx, sandbox.Options{Dir: filepath.Join(work, "sandbox")})
	if err != nil {
		return 0, err
	}
	defer box.Stop()
	fmt.Fprintf(os.Stderr, "demo: ready after %.1f s\n", time.Since(started).Seconds())

	install := []string{
		"install", "mongodb", "--catalog", host + "/demo/catalog:latest", "--plain-http",
		"--cache-dir", filepath.Join(work, "cache"), "--kubeconfig", box.Kubeconfig(),
	}
	interactive := !slices.Contains(args, "--yes") && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	if !slices.Contains(args, "--yes") {
		// The channel whose head has something to review.
		install = append(install, "--channel", "candidate")
	}
	code, err := command(ctx, program, append(install, args...))
	if err == nil && interactive && ctx.Err() == nil {
		explore(ctx, program, box.Kubeconfig())
	}
	return code, err
}

// command runs the program on this terminal and returns its exit code. Ctrl-C
// reaches the program by itself, as a member of the foreground group: it is
// waited for, not killed.
func command(ctx context.Context, program string, args []string) (int, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// explore prints how to reach the cluster, and leaves it running until the user
// ends it.
func explore(ctx context.Context, program, kubeconfig string) {
	fmt.Printf(`
The cluster stays up until you press Ctrl-C. In another terminal:
  export KUBECONFIG=%s
  %s status mongodb
  %s uninstall mongodb
`, kubeconfig, program, program)
	<-ctx.Done()
}

// siblingProgram returns the path of a program in the directory of this executable.
func siblingProgram(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not built; run \"make demo\"", name)
	}
	return path, nil
}

// serveRegistry serves an empty registry on a free loopback port.
func serveRegistry() (host string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: source.NewRegistry(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}
