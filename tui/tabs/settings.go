package tabs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// SettingPrefix begins the row ids of settings with which the content needs
// fewer permissions. SettingBack is the row that takes them back.
const (
	SettingPrefix = "setting/"
	SettingBack   = SettingPrefix + "back"
)

// mitigationRows list the settings with which the content needs fewer permissions.
// Enter plans with one of them, and y copies the command that does.
func (m *summaryTab) mitigationRows(v *preview.Verdict) []Row {
	var rows []Row
	if len(m.Chosen) > 0 {
		line := settingLine("set here", commandline.Join(m.Chosen...))
		rows = append(rows, Row{ID: SettingBack, Text: line.Plain(), Line: func(int) widget.Line { return line }})
	}
	name := "needs less"
	for i, setting := range v.Mitigations {
		command := review.RepeatCommand(m.Plan, setting.Flags...)
		line := settingLine(name, strings.Join(setting.Flags, " ")+"  "+setting.Text())
		name = ""
		if command == "" && !m.Chooses {
			rows = append(rows, textRow(line))
			continue
		}
		rows = append(rows, Row{
			ID: SettingPrefix + strconv.Itoa(i), Text: line.Plain(), Copy: command, Explain: "y copies: " + command,
			Line: func(int) widget.Line { return line },
		})
	}
	return rows
}

func settingLine(name, text string) widget.Line {
	return widget.Line{widget.Text(theme.Strong, fmt.Sprintf("%-*s", changeLead, name)), widget.Text(theme.Plain, text)}
}
