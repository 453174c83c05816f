package preview

import (
	"fmt"
	"slices"
	"strings"
)

// File is one file of a plugin set. One that is deleted has Path and Live alone.
type File struct {
	Path   string `json:"path"` // below the location
	Mode   string `json:"mode"` // four octal digits
	Size   int64  `json:"size"` // in bytes
	SHA256 string `json:"sha256"`
	Origin string `json:"origin"` // reference of its artifact, and path in it
	// Contents is what its bytes are, such as "ELF linux/amd64; go1.26.0".
	Contents string `json:"contents,omitempty"`
	// Text is what people read in it, with sensitive values masked: of sets that a
	// host in the cluster loads, whose installed bytes are nowhere to be had when
	// the next one is compared with them. Empty for what is no text, or too long.
	Text   string   `json:"text,omitempty"`
	Action Action   `json:"action"` // create, update, unchanged or delete
	Live   LiveFile `json:"live"`
	// Changes are what a create or an update does to what people read in the
	// file: places of a text ("lines 3-9"), fields of a plugin in YAML
	// (".image"), what a Go program says it was built from
	// (".build.dependencies['example.com/x']"). Sensitive values are masked.
	Changes []Change `json:"changes,omitempty"`
}

// Generation is a set of files on disk, counted from 1: the one installed, 0
// for none of this tool's, and the one after the plan.
type Generation struct {
	From int `json:"from"`
	To   int `json:"to"`
	// Restores is the earlier generation whose files To has again; nil where the
	// files come from a config.
	Restores *int `json:"restores,omitempty"`
}

// Location is where a plugin set is installed: an absolute path, and the id of
// the machine that it is on.
type Location struct {
	Path string `json:"path"`
	Host string `json:"host"`
}

// FileChanges reports whether any file would be written or removed.
func FileChanges(files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool { return f.Action != ActionUnchanged })
}

// FileCounts counts files by action, those that occur, with a text in between.
func FileCounts(files []File, between string) string {
	count := map[Action]int{}
	for _, f := range files {
		count[f.Action]++
	}
	var parts []string
	for _, a := range Actions() {
		if n := count[a]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %s", a.Symbol(), n, a))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, between)
}

// LacksLiveState reports whether a plan was made without a look at what it is to
// change, and so cannot be applied: that of a plugin set looks at files alone.
func (p *Plan) LacksLiveState() bool {
	return p.ReadMode == ReadOffline && !p.OnMachine()
}

// SetChanges reports whether a plan leaves other files, or other generations of
// them, than there are.
func (p *Plan) SetChanges() bool {
	if p.Generation == nil {
		return FileChanges(p.Files)
	}
	return p.Generation.To != p.Generation.From || len(p.Packages) == 0 && FileChanges(p.Files)
}

// LiveFile is what stands at a File's path now.
type LiveFile struct {
	SHA256 string `json:"sha256"`
	Mode   string `json:"mode"`
}

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
