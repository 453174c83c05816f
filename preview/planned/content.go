package planned

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Content is a package with its planned objects, independent of a cluster.
type Content struct {
	Package preview.Package
	Objects []preview.Object
	Set     *Set // nil for all packages but plugin sets
}

// Material is a package as it comes from its source and format, before [Prepare].
type Material struct {
	Info   format.Info
	Output *format.Output
	Values map[string]any
	// SecretValues is true if some of the values came from a Secret.
	SecretValues bool
	// Sources are the pinned sources. Sensitive values are hashed together with the
	// first one.
	Sources []preview.Source
	Via     []preview.ResolutionStep
	// Verification is the result of checking signatures; empty if none was checked.
	Verification preview.Verification
	Referrers    []preview.Referrer
	Dependencies []preview.Dependency
	Notes        []preview.Note // made before rendering
	// Beside are the objects of the other packages in the plan. Their CRDs say which of
	// this package's kinds are namespaced.
	Beside []map[string]any
	// Mark adds to each object what marks it as one of the release; nil adds the labels of
	// this program.
	Mark func(origin preview.Origin, body map[string]any)
}

// verification returns v with the status "unverified" if it has none. An empty status
// is only in recorded plans.
func verification(v preview.Verification) preview.Verification {
	if v.Status == "" {
		v.Status = "unverified"
	}
	return v
}

// Prepare makes the planned objects of a package for a release: normalised, with
// namespace and the release's labels, and with digests. It errs for a package without a
// source or with too many objects, and for an object that no cluster would accept.
func Prepare(release preview.Release, m Material) (Content, error) {
	if len(m.Sources) == 0 {
		return Content{}, fmt.Errorf("package %s: it has no source", m.Info.Package)
	}
	if len(m.Output.Objects) > preview.MaxObjects {
		return Content{}, fmt.Errorf("package %s: %d objects are more than the %d that one package may have",
			m.Info.Package, len(m.Output.Objects), preview.MaxObjects)
	}
	c := Content{Package: preview.Package{
		Name: m.Info.Package, Version: m.Info.Version, Bundle: m.Info.Bundle, Format: m.Info.Format,
		Parameters: m.Output.Resolved, Sources: m.Sources, Via: m.Via,
		Verification: verification(m.Verification), Referrers: m.Referrers,
		Dependencies: m.Dependencies, Isolation: m.Output.Isolation,
		Notes: slices.Concat(m.Notes, m.Output.Notes),

		RelatedImages: sortedUnique(m.Output.RelatedImages),
		Requires:      requires(m.Output.Required),

		CloudDocuments: m.Output.CloudDocuments,
	}}
	s := contentBuilder{definitionsLock: &sync.Mutex{}, release: release, pkg: m.Info.Package, namespace: release.Namespace, pin: m.Sources[0].Digest}
	if s.mark, s.raw = m.Mark, m.Mark != nil; !s.raw {
		s.mark = func(_ preview.Origin, body map[string]any) { preview.Mark(body, release) }
	}
	if section := c.Package.Parameters.Section; section != nil {
		s.namespace = section.Namespace
	}
	bodies := slices.Concat(m.Beside, m.Output.Bodies())
	s.scopes, s.definitions = preview.NewScopes(bodies), schema.NewIndex(slices.Values(bodies))
	byID := map[string]string{}
	for i, b := range s.buildAll(m.Output.Objects) {
		if b.err != nil {
			at := m.Output.Objects[i].Origin
			return Content{}, fmt.Errorf("package %s: %s document %d: %w", m.Info.Package, at.File, at.Document, b.err)
		}
		o := b.object
		for _, path := range b.nulls {
			c.Package.Notes = append(c.Package.Notes, rules.NullNotSent.Note(o.ID, rules.NullNotSent.NoteText(path)))
		}
		for _, path := range b.removed {
			rule := rules.FieldNotSent
			if preview.IsCAPath(path) {
				rule = rules.CANotSent
			}
			c.Package.Notes = append(c.Package.Notes, rule.Note(o.ID, rule.NoteText(path)))
		}
		if digest, seen := byID[o.ID]; seen {
			if digest != o.Digest {
				return Content{}, fmt.Errorf("package %s defines %s twice with different content", m.Info.Package, o.ID)
			}
			continue
		}
		byID[o.ID] = o.Digest
		c.Objects = append(c.Objects, o)
	}
	dangers, err := s.hookDangers(c.Objects, m.Output.Hooks)
	if err != nil {
		return Content{}, fmt.Errorf("package %s: judging hooks: %w", m.Info.Package, err)
	}
	c.Package.Notes = append(append(c.Package.Notes, dangers...), textDangers(m.Info.Package, m.Output.Texts)...)
	hash := preview.HashValues
	if m.SecretValues {
		hash = preview.HashSecretValues
	}
	if c.Package.Parameters.Values, err = hash(m.Values, s.pin); err != nil {
		return Content{}, fmt.Errorf("package %s: hashing values: %w", m.Info.Package, err)
	}
	c.Package.ContentDigest, err = preview.ContentDigest(release, c.Package, c.Objects, nil)
	return c, err
}

// contentBuilder prepares the objects of one package.
type contentBuilder struct {
	release   preview.Release
	pkg       string
	namespace string // for objects that name none
	mark      func(origin preview.Origin, body map[string]any)
	raw       bool // another tool sends the objects as they were rendered
	scopes    preview.Scopes
	pin       string
	// definitions are the CRDs of the plan; definitionsLock is held for their use.
	definitions     *schema.Index
	definitionsLock *sync.Mutex
}

