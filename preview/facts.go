package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Facts are everything that an apply will do, and every live value that this was
// decided on. The hash of their canonical JSON is the plan's digest. Status,
// resourceVersions, the time, the user, and the server's URL and version are not among
// them.
type Facts struct {
	ContentDigest string        `json:"contentDigest"`
	Release       Release       `json:"release"`
	Base          Base          `json:"base"`
	ReadMode      ReadMode      `json:"readMode"`
	Options       Options       `json:"options"`
	Target        string        `json:"target"`
	Packages      []PackageFact `json:"packages"`
	Objects       []ObjectFact  `json:"objects"`
	Files         []File        `json:"files"`
	Stages        []Stage       `json:"stages"`
	Grants        []Grant       `json:"grants"`
	Cloud         Cloud         `json:"cloud"`
	Reads         []Read        `json:"reads"`
	Unknowns      []Unknown     `json:"unknowns"`
	Against       *BaselineFact `json:"against,omitempty"`
	Platform      string        `json:"platform,omitempty"`
	Generation    *Generation   `json:"generation,omitempty"`
	Location      *Location     `json:"location,omitempty"`
	ConfigChanges []Change      `json:"configChanges,omitempty"`

	Platforms       []PlatformContent `json:"platforms,omitempty"`
	FailureRollback *FailureRollback  `json:"undo,omitempty"`

	ReleaseOptions *ReleaseOptions `json:"releaseOptions,omitempty"`
	OptionChanges  []OptionChange  `json:"optionChanges,omitempty"`
	RecordChanges  []RecordChange  `json:"recordChanges,omitempty"`
	AppliedBy      *Applier        `json:"appliedBy,omitempty"`
}

// BaselineFact is the part of a [Baseline] that is in the Facts.
type BaselineFact struct {
	Package       string `json:"package"`
	Version       string `json:"version"`
	ContentDigest string `json:"contentDigest"`
	Notes         []Note `json:"notes,omitempty"`
	Carrier       string `json:"carrier,omitempty"`
}

// PackageFact is the part of a [Package] that is in the Facts.
type PackageFact struct {
	Name string `json:"name"`
	// Version of a plugin set; empty for a bundle, whose content digest includes it.
	Version       string       `json:"version,omitempty"`
	Bundle        string       `json:"bundle"`
	Format        string       `json:"format"`
	ContentDigest string       `json:"contentDigest"`
	Sources       []SourceFact `json:"sources"`
	Notes         []Note       `json:"notes,omitempty"`
	RelatedImages []string     `json:"relatedImages,omitempty"`
	Requires      []string     `json:"requires,omitempty"`
	Dependencies  []Dependency `json:"dependencies,omitempty"`
	Executors     []Executor   `json:"executors,omitempty"`
}

// SourceFact is the part of a [Source] that is in the Facts.
type SourceFact struct {
	// Kind of the source, such as oci, git or directory.
	Kind string `json:"kind"`
	// Digest pins the content of the source.
	Digest string `json:"digest"`
}

// ObjectFact is the part of an [Object] that is in the Facts.
type ObjectFact struct {
	ID         string            `json:"id"`
	APIVersion string            `json:"apiVersion,omitempty"` // if it was neither read nor planned
	Package    string            `json:"package"`
	Origin     Origin            `json:"origin"`
	Action     Action            `json:"action"`
	Digest     string            `json:"digest"`
	Live       Live              `json:"live"`
	Conflicts  []Conflict        `json:"conflicts"`
	Result     string            `json:"result"`
	SecretKeys map[string]string `json:"secretKeys"`
	Hook       *Hook             `json:"hook,omitempty"`
	Adoption   *Adoption         `json:"adoption,omitempty"`
	Manager    string            `json:"manager,omitempty"`
	Left       []string          `json:"left,omitempty"`
	Format     string            `json:"format,omitempty"`
	Applied    bool              `json:"applied,omitempty"`
}

