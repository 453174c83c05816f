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

// PlatformContent is what a plugin set is on one platform. Files are those that
// are written where that platform is; none for the plan's own, which has them
// itself.
type PlatformContent struct {
	Platform      string         `json:"platform"`
	ContentDigest string         `json:"contentDigest"` // of the set on this platform alone
	Sources       []SourceFact   `json:"sources"`
	Files         []PlatformFile `json:"files"`
}

// PlatformFile is a file of a plugin set on another platform than the plan's;
// its fields are those of a [File].
type PlatformFile struct {
	Path     string `json:"path"`
	Mode     string `json:"mode"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
	Origin   string `json:"origin"`
	Contents string `json:"contents,omitempty"`
}

// GenerationsSuffix follows a location in the name of the folder of its
// generations, which the plan of a clean is about.
const GenerationsSuffix = ".generations"
