package preview

import (
	"fmt"
	"slices"
	"strings"
)

// File is one file of a plugin set. A file that is deleted has only path and live.
type File struct {
	// Path of the file relative to the location.
	Path string `json:"path"`
	// Mode as four octal digits, such as 0755.
	Mode string `json:"mode"`
	// Size is the number of bytes of the file.
	Size int64 `json:"size"`
	// SHA256 is the hexadecimal digest of the file's bytes.
	SHA256 string `json:"sha256"`
	// Origin is the reference of the file's artifact, and the path within
	// it.
	Origin string `json:"origin"`
	// Contents describes the type of the file, such as "ELF linux/amd64;
	// go1.26.0".
	Contents string `json:"contents,omitempty"`
	// Text is the file's text, with sensitive values masked, for comparison with the
	// next set where the installed file cannot be read; empty if it is no text, or too
	// long.
	Text string `json:"text,omitempty"`
	// Action is create, update, unchanged or delete.
	Action Action `json:"action"`
	// Live identifies the file that is now at the path.
	Live LiveFile `json:"live"`
	// Changes lists what a create or an update changes: lines of a text ("lines 3-9"),
	// fields of a plugin in YAML (".image"), or build information of a Go program
	// (".build.dependencies['example.com/x']"). Sensitive values are masked.
	Changes []Change `json:"changes,omitempty"`
}

// Generation numbers the plugin set's files on disk before and after the plan, counted
// from 1.
type Generation struct {
	// From is the installed generation; 0 where this program installed none.
	From int `json:"from"`
	// To is the generation that is installed after the plan.
	To int `json:"to"`
	// Restores is the earlier generation whose files are restored; absent where the
	// files come from a config.
	Restores *int `json:"restores,omitempty"`
}

// Location is the directory and the machine that a plugin set is installed to.
type Location struct {
	// Path is the absolute path of the directory.
	Path string `json:"path"`
	// Host is the id of the machine that the path is on.
	Host string `json:"host"`
}

// FileChanges reports whether any file is written or removed.
func FileChanges(files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool { return f.Action != ActionUnchanged })
}

// FileCounts returns as text how many files each action has, such as "+ 2 create",
// joined by the text between.
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

// LacksLiveState reports whether the plan was made without reading the state that it
// changes, and so cannot be applied. Plans of plugin sets read only files, and have it; who
// carries out one for another compares what is to be done with it ([Baseline.Carrier]).
func (p *Plan) LacksLiveState() bool {
	return p.ReadMode == ReadOffline && !p.OnMachine() && (p.Against == nil || p.Against.Carrier == "")
}

// SetChanges reports whether the plan changes the files of a plugin set or its
// generation.
func (p *Plan) SetChanges() bool {
	if p.Generation == nil {
		return FileChanges(p.Files)
	}
	return p.Generation.To != p.Generation.From || len(p.Packages) == 0 && FileChanges(p.Files)
}

// LiveFile identifies the file that is now at a path; both fields are empty if there is
// none.
type LiveFile struct {
	// SHA256 is the hexadecimal digest of the present file.
	SHA256 string `json:"sha256"`
	// Mode of the present file as four octal digits.
	Mode string `json:"mode"`
}

// OnMachine reports whether the plan installs the files of a plugin set on this
// machine, without a cluster.
func (p *Plan) OnMachine() bool { return p.Platform != "" && len(p.Objects) == 0 }

// DecideFiles returns the files of a plugin set with their actions, decided by the
// files on disk (live, by path), and those that are to be deleted.
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

// PlatformContent is the content of a plugin set for one platform. For the plan's own
// platform, files is empty, as the plan has them.
type PlatformContent struct {
	// Platform is the OS/ARCH that the content is for.
	Platform string `json:"platform"`
	// ContentDigest is the content digest of the set on this platform alone.
	ContentDigest string `json:"contentDigest"`
	// Sources lists the pinned artifacts for this platform.
	Sources []SourceFact `json:"sources"`
	// Files lists the files that are written on this platform.
	Files []PlatformFile `json:"files"`
}

// PlatformFile is a file of a plugin set on another platform than the plan's; its fields
// are a [File]'s.
type PlatformFile struct {
	// Path of the file relative to the location.
	Path string `json:"path"`
	// Mode as four octal digits, such as 0755.
	Mode string `json:"mode"`
	// Size is the number of bytes of the file.
	Size int64 `json:"size"`
	// SHA256 is the hexadecimal digest of the file's bytes.
	SHA256 string `json:"sha256"`
	// Origin is the reference of the file's artifact, and the path within
	// it.
	Origin string `json:"origin"`
	// Contents describes the type of the file, as in [File].
	Contents string `json:"contents,omitempty"`
}

// GenerationsSuffix is appended to the path of a plugin set's directory to name the
// folder with its generations, which a clean deletes from.
const GenerationsSuffix = ".generations"
