package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// stage writes the new generation to a directory that the host does not load, and
// compares every file with the plan.
func (r *applier) stage(ctx context.Context) error {
	to := r.plan.Generation.To
	r.receipt = newPendingReceipt(r.plan, r.approval, r.o.Tool, r.o.Now().UTC())
	message := fmt.Sprintf("generation %d", to)
	if from := r.plan.Generation.From; from > 0 {
		message += fmt.Sprintf(" beside generation %d", from)
	}
	r.emit(install.Event{Type: install.EventStage, Stage: "write", Message: message})
	staging := r.place.siblingPath(stagingPrefix + strconv.Itoa(to))
	for _, dir := range []string{staging, path.Join(staging, filesDir)} {
		if err := r.place.mkdir(dir); err != nil {
			return err
		}
	}
	if err := r.writeFiles(ctx, path.Join(staging, filesDir)); err != nil {
		return err
	}
	if err := r.writeBeside(staging); err != nil {
		return err
	}
	if err := r.syncAll(staging); err != nil {
		return err
	}
	if err := r.compare(ctx, path.Join(staging, filesDir)); err != nil {
		return err
	}
	if err := r.place.rename(staging, r.place.generation(to)); err != nil {
		return err
	}
	return r.place.sync(r.place.generations())
}

func (r *applier) writeFiles(ctx context.Context, dir string) error {
	bytes := map[string]*plugins.File{}
	for i := range r.o.Files {
		bytes[r.o.Files[i].Path] = &r.o.Files[i]
	}
	made := map[string]bool{".": true}
	for _, f := range r.plan.Files {
		if f.Action == preview.ActionDelete {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		from := bytes[f.Path]
		if from == nil {
			return fmt.Errorf("file %s: its bytes are in no generation and no download", f.Path)
		}
		if sum := sha256.Sum256(from.Data); hex.EncodeToString(sum[:]) != f.SHA256 {
			return fmt.Errorf("file %s: its bytes are not those that were reviewed", f.Path)
		}
		mode, err := plugins.ParseMode(f.Mode)
		if err != nil {
			return fmt.Errorf("file %s: %w", f.Path, err)
		}
		if err := errors.Join(plugins.CheckOutput(f.Path), r.parents(dir, f.Path, made)); err != nil {
			return fmt.Errorf("file %s: %w", f.Path, err)
		}
		if err := r.place.write(path.Join(dir, f.Path), from.Data, mode); err != nil {
			return err
		}
		r.emit(install.Event{Type: install.EventObject, Object: "file/" + f.Path, State: record.StateApplied})
	}
	return nil
}

// parents creates the parent directories of a file.
func (r *applier) parents(dir, file string, made map[string]bool) error {
	parts := strings.Split(path.Dir(file), "/")
	for i := range parts {
		one := path.Join(parts[:i+1]...)
		if made[one] {
			continue
		}
		if err := r.place.mkdir(path.Join(dir, one)); err != nil {
			return err
		}
		made[one] = true
	}
	return nil
}

// writeBeside writes the receipt, the config and the lock of a generation next to its
// files.
func (r *applier) writeBeside(staging string) error {
	data, err := r.receipt.Encode()
	if err != nil {
		return err
	}
	if err := r.place.write(path.Join(staging, receiptFile), data, 0o644); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.o.Beside)) {
		if err := r.place.write(path.Join(staging, name), r.o.Beside[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// syncAll writes the entries of a directory, and of all directories below it, through to
// disk (fsync).
func (r *applier) syncAll(dir string) error {
	return fs.WalkDir(r.place.root.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return r.place.sync(name)
	})
}

// compare returns an error unless a directory has exactly the files of the plan.
func (r *applier) compare(ctx context.Context, dir string) error {
	root, err := r.place.root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	there := map[string]preview.LiveFile{}
	if err := readRoot(ctx, root, there); err != nil {
		return err
	}
	if reasons := differences(r.receipt.expectedFiles(), there); len(reasons) > 0 {
		return fmt.Errorf("what was written is not what was reviewed: %s", joinReasons(reasons))
	}
	return nil
}
