// Command kubectl-operator-sandbox is a whole Kubernetes control plane in one
// file: etcd, kube-apiserver, kube-controller-manager and kube-scheduler, built
// from their Go modules, and the supervisor that starts them together.
//
// A process is the one that it was started by the name of, or else the one that its
// first argument names:
//
//	kubectl-operator-sandbox serve --dir DIR [--port N] [--temporary]
//	kubectl-operator-sandbox kube-apiserver --help
//
// kwok, which plays the kubelet, cannot be linked in (its version flag collides with
// component-base's); it is built next to this program as kubectl-operator-sandbox-kwok,
// and "run-kwok" holds it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/sandbox/internal/controlplane"
	"github.com/kubectl-operator/kubectl-operator/cmd/sandbox/internal/lifeline"
)

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args[1:]
	role := roleOf(name)
	if role == nil && len(args) > 0 {
		name, args = args[0], args[1:]
		role = roleOf(name)
	}
	if role == nil {
		fmt.Fprintln(os.Stderr, "usage: kubectl-operator-sandbox serve --dir DIR [--port N] [--temporary]")
		os.Exit(2)
	}
	// The components read os.Args.
	os.Args = append([]string{name}, args...)
	os.Exit(role(args))
}

// roleOf returns the function that a process runs when the program is started under a
// name, such as "etcd"; nil if there is none. The function returns the exit code.
func roleOf(name string) func(args []string) int {
	switch name {
	case "serve":
		return func(args []string) int { return report(serve(args)) }
	case "run-kwok":
		return func(args []string) int { return report(controlplane.RunKwok(args)) }
	}
	start := component(name)
	if start == nil {
		return nil
	}
	return func([]string) int {
		// A component has no shutdown worth waiting for: its data is thrown away.
		lifeline.Watch(os.Stdin, func() { os.Exit(0) })
		return start()
	}
}

func report(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubectl-operator-sandbox:", err)
		return 1
	}
	return 0
}

// serve runs a control plane until a signal comes or the lifeline ends. When the
// control plane is ready, its State is written to stdout as one line of JSON.
func serve(args []string) error {
	var opts controlplane.Options
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.StringVar(&opts.Dir, "dir", "", "directory for everything the control plane writes (required)")
	flags.IntVar(&opts.Port, "port", 0, "port of the API server on 127.0.0.1; 0 takes a free one")
	flags.BoolVar(&opts.Temporary, "temporary", false, "remove the directory at the end")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading flags of serve: %w", err)
	}

	// The components inherit it: not all of them make files for the owner alone.
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lifeline.Watch(os.Stdin, func() {
		stop()
		// The process that started this one is gone: end even if the orderly way hangs.
		time.AfterFunc(3*time.Second, func() { os.Exit(1) })
	})
	opts.Ready = func(state controlplane.State) error {
		return writeLine(os.Stdout, state)
	}
	return controlplane.Serve(ctx, opts)
}

func writeLine(w io.Writer, state controlplane.State) error {
	if err := json.NewEncoder(w).Encode(state); err != nil {
		return fmt.Errorf("announcing that the control plane is ready: %w", err)
	}
	return nil
}
