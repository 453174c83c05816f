// Command kubectl-operator is the kubectl plugin "kubectl operator".
package main

import (
	"context"
	"os"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli"
	_ "github.com/kubectl-operator/kubectl-operator/cmd/internal/headroom" // fewer collections
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/shutdown"
)

// Values that the linker sets.
var (
	version      = "v0.0.0-dev"
	commit       = ""
	controlPlane = "" // image of the sandbox, as IMAGE@sha256:HEX
)

func main() {
	planning.RunFormatChild()
	shutdown.AbortWhenBroken()
	ctx, stop := shutdown.Signals(context.Background())
	code := cli.Main(ctx, os.Args[1:], cli.Options{
		Version: version, Commit: commit, ControlPlane: controlPlane, Getenv: os.Getenv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
	stop()
	os.Exit(code)
}
