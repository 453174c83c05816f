package review

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// toggleBranch opens or closes the branch under the cursor; false if there is none.
// open says of each branch whether it is open.
func (b *masterDetail) toggleBranch(open map[string]bool) bool {
	id := b.selected().ID
	if !strings.HasPrefix(id, tabs.BranchPrefix) {
		return false
	}
	b.setBranch(open, id, !b.branchIsOpen())
	return true
}

// branchIsOpen reports whether the rows of the branch under the cursor are shown.
func (b *masterDetail) branchIsOpen() bool {
	at := b.list.Cursor + 1
	return at < len(b.rows) && b.rows[at].Parent == b.selected().ID
}

func (b *masterDetail) setBranch(open map[string]bool, id string, opens bool) {
	open[id] = opens
	b.invalidate()
}

// openBranches opens all branches of the tree, because a search must find what
// is in them.
func (m *tabPanel) openBranches() {
	m.OpenAll()
	m.refreshTabs(tabs.Objects)
}

// leaveBranch closes the branch under the cursor, or moves the cursor from a
// row to its branch. [masterDetail.enterBranch] opens a branch. Both return false
// if there is nothing to do.
func (b *masterDetail) leaveBranch(open map[string]bool) bool {
	if b.pane != frame.PaneList {
		return false
	}
	id := b.selected().ID
	if strings.HasPrefix(id, tabs.BranchPrefix) && b.branchIsOpen() {
		b.setBranch(open, id, false)
		return true
	}
	if parent := b.selected().Parent; parent != "" {
		b.selectID(parent)
	}
	return true
}

func (b *masterDetail) enterBranch(open map[string]bool) bool {
	id := b.selected().ID
	if b.pane != frame.PaneList || !strings.HasPrefix(id, tabs.BranchPrefix) || b.branchIsOpen() {
		return false
	}
	b.setBranch(open, id, true)
	return true
}
