package plugins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// exitNoMount is the exit code of a child that may not mount.
const exitNoMount = 77

func init() {
	works["a full disk"] = fullDisk
	works["a disk that cannot be written"] = readOnlyDisk
	works["a mount point"] = mountPoint
}

// mounted mounts a small file system over the directory of a location, in the
// child's own view of the disk.
func mounted(location string) error {
	dir := filepath.Dir(location)
	err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
	if err != nil {
		fmt.Println("mounting:", err)
		os.Exit(exitNoMount)
	}
	return installFiles(context.Background(), location, firstFiles(), nil)
}

func fullDisk(ctx context.Context, location string, _ func(string)) error {
	if err := mounted(location); err != nil {
		return err
	}
	big := []plugins.File{file("big", "0644", strings.Repeat("x", 128<<10)), file("small", "0644", "x")}
	err := installFiles(ctx, location, big, nil)
	switch {
	case !errors.Is(err, syscall.ENOSPC) || install.KindOf(err) != install.NotStarted || !strings.Contains(err.Error(), "make room on that disk"):
		return fmt.Errorf("the full disk led to %w", err)
	}
	if err := same(ctx, location, firstFiles()); err != nil {
		return err
	}
	// Files that did not fit are gone, so that the next run has the room.
	if err := installFiles(ctx, location, secondFiles(), nil); err != nil {
		return err
	}
	return same(ctx, location, secondFiles())
}

func readOnlyDisk(ctx context.Context, location string, _ func(string)) error {
	if err := mounted(location); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", filepath.Dir(location), "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	err := installFiles(ctx, location, secondFiles(), nil)
	if !errors.Is(err, syscall.EROFS) || install.KindOf(err) != install.NotStarted || !strings.Contains(err.Error(), "run it as a user who may write there") {
		return fmt.Errorf("the disk that cannot be written led to %w", err)
	}
	return same(ctx, location, firstFiles())
}

// mountPoint finds a file system mounted at the location itself: that cannot be
// exchanged for a link.
func mountPoint(ctx context.Context, location string, _ func(string)) error {
	if err := os.Mkdir(location, 0o755); err != nil {
		return err
	}
	err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("tmpfs", location, "tmpfs", 0, "size=64k"))
	if err != nil {
		fmt.Println("mounting:", err)
		os.Exit(exitNoMount)
	}
	before := firstFiles()[:1]
	before[0].Path = "neo"
	if err := os.WriteFile(filepath.Join(location, "neo"), before[0].Data, 0o755); err != nil {
		return err
	}
	err = installFiles(ctx, location, secondFiles(), nil)
	if install.KindOf(err) != install.NotStarted || !strings.Contains(err.Error(), "the location is a mount point, which cannot be switched: name a directory inside it with --location") {
		return fmt.Errorf("the mount point led to %w", err)
	}
	if err := same(ctx, location, before); err != nil {
		return err
	}
	inside := filepath.Join(location, "inside")
	if err := installFiles(ctx, inside, secondFiles(), nil); err != nil {
		return err
	}
	return same(ctx, inside, secondFiles())
}

// same wants a location to hold exactly some files.
func same(ctx context.Context, location string, files []plugins.File) error {
	now, err := Read(ctx, location)
	if err != nil {
		return err
	}
	want := (&Receipt{}).expectedFiles()
	for _, f := range files {
		want[f.Path] = now.Files[f.Path]
		if want[f.Path].SHA256 != f.SHA256 || want[f.Path].Mode != f.Mode {
			return fmt.Errorf("the host finds another %s", f.Path)
		}
	}
	if !maps.Equal(want, now.Files) || hasLeftovers(location) {
		return fmt.Errorf("the host finds %v, something is left: %t", now.Files, hasLeftovers(location))
	}
	return nil
}

// A disk that fills up, one that no one may write to, and one that is mounted at the
// location leave what was there whole and nothing half-written. The child has its own
// view of the disk, as root of a namespace where it is no one's.
func TestTheOldGenerationStaysOn(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, work := range []string{"a full disk", "a disk that cannot be written", "a mount point"} {
		t.Run(work, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program)
			cmd.Env = append(os.Environ(), childLocation+"="+filepath.Join(t.TempDir(), ".plugins"), childWork+"="+work)
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			if os.Getuid() != 0 {
				cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
				cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
			}
			out, err := cmd.CombinedOutput()
			switch {
			case cmd.ProcessState == nil, cmd.ProcessState.ExitCode() == exitNoMount:
				t.Skipf("no file system can be mounted here: %v %s", err, out)
			case err != nil:
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
