package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAProgramCannotReadTheEnvironmentOfItsParent runs itself again as a user without
// capabilities, because root reads the environment of every process.
func TestAProgramCannotReadTheEnvironmentOfItsParent(t *testing.T) {
	if os.Getenv("KEPT_FROM_PROGRAMS") != "" {
		p := script(t, Limits{Time: time.Minute, Output: 1 << 20}, "tr '\\0' '\\n' </proc/$PPID/environ")
		r, err := p.Run(t.Context(), nil)
		if err != nil || len(r.Stdout) > 0 || !strings.Contains(string(r.Stderr), "ermission denied") {
			t.Errorf("it read %d bytes: %s, %v", len(r.Stdout), r.Stderr, err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self := filepath.Join(dir, "test")
	cmd := exec.Command(self, "-test.run=^TestAProgramCannotReadTheEnvironmentOfItsParent$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "KEPT_FROM_PROGRAMS=yes", "TMPDIR="+dir)
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(self, data, 0o755)
	}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		err = os.Chown(dir, 65534, 65534)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
