package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// keyMap is every key of every screen. Handling, footer and help read it.
type keyMap struct {
	Up, Down, Left, Right               key.Binding
	Home, End, Top, HalfUp, HalfDown    key.Binding
	PageUp, PageDown                    key.Binding
	Tabs, NextPane, PrevPane            key.Binding
	Open, Back                          key.Binding
	Next, Previous, Mark                key.Binding
	Search, NextHit, PreviousHit        key.Binding
	Filter, ClearFilter, Group, Package key.Binding
	YAML, Diff, Explain, CanI           key.Binding
	Fold, Beside, Paths                 key.Binding
	Copy, CopyCommand                   key.Binding
	Approve, Retry, Replan              key.Binding
	Mouse, Help, Quit, Stop, Suspend    key.Binding
	Digests, CopyDigest                 key.Binding
	StopObject, Detach, FailedOnly, All key.Binding
	Logs, Pause, AskStop                key.Binding
	Events, Longer                      key.Binding
}

func bind(help, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
}

func newKeyMap() keyMap {
	return keyMap{
		Up: bind("k/up", "move up", "k", "up"), Down: bind("j/down", "move down", "j", "down"),
		Left: bind("h/left", "pane left, scroll left", "h", "left"), Right: bind("l/right", "pane right, scroll right", "l", "right"),
		Home: bind("home", "top", "home"), End: bind("G/end", "bottom", "G", "end"), Top: bind("g", "top", "g"),
		HalfUp: bind("ctrl+u", "half page up", "ctrl+u"), HalfDown: bind("ctrl+d", "half page down", "ctrl+d"),
		PageUp: bind("pgup", "page up", "pgup"), PageDown: bind("pgdn", "page down", "pgdown"),
		Tabs:     bind("1-6", "open a tab", "1", "2", "3", "4", "5", "6", "7"),
		NextPane: bind("tab", "next pane or tab", "tab"), PrevPane: bind("shift+tab", "previous pane or tab", "shift+tab"),
		Open: bind("enter", "open", "enter"), Back: bind("esc", "back", "esc"),
		Next: bind("n", "next to look at", "n"), Previous: bind("N", "previous to look at", "N"),
		Mark:   bind("space", "mark looked at", "space"),
		Search: bind("/", "search", "/"), NextHit: bind("]", "next hit or change", "]"), PreviousHit: bind("[", "previous hit or change", "["),
		Filter: bind("f", "filter", "f"), ClearFilter: bind("F", "clear filter", "F"), Group: bind("g", "group", "g"),
		Package: bind("P", "package", "P"),
		YAML:    bind("e", "YAML", "e"), Diff: bind("d", "diff", "d"), Explain: bind("x", "explain", "x"), CanI: bind("c", "can it…", "c"),
		Fold:   bind("enter", "fold, unfold", "enter", "space"),
		Beside: bind("s", "side by side", "s"), Paths: bind("p", "changed fields", "p"),
		Copy: bind("y", "copy", "y"), CopyCommand: bind("Y", "copy the command line", "Y"),
		Approve: bind("a", "approve", "a"), Retry: bind("r", "check again", "r"),
		Replan: bind("R", "plan again", "R"),
		Mouse:  bind("m", "mouse on/off", "m"), Help: bind("?", "help", "?"), Quit: bind("q", "quit", "q"),
		Stop: bind("ctrl+c", "quit, nothing applied", "ctrl+c"), Suspend: bind("ctrl+z", "suspend", "ctrl+z"),
		Digests: bind("tab", "full digests", "tab"), CopyDigest: bind("ctrl+y", "copy plan digest", "ctrl+y"),
		StopObject: bind("s", "stop after this object", "s"), Detach: bind("d", "detach, leave it running", "d"),
		FailedOnly: bind("f", "failed only", "f"), All: bind("a", "all", "a"),
		Logs: bind("l", "logs", "l"), Pause: bind("p", "pause follow", "p"), AskStop: bind("ctrl+c", "stop…", "ctrl+c"),
		Events: bind("e", "events", "e"), Longer: bind("r", "wait longer", "r"),
	}
}

// as gives a binding other words on one screen.
func as(b key.Binding, does string) key.Binding {
	b.SetHelp(b.Help().Key, does)
	return b
}

// keyGroup is a part of the help.
type keyGroup struct {
	title string
	keys  []key.Binding
}

// review are the keys of REVIEW, for its help.
func (k keyMap) review() []keyGroup {
	return []keyGroup{
		{"Review", []key.Binding{k.Tabs, k.NextPane, k.PrevPane, k.Open, k.Back, k.Next, k.Previous, k.Mark, k.Approve, k.Replan}},
		{"Move", []key.Binding{k.Down, k.Up, k.Left, k.Right, k.Home, k.Top, k.End, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp}},
		{"Look closer", []key.Binding{k.YAML, k.Diff, k.Explain, k.CanI, k.Search, k.Filter, k.ClearFilter, as(k.Package, "one package, the next, all"), as(k.Group, "group (Access)")}},
		{"Differences", []key.Binding{k.NextHit, k.PreviousHit, k.Fold, k.Beside, k.Paths}},
		{"Other", []key.Binding{k.Copy, k.CopyCommand, k.Mouse, k.Help, k.Suspend, k.Quit, k.Stop}},
	}
}

// follow are the keys of APPLYING and DONE, for their help.
func (k keyMap) follow() []keyGroup {
	return []keyGroup{
		{"Apply", []key.Binding{k.AskStop, as(k.Detach, "detach…"), k.Longer, as(k.Replan, "review again, when nothing was applied"), as(k.Quit, "quit…, or leave at the end"), k.Back}},
		{"The question after ctrl+c", []key.Binding{k.StopObject, k.Detach, as(k.AskStop, "stop now"), as(k.Back, "go on")}},
		{"Move", []key.Binding{k.Down, k.Up, k.Home, k.Top, k.End, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp}},
		{"Look closer", []key.Binding{k.Events, k.Logs, k.Pause, k.FailedOnly, k.All, k.Search, as(k.NextHit, "next hit"), as(k.PreviousHit, "previous hit")}},
		{"Other", []key.Binding{k.Copy, k.CopyCommand, k.Mouse, k.Help, as(k.Suspend, "suspend, at the end")}},
	}
}

// farther is more than any list or document has lines.
const farther = 1 << 30

// wheelLines are scrolled by one step of the wheel.
const wheelLines = 3

func mouseNotice(off bool) string {
	if off {
		return "mouse off"
	}
	return "mouse on"
}

// moveList handles the keys that move in a list.
func moveList(k keyMap, l *widget.List, msg tea.KeyPressMsg, rows, height int, selectable func(int) bool) {
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
		delta = -farther
	case key.Matches(msg, k.End):
		delta = farther
	}
	l.Move(delta, rows, selectable)
}
