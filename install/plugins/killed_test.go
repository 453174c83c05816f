package plugins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// The child of the tests below: it carries out one plan, and dies before the
// change of the disk with this number.
const (
	childLocation = "PLUGINS_TEST_LOCATION"
	childWork     = "PLUGINS_TEST_WORK"
	childDiesAt   = "PLUGINS_TEST_DIES_AT"
)

func TestMain(m *testing.M) {
	location := os.Getenv(childLocation)
	if location == "" {
		os.Exit(m.Run())
	}
	at, _ := strconv.Atoi(os.Getenv(childDiesAt))
	n := 0
	err := works[os.Getenv(childWork)](context.Background(), location, func(what string) {
		if n++; n == at {
			fmt.Println(what)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(int(install.KindOf(err)))
	}
	os.Exit(0)
}

// works lists what a child process does at a location.
var works = map[string]func(ctx context.Context, location string, step func(string)) error{
	"install": func(ctx context.Context, location string, step func(string)) error {
		return installFiles(ctx, location, secondFiles(), step)
	},
	"rollback": func(ctx context.Context, location string, step func(string)) error {
		planned, err := PlanRollback(ctx, location, 1)
		if err != nil {
			return err
		}
		return applyPlan(ctx, planned.Plan, Options{Files: planned.Files, Beside: planned.Beside, Step: step})
	},
	"clean": func(ctx context.Context, location string, step func(string)) error {
		plan, err := PlanClean(ctx, location, 0)
		if err != nil {
			return err
		}
		return applyPlan(ctx, plan, Options{Step: step})
	},
}

// run starts a child and reports how it ended: the step it died before, and its exit
// code, -1 for the death.
func runChild(t *testing.T, location, work string, diesAt int) (said string, code int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childLocation+"="+location, childWork+"="+work, childDiesAt+"="+strconv.Itoa(diesAt))
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)), cmd.ProcessState.ExitCode()
}

