package engine

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// The rules that the engine itself raises: they take schemas or reads that a
// rule over the plan does not have, or follow from how content was rendered.
const (
	RuleNotAppliable  = "not-appliable"
	RuleNeedsExternal = "needs-external"
	RuleNormalized    = "field-not-sent"
	RuleNotSigned     = "signature-missing" // a signer is named, and nothing is signed
	RuleNotVerified   = "signature-ignored" // a signer is named, and nobody looked
	RuleDeprecated    = "deprecated"        // by the catalog that the package came from
	RuleNoEdges       = "no-upgrade-edges"  // another version, and no catalog's word for it
	RuleDowngrade     = "downgrade"         // an older version than the one installed
	RuleUpgradePath   = "upgrade-path"      // the first of several upgrades
	RuleLookAlike     = "package-name-look-alike"

	RuleCrossNamespaceSecret = ref.RuleCrossNamespaceSecret // credentials that a request takes from elsewhere
	RuleValuesFromSecret     = ref.RuleValuesFromSecret     // which a package may print
	RuleNoPreflight          = ref.RuleNoPreflight          // a request switches off what this tool does not

	RuleNondeterministic = format.RuleNondeterministic
)

// notAppliable finds objects that server-side apply refuses whatever the
// cluster holds.
func notAppliable(p *preview.Plan, schemas Schemas) []preview.Finding {
	var out []preview.Finding
	bodies := sealedBodies(p.Objects)
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Sealed == nil {
			continue
		}
		if problem := misfit(bodies, o, schemas); problem != "" {
			out = append(out, finding(RuleNotAppliable, preview.Critical, o.ID, o.Kind+" "+o.Name+" cannot be applied",
				"The API server refuses this object on every apply; the install would stop at it.", o.ID+": "+clip(problem, 500)))
		}
	}
	return out
}

// misfit says why an object does not fit the schema of its kind: the embedded
// one, or that of a definition in the same plan, which no dry run can know yet.
func misfit(bodies []map[string]any, o *preview.Object, schemas Schemas) string {
	if err := schemas.Check(o.Sealed); preview.ReasonOf(err) == preview.ReasonNotAppliable {
		return err.Error()
	}
	definition := schema.Definition(bodies, o.Sealed)
	if definition == nil {
		return ""
	}
	problems, err := schema.Validate(definition, o.Sealed)
	if err != nil {
		return "its definition cannot be used: " + err.Error()
	}
	return strings.Join(problems, "; ")
}

// packageNote tells the notes about a package as a whole. All others are about
// one of its objects, and for information.
func packageNote(rule string) (severity preview.Severity, why string, ok bool) {
	switch rule {
	case RuleNotSigned, RuleNotVerified:
		return preview.Warning, "Whoever can write to the repository decides what is installed.", true
	case risk.RuleImagePinned:
		return preview.Info, "Its tag was looked up for this plan; the digest is part of the content, so what runs is what was reviewed.", true
	case RuleDeprecated:
		return preview.Warning, "Its publisher advises against it; fixes may not come any more.", true
	case RuleCrossNamespaceSecret:
		return preview.Warning, "Whoever wrote the request chose which credentials go to a server, and which server that is.", true
	case RuleValuesFromSecret:
		return preview.Warning, "What the package does with them shows in its objects, and there in the review: only values in Secrets and under telling names are hidden.", true
	case RuleNoPreflight:
		return preview.Info, "The request switches off a check of its controller; the review holds that check all the same.", true
	case RuleDowngrade:
		return preview.Warning, "Older versions are rarely tested on what newer ones have stored, and the cluster keeps the newer definitions' objects.", true
	case RuleUpgradePath:
		return preview.Info, "The version asked for is more than one upgrade edge away; each step is reviewed on its own.", true
	case RuleLookAlike:
		return preview.Warning, "A name that is nearly another's may be a slip of the keyboard, or be made for one.", true
	case RuleNoEdges:
		return preview.Info, "Upgrade edges say from which versions a version was tested; this one was chosen without them.", true
	case format.RuleClusterDependent:
		return preview.Info, "Another cluster, or this one later, may lead to other objects: --approve takes the review digest of such a plan, not its content digest.", true
	case format.RuleHookKept:
		return preview.Info, "What a plan creates stays until a reviewed plan deletes it; a changed Job of the same name cannot be updated.", true
	case format.RuleExternal:
		return preview.Warning, "The program made the objects and could do on this machine whatever you can.", true
	case format.RuleExternalWarning:
		return preview.Warning, "The program that made the objects says so.", true
	case format.RuleExternalSays:
		return preview.Info, "The program that made the objects says so.", true
	case format.RuleUnread, format.RuleToolConfig, format.RuleNestedBundles:
		return preview.Info, "These files are part of the content and take no part in what is applied.", true
	}
	return "", "", false
}

// objectNote tells the notes about an object whose findings are not for
// information, or not about a difference from the files. title, where not
// empty, stands for the texts, of which one object may have several.
func objectNote(rule string) (severity preview.Severity, title, why string) {
	switch rule {
	case format.RuleNondeterministic:
		return preview.Warning, "holds values from a clock or a random source",
			"The plan keeps the values of its rendering, and another rendering has others: it is applied on the screen that made it, or with --plan, never by --approve."
	case format.RuleHookNotRun:
		return preview.Info, "", "Helm would run it at a moment that this tool does not have."
	}
	return preview.Info, "", "What is applied differs here from what the package's files say."
}

// noted turns what resolving and rendering noted into findings.
func noted(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	for _, pkg := range p.Packages {
		for _, n := range pkg.Notes {
			evidence := n.Object + ": " + n.Text
			if severity, why, ok := packageNote(n.Rule); ok {
				title := n.Text
				if n.Rule == risk.RuleImagePinned { // one for each image
					title = "the tags of images were resolved to digests"
				}
				out = append(out, finding(n.Rule, severity, n.Object, "package "+pkg.Name+": "+title, why, evidence))
				continue
			}
			_, kind, _, name, err := preview.ParseID(n.Object)
			if err != nil {
				kind, name = "object", n.Object
			}
			severity, title, why := objectNote(n.Rule)
			if title == "" {
				title = n.Text
			}
			out = append(out, finding(n.Rule, severity, n.Object, kind+" "+name+": "+title, why, evidence))
		}
	}
	return out
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
		out = append(out, finding(RuleNeedsExternal, preview.Warning, r.from, "needs "+r.ref.Kind+" "+r.ref.Name,
			"Pods that refer to it do not start until somebody creates it.", evidence))
	}
	for _, api := range requiredAPIs(p) {
		if read, looked := reads[apiReadID(api)]; looked && read.Fingerprint == "" {
			out = append(out, finding(RuleNeedsExternal, preview.Warning, "api/"+api, "needs the API "+api,
				"The package says that it works with this API, and the cluster does not serve it.", "the cluster does not serve "+api))
		}
	}
	return out
}

func finding(rule string, severity preview.Severity, object, title, why, evidence string) preview.Finding {
	return preview.Finding{
		ID: rule + "/" + object, Rule: rule, Severity: severity, Title: title, Why: why,
		Object: object, Evidence: evidence, Fingerprint: preview.FindingFingerprint(rule, evidence),
	}
}
