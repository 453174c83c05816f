package controlplane_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/controlplane"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// A test that mounts is run again in a process with its own view of the disk.
const (
	inChild     = "CONTROLPLANE_TEST_FROM"
	exitNoMount = 77
)

// A disk that is too small is named with what to do, and has the room again afterwards; one
// that cannot be written likewise.
func TestADiskThatDoesNotTakeAControlPlaneIsNamed(t *testing.T) {
	if from := os.Getenv(inChild); from != "" {
		installOnDisks(t, from)
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), inChild+"="+publish(t, "large", nil).pinned())
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := child.CombinedOutput()
	var ended *exec.ExitError
	if errors.Is(err, syscall.EPERM) || errors.As(err, &ended) && ended.ExitCode() == exitNoMount {
		t.Skip("skipped: this user may not mount")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func installOnDisks(t *testing.T, from string) {
	dir := t.TempDir()
	err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"))
	if err != nil {
		fmt.Println("mounting:", err)
		os.Exit(exitNoMount)
	}
	options := controlplane.Options{From: from, Dir: dir, Sources: source.Options{CacheDir: t.TempDir()}}
	for _, reason := range []error{syscall.ENOSPC, syscall.EROFS} {
		if errors.Is(reason, syscall.EROFS) {
			if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
		}
		_, err := controlplane.Install(t.Context(), options)
		if !errors.Is(err, reason) || !strings.Contains(err.Error(), "it takes 300 MB below "+dir+": make room there, or set XDG_DATA_HOME") {
			t.Errorf("%v: %v", reason, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%v: left are %v, %v", reason, left, err)
		}
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Error(err)
	}
}
