package planned

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// Set is a plugin set that a host in the cluster loads: its files, their platform, and
// the host's directory for them. The host downloads the files itself; apply only writes
// the objects.
type Set struct {
	Platform string // OS/ARCH
	Location preview.Location
	Files    []preview.File // without actions: these are decided in the plan
	// Platforms are all platforms of the set, Platform included; empty for that one
	// alone.
	Platforms []preview.PlatformContent
}

// InstalledSet is the plugin set in the newest revision of a release; the zero value if
// it has none.
type InstalledSet struct {
	Generation int
	Files      map[string]map[string]preview.LiveFile // by platform, then by path
	Texts      map[string]string                      // contents of text files, by their sha256
}

// SetOf returns the plugin set that a plan installs, nil if it has none.
func SetOf(p *preview.Plan) *Set {
	if p.Platform == "" || p.Location == nil {
		return nil
	}
	s := &Set{Platform: p.Platform, Location: *p.Location, Platforms: slices.Clone(p.Platforms)}
	for _, f := range p.Files {
		if f.Action != preview.ActionDelete {
			s.Files = append(s.Files, f)
		}
	}
	return s
}

// Installed returns the plugin set as it is installed once the plan of the set is
// applied.
func (s *Set) Installed(p *preview.Plan) InstalledSet {
	if s == nil {
		return InstalledSet{}
	}
	own := map[string]preview.LiveFile{}
	out := InstalledSet{Files: map[string]map[string]preview.LiveFile{s.Platform: own}, Texts: map[string]string{}}
	if p.Generation != nil {
		out.Generation = p.Generation.To
	}
	for _, f := range s.Files {
		own[f.Path] = preview.LiveFile{SHA256: f.SHA256, Mode: f.Mode}
		if f.Text != "" {
			out.Texts[f.SHA256] = f.Text
		}
	}
	for _, other := range s.Platforms {
		if other.Platform == s.Platform {
			continue
		}
		there := map[string]preview.LiveFile{}
		for _, f := range other.Files {
			there[f.Path] = preview.LiveFile{SHA256: f.SHA256, Mode: f.Mode}
		}
		out.Files[other.Platform] = there
	}
	return out
}

// AddTo adds the plugin set to a plan and decides the actions of its files. s may be
// nil.
func (s *Set) AddTo(p *preview.Plan, installed InstalledSet) {
	if s == nil {
		return
	}
	location := s.Location
	p.Platform, p.Location, p.Platforms = s.Platform, &location, slices.Clone(s.Platforms)
	p.Files = preview.DecideFiles(s.Files, installed.Files[s.Platform])
	places := diff.NewLineDiffs()
	for i := range p.Files {
		p.Files[i].Changes = textChanges(&places, &p.Files[i], installed.Texts)
	}
	p.Generation = &preview.Generation{From: installed.Generation, To: installed.Generation}
	if preview.FileChanges(p.Files) {
		p.Generation.To++
	}
}

// textChanges returns the changed lines of a text file. The installed files are only on
// the host, so the new text is compared with the recorded one.
func textChanges(places *diff.LineDiffs, f *preview.File, texts map[string]string) []preview.Change {
	if f.Action != preview.ActionCreate && f.Action != preview.ActionUpdate || f.SHA256 == f.Live.SHA256 {
		return nil
	}
	was := texts[f.Live.SHA256]
	oneChange := func(from, to string) []preview.Change {
		return []preview.Change{{Path: "text", Op: diff.OpChange, From: from, To: to}}
	}
	switch {
	case f.Text == "" && was == "":
		return nil
	case f.Action == preview.ActionCreate:
		return places.Diff("", f.Text)
	case was == "":
		return oneChange("", "its lines cannot be compared: the text that is installed is not on record")
	case f.Text == "":
		return oneChange("", "its lines cannot be compared: it is no text any more, or too long")
	case f.Text == was: // but for what is masked
		return oneChange(preview.Masked, diff.MaskedChanged)
	}
	return places.Diff(was, f.Text)
}

// Digest returns the content digest of the set together with its objects. It sets the
// digest of each of the set's platforms.
func (s *Set) Digest(pkg preview.Package, objects []preview.Object) (string, error) {
	p := &preview.Plan{Platform: s.Platform, Platforms: s.Platforms, Files: s.Files, Objects: objects}
	var err error
	for i := range s.Platforms {
		one := &s.Platforms[i]
		if one.ContentDigest, err = preview.PlatformDigest(p, pkg, one.Platform); err != nil {
			return "", err
		}
	}
	return preview.SetDigest(p, pkg)
}

// SealSet returns a prepared package with a plugin set, and with the restart of the
// Deployment that loads it, host. values is the hash of the set's configuration.
func SealSet(c Content, release preview.Release, set Set, values string, host preview.Ref) (Content, error) {
	c.Set, c.Package.Parameters.Values = &set, values
	c.Objects = append(c.Objects, preview.Object{
		ID: host.ID(), Package: c.Package.Name, APIVersion: host.APIVersion, Kind: host.Kind,
		Namespace: host.Namespace, Name: host.Name, Manager: preview.PatchManager(release.Name),
		Planned: preview.Restart(host, ""),
	})
	var err error
	if c.Package.ContentDigest, err = set.Digest(c.Package, c.Objects); err != nil {
		return c, err
	}
	restart := &c.Objects[len(c.Objects)-1]
	restart.Planned = preview.Restart(host, c.Package.ContentDigest)
	restart.Digest, err = preview.Hash(restart.Planned)
	return c, err
}
