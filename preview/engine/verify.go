package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rollback"
)

// Verify checks a plan that was loaded with its bodies: the facts must have the plan's
// digest and follow from the planned objects, live bodies and dry-run results, and the
// other fields must follow from the facts. A difference is a [RefusedError]. It returns
// the recomputed plan, without fields that cannot be verified, and a notice if findings
// could not be compared because another ruleset made them.
func Verify(loaded *preview.Plan, schemas Schemas) (p *preview.Plan, notice string, err error) {
	if err := CheckPlanned(loaded); err != nil {
		return nil, "", err
	}
	if err := checkRecorded(loaded, schemas); err != nil {
		return nil, "", err
	}
	fresh := *loaded
	fresh.Objects = slices.Clone(loaded.Objects)
	fresh.Reads = slices.Clone(loaded.Reads)
	fresh.Unknowns = slices.Clone(loaded.Unknowns)
	fresh.FailureRollback = rollback.RestoredObjects(loaded.FailureRollback)
	if err := decideFailureRollback(&fresh); err != nil {
		return nil, "", tamperedError(err.Error())
	}
	fresh.Stages = stages(&fresh, commonTimeout(loaded))
	if err := derive(&fresh, schemas); err != nil {
		return nil, "", tamperedError("the review cannot be recomputed: " + err.Error())
	}
	if err := fresh.Seal(); err != nil {
		return nil, "", tamperedError(err.Error())
	}
	if fresh.Digest != loaded.Digest {
		return nil, "", tamperedError(fmt.Sprintf("its facts hash to %s, not to its digest %s%s",
			fresh.Digest, loaded.Digest, firstDifference(loaded, &fresh)))
	}
	if loaded.Ruleset != preview.Ruleset {
		notice = fmt.Sprintf("findings were recomputed: the plan was made with ruleset %d, this is ruleset %d", loaded.Ruleset, preview.Ruleset)
	}
	if path := viewDifference(loaded, &fresh); path != "" {
		return nil, "", tamperedError(path + " is not what the sealed content leads to")
	}
	digests, wildcards := fresh.Images, fresh.Access.Wildcards // derived just now
	forget(&fresh)
	fresh.Images, fresh.Access.Wildcards = digests, wildcards
	markUnreviewed(loaded.Findings, fresh.Findings)
	return &fresh, notice, nil
}

// markUnreviewed sets Unreviewed in the findings that gate and that the stored plan does
// not have as severe, so that an approval of that plan does not cover them.
func markUnreviewed(stored, findings []preview.Finding) {
	for i := range findings {
		f := &findings[i]
		f.Unreviewed = f.Severity.Gates() && !slices.ContainsFunc(stored, func(s preview.Finding) bool {
			return s.ID == f.ID && f.HasFingerprint(s.Fingerprint) && s.Severity == f.Severity
		})
	}
}

func tamperedError(what string) error {
	return &RefusedError{What: "the plan does not hold together: " + what, Next: "make a new one with preview --out"}
}

// CheckPlanned recomputes what follows from the planned objects alone: their digests,
// the packages' digests, and the plan's digest. It ensures that apply sends what was
// approved, wherever the plan came from. A difference is a [RefusedError].
func CheckPlanned(p *preview.Plan) error {
	if err := checkShape(p); err != nil {
		return err
	}
	for i := range p.Objects {
		if err := checkPlanned(p, &p.Objects[i]); err != nil {
			return err
		}
	}
	members := map[string][]preview.Object{}
	for _, o := range p.Objects {
		if o.Planned != nil {
			members[o.Package] = append(members[o.Package], o)
		}
	}
	for _, pkg := range p.Packages {
		digest, err := contentDigest(p, pkg, members[pkg.Name])
		if err != nil || digest != pkg.ContentDigest {
			return tamperedError("the objects of package " + pkg.Name + " do not hash to its contentDigest")
		}
	}
	digest, err := p.Facts().Digest()
	if err != nil || digest != p.Digest {
		return tamperedError(fmt.Sprintf("its facts hash to %s, not to its digest %s", digest, p.Digest))
	}
	return nil
}

