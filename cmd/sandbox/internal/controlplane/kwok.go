package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/kubectl-operator/kubectl-operator/cmd/sandbox/internal/lifeline"
)

// RunKwok runs the kwok program next to this one until kwok or the lifeline ends. kwok
// does not know lifelines, so that this process watches the lifeline for it. On Linux
// the kernel ends kwok even when this process is killed.
func RunKwok(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	// The parent-death signal is tied to the thread that starts the child.
	runtime.LockOSThread()
	cmd := exec.Command(self+"-kwok", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting kwok, which is built together with this program: %w", err)
	}
	lifeline.Watch(os.Stdin, func() {
		_ = cmd.Process.Kill()
		os.Exit(0)
	})
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("kwok ended: %w", err)
	}
	return nil
}
