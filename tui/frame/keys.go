package frame

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// KeyMap has every key of every screen. Key handling, footer and help use it.
type KeyMap struct {
	Up, Down, Left, Right               key.Binding
	Home, End, Top, HalfUp, HalfDown    key.Binding
	PageUp, PageDown                    key.Binding
	Tabs, NextPane, PrevPane            key.Binding
	Open, Back                          key.Binding
	Next, Previous, Mark                key.Binding
	Search, NextHit, PreviousHit        key.Binding
	Filter, ClearFilter, Group, Package key.Binding
	YAML, Diff, Explain, CanI           key.Binding
	Only, Pager, Palette                key.Binding
	Fold, Beside, Paths                 key.Binding
	Copy, CopyCommand                   key.Binding
	Approve, Retry, Replan              key.Binding
	Take, Leave                         key.Binding
	Mouse, Help, Quit, Stop, Suspend    key.Binding
	Digests, CopyDigest                 key.Binding
	StopObject, Detach, FailedOnly, All key.Binding
	Logs, Pause, AskStop                key.Binding
	Events, Longer                      key.Binding
}

// Bind returns a binding of keys; help names them in the help, and does says
// what they do.
func Bind(help, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
}

// NewKeyMap returns the keys of all screens.
func NewKeyMap() KeyMap {
	return KeyMap{
		Up: Bind("k/up", "move up", "k", "up"), Down: Bind("j/down", "move down", "j", "down"),
		Left: Bind("h/left", "pane left, scroll left", "h", "left"), Right: Bind("l/right", "pane right, scroll right", "l", "right"),
		Home: Bind("home", "top", "home"), End: Bind("G/end", "bottom", "G", "end"), Top: Bind("g", "top", "g"),
		HalfUp: Bind("ctrl+u", "half page up", "ctrl+u"), HalfDown: Bind("ctrl+d", "half page down", "ctrl+d"),
		PageUp: Bind("pgup", "page up", "pgup"), PageDown: Bind("pgdn", "page down", "pgdown"),
		Tabs:     Bind("1-6", "open a tab", "1", "2", "3", "4", "5", "6", "7"),
		NextPane: Bind("tab", "next pane or tab", "tab"), PrevPane: Bind("shift+tab", "previous pane or tab", "shift+tab"),
		Open: Bind("enter", "open", "enter"), Back: Bind("esc", "back", "esc"),
		Next: Bind("n", "next to review", "n"), Previous: Bind("N", "previous to review", "N"),
		Mark:   Bind("space", "mark reviewed", "space"),
		Search: Bind("/", "search", "/"), NextHit: Bind("]", "next hit or change", "]"), PreviousHit: Bind("[", "previous hit or change", "["),
		Filter: Bind("f", "filter", "f"), ClearFilter: Bind("F", "clear filter", "F"), Group: Bind("g", "group", "g"),
		Package: Bind("P", "package", "P"),
		YAML:    Bind("e", "YAML", "e"), Diff: Bind("d", "diff", "d"), Explain: Bind("x", "explain", "x"), CanI: Bind("c", "can it…", "c"),
		Only: Bind("&", "rows that hold a text", "&"), Pager: Bind("o", "pager", "o"), Palette: Bind(":", "command", ":"),
		Fold:   Bind("enter", "fold, unfold", "enter", "space"),
		Beside: Bind("s", "side by side", "s"), Paths: Bind("p", "changed fields", "p"),
		Copy: Bind("y", "copy", "y"), CopyCommand: Bind("Y", "copy the command line", "Y"),
		Approve: Bind("a", "approve", "a"), Retry: Bind("r", "check again", "r"),
		Replan: Bind("R", "plan again", "R"),
		Take:   Bind("t", "take contested fields over", "t"), Leave: Bind("l", "leave contested fields", "l"),
		Mouse: Bind("m", "mouse on/off", "m"), Help: Bind("?", "help", "?"), Quit: Bind("q", "quit", "q"),
		Stop: Bind("ctrl+c", "quit, nothing applied", "ctrl+c"), Suspend: Bind("ctrl+z", "suspend", "ctrl+z"),
		Digests: Bind("tab", "full digests", "tab"), CopyDigest: Bind("ctrl+y", "copy plan digest", "ctrl+y"),
		StopObject: Bind("s", "stop after this object", "s"), Detach: Bind("d", "detach, leave it running", "d"),
		FailedOnly: Bind("f", "failed only", "f"), All: Bind("a", "all", "a"),
		Logs: Bind("l", "logs", "l"), Pause: Bind("p", "pause follow", "p"), AskStop: Bind("ctrl+c", "stop…", "ctrl+c"),
		Events: Bind("e", "events", "e"), Longer: Bind("r", "wait longer", "r"),
	}
}

