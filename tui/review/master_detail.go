package review

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// masterDetail is a list and the detail of its selected row, side by side or
// one instead of the other. The detail is a document in a pager, or a view of
// YAML or a diff.
type masterDetail struct {
	rows     []tabs.Row
	list     widget.List
	pane     frame.Pane
	kind     diffview.Kind
	pager    widget.Pager
	sheet    *diffview.View // shown instead of the pager when not nil
	evidence [2]int
	seen     map[int]bool // evidence lines that were on screen
	shown    pagerContent
	seek     widget.Find // what the document is opened at, once it is there
	stale    bool        // the document must be made again
	outdated bool        // the rows must be
	version  int         // how often that was so
}

// invalidate has the rows of the list made again, when its tab is next open.
func (b *masterDetail) invalidate() {
	b.version++
	b.outdated = true
}

// pagerContent says which document the pager holds.
type pagerContent struct {
	id    string
	kind  diffview.Kind
	width int
}

// setRows replaces the rows, and keeps the same one selected.
func (b *masterDetail) setRows(rows []tabs.Row) {
	id := b.selected().ID
	b.rows = rows
	if id != "" {
		b.selectID(id)
	}
	b.stale = true
}

func (b *masterDetail) selectID(id string) {
	for i := range b.rows {
		if b.rows[i].ID == id {
			b.list.Cursor = i
			return
		}
	}
}

func (b *masterDetail) selectable(i int) bool { return b.rows[i].ID != "" }

// nearest returns the row that is selected instead of row at, if that cannot be.
func (b *masterDetail) nearest(at int) int {
	l := widget.List{Cursor: at}
	l.Settle(len(b.rows), 0, b.selectable)
	return l.Cursor
}

// seekFound goes to the first line of an opened YAML or diff that the search finds.
func (b *masterDetail) seekFound(m *tabPanel) {
	if b.seek == nil || b.sheet == nil || b.sheet.Comparison == nil {
		return
	}
	m.paths = false
	b.sheet.SetForm(m.sheetForm(b))
	if lines := b.lookup(b.seek)(); len(lines) > 0 {
		b.sheet.Reveal(lines[0])
	}
	b.seek = nil
}

// selected returns the row under the cursor, the zero row if there is none.
func (b *masterDetail) selected() tabs.Row {
	if b.list.Cursor < 0 || b.list.Cursor >= len(b.rows) {
		return tabs.Row{}
	}
	return b.rows[b.list.Cursor]
}

func (b *masterDetail) open(k diffview.Kind) { b.pane, b.kind = frame.PaneDetail, k }

// back goes one level up, such as from the detail to the list; false if there is none.
func (b *masterDetail) back() bool {
	if b.kind != diffview.Facts {
		b.kind = diffview.Facts
		return true
	}
	if b.pane == frame.PaneDetail {
		b.pane = frame.PaneList
		return true
	}
	return false
}

// settle makes the detail of the selected row, if it is visible, keeps cursors and
// windows within their lines, and notes which lines of evidence are on the screen.
func (b *masterDetail) settle(m *tabPanel) {
	height := m.PaneHeight()
	b.list.Settle(len(b.rows), height, b.selectable)
	if !m.detailVisible() {
		return
	}
	want := pagerContent{b.selected().ID, b.kind, m.detailWidth()}
	if b.stale || want != b.shown {
		b.load(m, want)
	}
	b.seekFound(m)
	if b.sheet != nil {
		b.sheet.SetForm(m.sheetForm(b))
		b.sheet.Settle(height - diffview.HeadHeight(m.Tiny()))
		return
	}
	b.pager.Found = m.search.find
	b.pager.Scroll(0, height)
	if b.kind == diffview.Facts {
		for i := max(b.pager.Top, b.evidence[0]); i < min(b.pager.Top+height, b.evidence[1]); i++ {
			b.seen[i] = true
		}
	}
}

func (b *masterDetail) load(m *tabPanel, want pagerContent) {
	if want != b.shown {
		b.seen, b.pager = map[int]bool{}, widget.Pager{}
		if want.id != b.shown.id && b.pane == frame.PaneList {
			b.seek = nil
		}
	}
	kind := want.kind
	if kind == diffview.Facts && m.table[m.tab].Diff {
		kind = diffview.Diff
	}
	var d tabs.Document
	switch {
	case want.id == "":
		b.sheet = nil
	case kind == diffview.Facts:
		b.sheet = nil
		d = m.table[m.tab].Doc(want.id, want.width)
	default:
		b.loadSheet(m, kind)
	}
	b.pager.Lines = d.Lines
	b.evidence, b.shown, b.stale = d.Evidence, want, false
}

