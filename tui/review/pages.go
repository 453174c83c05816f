package review

import (
	"strings"

	"charm.land/bubbles/v2/key"

	"github.com/kubectl-operator/kubectl-operator/preview"
	document "github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// errorPage returns a page with an error in full.
func errorPage(width int, title string, err error) *frame.Page {
	b := &frame.Builder{Width: width}
	b.Heading(title)
	b.Blank()
	frame.ErrorLines(b, err)
	return frame.NewPage(b)
}

// openHelp shows the keys of this screen, and what its signs mean.
func (m *review) openHelp() {
	b := &frame.Builder{Width: m.Size.Width}
	if m.screen == screenConfirm {
		frame.HelpGroup(b, "This screen", confirmHelp(m.keys))
	} else {
		frame.HelpGroup(b, "This screen", m.footerKeys())
		for _, g := range m.keys.ReviewHelp() {
			frame.HelpGroup(b, g.Title, g.Keys)
		}
	}
	b.Heading("Approving")
	b.Text(theme.Plain, "   ", "a opens the confirmation once every finding under CRITICAL was opened, its evidence seen and marked with n or space. Only the answer typed there approves.")
	frame.Legend(b)
	m.page = frame.NewPage(b)
}

// confirmHelp returns the keys of CONFIRM, for its help.
func confirmHelp(k frame.KeyMap) []key.Binding {
	return []key.Binding{
		frame.WithHelp(k.Open, "approve, once the answer is typed"), frame.WithHelp(k.Back, "back to the review"), frame.WithHelp(k.Digests, "every digest in full, and back"),
		frame.Bind("up/down", "scroll what is above the question"), k.CopyDigest, k.Retry, frame.WithHelp(k.Events, "the whole error, where the check failed"), k.Help, k.Stop,
	}
}

// textPage returns a page with a text.
func textPage(width int, title, text string) *frame.Page {
	b := &frame.Builder{Width: width}
	b.Heading(title)
	b.Blank()
	b.Text(theme.Plain, "   ", text)
	return frame.NewPage(b)
}

// hasObstacles reports whether the plan cannot be applied, whatever is approved.
func hasObstacles(p *preview.Plan) bool { return p.Verdict != nil && len(p.Verdict.Obstacles) > 0 }

// obstaclePage returns a page with each reason why a plan cannot be applied and its way out.
func obstaclePage(width int, p *preview.Plan) *frame.Page {
	b := &frame.Builder{Width: width}
	b.Heading("This plan cannot be applied")
	for _, text := range document.ObstacleTexts(p) {
		b.Blank()
		b.Text(theme.Plain, "   ", text)
	}
	return frame.NewPage(b)
}

// openRule shows the page of a finding's rule over the screen.
func (m *review) openRule(rule string) {
	page, ok := m.Reader().Book[rule]
	if !ok {
		m.notice = "there is no page for the rule " + rule
		return
	}
	b := &frame.Builder{Width: min(m.Size.Width, maxPage)}
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
	m.page = frame.NewPage(b)
}

// maxPage is the largest width of a page of text, in cells. Longer lines are
// hard to read.
const maxPage = 100