// content returns the files that a host reads through a location, by path.
func content(t *testing.T, location string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(location+"/", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		info, statErr := entry.Info()
		if err = errors.Join(err, statErr); err == nil {
			name, _ := filepath.Rel(location, path)
			out[name] = plugins.ModeText(info.Mode()) + " " + string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func contentOf(files []plugins.File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		out[f.Path] = f.Mode + " " + string(f.Data)
	}
	return out
}

// Killed before every change of the disk, an install, a rollback and a clean
// leave the old generation or the new one, whole, and the same again ends where
// an uninterrupted one does.
func TestSlowKilledAtEveryChangeOfTheDisk(t *testing.T) {
	slowtest.Skip(t, "kills at every change of the disk")
	for _, test := range []struct {
		name, work   string
		prepare      func(t *testing.T, location string)
		before, then map[string]string
	}{
		{"an install over nothing", "install", func(*testing.T, string) {}, nil, contentOf(secondFiles())},
		{"an install over another generation", "install", func(t *testing.T, location string) {
			mustInstall(t, location, firstFiles())
		}, contentOf(firstFiles()), contentOf(secondFiles())},
		{"an install over files of somebody else", "install", func(t *testing.T, location string) {
			for _, f := range firstFiles() {
				mode, _ := plugins.ParseMode(f.Mode)
				write(t, filepath.Join(location, f.Path), string(f.Data), mode)
			}
		}, contentOf(firstFiles()), contentOf(secondFiles())},
		{"a rollback", "rollback", func(t *testing.T, location string) {
			mustInstall(t, location, firstFiles())
			mustInstall(t, location, secondFiles())
		}, contentOf(secondFiles()), contentOf(firstFiles())},
		{"a clean", "clean", func(t *testing.T, location string) {
			mustInstall(t, location, firstFiles())
			mustInstall(t, location, secondFiles())
			mustInstall(t, location, firstFiles())
		}, contentOf(firstFiles()), contentOf(firstFiles())},
	} {
		t.Run(test.name, func(t *testing.T) {
			deaths := 0
			for at := 1; ; at++ {
				location := filepath.Join(t.TempDir(), ".plugins")
				test.prepare(t, location)
				died, code := runChild(t, location, test.work, at)
				if code == 0 {
					break // it made fewer changes than that
				}
				if code != -1 {
					t.Fatalf("change %d: exit %d, %s", at, code, died)
				}
				deaths++
				afterDeath(t, location, fmt.Sprintf("killed at change %d, %s", at, died), test.before, test.then)
				if said, code := runChild(t, location, test.work, 0); code != 0 {
					t.Fatalf("killed at change %d, %s: again: exit %d, %s", at, died, code, said)
				}
				if got := content(t, location); !maps.Equal(got, test.then) {
					t.Errorf("killed at change %d, %s: in the end the host finds %v", at, died, got)
				}
				noLeftovers(t, location, died)
				asReceived(t, location, died)
			}
			if deaths < 2 {
				t.Errorf("it died %d times", deaths)
			}
			t.Logf("killed at each of %d changes", deaths)
		})
	}
}

// afterDeath wants the old content or the new, and a location that can be read.
func afterDeath(t *testing.T, location, when string, before, then map[string]string) {
	t.Helper()
	if _, err := os.Lstat(location); errors.Is(err, os.ErrNotExist) && before == nil {
		return
	}
	got := content(t, location)
	if !maps.Equal(got, before) && !maps.Equal(got, then) {
		t.Errorf("%s: the host finds %v", when, got)
	}
	if _, err := Read(t.Context(), location); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	if _, err := List(t.Context(), location); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}

// noLeftovers wants nothing but generations.
func noLeftovers(t *testing.T, location, when string) {
	t.Helper()
	entries, err := os.ReadDir(location + generationsSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if isTemporary(entry.Name()) {
			t.Errorf("killed at %s: %s is left", when, entry.Name())
		}
	}
}

// asReceived wants every generation to be as its receipt says, and finished.
func asReceived(t *testing.T, location, when string) {
	t.Helper()
	generations, err := List(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range generations {
		if g.Problem != "" || len(g.Drift) > 0 || g.Receipt.State == StatePending {
			t.Errorf("killed at %s: generation %d: %s %v %s", when, g.Number, g.Problem, g.Drift, g.Receipt.State)
		}
	}
}

func file(path, mode, text string) plugins.File {
	return plugins.File{Path: path, Mode: mode, Data: []byte(text), SHA256: hexSum(text), Origin: "test"}
}

func firstFiles() []plugins.File {
	return []plugins.File{file("bin/neo", "0755", "one"), file("bin/trinity", "0644", "two"), file("gone", "0600", "three")}
}

func secondFiles() []plugins.File {
	return []plugins.File{file("bin/morpheus", "4755", "new"), file("bin/neo", "0755", "changed"), file("bin/trinity", "0640", "two")}
}

func mustInstall(t *testing.T, location string, files []plugins.File) {
	t.Helper()
	if err := installFiles(t.Context(), location, files, nil); err != nil {
		t.Fatal(err)
	}
}

// planInstall plans files as a set of them is.
func planInstall(ctx context.Context, location string, files []plugins.File) (*preview.Plan, error) {
	now, err := Read(ctx, location)
	if err != nil {
		return nil, err
	}
	plan, err := plugins.PlanFiles(plugins.FileOwner{Name: "host", Format: preview.FormatPlugins + "set"}, files, plugins.Target{
		Platform: "linux/amd64", Location: preview.Location{Path: location, Host: HostID()}, InstalledFiles: now,
	})
	if err != nil {
		return nil, err
	}
	plan.Request.Action = preview.RequestInstall
	return plan, plan.Seal()
}

func installFiles(ctx context.Context, location string, files []plugins.File, step func(string)) error {
	plan, err := planInstall(ctx, location, files)
	if err != nil {
		return err
	}
	return applyPlan(ctx, plan, installOptions(plan, files, step))
}

func installOptions(plan *preview.Plan, files []plugins.File, step func(string)) Options {
	lock := plugins.Lock{Name: plan.Release.Name, Platforms: map[string][]plugins.LockedArtifact{}}
	return Options{Files: files, Beside: map[string][]byte{LockFile: lock.Encode()}, Step: step}
}

// applyPlan approves a plan by its digest and carries it out.
func applyPlan(ctx context.Context, plan *preview.Plan, o Options) error {
	if err := plan.Seal(); err != nil {
		return err
	}
	o.Holder = "test"
	_, err := Apply(ctx, plan, record.Approval{Digest: plan.Digest, How: record.ApprovedByDigest, By: "test", Ruleset: preview.Ruleset}, o)
	return err
}
