package review

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// maxOpen is the most objects that are listed as not read (20); the others are counted.
const maxOpen = 20

// Question is something that the review could not know (What), and what that means for
// the reviewer (Why). Neither text is escaped.
type Question struct{ What, Why string }

// OpenQuestions returns what cannot be known of the plan in its read mode, such as
// admission without a dry run, and what the user may not read.
func OpenQuestions(p *preview.Plan) []Question {
	if p.OnMachine() {
		return nil
	}
	switch p.ReadMode {
	case preview.ReadOffline:
		return offlineQuestions(p)
	case preview.ReadGet:
		return append(getQuestions(p), rightsQuestions(p)...)
	case preview.ReadDryRun:
		return append(dryRunQuestions(p), rightsQuestions(p)...)
	}
	return nil
}

// openQuestions returns [OpenQuestions], then the objects that could not be read for
// another reason than a missing right.
func openQuestions(p *preview.Plan) []Question {
	out := OpenQuestions(p)
	for i, u := range p.Unknowns {
		if i == maxOpen {
			out = append(out, Question{fmt.Sprintf("and %d more", len(p.Unknowns)-i), "-o json lists them"})
			break
		}
		if isNotRead(p, u) {
			continue // it has a question of its own
		}
		out = append(out, Question{u.Object, rules.Unknown.Title + ": " + u.Why})
	}
	return out
}

func offlineQuestions(p *preview.Plan) []Question {
	exists := "everything counts as created; which objects exist, who owns them and what would be lost needs a cluster"
	if p.Against != nil {
		exists = "the other version counts as installed; changes since the install need a cluster"
	}
	if carrier(p) != "" {
		exists = "what OLM installed counts as its bundle has it: changes since, and the names that OLM makes up for roles, were not read"
	}
	return []Question{
		{"live objects", exists},
		{"access held already", "roles and bindings that exist only in the cluster, and what they give to the same accounts"},
		{"your rights", "whether you may carry this out"},
		{"what is needed", "Secrets, ConfigMaps, classes and APIs that the package expects of the cluster"},
		{"stored objects", "whether custom resources in the cluster fit changed CRDs"},
		{"admission", "what webhooks, policies, quotas and Pod Security refuse or change"},
	}
}

func getQuestions(p *preview.Plan) []Question {
	var out []Question
	if p.Summary.Create+p.Summary.Update > 0 {
		out = append(out,
			Question{"admission", "what webhooks, policies, quotas and Pod Security refuse or change: nothing was sent to ask them"},
			Question{"validation", "what the API server itself refuses, beyond schemas, such as a role that grants more than you have"})
	}
	if p.Summary.Create > 0 {
		out = append(out, Question{preview.Plural(p.Summary.Create, "object") + " to create", "what defaulting adds to the fields that the package sets"})
	}
	if p.Summary.Update > 0 {
		out = append(out,
			Question{preview.Plural(p.Summary.Update, "object") + " to update", "the merge was computed here, from who owns which field: defaults inside lists that are replaced as a whole, and in custom resources, are not in it"},
			Question{"immutable fields", "a change of one is refused only when it is sent"})
	}
	if len(out) > 0 {
		out = append(out, Question{"at apply", "a dry run asks all of that before the first write, and an answer that differs from this review refuses the apply"})
	}
	return out
}

// dryRunQuestions returns what is open about the objects that lack a dry run: what could
// not be computed, and which policies refuse them by what was computed. A plan that was
// saved does not have what was computed.
func dryRunQuestions(p *preview.Plan) []Question {
	var lacking, untried []*preview.Object
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.LacksDryRun() {
			lacking = append(lacking, o)
		}
		if o.Untried != "" {
			untried = append(untried, o)
		}
	}
	var out []Question
	without := preview.Plural(len(lacking), "object") + " without a dry run"
	switch c := p.Computed; {
	case len(lacking) == 0:
		return nil
	case c == nil:
		out = append(out, Question{without, "their namespace, kind or role comes with this plan, so that admission and defaulting cannot be asked before it is there"})
	default:
		if len(c.Open) > 0 {
			out = append(out, Question{without, "their namespace, CRD or role comes with this plan, and open is " + strings.Join(c.Open, "; ")})
		}
	}
	return append(out, untriedQuestion(untried)...)
}

// computedText says what was computed about objects that lack a dry run, and how; empty
// if nothing was.
func computedText(p *preview.Plan) string {
	c := p.Computed
	if c == nil || c.BySchema+c.ByCopy+c.ByKind == 0 {
		return ""
	}
	var how []string
	if c.ByCopy > 0 {
		how = append(how, fmt.Sprintf("for %d by the API server's answer to a copy in namespace %s", c.ByCopy, preview.TrialNamespace))
	}
	if c.BySchema > 0 {
		how = append(how, fmt.Sprintf("for %d by the schema of a CRD in this plan", c.BySchema))
	}
	if c.ByKind > 0 {
		how = append(how, fmt.Sprintf("for %d role bindings by what every API server sets", c.ByKind))
	}
	return fmt.Sprintf("Computed, not answered by the API server: the defaults of objects whose namespace, CRD or role comes with this plan, %s; "+
		"and what the Pod Security levels, webhooks and policies that were read do with them.", strings.Join(how, ", "))
}

// untriedQuestion returns a question about objects of which a trial copy was refused,
// so that it is not known whether the API server accepts them; nil if there are none.
func untriedQuestion(objects []*preview.Object) []Question {
	if len(objects) == 0 {
		return nil
	}
	var ids []string
	for _, o := range objects[:min(maxOpen, len(objects))] {
		ids = append(ids, o.ID)
	}
	if more := len(objects) - len(ids); more > 0 {
		ids = append(ids, fmt.Sprintf("and %d more", more))
	}
	return []Question{{
		preview.Plural(len(objects), "object") + " not tried",
		fmt.Sprintf("a copy of each object whose namespace comes with this plan is tried in namespace %s, to find what is invalid in any; it refused these: %s (%s)",
			preview.TrialNamespace, strings.Join(ids, ", "), objects[0].Untried),
	}}
}

// openSection returns what the review could not know, or says that there is nothing.
func openSection(p *preview.Plan) Section {
	if p.OnMachine() {
		return Section{} // no cluster has a part in it
	}
	s := Section{ID: Open, Title: "WHAT COULD NOT BE KNOWN", Columns: []Column{{Name: "what"}, {Name: "why"}}}
	s.Lead = []string{"Read mode " + readModeText(p.ReadMode) + "."}
	if text := computedText(p); text != "" {
		s.Lead = append(s.Lead, text)
	}
	for _, q := range openQuestions(p) {
		s.Rows = append(s.Rows, Row{Mark: "?", Tone: Caution, Cells: []string{q.What, q.Why}})
	}
	if len(s.Rows) == 0 {
		s.Lead = append(s.Lead, "Everything that this mode can ask was asked and answered.")
	}
	return s
}
