package engine

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// The rules that the engine itself raises: they take schemas or reads that a
// rule over the plan does not have, or follow from how content was rendered.
const (
	RuleNotAppliable  = "not-appliable"
	RuleNeedsExternal = "needs-external"
	RuleNormalized    = "field-not-sent"
	RuleNotSigned     = "signature-missing"   // a signer is named, and nothing is signed
	RuleNotVerified   = "signature-ignored"   // a signer is named, and nobody looked
	RuleHelmRecord    = "helm-record-stays"   // of a release whose objects are taken over
	RuleDeprecated    = format.RuleDeprecated // by the catalog that the package came from, or by itself
	RuleNoEdges       = "no-upgrade-edges"    // another version, and no catalog's word for it
	RuleDowngrade     = "downgrade"           // an older version than the one installed
	RuleUpgradePath   = "upgrade-path"        // the first of several upgrades
	RuleLookAlike     = "package-name-look-alike"
	RuleRollback      = "rollback"      // to objects of an earlier revision
	RuleRollbackKept  = "rollback-kept" // what a rollback does not bring back
	RuleUndo          = "on-failure-rollback"
	RuleUndoRecreates = "on-failure-recreates" // what is not in the cluster now

	RuleCrossNamespaceSecret = ref.RuleCrossNamespaceSecret // credentials that a request takes from elsewhere
	RuleValuesFromSecret     = ref.RuleValuesFromSecret     // which a package may print
	RuleNoPreflight          = ref.RuleNoPreflight          // a request switches off what this tool does not
	RuleNotApplied           = ref.RuleNotApplied           // other objects of a request's file
	RuleReleaseRenamed       = ref.RuleReleaseRenamed       // a request has a name that no release has

	RuleNondeterministic = format.RuleNondeterministic
)

// notAppliable finds objects that server-side apply refuses whatever the
// cluster holds.
func notAppliable(p *preview.Plan, schemas Schemas) []preview.Finding {
	var out []preview.Finding
	definitions := schema.NewIndex(slices.Values(preview.SealedBodies(p.Objects)))
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Sealed == nil {
			continue
		}
		if problem := misfit(definitions, o, schemas); problem != "" {
			out = append(out, preview.NewFinding(RuleNotAppliable, preview.Critical, o.ID, o.Kind+" "+o.Name+" cannot be applied",
				"The API server refuses this object on every apply; the install would stop at it.", o.ID+": "+preview.Shorten(problem, 500)))
		}
	}
	return out
}

// misfit says why an object does not fit the schema of its kind: the embedded
// one, or that of a definition in the same plan, which no dry run can know yet.
func misfit(definitions *schema.Index, o *preview.Object, schemas Schemas) string {
	if err := schemas.Check(o.Sealed); preview.ReasonOf(err) == preview.ReasonNotAppliable {
		return err.Error()
	}
	problems, err := definitions.Problems(o.Sealed)
	if err != nil {
		return "its definition cannot be used: " + err.Error()
	}
	return strings.Join(problems, "; ")
}

// noted turns what resolving and rendering noted into findings. How severe a
// note is and why it matters, the page of its rule says.
func noted(p *preview.Plan) []preview.Finding {
	book := pages.New()
	var out []preview.Finding
	for _, pkg := range p.Packages {
		for _, n := range pkg.Notes {
			page, ok := book[n.Rule]
			if !ok { // of another version of this program
				page = pages.Page{Severity: preview.Info, Why: "This version of the program does not know the rule."}
			}
			about := "package " + pkg.Name
			if kind, name, ok := strings.Cut(n.Object, "/"); ok && p.Platform != "" {
				about = kind + " " + name // a provider, plugin or file of a set
			} else if kind != "package" {
				about = objectLabel(n.Object)
			}
			out = append(out, preview.NewFinding(n.Rule, page.Severity, n.Object, about+": "+noteTitle(n), page.Why, n.Object+": "+n.Text))
		}
	}
	return out
}

func objectLabel(id string) string {
	_, kind, _, name, err := preview.ParseID(id)
	if err != nil {
		return "object " + id
	}
	return kind + " " + name
}

// noteTitle is the text of a note, but for rules of which one package or object
// may have several: their texts are evidence.
func noteTitle(n preview.Note) string {
	switch n.Rule {
	case risk.RuleImagePinned:
		return "the tags of images were resolved to digests"
	case RuleNondeterministic:
		return "holds values from a clock or a random source"
	}
	return n.Text
}

// needsExternal finds what must exist and neither plan nor cluster has.
// Offline nothing can be said about it.
func needsExternal(p *preview.Plan) []preview.Finding {
	if p.ReadMode == preview.ReadOffline {
		return nil
	}
	reads := map[string]*preview.Read{}
	for i := range p.Reads {
		reads[p.Reads[i].ID] = &p.Reads[i]
	}
	var out []preview.Finding
	seen := map[string]bool{}
	for _, r := range references(p) {
		id := r.ref.ID()
		read, looked := reads[id]
		if seen[id] || looked && read.Fingerprint != "" {
			continue
		}
		seen[id] = true
		evidence := id + " is neither in the plan nor in the cluster"
		if !looked {
			evidence = id + " may not be read, so nobody knows whether it exists"
		}
		out = append(out, preview.NewFinding(RuleNeedsExternal, preview.Warning, r.from, "needs "+r.ref.Kind+" "+r.ref.Name,
			"Pods that refer to it do not start until somebody creates it.", evidence))
	}
	for _, api := range requiredAPIs(p) {
		if read, looked := reads[apiReadID(api)]; looked && read.Fingerprint == "" {
			out = append(out, preview.NewFinding(RuleNeedsExternal, preview.Warning, "api/"+api, "needs the API "+api,
				"The package says that it works with this API, and the cluster does not serve it.", "the cluster does not serve "+api))
		}
	}
	return out
}
