package frame

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// UndoCommand is the command that takes back what a plan does; empty when none does.
func UndoCommand(p *preview.Plan) string {
	switch {
	case p.Platform != "" && p.Location != nil && p.Generation != nil && p.Generation.From > 0 && p.OnMachine():
		return fmt.Sprintf("kubectl operator plugin rollback --to %d --location %s", p.Generation.From, p.Location.Path)
	case p.OnMachine():
		return ""
	case p.Request.Action == preview.RequestInstall:
		return fmt.Sprintf("kubectl operator uninstall %s -n %s", p.Release.Name, p.Release.Namespace)
	case p.Request.Action == preview.RequestUninstall || p.Base.Revision == 0:
		return ""
	}
	return fmt.Sprintf("kubectl operator rollback %s --to %d -n %s", p.Release.Name, p.Base.Revision, p.Release.Namespace)
}

// ShortKind abbreviates the longest kind names as kubectl does.
func ShortKind(name string) string {
	kind, rest, _ := strings.Cut(name, " ")
	switch kind {
	case "ServiceAccount":
		kind = "SA"
	case "ValidatingWebhookConfiguration":
		kind = "ValidatingWebhook"
	case "MutatingWebhookConfiguration":
		kind = "MutatingWebhook"
	case "CustomResourceDefinition":
		kind = "CRD"
	}
	return strings.TrimSpace(kind + " " + rest)
}

// SeveritySign is the mark before a finding.
func SeveritySign(s preview.Severity, looked bool) (string, theme.Role) {
	if looked {
		return "ok", theme.Good
	}
	switch s {
	case preview.Critical:
		return "!!", theme.Risk
	case preview.Warning:
		return " !", theme.Caution
	case preview.NotKnown:
		return " ?", theme.Caution
	}
	return " -", theme.Plain
}

// RoundDuration is a duration in seconds, such as 1m04s.
func RoundDuration(d time.Duration) string {
	d = max(0, d).Truncate(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	if d < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// NonEmpty drops what is empty.
func NonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// ActionRole is the colour of an action.
func ActionRole(a preview.Action) theme.Role {
	switch a {
	case preview.ActionUpdate, preview.ActionPatch, preview.ActionAdopt:
		return theme.Change
	case preview.ActionReplace, preview.ActionDelete, preview.ActionUnknown:
		return theme.Caution
	case preview.ActionBlocked:
		return theme.Fail
	}
	return theme.Plain
}

// SectionTitle is the heading above the findings of a severity.
func SectionTitle(s preview.Severity) string {
	switch s {
	case preview.Critical:
		return "CRITICAL"
	case preview.Warning:
		return "WARNINGS"
	case preview.NotKnown:
		return "NOT CHECKED"
	}
	return "INFO"
}

// ObjectName is KIND NAMESPACE/NAME of an object id, or the id itself.
func ObjectName(id string) string {
	_, kind, namespace, name, err := preview.ParseID(id)
	if err != nil {
		return id
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

// NameAndAction is an object and what happens to it, in at most width cells: where
// there is no room its kind is abbreviated first.
func NameAndAction(role theme.Role, name string, happens widget.Line, width int) widget.Line {
	if textsafe.Width(textsafe.Line(name))+happens.Width() > width {
		name = ShortKind(name)
	}
	return widget.KeepEnd(role, name, happens, width)
}

// ShortValue is a value as canonical JSON, cut to a length that a line can hold.
func ShortValue(v any) string {
	data, err := preview.Canonical(v)
	if err != nil {
		return Clip(fmt.Sprint(v), 120)
	}
	return Clip(string(data), 120)
}
