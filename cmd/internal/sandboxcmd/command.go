// Package sandboxcmd is the command "kubectl operator sandbox": the embedded control
// plane that a user starts and stops.
package sandboxcmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
)

// New returns the command that manages the user's embedded control
// plane. Paths and other values for scripts are printed to out, remarks to errOut.
func New(out, errOut io.Writer) *cobra.Command {
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
		newSandboxUpCommand(out, errOut),
		newSandboxDownCommand(errOut),
		newSandboxStatusCommand(out),
		newSandboxKubeconfigCommand(out),
	)
	return cmd
}

func newSandboxUpCommand(out, errOut io.Writer) *cobra.Command {
	opts := sandbox.UpOptions{Out: out}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the control plane and print the path of its kubeconfig",
		Example: `  # Leave it running
  kubectl operator sandbox up --detach

  # On a port of your choice, until Ctrl-C
  kubectl operator sandbox up --port 6443`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(errOut, "starting the control plane")
			return sandbox.Up(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.Detach, "detach", false, "return when it is ready and leave it running")
	cmd.Flags().IntVar(&opts.Port, "port", 0, "port of the API server on 127.0.0.1; 0 takes a free one")
	return cmd
}

func newSandboxDownCommand(errOut io.Writer) *cobra.Command {
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

func newSandboxStatusCommand(out io.Writer) *cobra.Command {
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

func newSandboxKubeconfigCommand(out io.Writer) *cobra.Command {
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
