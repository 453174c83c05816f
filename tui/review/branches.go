package review

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// toggleBranch opens or closes the branch under the cursor; false if there is none.
func (m *tabPanel) toggleBranch(b *masterDetail) bool {
	id := b.selected().ID
	if !strings.HasPrefix(id, tabs.BranchPrefix) {
		return false
	}
	m.setBranch(b, id, !branchIsOpen(b))
	return true
}

// branchIsOpen reports whether the rows of the branch under the cursor are shown.
func branchIsOpen(b *masterDetail) bool {
	at := b.list.Cursor + 1
	return at < len(b.rows) && b.rows[at].Parent == b.selected().ID
}

func (m *tabPanel) setBranch(b *masterDetail, id string, open bool) {
	m.Branches[id] = open
	m.invalidate(b)
}

// openBranches opens all branches of the tree, because a search must find what
// is in them.
func (m *tabPanel) openBranches() {
	m.OpenAll()
	m.refreshTab(tabs.Objects)
}

// leaveBranch closes the branch under the cursor, or moves the cursor from a
// row to its branch. [tabPanel.enterBranch] opens a branch. Both return false
// if there is nothing to do.
func (m *tabPanel) leaveBranch(b *masterDetail) bool {
	if b.pane != frame.PaneList {
		return false
	}
	id := b.selected().ID
	if strings.HasPrefix(id, tabs.BranchPrefix) && branchIsOpen(b) {
		m.setBranch(b, id, false)
		return true
	}
	if parent := b.selected().Parent; parent != "" {
		b.selectID(parent)
	}
	return true
}

func (m *tabPanel) enterBranch(b *masterDetail) bool {
	id := b.selected().ID
	if b.pane != frame.PaneList || !strings.HasPrefix(id, tabs.BranchPrefix) || branchIsOpen(b) {
		return false
	}
	m.setBranch(b, id, true)
	return true
}