// dropNulls drops the nulls of a body that no API server keeps, and returns their paths.
// The content alone decides, so that its digest is the same without a cluster.
func (s contentBuilder) dropNulls(body map[string]any) []string {
	if !preview.HoldsNull(body) {
		return nil
	}
	dropped := preview.DropNulls(body)
	s.definitionsLock.Lock()
	defer s.definitionsLock.Unlock()
	return append(dropped, s.definitions.DropNulls(body)...)
}

// built is what became of one rendered object.
type built struct {
	object  preview.Object
	removed []string // paths of fields that are not sent
	nulls   []string // paths of nulls that are not sent
	err     error
}

// MaxHashes is how many objects are hashed at a time. Hashing the values of a Secret takes
// 32 MB.
const MaxHashes = 4

// buildAll builds the objects on several processors: the values of one Secret take 80 ms
// to hash, and the objects do not depend on each other.
func (s contentBuilder) buildAll(rendered []format.RenderedObject) []built {
	out := make([]built, len(rendered))
	_ = tasks.Each(len(rendered), MaxHashes, func(i int) error {
		b := &out[i]
		b.err = s.build(rendered[i], b)
		return nil // each object has its own error
	})
	return out
}

func (s contentBuilder) build(r format.RenderedObject, out *built) error {
	body := preview.CloneBody(r.Body)
	ref := preview.RefOf(body)
	if ref.Kind == "" || ref.APIVersion == "" {
		return fmt.Errorf("an object without kind or apiVersion")
	}
	if err := CheckIdentity(body); err != nil {
		return err
	}
	if err := preview.CheckSize(body); err != nil {
		return fmt.Errorf("%s: %w", ref.ID(), err)
	}
	if what := preview.Reserved(body); what != "" {
		return fmt.Errorf("%s carries %s, which only an installer may set", ref.ID(), what)
	}
	namespaced := s.scopes.Namespaced(ref.Group(), ref.Kind)
	var raw map[string]any
	if s.raw {
		raw = s.placed(preview.CloneBody(body), namespaced)
		s.mark(r.Origin, raw)
	}
	removed, err := preview.Normalize(body, namespaced)
	if err != nil {
		return err
	}
	if nulls := s.dropNulls(body); !s.raw { // what is not sent is worth a note
		out.removed, out.nulls = removed, nulls
	}
	s.mark(r.Origin, s.placed(body, namespaced))
	ref = preview.RefOf(body)
	digest, err := preview.HashObject(body, s.pin)
	if err != nil {
		return fmt.Errorf("hashing %s: %w", ref.ID(), err)
	}
	out.object = preview.Object{
		ID: ref.ID(), Package: s.pkg, APIVersion: ref.APIVersion, Kind: ref.Kind,
		Namespace: ref.Namespace, Name: ref.Name, Digest: digest, Origin: r.Origin, Items: r.Items, Hook: r.Hook, Planned: body, Raw: raw,
	}
	return nil
}

// placed sets the namespace of an object, and returns the object.
func (s contentBuilder) placed(body map[string]any, namespaced bool) map[string]any {
	meta := preview.Map(body, "metadata")
	switch {
	case !namespaced:
		delete(meta, "namespace")
	case preview.String(meta, "namespace") == "":
		meta["namespace"] = s.namespace
	}
	return body
}

// CheckIdentity returns an error for an object whose name is not known before it is
// created, or could break out of an object id or a request path.
func CheckIdentity(body map[string]any) error {
	if err := checkMeta(body); err != nil {
		return err
	}
	return checkName(preview.RefOf(body))
}

// checkMeta returns an error for an object with generateName, whose name is not known
// before it is created, and for one whose name YAML reads as no text.
func checkMeta(body map[string]any) error {
	switch name := preview.Map(body, "metadata")["name"].(type) {
	case nil, string:
	case bool:
		return fmt.Errorf("%s: its metadata.name is the boolean %t, as YAML 1.1 reads words such as y, n, yes, no, on and off; quote it", preview.RefOf(body).Kind, name)
	default:
		return fmt.Errorf("%s: its metadata.name is no text; quote it", preview.RefOf(body).Kind)
	}
	if preview.String(body, "metadata", "generateName") != "" {
		return fmt.Errorf("%s uses generateName; its name would not be known before it is created", preview.RefOf(body).Kind)
	}
	return nil
}

// checkName returns an error for a name that could break out of an object id or a
// request path. All other checks of names are left to the API server.
func checkName(ref preview.Ref) error {
	for _, part := range []string{ref.APIVersion, ref.Kind, ref.Namespace, ref.Name} {
		if len(part) > 253 || strings.ContainsAny(part, " \t\r\n\x00%?#\\") || strings.Contains(part, "..") {
			return fmt.Errorf("%s %q is not a name that an object can have", ref.Kind, ref.Name)
		}
	}
	if ref.Name == "" {
		return fmt.Errorf("%s without a name", ref.Kind)
	}
	if strings.Contains(ref.Name, "/") || strings.Contains(ref.Namespace, "/") || strings.Contains(ref.Kind, "/") {
		return fmt.Errorf("%s %q is not a name that an object can have", ref.Kind, ref.Name)
	}
	return nil
}

func requires(refs []preview.Ref) []string {
	var out []string
	for _, ref := range refs {
		out = append(out, ref.APIVersion+"/"+ref.Kind)
	}
	return sortedUnique(out)
}

func sortedUnique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// RefuseDuplicates returns an error if two packages contain the same object.
func RefuseDuplicates(objects []preview.Object) error {
	owner := map[string]string{}
	for i := range objects {
		o := &objects[i]
		if other, taken := owner[o.ID]; taken {
			return fmt.Errorf("packages %s and %s both bring %s", other, o.Package, o.ID)
		}
		owner[o.ID] = o.Package
	}
	return nil
}
