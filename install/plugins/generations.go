package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// Generation is one installed generation of a plugin set: its receipt, and how
// its files on disk differ from the installed ones.
type Generation struct {
	Number  int      `json:"generation"`
	Current bool     `json:"current"`
	Receipt *Receipt `json:"receipt,omitempty"`
	// Artifacts lists the artifacts that the files were unpacked from, by the
	// lock.
	Artifacts []plugins.LockedArtifact `json:"artifacts,omitempty"`
	Drift     []Drift                  `json:"drift"`
	// Problem says why nothing can be said of it: a receipt that is gone, a link
	// among its files.
	Problem string `json:"problem,omitempty"`
}

// List reads all generations of a location, the current one first, then the
// others from the newest on. A location without generations is no error.
func List(ctx context.Context, location string) ([]Generation, error) {
	current, err := currentNumber(location)
	if err != nil {
		return nil, err
	}
	all, err := generationsOnDisk(location)
	if err != nil {
		return nil, err
	}
	var out []Generation
	for i := len(all) - 1; i >= 0; i-- {
		if what, _ := leftoverOf(location, strconv.Itoa(all[i]), current); what == begun {
			continue // an interrupted install, which never was a generation
		}
		g := Generation{Number: all[i], Current: all[i] == current, Drift: []Drift{}}
		if err := g.read(ctx, location); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			g.Problem = err.Error()
		}
		out = append(out, g)
	}
	return out, nil
}

// currentNumber returns the number of the current generation, -1 if there is none.
func currentNumber(location string) (int, error) {
	info, err := os.Lstat(location)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return -1, nil
	case err != nil:
		return 0, fmt.Errorf("reading the location: %w", err)
	case info.Mode()&fs.ModeSymlink == 0:
		return -1, nil
	}
	return generationOf(location)
}

func (g *Generation) read(ctx context.Context, location string) error {
	receipt, err := ReadReceipt(location, g.Number)
	if err != nil {
		return err
	}
	g.Receipt = receipt
	if g.Number > 0 {
		lock, err := lockOf(location, g.Number)
		if err != nil {
			return err
		}
		g.Artifacts = lock.Platforms[receipt.Platform]
	}
	there, err := g.files(ctx, location)
	if err != nil {
		return fmt.Errorf("reading its files: %w", err)
	}
	if d := compareFiles(receipt.expectedFiles(), there); d != nil {
		g.Drift = d
	}
	return nil
}

// files hashes the generation's files on disk, by path.
func (g *Generation) files(ctx context.Context, location string) (map[string]preview.LiveFile, error) {
	there := map[string]preview.LiveFile{}
	return there, readFiles(ctx, filesPath(location, g.Number), there)
}

func filesPath(location string, generation int) string {
	return filepath.Join(location+generationsSuffix, strconv.Itoa(generation), filesDir)
}
