package sandboxcmd

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func TestSandboxCommandWithoutAControlPlane(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for name, test := range map[string]struct {
		args             []string
		out, errOut, err string
	}{
		"status says so":                 {args: []string{"status"}, out: "not running\n"},
		"down says so and succeeds":      {args: []string{"down"}, errOut: "the sandbox is not running\n"},
		"kubeconfig fails, saying how":   {args: []string{"kubeconfig"}, err: "sandbox up --detach"},
		"up refuses arguments":           {args: []string{"up", "x"}, err: "unknown command"},
		"up says that it is not built":   {args: []string{"up", "--detach"}, err: "make sandbox"},
		"an unknown word is not silence": {args: []string{"start"}, err: "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(sandbox.BinaryEnv, "")
			out, errOut, err := runSandbox(t, test.args...)
			if out != test.out || errOut != test.errOut {
				t.Errorf("printed %q and %q, want %q and %q", out, errOut, test.out, test.errOut)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error = %v, want %q", err, test.err)
			}
		})
	}
}

func TestClusterSandboxCommandUpAndDown(t *testing.T) {
	state := t.TempDir()
	t.Setenv(sandbox.BinaryEnv, sandboxtest.Binary(t))
	t.Setenv("XDG_STATE_HOME", state)
	t.Cleanup(func() { _, _, _ = runSandbox(t, "down") })

	out, _, err := runSandbox(t, "up", "--detach")
	want := filepath.Join(state, "kubectl-operator", "sandbox", "kubeconfig") + "\n"
	if err != nil || out != want {
		t.Fatalf("up printed %q, %v; want %q", out, err, want)
	}
	if out, _, err := runSandbox(t, "kubeconfig"); err != nil || out != want {
		t.Errorf("kubeconfig printed %q, %v; want %q", out, err, want)
	}
	if out, _, err := runSandbox(t, "status"); err != nil || !strings.HasPrefix(out, "running ") {
		t.Errorf("status printed %q, %v", out, err)
	}
	if _, errOut, err := runSandbox(t, "down"); err != nil || errOut != "" {
		t.Errorf("down printed %q, %v", errOut, err)
	}
	if out, _, err := runSandbox(t, "status"); err != nil || out != "not running\n" {
		t.Errorf("status printed %q, %v", out, err)
	}
}

// The control plane of these tests, taken from an image as a released program takes its own.
func TestClusterSandboxFromAnImage(t *testing.T) {
	program := sandboxtest.Binary(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Cleanup(func() { _, _, _ = runSandbox(t, "down") })
	layout := source.ImageLayout{
		Dir: filepath.Join(t.TempDir(), "layout"), Tag: "v1", Name: sandbox.BinaryName, Label: source.LabelControlPlane,
		Images: []source.ProgramImage{{Platform: runtime.GOOS + "/" + runtime.GOARCH, Program: program, Others: []string{program + "-kwok"}}},
	}
	digest, err := source.WriteImageLayout(layout)
	if err != nil {
		t.Fatal(err)
	}
	_, errOut, err := runSandbox(t, "up", "--detach", "--cache-dir", t.TempDir(), "--from", "oci-layout:"+layout.Dir+"@"+digest)
	if err != nil || !strings.Contains(errOut, "installed the control plane") {
		t.Fatalf("up said %q, %v", errOut, err)
	}
	if out, _, err := runSandbox(t, "status"); err != nil || !strings.HasPrefix(out, "running ") {
		t.Errorf("status printed %q, %v", out, err)
	}
}

func runSandbox(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := New(Options{Out: &out, ErrOut: &errOut, AddSourceFlags: func(flags *pflag.FlagSet) func() (source.Options, error) {
		dir := flags.String("cache-dir", "", "")
		return func() (source.Options, error) { return source.Options{CacheDir: *dir}, nil }
	}})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	// Not the test's own context: that has ended when cleanups run.
	err = cmd.Execute()
	return out.String(), errOut.String(), err
}
