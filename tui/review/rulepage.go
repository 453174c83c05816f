package review

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// rulePages are the pages of all rules, made when the first is asked for.
func (m *view) rulePages() pages.Book {
	if m.book == nil {
		m.book = pages.New()
	}
	return m.book
}

// openRule shows the page of a finding's rule over the screen.
func (m *review) openRule(rule string) {
	page, ok := m.rulePages()[rule]
	if !ok {
		m.notice = "there is no page for the rule " + rule
		return
	}
	b := &frame.Builder{Width: min(m.size.Width, maxPage)}
	sign, role := frame.SeveritySign(page.Severity, false)
	b.Add(widget.Line{
		widget.Text(role, " "+strings.TrimSpace(sign)+" "), widget.Text(theme.Strong, page.Rule),
		widget.Text(theme.Plain, "   "+strings.Join(frame.NonEmpty(page.Ref, "at most "+string(page.Severity)), "   ")),
	})
	for _, part := range [][2]string{
		{"Finds", "what " + page.Title}, {"Looks at", page.Looks}, {"Why it matters", page.Why}, {"How severe", page.When},
		{"How to reduce it", page.Reduce}, {"Based on", page.Source},
	} {
		if part[1] != "" {
			b.Heading(part[0])
			b.Text(theme.Plain, "   ", part[1])
		}
	}
	b.Heading("An example")
	b.Text(theme.Plain, "   ", page.Example.Title)
	b.Text(theme.Plain, "   ", page.Example.Evidence)
	m.page = &widget.Pager{Lines: b.Lines}
}

// maxPage is how wide a page of text is at most: longer lines read badly.
const maxPage = 100
