package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// BinaryEnv is the environment variable with the path of the control plane's
// program. It comes before all other places.
const BinaryEnv = "KUBECTL_OPERATOR_SANDBOX"

// BinaryName is the file name of the control plane's program.
const BinaryName = "kubectl-operator-sandbox"

// ErrNotBuilt is the error for a program of the control plane that was not found.
var ErrNotBuilt = errors.New(`the embedded control plane is not built; run "make sandbox" in a checkout of kubectl-operator, name a released one with "kubectl operator sandbox up --from IMAGE@sha256:HEX", or set ` + BinaryEnv + ` to the path of ` + BinaryName)

// Find returns the path of the control plane's program: the one in [BinaryEnv], else the
// file next to this executable. The error wraps [ErrNotBuilt] if there is none.
func Find() (string, error) {
	if path := os.Getenv(BinaryEnv); path != "" {
		if err := regular(path); err != nil {
			return "", fmt.Errorf("finding the sandbox by %s: %w", BinaryEnv, err)
		}
		return filepath.Abs(path)
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the sandbox: %w", err)
	}
	// A plugin is often a link in PATH; the sandbox is next to the real file.
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	path := filepath.Join(filepath.Dir(self), BinaryName)
	if err := regular(path); err != nil {
		return "", fmt.Errorf("finding the sandbox: %w", ErrNotBuilt)
	}
	return path, nil
}

func regular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	return nil
}
