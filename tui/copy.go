package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// copy puts text on the clipboard of the terminal (OSC 52), free of anything
// that a shell or editor would obey when it is pasted.
func (m *review) copy(text string) tea.Cmd {
	if text == "" {
		m.notice = "nothing to copy here"
		return nil
	}
	safe := textsafe.Line(text)
	m.notice = "copied " + safe
	return tea.SetClipboard(safe)
}

// command is the command line that does the same without a terminal.
func (m *review) command() string {
	if m.opts.Command != nil {
		if c := m.opts.Command(m.plan); c != "" {
			return c
		}
	}
	return commandLine(m.plan)
}

// commandLine applies exactly this plan from a script.
func commandLine(p *preview.Plan) string {
	args := []string{"kubectl operator", p.Request.Action}
	switch p.Request.Action {
	case preview.RequestInstall:
		args = append(args, p.Request.Reference, p.Release.Name)
	case preview.RequestUpgrade:
		args = append(args, p.Release.Name, p.Request.Reference)
	default:
		args = append(args, p.Release.Name)
	}
	args = append(args, "-n", p.Release.Namespace, "--yes", "--approve", p.Digest, "--ruleset", fmt.Sprint(p.Ruleset))
	for i, a := range args {
		if i > 0 && strings.ContainsAny(a, " \t'\"$`\\!&|;<>()*?[]{}~#") {
			args[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(args, " ")
}
