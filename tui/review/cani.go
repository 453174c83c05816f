package review

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// canIQuestion is a question about what a subject may do, which the user is typing.
type canIQuestion struct {
	typing  bool
	subject preview.Subject
	input   widget.Query
}

// startCanI opens the field for a question about the subject of the row under
// the cursor.
func (m *review) startCanI() {
	subject, ok := m.access.SubjectOf(m.activeTab().selected().ID)
	if m.tab != tabs.Access || !ok {
		m.notice = "put the cursor on a grant: can-i asks about its subject"
		return
	}
	m.canI = canIQuestion{typing: true, input: widget.NewQuery(), subject: subject}
}

func (c *canIQuestion) prompt() (widget.Line, int) {
	return c.input.Prompt(widget.Text(theme.Key, " can "+frame.Clip(tabs.SubjectName(c.subject), 40)+" "))
}

// hint returns an example of a question, which is shown until something is typed.
func (c *canIQuestion) hint() widget.Line {
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
		m.canI = canIQuestion{}
	case key.Matches(msg, m.keys.Open):
		page, err := c.answer(m.tabPanel.View)
		if err != nil {
			m.notice = err.Error()
			return
		}
		m.canI, m.page = canIQuestion{}, page
	default:
		c.input.Update(msg)
	}
}

// answer returns a page with the answer of the plan's grants to the question. A
// question that cannot be parsed stays in the field, to be corrected.
func (c *canIQuestion) answer(v *tabs.View) (*frame.Page, error) {
	q, err := access.ParseQuestion(c.input.Value(), access.KnownResources(v.Crds()))
	if err != nil {
		return nil, err
	}
	b := &frame.Builder{Width: min(v.Size.Width, maxPage)}
	for _, a := range access.Ask(v.Plan.Access.Grants, c.subject, q) {
		tabs.AnswerLines(b, c.subject, q, a)
	}
	b.Heading("What this rests on")
	b.Text(theme.Plain, "   ", "The grants of this plan, and those that the cluster was read to give the same subjects. "+
		"Webhook authorizers, and groups that only the cluster's authentication knows, are not in it.")
	return frame.NewPage(b), nil
}
