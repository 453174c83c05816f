package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// sentence returns in one sentence what the plan would do.
func sentence(p *preview.Plan, v *preview.Verdict) string {
	text := subjectOf(p) + ": " + count(p)
	if others := otherNamespaces(p); others != "" {
		text += "; " + others
	}
	if gains := gainText(v); gains != "" {
		text += "; " + gains
	}
	if len(v.Changes) > 0 {
		for _, b := range allBreakages(p) {
			if !b.last { // where more is known than that something changes
				text += "; CRD " + b.text()
				break
			}
		}
	}
	if critical := criticals(v); critical != "" {
		text += "; " + critical
	}
	switch {
	case len(v.Obstacles) > 0 && p.AppliedBy != nil:
		text += "; " + p.AppliedBy.Name() + " fails"
	case len(v.Obstacles) > 0:
		text += "; cannot be applied"
	}
	return text + "."
}

// verbs are the first words of the sentence, by the request's action.
var verbs = map[string]string{
	preview.RequestInstall: "Installs", preview.RequestUpgrade: "Upgrades", preview.RequestUninstall: "Removes", preview.RequestRollback: "Rolls back",
}

// Downgrades reports whether an upgrade, or the comparison with another version, leads to
// an older version of a package.
func Downgrades(p *preview.Plan) bool {
	if p.Against != nil && len(p.Packages) > 0 && p.Against.Package == p.Packages[0].Name {
		from, err := semver.NewVersion(p.Against.Version)
		to, toErr := semver.NewVersion(p.Packages[0].Version)
		return err == nil && toErr == nil && to.LessThan(from)
	}
	return p.Request.Action == preview.RequestUpgrade && slices.ContainsFunc(p.Packages, func(pkg preview.Package) bool {
		return slices.ContainsFunc(pkg.Notes, func(n preview.Note) bool { return n.Rule == rules.Downgrade.Name })
	})
}

// recordHidden reports whether the release's record could not be read, so that the
// release may be installed already.
func recordHidden(p *preview.Plan) bool {
	record := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: p.Release.Namespace, Name: preview.RecordName(p.Release.Name)}
	return slices.ContainsFunc(p.Unknowns, func(u preview.Unknown) bool { return u.Object == record.ID() })
}

func subjectOf(p *preview.Plan) string {
	verb := verbs[p.Request.Action]
	switch {
	case p.Request.Action == preview.RequestInstall && recordHidden(p):
		verb = "Installs or upgrades"
	case Downgrades(p):
		verb = "Downgrades"
	case verb == "":
		verb = "Plans"
	}
	if p.AppliedBy != nil {
		verb = p.AppliedBy.Name() + " " + strings.ToLower(verb)
	}
	what := p.Release.Name
	switch versions := versionChanges(p); {
	case p.Request.Action == preview.RequestUpgrade && len(versions) > 0:
		what = versions[0]
	case len(p.Packages) > 0:
		what = strings.TrimSpace(p.Packages[0].Name + " " + p.Packages[0].Version)
	}
	if n := len(p.Packages); n > 1 {
		what += fmt.Sprintf(" and %s", preview.Plural(n-1, "other package"))
	}
	if p.OnMachine() || p.Release.Namespace == "" {
		return verb + " " + what
	}
	return verb + " " + what + " in namespace " + p.Release.Namespace + ownNamespace(p)
}

// createdNamespaces returns the names of the namespaces that the plan creates. A
// comparison of two versions creates none.
func createdNamespaces(p *preview.Plan) []string {
	var out []string
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Is(preview.KindNamespace) && o.Action == preview.ActionCreate && p.Against == nil {
			out = append(out, o.Name)
		}
	}
	return out
}

// ownNamespace says, in words that follow the release's namespace, that it is created.
func ownNamespace(p *preview.Plan) string {
	switch {
	case !slices.Contains(createdNamespaces(p), p.Release.Namespace):
		return ""
	case p.ReadMode == preview.ReadOffline:
		return ", created where it is missing"
	}
	return ", which is created"
}

// otherNamespaces says which namespaces in addition to the release's are created; empty
// if none are.
func otherNamespaces(p *preview.Plan) string {
	others := slices.DeleteFunc(createdNamespaces(p), func(name string) bool { return name == p.Release.Namespace })
	return creates(p, others, "other namespace")
}

// NewNamespaces says which namespaces the plan creates; empty if it creates none.
func NewNamespaces(p *preview.Plan) string { return creates(p, createdNamespaces(p), "namespace") }

func creates(p *preview.Plan, names []string, noun string) string {
	what := "creates " + preview.Plural(len(names), noun)
	if len(names) == 1 {
		what = "creates namespace " + names[0]
	}
	switch {
	case len(names) == 0:
		return ""
	case p.ReadMode == preview.ReadOffline:
		return what + " where missing"
	}
	return what
}

func count(p *preview.Plan) string {
	if p.OnMachine() {
		return preview.Plural(len(p.Files), "file")
	}
	changed := 0
	for i := range p.Objects {
		if o := &p.Objects[i]; !o.Untouched() && o.Action != preview.ActionSkip {
			changed++
		}
	}
	switch {
	case changed == 0 && len(p.RecordChanges) > 0:
		return "no object changes, only the record of the release"
	case changed == 0:
		return "nothing changes"
	}
	if changed == len(p.Objects) {
		return preview.Plural(changed, "object") + " to write"
	}
	return fmt.Sprintf("%d of %s to write", changed, preview.Plural(len(p.Objects), "object"))
}

// gainText returns the first permission that an account gains, and the number of
// others; empty if there is none.
func gainText(v *preview.Verdict) string {
	var gains []string
	for _, h := range v.Changes {
		if h.Gained {
			gains = append(gains, h.Text)
		}
	}
	switch len(gains) {
	case 0:
		return ""
	case 1:
		return gains[0]
	}
	return fmt.Sprintf("%s, and %s more", gains[0], preview.Plural(len(gains)-1, "permission"))
}

// criticals returns the title of the critical group, or of the first one with their
// number; empty if there is none.
func criticals(v *preview.Verdict) string {
	var titles []string
	for _, g := range v.Groups {
		if g.Severity == preview.Critical {
			titles = append(titles, g.Title)
		}
	}
	if len(titles) == 0 {
		return ""
	}
	if len(titles) > 1 {
		return fmt.Sprintf("%d critical, the first: %s", len(titles), value(titles[0]))
	}
	return "critical: " + value(titles[0])
}
