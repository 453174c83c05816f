package review

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// canI is a question about what a subject may do, while it is typed.
type canI struct {
	typing  bool
	subject preview.Subject
	input   widget.Query
}

// startCanI asks about the subject of the row under the cursor.
func (m *review) startCanI() {
	i, ok := rowIndex(m.browser().selected().id, grantPrefix, len(m.access.grants))
	if m.tab != tabAccess || !ok {
		m.notice = "put the cursor on a grant: the question is about its subject"
		return
	}
	m.canI = canI{typing: true, input: widget.NewQuery(), subject: m.plan.Access.Grants[m.access.grants[i].of[0]].Subject}
}

func (c *canI) prompt() (widget.Line, int) {
	return c.input.Prompt(widget.Text(theme.Key, " can "+frame.Clip(subjectName(c.subject), 40)+" "))
}

// hint is shown until something is typed.
func (c *canI) hint() widget.Line {
	if c.input.Value() != "" {
		return nil
	}
	return frame.Plain("  such as: get secrets -n kube-system   enter answers   esc back")
}

// canIKey handles the keys while a question is typed.
func (m *review) canIKey(msg tea.KeyPressMsg) {
	c := &m.canI
	switch {
	case key.Matches(msg, m.keys.Back):
		m.canI = canI{}
	case key.Matches(msg, m.keys.Open):
		m.answerCanI()
	default:
		c.input.Update(msg)
	}
}

// answerCanI shows what the plan's grants say to the question. One that cannot be
// read stays to be mended.
func (m *review) answerCanI() {
	q, err := access.ParseQuestion(m.canI.input.Value(), access.Known(m.definitions()))
	if err != nil {
		m.notice = err.Error()
		return
	}
	subject := m.canI.subject
	m.canI = canI{}
	b := &frame.Builder{Width: min(m.size.Width, maxPage)}
	for _, a := range access.Ask(m.plan.Access.Grants, subject, q) {
		m.answerLines(b, subject, q, a)
	}
	b.Heading("What this rests on")
	b.Text(theme.Plain, "   ", "The grants of this plan, and those that the cluster was read to give the same subjects. "+
		"Webhook authorizers, and groups that only the cluster's authentication knows, are not in it.")
	m.page = &widget.Pager{Lines: b.Lines}
}

// definitions are the bodies of the plan's own kinds.
func (m *view) definitions() []map[string]any {
	var out []map[string]any
	for i := range m.plan.Objects {
		if o := &m.plan.Objects[i]; o.Kind == "CustomResourceDefinition" && o.Sealed != nil {
			out = append(out, o.Sealed)
		}
	}
	return out
}

func (m *view) answerLines(b *frame.Builder, subject preview.Subject, q access.Question, a access.Answer) {
	word, role := "no", theme.Strong
	switch {
	case a.Allowed:
		word, role = "yes", theme.Risk
	case len(a.Only) > 0:
		word = "only in part"
	}
	b.Blank()
	b.Text(role, " ", word+": "+subjectName(subject)+" "+map[bool]string{true: "can ", false: "cannot "}[a.Allowed]+q.Words(a.Request))
	for _, g := range a.By {
		m.answerGrant(b, g)
	}
	if len(a.Only) > 0 && !a.Allowed {
		b.Text(theme.Plain, "   ", "but it can in these places, or for these names:")
		for _, g := range a.Only {
			m.answerGrant(b, g)
		}
	}
}

func (m *view) answerGrant(b *frame.Builder, g preview.Grant) {
	where := "in the whole cluster"
	if g.Scope == preview.ScopeNamespace {
		where = "in namespace " + g.Namespace
	}
	b.Blank()
	b.Text(theme.Plain, "   ", strings.Join(g.Verbs, ", ")+"  "+grantTarget(g)+"  "+where)
	b.Text(theme.Plain, "      ", "through "+strings.Join(g.Via, " and ")+"  "+changeText(g))
}
