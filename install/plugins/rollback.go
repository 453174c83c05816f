package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// Rollback is a plan that restores the files of an earlier generation.
type Rollback struct {
	*preview.Plan
	Files  []plugins.File
	Beside map[string][]byte
}

// PlanRollback plans a new generation with the files of an earlier one; a negative to
// means the one before the current. If the files of the earlier generation were changed
// on disk, it is an error. The returned plan has neither findings nor digests yet.
func PlanRollback(ctx context.Context, location string, to int) (*Rollback, error) {
	current, receipt, err := currentOf(location)
	if err != nil {
		return nil, err
	}
	if to < 0 {
		if to, err = previousGeneration(location, current, receipt); err != nil {
			return nil, err
		}
	}
	if to == current {
		return nil, &engine.RefusedError{What: fmt.Sprintf("generation %d is the current one", to), Next: "plugin list shows those that are there"}
	}
	if all, err := generationsOnDisk(location); err != nil || !slices.Contains(all, to) {
		return nil, errors.Join(err, fmt.Errorf("there is no generation %d at %s; plugin list shows those that are there", to, location))
	}
	earlier := Generation{Number: to}
	if err := earlier.read(ctx, location); err != nil {
		return nil, fmt.Errorf("generation %d at %s: %w", to, location, err)
	}
	if len(earlier.Drift) > 0 {
		return nil, &engine.RefusedError{
			What: fmt.Sprintf("generation %d is not as it was installed: %s", to, driftText(earlier.Drift)),
			Next: "go back to another one with --to, or install from the config",
		}
	}
	now, err := Read(ctx, location)
	if err != nil {
		return nil, err
	}
	files, err := earlier.bytes(location)
	if err != nil {
		return nil, err
	}
	set, err := earlier.set(location, receipt)
	if err != nil {
		return nil, err
	}
	plan, err := plugins.PlanFiles(set, files, plugins.Target{
		Platform: earlier.Receipt.Platform, Location: preview.Location{Path: location, Host: HostID()}, InstalledFiles: now,
	})
	if err != nil {
		return nil, err
	}
	plan.Generation.Restores = &to
	plan.Request = preview.Request{Action: preview.RequestRollback, Revision: to}
	out := &Rollback{Plan: plan, Files: files, Beside: map[string][]byte{}}
	return out, out.addBeside(location, &earlier)
}

// previousGeneration returns the number of the generation that the current one
// replaced, else of the newest one before it.
func previousGeneration(location string, current int, receipt *Receipt) (int, error) {
	all, err := generationsOnDisk(location)
	if err != nil {
		return 0, err
	}
	if slices.Contains(all, receipt.From) && receipt.From < current {
		return receipt.From, nil
	}
	for _, n := range slices.Backward(all) {
		if n < current {
			return n, nil
		}
	}
	return 0, &engine.RefusedError{What: "no earlier generation is left at " + location, Next: "install from the config"}
}

// set returns the plugin set that owns the generation's files, from its receipt. Files
// from before the first install count as files of the current set.
func (g *Generation) set(location string, current *Receipt) (plugins.FileOwner, error) {
	out := plugins.FileOwner{Name: g.Receipt.Set, Version: g.Receipt.Version, Format: g.Receipt.Format, Values: g.Receipt.Config}
	if g.Number == 0 {
		out.Name = current.Set
	}
	var err error
	out.Config, err = configAt(location, g.Number)
	return out, err
}

// bytes reads the generation's files. A file that differs from the receipt is an error.
func (g *Generation) bytes(location string) ([]plugins.File, error) {
	root, err := os.OpenRoot(filesPath(location, g.Number))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []plugins.File
	for _, f := range g.Receipt.Files {
		data, err := fs.ReadFile(root.FS(), f.Path)
		if err != nil {
			return nil, fmt.Errorf("reading generation %d: %w", g.Number, err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
			return nil, fmt.Errorf("reading generation %d: %s changed while it was read; try again", g.Number, f.Path)
		}
		origin := f.Origin
		if origin == "" {
			origin = "generation " + strconv.Itoa(g.Number)
		}
		out = append(out, plugins.File{Path: f.Path, Mode: f.Mode, Data: data, SHA256: f.SHA256, Origin: origin})
	}
	slices.SortFunc(out, func(a, b plugins.File) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// addBeside copies the files next to the plugins of the earlier generation, such as
// configuration and lock file, but not its receipt. Generation 0 (files from before the
// first install) gets an empty lock file.
func (r *Rollback) addBeside(location string, g *Generation) error {
	if g.Number == 0 {
		lock := plugins.Lock{Name: r.Release.Name, Platforms: map[string][]plugins.LockedArtifact{}}
		r.Beside[LockFile] = lock.Encode()
		return nil
	}
	dir := filepath.Join(location+generationsSuffix, strconv.Itoa(g.Number))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || entry.Name() == receiptFile || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		data, err := readSmall(filepath.Join(dir, entry.Name()))
		if err != nil {
			return fmt.Errorf("reading generation %d: %w", g.Number, err)
		}
		r.Beside[entry.Name()] = data
	}
	return nil
}

func driftText(list []Drift) string {
	var out []string
	for _, d := range list {
		out = append(out, d.String())
	}
	return joinReasons(out)
}
