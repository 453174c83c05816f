package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// InstalledFiles describes the installed generation at the location of a set: its
// files, lock and settings.
type InstalledFiles struct {
	Generation int                         // 0 when this tool put nothing there
	Next       int                         // the first number that no generation has had; 0 is Generation + 1
	Files      map[string]preview.LiveFile // by path below the location
	Lock       *Lock                       // of the generation; nil when there is none
	Config     *Config                     // of the generation; nil when nothing says it
	// Read returns the bytes of one of the files, nil for one that is larger
	// than most or not as it was any more. It may be nil.
	Read func(path string, most int64) ([]byte, error)
}

// Target is where a set would be installed: platform and location, with what is
// installed there.
type Target struct {
	Platform string // OS/ARCH
	Location preview.Location
	InstalledFiles
}

// Plan returns a plan with the parts that describe a plugin set: package, files,
// changed settings and generation. Findings and the plan's digest are still missing.
func Plan(set *Set, fetched []FetchedPlugin, t Target) (*preview.Plan, error) {
	files, err := Files(fetched)
	if err != nil {
		return nil, err
	}
	texts, executors, notes := review(set, t.Platform, files)
	pkg := preview.Package{Name: set.Name, Version: set.Version, Bundle: set.Name, Format: preview.FormatPlugins + string(set.Form)}
	pkg.Notes = slices.Concat(set.Notes, origins(fetched, t), unmanagedFiles(t), notes)
	for _, f := range fetched {
		pkg.Sources = append(pkg.Sources, f.Source)
	}
	pkg.Verification = commonVerification(fetched)
	if pkg.Parameters.Values, err = preview.HashValues(configOf(set), set.Name); err != nil {
		return nil, err
	}
	pkg.Executors = executors
	config, err := ConfigOf(set)
	if err != nil {
		return nil, err
	}
	changes := append(config.changes(t.Config), artifactChanges(t.Lock, t.Platform, fetched)...)
	return planOf(pkg, files, texts, changes, t)
}

// FileOwner describes the set of an earlier generation, whose stored files [PlanFiles]
// plans to install again.
type FileOwner struct {
	Name, Version, Format string
	Values                string  // hash of the settings of the host; may be empty
	Config                *Config // of that; nil when nothing says it
}

// PlanFiles is [Plan] for the stored files of an earlier generation, whose plugin
// config and artifacts are no longer at hand.
func PlanFiles(of FileOwner, files []File, t Target) (*preview.Plan, error) {
	form, _ := strings.CutPrefix(of.Format, preview.FormatPlugins)
	config := of.Config
	if config == nil {
		config = &Config{Name: of.Name}
	}
	texts, executors, notes := review(&Set{Form: Form(form), Plugins: config.plugins()}, t.Platform, files)
	pkg := preview.Package{
		Name: of.Name, Version: of.Version, Bundle: of.Name, Format: of.Format,
		Parameters: preview.Parameters{Values: of.Values}, Executors: executors, Notes: notes,
	}
	return planOf(pkg, files, texts, config.changes(t.Config), t)
}

// planOf returns a plan that installs files as a package at the target. texts describe
// the files, and changes are changes of the host's settings.
func planOf(pkg preview.Package, files []File, texts []string, changes []preview.Change, t Target) (*preview.Plan, error) {
	decided, err := decide(files, texts, t.InstalledFiles)
	if err != nil {
		return nil, err
	}
	p := &preview.Plan{
		Release: preview.Release{Name: pkg.Name}, ReadMode: preview.ReadOffline, Options: preview.DefaultOptions(),
		Platform: t.Platform, Location: &t.Location,
		Generation: &preview.Generation{From: t.Generation, To: t.Generation},
		Files:      decided, ConfigChanges: changes,
	}
	if t.Generation == 0 || preview.FileChanges(p.Files) || len(p.ConfigChanges) > 0 {
		p.Generation.To = max(t.Next, t.Generation+1)
	}
	slices.SortStableFunc(pkg.Notes, func(a, b preview.Note) int { return strings.Compare(a.Rule+"/"+a.Object, b.Rule+"/"+b.Object) })
	pkg.ContentDigest, err = preview.SetDigest(p, pkg)
	p.Packages = []preview.Package{pkg}
	return p, err
}

