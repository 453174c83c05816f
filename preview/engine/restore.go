package engine

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// RestoreContents returns the content of an earlier revision, made from its recorded
// planned objects. Templates are not rendered again, and findings about the source are
// not repeated. set is the plugin set, nil for none; notes say what is not restored. It
// returns a [RefusedError] for a record that was tampered with.
func RestoreContents(release preview.Release, pkg preview.Package, objects []preview.Object, set *planned.Set, revision int, notes []preview.Note) (planned.Content, error) {
	c := planned.Content{Package: pkg}
	byID := map[string]bool{}
	for _, o := range objects {
		if what := preview.ReservedInMember(o.Planned, release); what != "" && !o.Patches() {
			history := commandline.AboutRelease(release, "history")
			return c, &commandline.Advised{Commands: []string{history}, Scope: commandline.Connection, Err: &RefusedError{
				What: fmt.Sprintf("%s of revision %d carries %s, which only an installer may set: the record is not as it was written", o.ID, revision, what),
				Next: "choose another revision, see " + history + ", or install that version again",
			}}
		}
		if o.Is(preview.KindNamespace) { // sealed before Namespaces were marked
			o.Planned = preview.CloneBody(o.Planned)
			preview.Mark(o.Planned, release)
		}
		if len(preview.CAFields(o.Planned)) > 0 && !o.Patches() { // sealed before placeholders were dropped
			o.Planned = preview.CloneBody(o.Planned)
			preview.DropPlaceholderCAs(o.Planned)
		}
		digest, err := preview.HashObject(o.Planned, pinOf(&preview.Plan{Packages: []preview.Package{pkg}}, pkg.Name))
		if err != nil {
			return c, fmt.Errorf("hashing %s: %w", o.ID, err)
		}
		c.Objects = append(c.Objects, preview.Object{
			ID: o.ID, Package: pkg.Name, APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
			Digest: digest, Origin: o.Origin, Manager: o.Manager, Left: o.Left, Planned: o.Planned,
		})
		byID[o.ID] = true
	}
	p := &c.Package
	p.Parameters.ClusterReads = nil
	p.Verification, p.Referrers, p.Isolation = preview.Verification{Status: "unverified"}, nil, ""
	p.Notes = []preview.Note{rules.Rollback.Note("package/"+pkg.Name, rules.Rollback.NoteText(revision))}
	for _, n := range pkg.Notes {
		if byID[n.Object] && !rules.Unrepeatable(n.Rule) && n.Rule != rules.CertificateKept.Name {
			p.Notes = append(p.Notes, n)
		}
	}
	p.Notes = append(p.Notes, notes...)
	var err error
	if c.Set = set; set != nil {
		p.ContentDigest, err = set.Digest(*p, c.Objects)
	} else {
		p.ContentDigest, err = preview.ContentDigest(release, *p, c.Objects, nil)
	}
	return c, err
}

// isRollback reports whether a plan is a rollback, by a note of its packages, which is
// a fact.
func isRollback(p *preview.Plan) bool {
	for _, pkg := range p.Packages {
		for _, n := range pkg.Notes {
			if n.Rule == rules.Rollback.Name {
				return true
			}
		}
	}
	return false
}

// maxReasons is the most reasons that one sentence names; the others are counted.
const maxReasons = 3

// UnsafeDefinition returns why a CRD cannot be rolled back from its live state to the
// recorded one, sealed; empty if it can. Every stored version must stay defined, and no
// change of the schema may be more severe than info.
func UnsafeDefinition(live, sealed map[string]any) string {
	var reasons []string
	for _, issue := range schema.Compare(live, sealed, preview.Texts(preview.List(live, "status", "storedVersions"))) {
		if issue.Severity.Rank() < preview.Info.Rank() {
			reasons = append(reasons, issue.String())
		}
	}
	return joinReasons(reasons)
}

// joinReasons joins the first maxReasons reasons of a list, and counts the others.
func joinReasons(reasons []string) string {
	if more := len(reasons) - maxReasons; more > 0 {
		reasons = append(reasons[:maxReasons:maxReasons], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(reasons, "; ")
}