// loadSheet opens the YAML or diff of the selected row's object or file, unless
// it is open.
func (b *masterDetail) loadSheet(m *tabPanel, kind diffview.Kind) {
	if f := m.FileOf(b.selected()); f != nil && kind == diffview.Diff {
		if b.sheet == nil || b.sheet.File != f {
			b.sheet = diffview.NewFile(f)
		}
		return
	}
	o := m.Object(b.selected().Object)
	if o == nil {
		b.sheet = nil
		return
	}
	if b.sheet == nil || b.sheet.Object != o || b.sheet.Kind != kind {
		b.sheet = diffview.New(m.Plan, o, kind)
		if before := m.Predecessor(o); before != nil && kind == diffview.Diff {
			b.sheet.Replace(before)
		}
		b.sheet.Build()
	}
}

// firstUnseen returns the first line of evidence that was not on the screen
// yet, -1 if all were.
func (b *masterDetail) firstUnseen() int {
	for i := b.evidence[0]; i < b.evidence[1]; i++ {
		if !b.seen[i] {
			return i
		}
	}
	return -1
}

// move handles the keys that move in a list or scroll a document; false for any
// other key.
func (b *masterDetail) move(m *tabPanel, msg tea.KeyPressMsg) bool {
	k, height := m.keys, m.PaneHeight()
	switch {
	case key.Matches(msg, k.Up):
		b.moveBy(m, -1)
	case key.Matches(msg, k.Down):
		b.moveBy(m, 1)
	case key.Matches(msg, k.PageUp):
		b.moveBy(m, -height)
	case key.Matches(msg, k.PageDown):
		b.moveBy(m, height)
	case key.Matches(msg, k.HalfUp):
		b.moveBy(m, -height/2)
	case key.Matches(msg, k.HalfDown):
		b.moveBy(m, height/2)
	case key.Matches(msg, k.Home, k.Top):
		b.moveBy(m, -frame.Farther)
	case key.Matches(msg, k.End):
		b.moveBy(m, frame.Farther)
	case key.Matches(msg, k.Left):
		if m.tab != tabs.Objects || !b.leaveBranch(m.Branches) {
			b.left()
		}
	case key.Matches(msg, k.Right):
		if m.tab != tabs.Objects || !b.enterBranch(m.Branches) {
			b.right(m)
		}
	default:
		return false
	}
	return true
}

// moveBy moves the cursor of the list, or scrolls the detail if that has the
// focus. A list in which no row can be selected is scrolled.
func (b *masterDetail) moveBy(m *tabPanel, delta int) {
	if b.pane == frame.PaneDetail && b.sheet != nil {
		b.sheet.MoveBy(delta)
		return
	}
	if b.pane == frame.PaneDetail {
		b.pager.Scroll(delta, m.PaneHeight())
		return
	}
	b.list.Move(delta, len(b.rows), b.selectable)
	b.kind = diffview.Facts
}

const sidestep = 8

func (b *masterDetail) left() {
	switch {
	case b.pane == frame.PaneDetail && b.sheet != nil && b.sheet.Left > 0:
		b.sheet.Sideways(-sidestep)
	case b.pane == frame.PaneDetail && b.sheet == nil && b.pager.Left > 0:
		b.pager.Sideways(-sidestep)
	case b.pane == frame.PaneDetail:
		b.back()
	}
}

func (b *masterDetail) right(m *tabPanel) {
	switch {
	case b.pane == frame.PaneDetail && b.sheet != nil:
		b.sheet.Sideways(sidestep)
	case m.split():
		b.pane = frame.PaneDetail
	}
}

// scroll scrolls the detail.
func (b *masterDetail) scroll(m *tabPanel, delta int) {
	if b.sheet != nil {
		b.sheet.Scroll(delta, m.PaneHeight()-diffview.HeadHeight(m.Tiny()))
		return
	}
	b.pager.Scroll(delta, m.PaneHeight())
}

// below returns how many lines of the detail are below its window.
func (b *masterDetail) below(height int, tiny bool) int {
	if b.sheet != nil {
		return max(0, len(b.sheet.Rows)-b.sheet.Top-(height-diffview.HeadHeight(tiny)))
	}
	return b.pager.Below(height)
}

// paintDetail draws the detail.
func (b *masterDetail) paintDetail(m *tabPanel, width, height int) []string {
	if b.sheet != nil {
		return b.sheet.Paint(diffview.Canvas{
			Theme: m.Theme, Width: width, Height: height, Tiny: m.Tiny(), Focused: b.pane == frame.PaneDetail, Find: m.search.find,
		})
	}
	return b.pager.Paint(m.Theme, width, height, m.search.lineHit(b))
}

// copyText returns the text under the cursor, which the key y copies.
func (b *masterDetail) copyText() string {
	if b.pane == frame.PaneDetail && b.sheet != nil {
		return b.sheet.CopyText()
	}
	return b.selected().Copy
}