// contentDigest returns the content digest of a package with its objects, or of the
// plan's plugin set.
func contentDigest(p *preview.Plan, pkg preview.Package, members []preview.Object) (string, error) {
	if p.Platform != "" {
		return preview.SetDigest(p, pkg)
	}
	return preview.ContentDigest(p.Release, pkg, members, p.Files)
}

func checkPlanned(p *preview.Plan, o *preview.Object) error {
	if o.Ref().ID() != o.ID {
		return tamperedError("object " + o.ID + " goes by another name inside")
	}
	if o.Planned == nil {
		if o.Digest != "" {
			return tamperedError("the sealed object " + o.ID + " is missing")
		}
		return nil
	}
	digest, err := preview.HashObject(o.Planned, pinOf(p, o.Package))
	if err != nil || digest != o.Digest || preview.RefOf(o.Planned) != o.Ref() {
		return tamperedError("the sealed object " + o.ID + " does not match its digest")
	}
	if o.Patches() {
		return checkPatch(p, o)
	}
	return checkForm(p, o)
}

// checkShape returns an error for a plan that [Build] never makes and that would be
// displayed misleadingly: with two objects or packages of one name, or an impossible
// base revision.
func checkShape(p *preview.Plan) error {
	objects, packages := map[string]bool{}, map[string]bool{}
	for i := range p.Objects {
		id := p.Objects[i].ID
		if objects[id] {
			return tamperedError("object " + id + " is listed twice")
		}
		objects[id] = true
	}
	for _, pkg := range p.Packages {
		if packages[pkg.Name] {
			return tamperedError("package " + pkg.Name + " is listed twice")
		}
		packages[pkg.Name] = true
	}
	if err := p.CheckSet(); err != nil {
		return tamperedError(err.Error())
	}
	if err := checkReleaseOptions(p); err != nil {
		return tamperedError(err.Error())
	}
	if _, err := p.Options.ExpiresAt(); err != nil {
		return tamperedError(err.Error())
	}
	if (p.Options.OnFailure == preview.OnFailureRollback) != (p.FailureRollback != nil) {
		return tamperedError("its --on-failure and the rollback it contains do not match")
	}
	if err := p.CheckDecisions(); err != nil {
		return tamperedError(err.Error())
	}
	if p.Base.Revision < 0 || p.Base.Lost < 0 || p.Base.Revision == 0 && (p.Base.Digest != "" || len(p.Base.Accepted) > 0 || p.Base.Signature != nil && p.Base.Lost == 0) {
		return tamperedError("its base is no revision, and still accepted something")
	}
	return nil
}

// checkReleaseOptions returns an error if the values in the plan's release options,
// which the record will keep, are not those that the objects were rendered with. It
// checks nothing if a value is withheld.
func checkReleaseOptions(p *preview.Plan) error {
	if p.ReleaseOptions == nil {
		return nil
	}
	values, err := preview.NestValues(p.ReleaseOptions.Values)
	if err != nil {
		return fmt.Errorf("the options of the release: %w", err)
	}
	if slices.ContainsFunc(p.ReleaseOptions.Values, func(v preview.SetValue) bool { return v.Withheld }) || len(values) == 0 {
		return nil
	}
	for _, pkg := range p.Packages {
		if hash, err := preview.HashValues(values, pinOf(p, pkg.Name)); err == nil && hash == pkg.Parameters.Values {
			return nil
		}
	}
	return errors.New("the values for its record belong to no package of the plan")
}

