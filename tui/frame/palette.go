package frame

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Command is a key of a screen that can also be typed as a name.
type Command struct {
	Name string
	Key  string // the name of the key press
	Does string
}

// ReviewCommands returns the commands of the REVIEW screen, without its tabs' commands.
func (k KeyMap) ReviewCommands() []Command {
	var out []Command
	for _, c := range []struct {
		name string
		key  key.Binding
	}{
		{"approve", k.Approve}, {"next", k.Next}, {"previous", k.Previous}, {"mark", k.Mark}, {"plan-again", k.Replan}, {"take", k.Take}, {"leave", k.Leave},
		{"search", k.Search}, {"only", k.Only}, {"filter", k.Filter}, {"clear-filter", k.ClearFilter}, {"package", k.Package}, {"group", k.Group},
		{"object-yaml", k.YAML}, {"object-diff", k.Diff}, {"pager", k.Pager}, {"explain", k.Explain}, {"can-i", k.CanI},
		{"side-by-side", k.Beside}, {"changed-fields", k.Paths}, {"copy", k.Copy}, {"copy-command", k.CopyCommand},
		{"mouse", k.Mouse}, {"help", k.Help}, {"suspend", k.Suspend}, {"quit", k.Quit},
	} {
		out = append(out, Command{c.name, c.key.Keys()[0], c.key.Help().Desc})
	}
	return out
}

// Press returns the key press that the command stands for.
func (c Command) Press() tea.KeyPressMsg {
	if c.Key == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if letter, ok := strings.CutPrefix(c.Key, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(letter)[0], Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(c.Key)[0], Text: c.Key}
}

// Palette is the field where a command's name is typed.
type Palette struct {
	Typing   bool
	commands []Command
	input    widget.Query
}

// NewPalette returns an empty field for one of these commands.
func NewPalette(commands []Command) Palette {
	return Palette{Typing: true, commands: commands, input: widget.NewQuery()}
}

// Key handles a key. It returns the command that the user has chosen, nil before that.
func (p *Palette) Key(k KeyMap, msg tea.KeyPressMsg) *Command {
	found := p.matches()
	switch {
	case key.Matches(msg, k.Back), msg.Code == tea.KeyBackspace && p.input.Value() == "":
		*p = Palette{}
	case key.Matches(msg, k.NextPane):
		p.complete(found)
	case key.Matches(msg, k.Open):
		at := slices.IndexFunc(found, func(c Command) bool { return c.Name == p.input.Value() })
		if at < 0 && len(found) == 1 {
			at = 0
		}
		if p.input.Value() == "" {
			*p = Palette{}
		} else if at >= 0 {
			*p = Palette{}
			return &found[at]
		}
	default:
		p.input.Update(msg)
	}
	return nil
}

// Paste handles pasted text.
func (p *Palette) Paste(msg tea.PasteMsg) { p.input.Update(msg) }

// matches returns the commands whose names begin with the typed text.
func (p *Palette) matches() []Command {
	return slices.DeleteFunc(slices.Clone(p.commands), func(c Command) bool { return !strings.HasPrefix(c.Name, p.input.Value()) })
}

// complete extends the typed text by what the names of all matches have in common.
func (p *Palette) complete(found []Command) {
	if len(found) == 0 {
		return
	}
	common := found[0].Name
	for _, c := range found[1:] {
		for !strings.HasPrefix(c.Name, common) {
			common = common[:len(common)-1]
		}
	}
	p.input.Update(tea.PasteMsg{Content: strings.TrimPrefix(common, p.input.Value())})
}

// Prompt returns the field with the matching commands after it, and the column
// of its cursor.
func (p *Palette) Prompt() (widget.Line, int) {
	line, column := p.input.Prompt(widget.Text(theme.Key, " :"))
	found := p.matches()
	switch len(found) {
	case 0:
		return append(line, widget.Text(theme.Caution, "   no such command: backspace, or esc ends")), column
	case 1:
		return append(line, widget.Text(theme.Strong, "   "+found[0].Name), widget.Text(theme.Plain, "  "+found[0].Does+"   enter runs it")), column
	}
	names := make([]string, 0, len(found))
	for _, c := range found {
		names = append(names, c.Name)
	}
	return append(line, widget.Text(theme.Plain, "   "+strings.Join(names, "  "))), column
}
