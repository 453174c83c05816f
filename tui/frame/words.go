package frame

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// UndoCommand returns the command line that reverts a plan after it is applied;
// empty if there is none.
func UndoCommand(p *preview.Plan) string {
	switch {
	case p.Platform != "" && p.Location != nil && p.Generation != nil && p.Generation.From > 0 && p.OnMachine():
		return commandline.Join("kubectl", "operator", "plugin", "rollback", "--to", strconv.Itoa(p.Generation.From), "--location", p.Location.Path)
	case p.OnMachine():
		return ""
	case p.Request.Action == preview.RequestInstall:
		return commandline.OfRelease(p, preview.RequestUninstall)
	case p.Request.Action == preview.RequestUninstall || p.Base.Revision == 0:
		return ""
	}
	return commandline.OfRelease(p, preview.RequestRollback, "--to", strconv.Itoa(p.Base.Revision))
}

// ShortKind abbreviates the longest kinds in a name ("KIND NAME") as kubectl does.
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

// SeveritySign returns the mark before a finding and its role; looked says that
// the user has looked at the finding.
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

// RoundDuration returns a duration in whole seconds, such as 1m04s.
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

// NonEmpty returns the texts of a list that are not empty.
func NonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// ActionRole returns the role, and so the colour, of an action.
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

// SectionTitle returns the heading above the findings of a severity.
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

// ObjectName returns "KIND NAMESPACE/NAME" for an object id; a text that is no
// id is returned as it is.
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

// NameAndAction returns a line of an object's name and what happens to it, in
// at most width cells. If there is no room, the kind is abbreviated first.
func NameAndAction(role theme.Role, name string, happens widget.Line, width int) widget.Line {
	if textsafe.Width(textsafe.Line(name))+happens.Width() > width {
		name = ShortKind(name)
	}
	return widget.KeepEnd(role, name, happens, width)
}

// ShortValue returns a value as canonical JSON, cut to a length that fits into a line.
func ShortValue(v any) string {
	if caption, ok := v.(preview.Caption); ok {
		return string(caption)
	}
	data, err := preview.Canonical(v)
	if err != nil {
		return Clip(fmt.Sprint(v), 120)
	}
	return Clip(string(data), 120)
}