// checkForm returns an error for an object that [planned.Prepare] would not have made so. Its
// display could hide something: secret values in places that are not masked, labels of
// another release, or fields that only the API server writes.
func checkForm(p *preview.Plan, o *preview.Object) error {
	if isOwnNamespace(p, o) {
		if !reflect.DeepEqual(o.Planned, ownNamespace(p.Release, o.Name)) {
			return tamperedError("namespace " + o.Name + " says more than its name")
		}
		return nil
	}
	if !hasPackage(p, o.Package) {
		return tamperedError("object " + o.ID + " belongs to no package of the plan")
	}
	sealed := preview.CloneBody(o.Planned)
	if err := planned.CheckIdentity(sealed); err != nil {
		return tamperedError(err.Error())
	}
	if _, err := preview.Normalize(sealed, o.Namespace != ""); err != nil {
		return tamperedError(err.Error())
	}
	reserved := preview.ReservedInMember(sealed, p.Release)
	if p.AppliedBy != nil {
		reserved = preview.Reserved(sealed)
	}
	if reserved != "" {
		return tamperedError("object " + o.ID + " carries " + reserved + ", which only an installer may set")
	}
	if p.AppliedBy == nil {
		preview.Mark(sealed, p.Release)
	}
	if !reflect.DeepEqual(sealed, o.Planned) {
		return tamperedError("object " + o.ID + " is not in the form that is sealed")
	}
	return nil
}

// checkRecorded returns an error if a recorded live object, dry-run result or read does
// not have its recorded hash.
func checkRecorded(p *preview.Plan, typer preview.TypeConverter) error {
	live, err := liveFacts(context.Background(), typer, p.Objects)
	if err != nil {
		return tamperedError("a recorded live object cannot be compared: " + err.Error())
	}
	seen := newRecords(p)
	for i := range p.Objects {
		o := &p.Objects[i]
		if live[i] != o.Live {
			return tamperedError("the recorded live object " + o.ID + " does not match its fingerprint")
		}
		if o.Digest == "" && o.LiveBody != nil && preview.RefOf(o.LiveBody) != o.Ref() {
			return tamperedError("object " + o.ID + " differs in version from the object that was read")
		}
		if err := checkAdoption(p, seen, o, typer); err != nil {
			return err
		}
		result := ""
		if o.ResultBody != nil {
			result, _, err = diff.ResultHash(o.Compared(o.ResultBody))
		}
		if err != nil || result != o.Result {
			return tamperedError("the recorded dry run of " + o.ID + " does not match its hash")
		}
	}
	answers := recordedLookups(p)
	for _, r := range p.Reads {
		if value, answer := answers[r.ID]; answer {
			if r.Body != nil || r.UID != "" || r.Fingerprint != value {
				return tamperedError("the objects were not made with the recorded answer " + r.ID)
			}
			continue
		}
		if err := checkRead(r); err != nil {
			return err
		}
	}
	return nil
}

func checkAdoption(p *preview.Plan, seen *records, o *preview.Object, typer preview.TypeConverter) error {
	if o.Adoption == nil {
		return nil
	}
	if o.FormerOwner() && o.Planned == nil && owners.IsOLM(o.Ref()) {
		if want := (&preview.Adoption{Releases: releasedObjects(p, seen, o)}); len(want.Releases) == 0 || !reflect.DeepEqual(want, o.Adoption) {
			return tamperedError("what " + o.ID + " lets go of is not what the recorded live objects say")
		}
		return nil
	}
	if o.LiveBody == nil || o.Planned == nil {
		return tamperedError("nothing is adopted as " + o.ID)
	}
	_, want, err := preview.WithoutFormerOwner(typer, o.LiveBody, o.Planned)
	if err != nil || !reflect.DeepEqual(want, o.Adoption) {
		return tamperedError("what the adoption of " + o.ID + " takes off is not what the recorded live object has")
	}
	return nil
}

func checkRead(r preview.Read) error {
	if r.Body == nil {
		if r.Fingerprint != "" && r.Fingerprint != preview.Present || r.UID != "" {
			return tamperedError("the recorded read " + r.ID + " is missing")
		}
		return nil
	}
	hash, err := preview.Hash(r.Body)
	if err != nil || hash != r.Fingerprint || preview.String(r.Body, "metadata", "uid") != r.UID || preview.RefOf(r.Body).ID() != r.ID {
		return tamperedError("the recorded read " + r.ID + " does not match its fingerprint")
	}
	return nil
}

