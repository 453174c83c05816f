package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// Marks are kept of so many plans, the newest, and so many bytes of each.
const (
	maxMarkedPlans = 64
	maxMarks       = 1 << 20
)

// markedPlan matches the names of files with marks, which are named after the
// digest of the plan.
var markedPlan = lazyregexp.New(`^sha256-[0-9a-f]{64}\.json$`)

// newMarkStore returns the store of the findings and objects that the user has marked as
// reviewed. It keeps nothing where getenv names no state directory.
func newMarkStore(getenv func(string) string) review.MarkStore {
	dir, err := diskcache.StateDir(getenv)
	if err != nil {
		return review.MarkStore{}
	}
	dir = filepath.Join(dir, "marks")
	return review.MarkStore{
		Load: func(digest string) []string { return loadMarks(dir, digest) },
		Save: func(digest string, marks []string) error { return saveMarks(dir, digest, marks) },
	}
}

func markFile(dir, digest string) (string, bool) {
	name := strings.ReplaceAll(digest, ":", "-") + ".json"
	return filepath.Join(dir, name), markedPlan.MatchString(name)
}

// loadMarks returns the stored marks for a plan's digest. It returns none if
// they cannot be read: then the user has to review again.
func loadMarks(dir, digest string) []string {
	name, ok := markFile(dir, digest)
	if !ok {
		return nil
	}
	data, err := bounded.ReadFile(name, maxMarks)
	if err != nil {
		return nil
	}
	var marks []string
	if json.Unmarshal(data, &marks) != nil {
		return nil
	}
	return marks
}

func saveMarks(dir, digest string, marks []string) error {
	name, ok := markFile(dir, digest)
	if !ok {
		return nil
	}
	data, err := json.Marshal(marks)
	if err != nil || len(data) > maxMarks {
		return fmt.Errorf("keeping what was marked as reviewed: %d marks are too many: %w", len(marks), cmp.Or(err, fs.ErrInvalid))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keeping what was marked as reviewed: %w", err)
	}
	if err := atomicfile.Write(name, data, 0o600); err != nil {
		return fmt.Errorf("keeping what was marked as reviewed: %w", err)
	}
	forgetMarks(dir)
	return nil
}

// forgetMarks deletes the oldest files of marks beyond a limit.
func forgetMarks(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && markedPlan.MatchString(e.Name()) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(x, y fs.FileInfo) int { return y.ModTime().Compare(x.ModTime()) })
	for _, old := range files[min(len(files), maxMarkedPlans):] {
		_ = os.Remove(filepath.Join(dir, old.Name()))
	}
}
