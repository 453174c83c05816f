package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// check compares the files at the location with those that the plan saw.
func (r *applier) check(ctx context.Context) error {
	now, err := Read(ctx, location(r.plan))
	if err != nil {
		return r.failed(err)
	}
	reasons := r.changedGeneration(now.Generation, now.Next)
	differ := r.changedFiles(now.Files)
	if isClean(r.plan) {
		if differ, err = r.checkClean(ctx); err != nil {
			return r.failed(err)
		}
	}
	reasons = append(reasons, differ...)
	if len(reasons) == 0 {
		return nil
	}
	return &install.Error{
		Kind: install.Refused, Operation: "comparing " + r.plan.Location.Path + " with what was reviewed",
		Cause: joinReasons(reasons), Advice: "preview again, and approve that", Reasons: reasons,
	}
}

// changedFiles returns a sentence for each file that differs from the one that
// the plan saw; there has the files on disk, by path.
func (r *applier) changedFiles(there map[string]preview.LiveFile) []string {
	seen := map[string]preview.LiveFile{}
	for _, f := range r.plan.Files {
		if f.Live != (preview.LiveFile{}) {
			seen[f.Path] = f.Live
		}
	}
	return differences(seen, there)
}

func (r *applier) changedGeneration(current, next int) []string {
	g := r.plan.Generation
	switch {
	case current != g.From:
		return []string{fmt.Sprintf("generation %d is installed now, and %d was when it was reviewed", current, g.From)}
	case g.To != g.From && next != g.To:
		return []string{fmt.Sprintf("the next generation is %d now, and %d was when it was reviewed", next, g.To)}
	}
	return nil
}

// Drift is a file that differs from the file as installed.
type Drift struct {
	Path string `json:"path"`
	What string `json:"what"` // changed, mode, missing or extra
	// Was and Is are sha256 or mode, where there are both.
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
}

// compareFiles returns the paths of files that differ between there and want, or that
// only one of the two has.
func compareFiles(want, there map[string]preview.LiveFile) []Drift {
	var out []Drift
	for _, path := range slices.Sorted(maps.Keys(want)) {
		is, found := there[path]
		switch was := want[path]; {
		case !found:
			out = append(out, Drift{Path: path, What: "missing"})
		case is.SHA256 != was.SHA256:
			out = append(out, Drift{path, "changed", was.SHA256, is.SHA256})
		case is.Mode != was.Mode:
			out = append(out, Drift{path, "mode", was.Mode, is.Mode})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(there)) {
		if _, wanted := want[path]; !wanted {
			out = append(out, Drift{Path: path, What: "extra"})
		}
	}
	return out
}

func (d Drift) String() string {
	if d.What == "mode" {
		return d.Path + " has mode " + d.Is + ", was " + d.Was
	}
	return d.Path + " is " + d.What
}

// differences returns a sentence for each file where want and there differ.
func differences(want, there map[string]preview.LiveFile) []string {
	var out []string
	for _, d := range compareFiles(want, there) {
		out = append(out, d.String())
	}
	return out
}

// maxNamed is how many reasons one line of an error lists.
const maxNamed = 8

func joinReasons(reasons []string) string {
	if n := len(reasons); n > maxNamed {
		return fmt.Sprintf("%s; and %d more", strings.Join(reasons[:maxNamed], "; "), n-maxNamed)
	}
	return strings.Join(reasons, "; ")
}