// Facts returns the Facts of a plan, with lists sorted by key.
func (p *Plan) Facts() Facts {
	f := Facts{
		ContentDigest: p.ContentDigest, Release: p.Release, Base: p.Base, ReadMode: p.ReadMode,
		Options: p.Options, Target: p.Target.Identity, Stages: p.Stages, FailureRollback: p.FailureRollback,
		Files: slices.Clone(p.Files), Reads: slices.Clone(p.Reads), Unknowns: slices.Clone(p.Unknowns),
		Platform: p.Platform, Generation: p.Generation, Location: p.Location,
		ConfigChanges: p.ConfigChanges, Platforms: p.Platforms,
		ReleaseOptions: p.ReleaseOptions, OptionChanges: p.OptionChanges, RecordChanges: p.RecordChanges, AppliedBy: p.AppliedBy,
	}
	f.Base.Packages = nil
	if a := p.Against; a != nil {
		f.Against = &BaselineFact{Package: a.Package, Version: a.Version, ContentDigest: a.ContentDigest, Notes: a.Notes, Carrier: a.Carrier}
	}
	for _, pkg := range p.Packages {
		f.Packages = append(f.Packages, pkg.fact())
	}
	for i := range p.Objects {
		f.Objects = append(f.Objects, p.Objects[i].Fact())
	}
	for _, g := range p.Access.Grants {
		g.Rules = nil
		f.Grants = append(f.Grants, g)
	}
	for _, c := range p.Cloud.Permissions {
		c.Rules, c.Certainty = nil, ""
		f.Cloud.Permissions = append(f.Cloud.Permissions, c)
	}
	f.Cloud.Declared = slices.Clone(p.Cloud.Declared)
	for i := range f.Cloud.Declared {
		f.Cloud.Declared[i].Certainty = ""
	}
	slices.SortFunc(f.Packages, func(a, b PackageFact) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(f.Objects, func(a, b ObjectFact) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(f.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(f.Reads, func(a, b Read) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(f.Unknowns, func(a, b Unknown) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Why, b.Why))
	})
	SortGrants(f.Grants)
	slices.SortStableFunc(f.Cloud.Permissions, compareCloud)
	slices.SortFunc(f.Cloud.Declared, func(a, b CloudDeclaration) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Origin, b.Origin))
	})
	return f
}

func (p *Package) fact() PackageFact {
	fact := PackageFact{
		Name: p.Name, Bundle: p.Bundle, Format: p.Format, ContentDigest: p.ContentDigest, Notes: p.Notes,
		RelatedImages: p.RelatedImages, Requires: p.Requires, Dependencies: p.Dependencies, Executors: p.Executors,
	}
	if strings.HasPrefix(p.Format, FormatPlugins) {
		fact.Version = p.Version
	}
	for _, source := range p.Sources {
		fact.Sources = append(fact.Sources, SourceFact{Kind: source.Kind, Digest: source.Digest})
	}
	return fact
}

// Fact returns the part of an object that is in the Facts.
func (o *Object) Fact() ObjectFact {
	fact := ObjectFact{
		ID: o.ID, Package: o.Package, Origin: o.Origin, Action: o.Action, Digest: o.Digest, Live: o.Live,
		Conflicts: o.Conflicts, Result: o.Result, SecretKeys: o.SecretKeys, Hook: o.Hook, Adoption: o.Adoption, Manager: o.Manager, Left: o.Left, Format: o.Format, Applied: o.Applied,
	}
	if o.Digest == "" && o.Live == (Live{}) {
		fact.APIVersion = o.APIVersion
	}
	return fact
}

