package review

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// toggleBranch opens or closes the branch under the cursor, and reports whether there
// is one.
func (m *tabPanel) toggleBranch(b *masterDetail) bool {
	id := b.selected().ID
	if !strings.HasPrefix(id, tabs.BranchPrefix) {
		return false
	}
	m.setBranch(b, id, !branchIsOpen(b))
	return true
}

// branchIsOpen reports whether rows of the branch under the cursor follow it.
func branchIsOpen(b *masterDetail) bool {
	at := b.list.Cursor + 1
	return at < len(b.rows) && b.rows[at].Parent == b.selected().ID
}

func (m *tabPanel) setBranch(b *masterDetail, id string, open bool) {
	m.Branches[id] = open
	m.invalidate(b)
}

// openBranches opens every branch: a search must find what a closed one holds.
func (m *tabPanel) openBranches() {
	m.OpenAll()
	m.refreshTab(tabs.Objects)
}

// leaveBranch closes the branch under the cursor, or goes to the one that holds the
// row; [tabPanel.enterBranch] opens it. Both report whether there was anything to do.
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
