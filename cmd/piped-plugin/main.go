// The program piped-plugin is a plugin of piped, the agent of PipeCD: its stages make a
// plan, wait for an approval of its digest, apply exactly that plan, and take it back.
// Everything is planned by package planning and applied by package install, as by the
// command line.
package main

import (
	"fmt"
	"io"
	"os"

	sdk "github.com/pipe-cd/piped-plugin-sdk-go"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s"
)

// version is set when the program is built for a release.
var version = "v0.0.0-dev"

func main() {
	planning.RunFormatChild() // some formats render in a separate process
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run serves piped until piped ends it.
func run() error {
	k8s.RouteLogs(io.Discard)
	p := newPlugin(version)
	served, err := sdk.NewPlugin(version,
		sdk.WithDeploymentPlugin[pluginConfig, targetConfig, applicationSpec](p),
		sdk.WithLivestatePlugin[pluginConfig, targetConfig, applicationSpec](p),
		sdk.WithPlanPreviewPlugin[pluginConfig, targetConfig, applicationSpec](p),
	)
	if err != nil {
		return err
	}
	return served.Run()
}