// SortGrants sorts grants by subject, scope and permissions. The sort key of each
// is computed once, because a plan may have 50,000.
func SortGrants(grants []Grant) {
	type keyed struct {
		key   string
		grant Grant
	}
	list := make([]keyed, len(grants))
	for i, g := range grants {
		list[i] = keyed{grantKey(g), g}
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	for i := range list {
		grants[i] = list[i].grant
	}
}

func grantKey(g Grant) string {
	return strings.Join([]string{
		g.Subject.Kind, g.Subject.Namespace, g.Subject.Name, g.Scope, g.Namespace,
		strings.Join(g.APIGroups, ","), strings.Join(g.Resources, ","), strings.Join(g.ResourceNames, ","),
		strings.Join(g.NonResourceURLs, ","), strings.Join(g.Verbs, ","), strings.Join(g.Via, ","), g.Change,
	}, "\x00")
}

func compareCloud(a, b CloudPermission) int {
	return strings.Compare(cloudKey(a), cloudKey(b))
}

func cloudKey(c CloudPermission) string {
	return strings.Join([]string{
		c.Provider, c.Origin, c.Effect, strings.Join(c.Actions, ","), strings.Join(c.Resources, ","),
		strings.Join(c.Roles, ","), c.Change,
	}, "\x00")
}

// Digest returns the hash of the facts' canonical JSON.
func (f Facts) Digest() (string, error) { return hashStruct(f) }

// Seal completes a plan: it sorts the lists, sets the counts and computes the digests.
// Content digests of the packages must be set before. Afterwards the plan must not be
// modified.
func (p *Plan) Seal() error {
	p.APIVersion, p.Kind, p.Ruleset = APIVersion, KindPlan, Ruleset
	p.Summary = Summarize(p.Objects)
	p.Complete = len(p.Unknowns) == 0
	p.tidy()
	p.ContentDigest = PlanContentDigest(p.Packages)
	digest, err := p.Facts().Digest()
	if err != nil {
		return fmt.Errorf("sealing the plan: %w", err)
	}
	p.Digest = digest
	return nil
}

// PlanContentDigest returns the content digest of the only package, or of several
// packages a hash over their sorted digests.
func PlanContentDigest(packages []Package) string {
	digests := make([]string, 0, len(packages))
	for _, pkg := range packages {
		digests = append(digests, pkg.ContentDigest)
	}
	switch len(digests) {
	case 0:
		return ""
	case 1:
		return digests[0]
	}
	slices.Sort(digests)
	return HashBytes([]byte(strings.Join(digests, "\n")))
}

// tidy replaces nil lists by empty ones, so that fields which are lists are never null
// in JSON, and the digest does not depend on the difference.
func (p *Plan) tidy() {
	p.Packages, p.Objects, p.Files, p.Stages = list(p.Packages), list(p.Objects), list(p.Files), list(p.Stages)
	p.Images, p.Reads, p.Findings, p.Unknowns = list(p.Images), list(p.Reads), list(p.Findings), list(p.Unknowns)
	p.Access.Grants, p.Access.Installer.Missing = list(p.Access.Grants), list(p.Access.Installer.Missing)
	p.Access.Accounts = list(p.Access.Accounts)
	for i := range p.Access.Accounts {
		a := &p.Access.Accounts[i]
		a.Steps, a.Namespaces, a.Workloads = list(a.Steps), list(a.Namespaces), list(a.Workloads)
	}
	p.Cloud.Permissions, p.Cloud.Declared = list(p.Cloud.Permissions), list(p.Cloud.Declared)
	for i := range p.Packages {
		pkg := &p.Packages[i]
		pkg.Parameters.WatchNamespaces = list(pkg.Parameters.WatchNamespaces)
		pkg.Sources, pkg.Via = list(pkg.Sources), list(pkg.Via)
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		o.Conflicts, o.Changes = list(o.Conflicts), list(o.Changes)
		if o.SecretKeys == nil {
			o.SecretKeys = map[string]string{}
		}
	}
	for i := range p.Platforms {
		p.Platforms[i].Sources, p.Platforms[i].Files = list(p.Platforms[i].Sources), list(p.Platforms[i].Files)
	}
	if p.FailureRollback != nil {
		p.FailureRollback.Objects = list(p.FailureRollback.Objects)
	}
	for i := range p.Stages {
		p.Stages[i].Requires, p.Stages[i].Objects = list(p.Stages[i].Requires), list(p.Stages[i].Objects)
	}
	for _, grants := range [][]Grant{p.Access.Grants, p.Access.Gained, p.Access.Lost} {
		for i := range grants {
			grants[i].tidy()
		}
	}
	for i := range p.Cloud.Permissions {
		c := &p.Cloud.Permissions[i]
		c.Actions, c.Resources, c.Roles, c.Rules = list(c.Actions), list(c.Resources), list(c.Roles), list(c.Rules)
		if c.Conditions == nil {
			c.Conditions = map[string]any{}
		}
	}
	for i := range p.Images {
		p.Images[i].UsedBy = list(p.Images[i].UsedBy)
	}
}

func (g *Grant) tidy() {
	g.APIGroups, g.Resources, g.ResourceNames = list(g.APIGroups), list(g.Resources), list(g.ResourceNames)
	g.NonResourceURLs, g.Verbs, g.Via, g.Rules = list(g.NonResourceURLs), list(g.Verbs), list(g.Via), list(g.Rules)
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// ContentDigest returns the hash of a package's content, which does not depend on a
// cluster: format, names, sorted source digests, parameters, objects and files.
func ContentDigest(r Release, pkg Package, objects []Object, files []File) (string, error) {
	type objectDigest struct {
		ID     string `json:"id"`
		Digest string `json:"digest"`
	}
	type fileDigest struct {
		Path   string `json:"path"`
		Mode   string `json:"mode"`
		SHA256 string `json:"sha256"`
	}
	content := struct {
		FormatVersion int            `json:"formatVersion"`
		Release       string         `json:"release"`
		Namespace     string         `json:"namespace"`
		Package       string         `json:"package"`
		Version       string         `json:"version"`
		Pins          []string       `json:"pins"`
		Parameters    Parameters     `json:"parameters"`
		Objects       []objectDigest `json:"objects"`
		Files         []fileDigest   `json:"files"`
	}{
		FormatVersion: 1, Release: r.Name, Namespace: r.Namespace,
		Package: pkg.Name, Version: pkg.Version, Parameters: pkg.Parameters,
		Pins: []string{}, Objects: []objectDigest{}, Files: []fileDigest{},
	}
	content.Parameters.WatchNamespaces = list(content.Parameters.WatchNamespaces)
	for _, source := range pkg.Sources {
		content.Pins = append(content.Pins, source.Digest)
	}
	slices.Sort(content.Pins)
	for i := range objects {
		content.Objects = append(content.Objects, objectDigest{objects[i].ID, objects[i].Digest})
	}
	slices.SortFunc(content.Objects, func(a, b objectDigest) int { return strings.Compare(a.ID, b.ID) })
	for _, f := range files {
		content.Files = append(content.Files, fileDigest{f.Path, f.Mode, f.SHA256})
	}
	slices.SortFunc(content.Files, func(a, b fileDigest) int { return strings.Compare(a.Path, b.Path) })
	return hashStruct(content)
}
