// Package sandboxcmd is the command "kubectl operator sandbox": the embedded control
// plane that a user starts and stops.
package sandboxcmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/controlplane"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// Options of [New].
type Options struct {
	// Out receives paths and other values for scripts, ErrOut remarks.
	Out, ErrOut io.Writer
	// Released is the image of the control plane that this build belongs to, as
	// IMAGE@sha256:HEX; empty for a build that was not released.
	Released string
	// AddSourceFlags adds the flags about registries, and returns a function that reads
	// them when the command runs.
	AddSourceFlags func(*pflag.FlagSet) func() (source.Options, error)
}

// New returns the command that manages the user's embedded control plane.
func New(o Options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run a Kubernetes control plane on this machine, to try things out",
		Long: `Run a real Kubernetes API server with its controllers and one simulated node on
this machine, on loopback addresses only. Pods are scheduled and become Ready,
but nothing runs in them. The pod annotation kubectl-operator/sandbox-fault makes
a pod fail: image-pull, crash-loop or pending. Nothing is kept when it stops.`,
		Example: `  # Start it, use it, stop it
  export KUBECONFIG=$(kubectl operator sandbox up --detach | tail -n 1)
  kubectl get nodes
  kubectl operator sandbox down

  # Keep it in the foreground until Ctrl-C
  kubectl operator sandbox up`,
		Args: cobra.NoArgs,
		// A command that can run is one whose arguments cobra checks: otherwise
		// a misspelt word would print the help and succeed.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newUpCommand(o),
		newDownCommand(o.ErrOut),
		newStatusCommand(o.Out),
		newKubeconfigCommand(o.Out),
	)
	return cmd
}

func newUpCommand(o Options) *cobra.Command {
	opts := sandbox.UpOptions{Out: o.Out}
	var from string
	var sources func() (source.Options, error)
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the control plane and print the path of its kubeconfig",
		Long: `Start the control plane and print the path of its kubeconfig. Its program is
the one that "make sandbox" built beside this one; else that of the release,
which is downloaded once, by the digest that this program was built with.`,
		Example: `  # Leave it running
  kubectl operator sandbox up --detach

  # On a port of your choice, until Ctrl-C
  kubectl operator sandbox up --port 6443

  # From a file, where no registry can be reached
  kubectl operator sandbox up --from control-plane.tar`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			registries, err := sources()
			if err != nil {
				return err
			}
			if opts.Binary, err = o.program(cmd.Context(), from, registries); err != nil {
				return err
			}
			fmt.Fprintln(o.ErrOut, "starting the control plane")
			return sandbox.Up(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.Detach, "detach", false, "return when it is ready and leave it running")
	cmd.Flags().IntVar(&opts.Port, "port", 0, "port of the API server on 127.0.0.1; 0 takes a free one")
	cmd.Flags().StringVar(&from, "from", "", "install the control plane from this image, as IMAGE@sha256:HEX, or from an OCI image layout, as a directory or a tar archive")
	sources = o.AddSourceFlags(cmd.Flags())
	return cmd
}

// program returns the path of the control plane's program: of the image in from, else
// what was built, else of the release.
func (o Options) program(ctx context.Context, from string, registries source.Options) (string, error) {
	if from == "" {
		path, err := sandbox.Find()
		if !errors.Is(err, sandbox.ErrNotBuilt) || o.Released == "" {
			return path, err
		}
	}
	return controlplane.Install(ctx, controlplane.Options{
		From: from, Released: o.Released, Sources: registries,
		Say: func(line string) { fmt.Fprintln(o.ErrOut, line) },
	})
}

func newDownCommand(errOut io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the control plane and remove its data",
		Example: `  # Stop it
  kubectl operator sandbox down

  # Start over with an empty cluster
  kubectl operator sandbox down && kubectl operator sandbox up --detach`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stopped, err := sandbox.Down(cmd.Context(), "")
			if err != nil {
				return err
			}
			if !stopped {
				fmt.Fprintln(errOut, "the sandbox is not running")
			}
			return nil
		},
	}
}

func newStatusCommand(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say whether the control plane runs, and where",
		Example: `  # Is it running?
  kubectl operator sandbox status

  # Where are its logs?
  kubectl operator sandbox status | grep logs`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			status, err := sandbox.Status("")
			if err != nil {
				return err
			}
			switch {
			case !status.Running:
				fmt.Fprintln(out, "not running")
			case !status.Ready:
				fmt.Fprintln(out, "starting")
			default:
				fmt.Fprintf(out, "running     process %d\nserver      %s\nkubeconfig  %s\naudit log   %s\nlogs        %s\n",
					status.State.PID, status.State.Server, status.State.Kubeconfig, status.State.AuditLog, status.State.Logs)
			}
			return nil
		},
	}
}

func newKubeconfigCommand(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the kubeconfig of the running control plane",
		Example: `  # Use it for one command
  kubectl --kubeconfig "$(kubectl operator sandbox kubeconfig)" get pods -A

  # Use it in this shell
  export KUBECONFIG=$(kubectl operator sandbox kubeconfig)`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			status, err := sandbox.Status("")
			if err != nil {
				return err
			}
			if !status.Ready {
				return errors.New(`the sandbox is not running; start it with "kubectl operator sandbox up --detach"`)
			}
			fmt.Fprintln(out, status.State.Kubeconfig)
			return nil
		},
	}
}