// WithHelp returns a binding with another description of what it does, for one screen.
func WithHelp(b key.Binding, does string) key.Binding {
	b.SetHelp(b.Help().Key, does)
	return b
}

// PageKeys returns the keys that leave and scroll a page of text.
func PageKeys(back, down, up key.Binding) []key.Binding {
	return []key.Binding{back, WithHelp(down, "down"), WithHelp(up, "up")}
}

// KeyGroup is a section of the help: a title and keys.
type KeyGroup struct {
	Title string
	Keys  []key.Binding
}

// ReviewHelp returns the keys of the REVIEW screen, for its help.
func (k KeyMap) ReviewHelp() []KeyGroup {
	return []KeyGroup{
		{"Review", []key.Binding{k.Tabs, k.NextPane, k.PrevPane, k.Open, k.Back, k.Next, k.Previous, WithHelp(k.Mark, "mark a finding or an object as reviewed, or not"), k.Approve, k.Replan, k.Take, k.Leave}},
		{"Move", []key.Binding{k.Down, k.Up, k.Left, k.Right, k.Home, k.Top, k.End, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp}},
		{"Look closer", []key.Binding{k.YAML, k.Diff, WithHelp(k.Pager, "YAML or diff in the program that PAGER names"), k.Explain, k.CanI, WithHelp(k.Search, "search rows, texts, YAML and diffs; then n and N go to its hits"), WithHelp(k.Only, "only rows that hold a text (Objects, Access)"), k.Filter, k.ClearFilter, WithHelp(k.Package, "one package, the next, all"), WithHelp(k.Group, "group (Access)")}},
		{"Differences", []key.Binding{k.NextHit, k.PreviousHit, k.Fold, k.Beside, k.Paths}},
		{"Other", []key.Binding{WithHelp(k.Palette, "type a command; tab completes it"), k.Copy, k.CopyCommand, k.Mouse, k.Help, k.Suspend, k.Quit, k.Stop}},
	}
}

// FollowHelp returns the keys of the APPLYING and DONE screens, for their help.
func (k KeyMap) FollowHelp() []KeyGroup {
	return []KeyGroup{
		{"Apply", []key.Binding{k.AskStop, WithHelp(k.Detach, "detach…"), k.Longer, WithHelp(k.Replan, "review again, when nothing was applied"), WithHelp(k.Quit, "quit…, or leave at the end"), k.Back}},
		{"The question after ctrl+c", []key.Binding{k.StopObject, k.Detach, WithHelp(k.AskStop, "stop now"), WithHelp(k.Back, "go on")}},
		{"Move", []key.Binding{k.Down, k.Up, k.Home, k.Top, k.End, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp}},
		{"Look closer", []key.Binding{k.Events, k.Logs, k.Pause, k.FailedOnly, k.All, k.Search, WithHelp(k.NextHit, "next hit"), WithHelp(k.PreviousHit, "previous hit")}},
		{"Other", []key.Binding{k.Copy, k.CopyCommand, k.Mouse, k.Help, WithHelp(k.Suspend, "suspend, at the end")}},
	}
}

// Farther is a number of lines larger than any list or document has, to move to an end.
const Farther = 1 << 30

// WheelLines is how many lines one step of the mouse wheel scrolls.
const WheelLines = 3

// MouseNotice returns the notice that the mouse was turned off or on.
func MouseNotice(off bool) string {
	if off {
		return "mouse off"
	}
	return "mouse on"
}

// MoveList handles the keys that move the cursor of a list, such as up and page down.
func MoveList(k KeyMap, l *widget.List, msg tea.KeyPressMsg, rows, height int, selectable func(int) bool) {
	delta := 0
	switch {
	case key.Matches(msg, k.Up):
		delta = -1
	case key.Matches(msg, k.Down):
		delta = 1
	case key.Matches(msg, k.PageUp):
		delta = -height
	case key.Matches(msg, k.PageDown):
		delta = height
	case key.Matches(msg, k.HalfUp):
		delta = -height / 2
	case key.Matches(msg, k.HalfDown):
		delta = height / 2
	case key.Matches(msg, k.Home, k.Top):
		delta = -Farther
	case key.Matches(msg, k.End):
		delta = Farther
	}
	l.Move(delta, rows, selectable)
}
