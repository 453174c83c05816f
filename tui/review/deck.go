package review

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
)

// deck is the tabs of a review, each a list with the details of its rows, and
// what the user does in them.
type deck struct {
	*view
	ctx       context.Context
	table     [tabCount]tabRow
	tab       tab
	tabs      [tabCount]browser
	access    *accessTab
	objects   *objectsTab
	search    search
	indexed   *preview.Plan // whose index is made, or was, ahead of its need
	beside    bool          // differences side by side, where there is room
	paths     bool          // differences as a list of fields
	comparing *diffview.Job // nil while no comparison is made
	notice    string        // until the next key
}

// newDeck makes the tabs of a view.
func newDeck(ctx context.Context, v *view) *deck {
	m := &deck{view: v, ctx: ctx, access: &accessTab{view: v}, objects: &objectsTab{view: v}}
	m.table = [tabCount]tabRow{
		tabSummary:  {page: &summaryTab{view: v}, name: "Summary", short: "Sum"},
		tabFindings: {page: &findingsTab{view: v}, name: "Findings", short: "Find", split: true, detail: true},
		tabAccess:   {page: m.access, name: "Access", short: "Access", detail: true},
		tabObjects:  {page: m.objects, name: "Objects", short: "Obj", split: true, detail: true},
		tabDiff:     {page: &diffTab{view: v}, name: "Diff", short: "Diff", split: true, diff: true},
		tabSource:   {page: &sourceTab{view: v}, name: "Source", short: "Src"},
		tabFiles:    {page: &filesTab{view: v}, name: "Files", short: "Files", split: true, detail: true},
	}
	return m
}
