package verdict

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Mitigation compares two plans that were made without a cluster, base, and other with
// the settings that flags make, and returns which groups of findings the settings
// remove or lower. ok is false if they remove and lower none, or add a critical one.
// review is the plan whose labels of groups are used.
func Mitigation(flags []string, review, base, other *preview.Plan) (preview.Mitigation, bool) {
	out := preview.Mitigation{Flags: flags, Removes: []string{}, Lowers: []string{}}
	before, after := severities(base), severities(other)
	for key, severity := range after {
		was, known := before[key]
		if severity == preview.Critical && (!known || was != preview.Critical) {
			return out, false
		}
		switch severity {
		case preview.Critical:
			out.Critical++
		case preview.Warning:
			out.Warnings++
		}
	}
	for _, g := range Groups(review.Findings, review.Access.Accounts) {
		was, known := before[entryOf(g)]
		now, left := after[entryOf(g)]
		switch {
		case !known || g.Severity().Rank() > preview.Warning.Rank():
		case !left:
			out.Removes = append(out.Removes, g.Label())
		case now.Rank() > was.Rank():
			out.Lowers = append(out.Lowers, g.Label())
		}
	}
	return out, len(out.Removes)+len(out.Lowers) > 0
}

// entry identifies a group in plans with different settings. A group about an account
// is identified by the account, as names of generated roles differ.
type entry struct {
	subject      preview.Subject
	rule, object string
}

func entryOf(g Group) entry {
	if g.Account != nil {
		return entry{subject: g.Account.Subject}
	}
	return entry{rule: g.First().Rule, object: g.First().Object}
}

// severities returns the severity of each group that is critical or a warning.
func severities(p *preview.Plan) map[entry]preview.Severity {
	out := map[entry]preview.Severity{}
	for _, g := range Groups(p.Findings, p.Access.Accounts) {
		if g.Severity() == preview.Critical || g.Severity() == preview.Warning {
			out[entryOf(g)] = g.Severity()
		}
	}
	return out
}
