package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// starterEnv makes this test binary start a control plane and wait to be killed.
const starterEnv = "SANDBOX_TEST_STARTER"

func TestMain(m *testing.M) {
	if binary := os.Getenv(starterEnv); binary != "" {
		if err := startAndWait(binary); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func startAndWait(binary string) error {
	sb, err := sandbox.Start(context.Background(), sandbox.Options{Binary: binary})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(sb.State()); err != nil {
		return err
	}
	<-sb.Done()
	return errors.New("the control plane ended before its starter")
}

// components of a control plane, the supervisor and the holder of kwok included.
var components = []string{"serve", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "run-kwok", "kwok"}

// A start takes four seconds of processor time: each control plane that was started to be
// measured, or at once, ends in one of the ways that may leave nothing.

func TestClusterIsReadyWithinTenSeconds(t *testing.T) {
	sb, took := quickest(t)
	t.Logf("ready in %v", took.Round(10*time.Millisecond))
	t.Run("and nothing is left after kill -9 of the supervisor", func(t *testing.T) {
		dir := filepath.Dir(sb.Kubeconfig())
		requireAll(t, dir)
		if err := syscall.Kill(sb.State().PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		requireNoneWithin(t, dir, 5*time.Second)
		// The program that removes the directory is the one that was killed.
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
	switch {
	case took < 10*time.Second:
	case busy(t):
		t.Skipf("skipped: the machine has too much other work to measure this; ready in %v", took)
	default:
		t.Errorf("ready in %v, want less than 10s", took)
	}
}

// quickest starts a control plane within ten seconds, or three times, because other work
// on the machine is not what is measured. It returns the last, and how long the quickest
// took.
func quickest(t *testing.T) (sb *sandbox.Sandbox, best time.Duration) {
	t.Helper()
	binary := sandboxtest.Binary(t)
	for range 3 {
		if sb != nil {
			sb.Stop()
		}
		start := time.Now()
		var err error
		if sb, err = sandbox.Start(t.Context(), sandbox.Options{Binary: binary}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sb.Stop)
		took := time.Since(start)
		if best == 0 || took < best {
			best = took
		}
		if best < 10*time.Second {
			break
		}
	}
	return sb, best
}

// busy reports whether many more processes want to run than there are processors
// (proc(5), loadavg). Without /proc no one knows, and it is false.
func busy(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return false
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		t.Fatal(err)
	}
	return load > float64(2*runtime.NumCPU())
}

func TestClusterNothingIsLeft(t *testing.T) {
	t.Run("after kill -9 of the process that started it", func(t *testing.T) {
		starter := exec.Command(os.Args[0])
		starter.Env = append(os.Environ(), starterEnv+"="+sandboxtest.Binary(t))
		stdout, err := starter.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := starter.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadBytes('\n')
		if err != nil {
			t.Fatalf("reading the state: %v", err)
		}
		var state sandbox.State
		if err := json.Unmarshal(line, &state); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(state.Kubeconfig)
		requireAll(t, dir)
		if err := starter.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		requireNoneWithin(t, dir, 5*time.Second)
		requireRemoved(t, dir)
		_ = starter.Wait() // it was killed
	})
	t.Run("after a start that was cancelled", func(t *testing.T) {
		binary, dir := sandboxtest.Binary(t), filepath.Join(t.TempDir(), "dir")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sandbox.Start(ctx, sandbox.Options{Binary: binary, Dir: dir}); !errors.Is(err, context.Canceled) {
			t.Errorf("Start: %v, want %v", err, context.Canceled)
		}
		requireNoneWithin(t, dir, 0)
	})
}

func TestClusterTwoStartedAtOnceAreTwoClusters(t *testing.T) {
	binary := sandboxtest.Binary(t)
	var both [2]*sandbox.Sandbox
	var group errgroup.Group
	for i := range both {
		group.Go(func() (err error) {
			both[i], err = sandbox.Start(t.Context(), sandbox.Options{Binary: binary})
			return err
		})
	}
	err := group.Wait()
	for _, sb := range both {
		if sb != nil {
			t.Cleanup(sb.Stop)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var uids [2]string
	for i, sb := range both {
		ns, err := newClient(t, sb.Kubeconfig()).CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		uids[i] = string(ns.UID)
	}
	if uids[0] == uids[1] {
		t.Errorf("both have the identity %s", uids[0])
	}
	t.Run("and nothing is left of one after a component was killed", func(t *testing.T) {
		sb := both[0]
		dir := filepath.Dir(sb.Kubeconfig())
		pid := requireAll(t, dir)["run-kwok"]
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-sb.Done()
		if err := sb.Err(); err == nil || !strings.Contains(err.Error(), "run-kwok ended: signal: killed") {
			t.Errorf("Err() = %v, want one that names the component", err)
		}
		requireNoneWithin(t, dir, 5*time.Second)
		requireRemoved(t, dir)
	})
	t.Run("and nothing is left of the other after Stop", func(t *testing.T) {
		sb := both[1]
		dir := filepath.Dir(sb.Kubeconfig())
		requireAll(t, dir)
		sb.Stop()
		requireNoneWithin(t, dir, 0)
		requireRemoved(t, dir)
		sb.Stop() // again, without effect
	})
}

func TestClusterStartErrors(t *testing.T) {
	t.Run("names the port that is in use", func(t *testing.T) {
		binary := sandboxtest.Binary(t)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		port := listener.Addr().(*net.TCPAddr).Port
		_, err = sandbox.Start(t.Context(), sandbox.Options{Binary: binary, Port: port})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d", port)) {
			t.Errorf("Start: %v, want an error naming port %d", err, port)
		}
	})
	t.Run("says that the directory is in use", func(t *testing.T) {
		sb := sandboxtest.Start(t)
		_, err := sandbox.Start(t.Context(), sandbox.Options{
			Binary: sandboxtest.Binary(t), Dir: filepath.Dir(sb.Kubeconfig()),
		})
		if err == nil || !strings.Contains(err.Error(), "another sandbox runs in this directory") {
			t.Errorf("Start: %v, want an error about the directory", err)
		}
	})
	t.Run("passes on what a program says that cannot start", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho cannot >&2; exit 3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := sandbox.Start(t.Context(), sandbox.Options{Binary: program})
		if err == nil || err.Error() != "starting the sandbox: cannot" {
			t.Errorf("Start: %v", err)
		}
	})
}

func TestClusterSecretsAreTheOwnersAlone(t *testing.T) {
	sb := sandboxtest.Start(t)
	dir := filepath.Dir(sb.Kubeconfig())
	sandboxtest.User(t, sb, "someone")
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // etcd and the log rotation rename files while we look
		}
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// processes returns the process ids of the control plane in dir by component.
// Every component has a path under dir among its arguments.
func processes(t *testing.T, dir string) map[string]int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatalf("listing processes: %v", err)
	}
	found := map[string]int{}
	for line := range bytes.Lines(out) {
		var pid int
		var program, first string
		if n, _ := fmt.Sscan(string(line), &pid, &program, &first); n < 3 || !bytes.Contains(line, []byte(dir)) {
			continue
		}
		name := filepath.Base(program)
		switch {
		case name == sandbox.BinaryName:
			name = first
		case strings.HasSuffix(name, "-kwok") && name != "run-kwok":
			name = "kwok"
		}
		found[name] = pid
	}
	return found
}

func requireAll(t *testing.T, dir string) map[string]int {
	t.Helper()
	found := processes(t, dir)
	for _, name := range components {
		if found[name] == 0 {
			t.Fatalf("%s does not run; found %v", name, found)
		}
	}
	return found
}

func requireNoneWithin(t *testing.T, dir string, limit time.Duration) {
	t.Helper()
	start := time.Now()
	for {
		left := processes(t, dir)
		if len(left) == 0 {
			t.Logf("nothing left after %v", time.Since(start).Round(10*time.Millisecond))
			return
		}
		if time.Since(start) > limit {
			t.Fatalf("still running after %v: %v", limit, left)
		}
	}
}

func requireRemoved(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory %s is left: %v", dir, err)
	}
}
