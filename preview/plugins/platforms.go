package plugins

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// AllPlatforms is the value of --platform for all platforms that a set has by its
// config or lock file.
const AllPlatforms = "all"

// hostPlatforms returns the platforms of plugin hosts, as OS/ARCH. A config's platform
// selectors are tried with each.
func hostPlatforms() []string {
	var out []string
	for system, arches := range map[string][]string{
		"linux": {"386", "amd64", "arm", "arm64", "ppc64le", "riscv64", "s390x"}, "darwin": {"amd64", "arm64"},
		"windows": {"386", "amd64", "arm64"}, "freebsd": {"amd64", "arm64"},
	} {
		for _, arch := range arches {
			out = append(out, system+"/"+arch)
		}
	}
	return out
}

// Platforms returns the platforms of a set, sorted: the platforms in its lock and, if
// artifacts have platform selectors, the platforms where every plugin has an artifact.
// own is added if the set covers it or there is no other.
func (s *Set) Platforms(lock *Lock, own string) []string {
	found := map[string]bool{}
	if lock != nil {
		for platform := range lock.Platforms {
			found[platform] = true
		}
	}
	if s.selects() {
		for _, platform := range hostPlatforms() {
			if s.covers(platform) {
				found[platform] = true
			}
		}
	}
	if len(found) == 0 || s.covers(own) {
		found[own] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// selects reports whether any artifact is restricted to some platforms.
func (s *Set) selects() bool {
	for _, p := range s.Plugins {
		for _, a := range p.Artifacts {
			if !selectsAll(a.Selector) {
				return true
			}
		}
	}
	return false
}

func selectsAll(s ref.Selector) bool { return len(s.MatchLabels)+len(s.MatchExpressions) == 0 }

// covers reports whether every plugin has an artifact for a platform.
func (s *Set) covers(platform string) bool {
	for i := range s.Plugins {
		if s.Plugins[i].Artifact(platform) == nil {
			return false
		}
	}
	return true
}

// PlatformSet is a set of plugins fetched for one platform.
type PlatformSet struct {
	Platform string
	Fetched  []FetchedPlugin
}

// AddPlatforms adds the files of other platforms to a plan that has its own. They
// become part of its notes and of the content digest.
func AddPlatforms(p *preview.Plan, set *Set, others []PlatformSet) error {
	pkg := &p.Packages[0]
	p.Platforms = []preview.PlatformContent{{Platform: p.Platform, Sources: sourceFacts(pkg.Sources)}}
	for _, other := range others {
		files, err := Files(other.Fetched)
		if err != nil {
			return err
		}
		texts, executors, notes := review(set, other.Platform, files)
		content := preview.PlatformContent{Platform: other.Platform}
		for i, f := range files {
			content.Files = append(content.Files, preview.PlatformFile{
				Path: f.Path, Mode: f.Mode, Size: int64(len(f.Data)), SHA256: f.SHA256, Origin: f.Origin, Contents: texts[i],
			})
		}
		var sources []preview.Source
		for _, f := range other.Fetched {
			sources = append(sources, f.Source)
		}
		content.Sources = sourceFacts(sources)
		p.Platforms = append(p.Platforms, content)
		for _, n := range slices.Concat(origins(other.Fetched, Target{Platform: other.Platform}), notes) {
			if slices.Contains(pkg.Notes, n) {
				continue // as on this platform
			}
			n.Object += "@" + other.Platform
			pkg.Notes = append(pkg.Notes, n)
		}
		pkg.Executors = append(pkg.Executors, executors...)
	}
	sortNotes(pkg)
	slices.SortFunc(p.Platforms, func(a, b preview.PlatformContent) int { return strings.Compare(a.Platform, b.Platform) })
	var err error
	for i := range p.Platforms {
		if p.Platforms[i].ContentDigest, err = preview.PlatformDigest(p, *pkg, p.Platforms[i].Platform); err != nil {
			return err
		}
	}
	pkg.ContentDigest, err = preview.SetDigest(p, *pkg)
	return err
}

// sortNotes sorts the notes and the executors of a package and removes duplicates.
func sortNotes(pkg *preview.Package) {
	slices.SortStableFunc(pkg.Notes, func(a, b preview.Note) int {
		return strings.Compare(a.Rule+"/"+a.Object+"/"+a.Text, b.Rule+"/"+b.Object+"/"+b.Text)
	})
	pkg.Notes = slices.Compact(pkg.Notes)
	slices.SortFunc(pkg.Executors, compareExecutors)
	pkg.Executors = slices.Compact(pkg.Executors)
}

func sourceFacts(sources []preview.Source) []preview.SourceFact {
	var out []preview.SourceFact
	for _, s := range sources {
		out = append(out, preview.SourceFact{Kind: s.Kind, Digest: s.Digest})
	}
	return out
}