// origins returns notes about artifacts: the result of the signature check, references
// that may mean other bytes tomorrow, and references that already do since the last
// installation.
func origins(fetched []FetchedPlugin, t Target) []preview.Note {
	var out []preview.Note
	for _, f := range fetched {
		object := "plugin/" + f.Name
		if f.signed.Rule.Name != "" {
			out = append(out, f.signed.Rule.Note(object, f.signed.Text))
		}
		if !f.Pinned {
			out = append(out, rules.PluginUnpinned.Note(object, rules.PluginUnpinned.NoteText(f.Source.Reference, f.Source.Digest)))
		}
		if t.Lock == nil {
			continue
		}
		was, ok := t.Lock.find(t.Platform, f.Name)
		if ok && !f.Pinned && was.Reference == f.Source.Reference && was.Digest != f.Source.Digest {
			out = append(out, rules.PluginChanged.Note(object, rules.PluginChanged.NoteText(f.Source.Reference, was.Digest, f.Source.Digest)))
		}
	}
	return out
}

// decide returns the action for each file of a set, and for installed files that the
// set no longer has, with what changes in them. texts describe the files.
func decide(files []File, texts []string, live InstalledFiles) ([]preview.File, error) {
	listed := make([]preview.File, 0, len(files))
	data := map[string][]byte{}
	for i, f := range files {
		data[f.Path] = f.Data
		listed = append(listed, preview.File{
			Path: f.Path, Mode: f.Mode, Size: int64(len(f.Data)), SHA256: f.SHA256, Origin: f.Origin, Contents: texts[i],
		})
	}
	out := preview.DecideFiles(listed, live.Files)
	tell := &changeLister{diff.NewLineDiffs()}
	for i := range out {
		one := &out[i]
		switch one.Action {
		case preview.ActionCreate:
			one.Changes = tell.changes(one.Path, nil, data[one.Path])
		case preview.ActionUpdate:
			before, err := live.bytes(one.Path, one.Live, maxCompared(data[one.Path]))
			if err != nil {
				return nil, fmt.Errorf("reading what is installed as %s: %w", one.Path, err)
			}
			if before != nil {
				one.Changes = tell.changes(one.Path, before, data[one.Path])
			}
		}
	}
	return out, nil
}

// maxCompared returns up to how many bytes an installed file is compared with after,
// the planned content: more for a program than for a text.
func maxCompared(after []byte) int64 {
	if formatOf(after) == "" {
		return maxText
	}
	return maxProgram
}

// bytes returns the content of an installed file; nil if it is larger than most or has
// changed. Content without the recorded hash is an error.
func (i InstalledFiles) bytes(path string, was preview.LiveFile, most int64) ([]byte, error) {
	if i.Read == nil {
		return nil, nil
	}
	data, err := i.Read(path, most)
	if err != nil || data == nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != was.SHA256 {
		return nil, errors.New("it changed while it was read; try again")
	}
	return data, nil
}

// unmanagedFiles returns a note about files at the location if this program has
// installed nothing there yet.
func unmanagedFiles(t Target) []preview.Note {
	if t.Generation > 0 || len(t.Files) == 0 {
		return nil
	}
	files := "1 file here is"
	if n := len(t.Files); n > 1 {
		files = fmt.Sprintf("%d files here are", n)
	}
	return []preview.Note{rules.PluginUnmanaged.Note("location/"+filepath.Base(t.Location.Path),
		files+" none of this tool's; kept as generation 0 when the set is installed, and plugin rollback --to 0 brings that back")}
}
