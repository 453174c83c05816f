package review

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// view is what every screen and tab of a review is drawn from: the plan, and
// what is known of it. It is shared by pointer; only Update changes it.
type view struct {
	opts  Options
	theme theme.Theme
	keys  frame.KeyMap
	size  frame.Layout
	plain bool // nothing is drawn: see [RunPlain]

	plan      *preview.Plan
	sealed    time.Time
	board     *board
	index     index
	questions []report.Question // that the way the plan was made leaves open
	book      pages.Book        // of rules, made when first asked for
	outside   outside
	earlier   earlier
	watch     watch

	filter   filters
	branches branches // of the objects tab
	banner   string   // stays until esc: what changed under the review
	failed   error    // what the banner is about, nil when nothing went wrong
	made     int      // how often rows were made
}
