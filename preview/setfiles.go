package preview

import (
	"slices"
	"strings"
)

// OnMachine reports whether a plan is of a plugin set whose files are installed
// on a machine. No cluster has a part in it.
func (p *Plan) OnMachine() bool { return p.Platform != "" && len(p.Objects) == 0 }

// DecideFiles compares the files of a set with those that are there. It
// returns them with what happens to them, and those that left the set.
func DecideFiles(files []File, live map[string]LiveFile) []File {
	out := make([]File, 0, len(files))
	wanted := map[string]bool{}
	for _, f := range files {
		wanted[f.Path] = true
		was, there := live[f.Path]
		f.Action, f.Live, f.Changes = ActionCreate, was, nil
		switch {
		case there && was == (LiveFile{SHA256: f.SHA256, Mode: f.Mode}):
			f.Action = ActionUnchanged
		case there:
			f.Action = ActionUpdate
		}
		out = append(out, f)
	}
	for path, was := range live {
		if !wanted[path] {
			out = append(out, File{Path: path, Action: ActionDelete, Live: was})
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out
}
