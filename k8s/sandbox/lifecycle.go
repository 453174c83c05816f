package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// pollInterval is the time between two looks at a process that is not a child of ours.
const pollInterval = 50 * time.Millisecond

// UpOptions of Up.
type UpOptions struct {
	// Binary is the program to start; empty means Find.
	Binary string
	// Dir is the state directory; empty means StateDir.
	Dir string
	// Port of the API server; 0 takes a free one.
	Port int
	// Detach leaves the control plane running when Up returns.
	Detach bool
	// Out receives the path of the kubeconfig, as the last line, once the
	// control plane is ready.
	Out io.Writer
}

// StateDir returns the directory of the user's control plane:
// ${XDG_STATE_HOME:-~/.local/state}/kubectl-operator/sandbox.
func StateDir() (string, error) { return userDir("XDG_STATE_HOME", ".local/state", "sandbox") }

// ProgramDir returns the directory of control planes that were downloaded:
// ${XDG_DATA_HOME:-~/.local/share}/kubectl-operator/control-plane.
func ProgramDir() (string, error) { return userDir("XDG_DATA_HOME", ".local/share", "control-plane") }

// userDir returns a directory of this program below one of the XDG Base Directory
// specification, which a variable names, or which is below the home directory.
func userDir(variable, fallback, name string) (string, error) {
	base := os.Getenv(variable)
	// The XDG specification says to ignore relative paths.
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the directory %s of the sandbox: %w", name, err)
		}
		base = filepath.Join(home, filepath.FromSlash(fallback))
	}
	return filepath.Join(base, "kubectl-operator", name), nil
}

// Up starts the user's control plane. With Detach it returns when the control
// plane is ready, which may have been running before. Otherwise the control
// plane runs until ctx ends; then it is stopped, and the error is nil.
func Up(ctx context.Context, opts UpOptions) error {
	dir, err := stateDir(opts.Dir)
	if err != nil {
		return err
	}
	pid, err := lockHolder(lockFile(dir))
	if err != nil {
		return err
	}
	start := Options{Binary: opts.Binary, Dir: dir, Port: opts.Port}
	switch {
	case pid != 0 && !opts.Detach:
		return fmt.Errorf("the sandbox is running already (process %d); stop it with \"kubectl operator sandbox down\"", pid)
	case pid != 0:
		return awaitReady(ctx, dir, opts.Out)
	case opts.Detach:
		state, _, err := launch(ctx, start, launchMode{detached: true})
		if err != nil {
			return err
		}
		return printPath(opts.Out, state)
	}
	return runForeground(ctx, start, opts.Out)
}

func runForeground(ctx context.Context, opts Options, out io.Writer) error {
	s, err := Start(ctx, opts)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer s.Stop()
	if err := printPath(out, s.State()); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.Done():
		return fmt.Errorf("running the sandbox: %w", s.Err())
	}
}

// awaitReady waits for a control plane that another process is starting.
func awaitReady(ctx context.Context, dir string, out io.Writer) error {
	for {
		status, err := readStatus(dir)
		if err != nil {
			return err
		}
		if status.Ready {
			return printPath(out, status.State)
		}
		if !status.Running {
			return errors.New("waiting for the sandbox: it ended before it was ready; start it again")
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("waiting for the sandbox: %w", err)
		}
	}
}

// Down stops the user's control plane and waits until it has ended. It returns
// false if none was running. An empty dir means StateDir.
func Down(ctx context.Context, dir string) (bool, error) {
	dir, err := stateDir(dir)
	if err != nil {
		return false, err
	}
	pid, err := lockHolder(lockFile(dir))
	if err != nil || pid == 0 {
		return false, err
	}
	if err := terminate(pid); err != nil {
		return false, fmt.Errorf("stopping the sandbox (process %d): %w", pid, err)
	}
	deadline := time.Now().Add(stopTimeout)
	for {
		holder, err := lockHolder(lockFile(dir))
		if err != nil || holder != pid {
			return true, err
		}
		if time.Now().After(deadline) {
			// Its children end with it, in whatever way it ends.
			return true, kill(pid)
		}
		if err := pause(ctx); err != nil {
			return true, fmt.Errorf("waiting for the sandbox to end: %w", err)
		}
	}
}

// StatusReport says whether the user's control plane is running, and where.
type StatusReport struct {
	// Running: a process serves the directory.
	Running bool
	// Ready: pods can run; only then State is set.
	Ready bool
	State State
}

// Status reports whether the user's control plane is running. An empty dir
// means StateDir.
func Status(dir string) (StatusReport, error) {
	dir, err := stateDir(dir)
	if err != nil {
		return StatusReport{}, err
	}
	return readStatus(dir)
}

func readStatus(dir string) (StatusReport, error) {
	pid, err := lockHolder(lockFile(dir))
	if err != nil || pid == 0 {
		return StatusReport{}, err
	}
	f, err := os.Open(filepath.Join(dir, "state.json"))
	if errors.Is(err, os.ErrNotExist) {
		return StatusReport{Running: true}, nil
	}
	if err != nil {
		return StatusReport{}, fmt.Errorf("reading the sandbox's state: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return StatusReport{}, fmt.Errorf("reading the sandbox's state: %w", err)
	}
	state, err := parseState(data)
	if err != nil {
		return StatusReport{}, err
	}
	// The file may be left from one that was killed while the next one starts.
	if state.PID != pid {
		return StatusReport{Running: true}, nil
	}
	return StatusReport{Running: true, Ready: true, State: state}, nil
}

func stateDir(dir string) (string, error) {
	if dir != "" {
		return filepath.Abs(dir)
	}
	return StateDir()
}

func lockFile(dir string) string { return filepath.Join(dir, "lock") }

func printPath(out io.Writer, state State) error {
	if _, err := fmt.Fprintln(out, state.Kubeconfig); err != nil {
		return fmt.Errorf("printing the kubeconfig's path: %w", err)
	}
	return nil
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollInterval):
		return nil
	}
}