func hasPackage(p *preview.Plan, name string) bool {
	return slices.ContainsFunc(p.Packages, func(pkg preview.Package) bool { return pkg.Name == name })
}

func pinOf(p *preview.Plan, name string) string {
	for _, pkg := range p.Packages {
		if pkg.Name == name && len(pkg.Sources) > 0 {
			return pkg.Sources[0].Digest
		}
	}
	return ""
}

// viewDifference returns the path of the first field outside the facts that differs
// between the stored and the recomputed plan; empty if none does. Fields that cannot be
// verified are left out.
func viewDifference(stored, fresh *preview.Plan) string {
	a, b := *stored, *fresh
	forget(&a)
	forget(&b)
	if stored.Ruleset != preview.Ruleset {
		a.Ruleset, a.Findings = b.Ruleset, b.Findings
		a.Access, a.Cloud = b.Access, b.Cloud // their facts are in the digest; only rule names differ
		a.Verdict = b.Verdict
	}
	if stored.Policy != nil {
		a.Findings, a.Verdict = b.Findings, b.Verdict // shown and approved are those without the policy
	}
	for _, move := range diff.FactChanges(&a, &b) {
		return move.Path
	}
	return ""
}

// firstDifference returns in words the path of the first fact that differs between two
// plans; empty if none does.
func firstDifference(stored, fresh *preview.Plan) string {
	moves := diff.FactChanges(stored.Facts(), fresh.Facts())
	if len(moves) == 0 {
		return ""
	}
	return " (first at " + moves[0].Path + ")"
}

// forget clears the fields of a plan that cannot be verified, so that they are not
// displayed. The lists that contain them are copied first.
func forget(p *preview.Plan) {
	p.Tool, p.Policy = preview.Tool{}, nil
	if p.Against != nil {
		against := *p.Against
		against.Reference = ""
		p.Against = &against
	}
	p.Request = preview.Request{Action: actionOf(p)}
	p.Target = preview.Target{Identity: p.Target.Identity}
	p.Access.Installer = preview.Installer{Missing: []preview.MissingRight{}}
	p.Access.Wildcards = nil
	if p.Verdict != nil {
		v := *p.Verdict
		v.Mitigations = []preview.Mitigation{} // would take the content to render it again
		p.Verdict = &v
	}
	p.Packages = slices.Clone(p.Packages)
	for i := range p.Packages {
		pkg := &p.Packages[i]
		pkg.Sources = slices.Clone(pkg.Sources)
		for j := range pkg.Sources {
			pkg.Sources[j].Reference, pkg.Sources[j].Verification = "", nil
		}
		pkg.Via = []preview.ResolutionStep{}
		pkg.Verification = preview.Verification{}
		pkg.Referrers, pkg.Isolation = nil, ""
	}
	p.Objects = slices.Clone(p.Objects)
	for i := range p.Objects {
		o := &p.Objects[i]
		o.Contested = slices.Clone(o.Contested)
		for n := range o.Contested {
			o.Contested[n].Since = "" // the live fingerprint does not cover it
		}
	}
	p.Images = slices.Clone(p.Images)
	for i := range p.Images {
		p.Images[i].Digest = ""
	}
	p.Findings = slices.Clone(p.Findings)
	for i := range p.Findings {
		p.Findings[i].Counted, p.Findings[i].Line = "", 0
	}
}

// actionOf returns the action of a plan, such as install or upgrade, from its facts.
func actionOf(p *preview.Plan) string {
	switch {
	case len(p.Packages) == 0 && p.Platform != "":
		return preview.RequestClean
	case p.Generation != nil && p.Generation.Restores != nil:
		return preview.RequestRollback
	case len(p.Packages) == 0:
		return preview.RequestUninstall
	case isRollback(p):
		return preview.RequestRollback
	case p.Base.Revision > 0, p.Against != nil:
		return preview.RequestUpgrade
	}
	return preview.RequestInstall
}
