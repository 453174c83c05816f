package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	document "github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// screen is one of the screens of a review.
type screen int

const (
	screenResolve screen = iota
	screenReview
	screenConfirm
)

// review is the bubbletea model of the screens that [Run] shows.
type review struct {
	*tabPanel
	mouseOff bool
	decided  string   // the object that the plan being made decides about
	choice   []string // the flags of settings that the plan being made is made with

	screen    screen
	confirm   confirmDialog
	gate      gateCheck
	page      *frame.Page // keys, or an explanation, over the screen; open when not nil
	canI      canIQuestion
	palette   frame.Palette
	kept      keptMarks
	resolving resolveJob
	begin     tea.Cmd // what Init starts
	outcome   Outcome
}

// The messages of a review's own commands.
type (
	resolvedMsg struct {
		plan  *preview.Plan
		err   error
		round int
	}
	comparedMsg struct {
		of         *diffview.Job
		comparison *diffview.Comparison
	}
	stillComparingMsg struct{ of *diffview.Job }
	indexedMsg        struct{ index tabs.Index }
	checkingMsg       struct {
		line  string
		round int
	}
	recheckedMsg struct {
		plan  *preview.Plan
		err   error
		round int
	}
)

func newReview(ctx context.Context, opts Options) *review {
	if opts.Now == nil {
		opts.Now, opts.tick = time.Now, tea.Tick
	}
	if opts.Gate == nil {
		opts.Gate = install.Gate
	}
	panel := newTabPanel(ctx, opts)
	m := &review{tabPanel: panel, confirm: confirmDialog{tabPanel: panel}, kept: keptMarks{store: opts.Marks}}
	if !opts.ReadOnly {
		m.gate.ask = opts.Gate
	}
	m.Size = frame.Arrange(opts.Width, opts.Height, false)
	switch {
	case opts.Before != nil:
		m.begin = m.continueReview(opts.Before)
	case opts.Plan != nil:
		m.begin = m.show(opts.Plan)
	default:
		m.begin = m.resolving.start(m.ctx, m.opts)
	}
	m.settle()
	return m
}

// Init begins to make the plan or, if there is one already, to watch its live objects.
func (m *review) Init() tea.Cmd { return m.begin }

// Update handles one message.
func (m *review) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		m.paste(msg)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	case frame.ProgressMsg:
		cmd = m.resolving.show(msg, m.opts.Now())
	case resolvedMsg:
		cmd = m.planResolved(msg)
	case checkingMsg:
		cmd = m.showRecheckStep(msg)
	case recheckedMsg:
		cmd = m.setRecheck(msg)
	case foreignFieldsMsg:
		m.refreshTabs(m.lookups.setForeignFields(msg)...)
	case priorAcceptancesMsg:
		m.refreshTabs(m.lookups.setPriorAcceptances(msg)...)
	case gateErrorMsg:
		m.gate.set(msg, m.Plan)
	case searchedMsg:
		cmd = m.showHits(msg)
	case comparedMsg:
		m.comparing.finish(msg)
	case frame.PagedMsg:
		m.pagerEnded(msg)
	case loadedMarks:
		m.applyMarks(msg)
	case indexedMsg:
		m.TakeIndex(msg.index)
	case stillComparingMsg:
		cmd = m.comparing.wait(msg.of)
	case driftMsg:
		cmd = m.setDrift(msg)
	case watchEndedMsg:
		m.watch.ended(msg)
	case agedMsg:
		cmd = ageTimer{m.tabPanel}.next(msg)
	}
	m.settle()
	return m, tea.Batch(cmd, m.kept.load(m.Plan), m.lookups.findForeignFields(), m.lookups.findPriorAcceptances(), m.gate.begin(m.tabPanel.View), m.lookups.buildIndex(), m.startCompare())
}

func (m *review) resize(width, height int) {
	before := m.Size
	m.Size = frame.Arrange(width, height, m.screen == screenReview)
	if m.Plan != nil && (before.Width != width || before.Height != height) {
		m.refresh()
	}
	m.page = nil
}

// show makes a plan the one under review, and begins to watch its live objects.
// Marks of the former plan are kept where the evidence is the same.
func (m *review) show(p *preview.Plan) tea.Cmd {
	m.sealed = m.opts.Now()
	if m.opts.ReadOnly && m.opts.Resolve == nil {
		m.sealed = time.Time{} // made by another user, some time ago
	}
	m.screen, m.outcome.Plan = screenReview, p
	m.tabPanel.View.Show(p)
	if shown := m.ShownTabs(); !slices.Contains(shown, m.tab) {
		m.tab = tabs.Summary
	}
	m.keys.Tabs.SetHelp(fmt.Sprintf("1-%d", len(m.ShownTabs())), m.keys.Tabs.Help().Desc)
	for t := range m.tabs {
		m.tabs[t] = masterDetail{version: m.tabs[t].version}
	}
	m.refresh()
	m.Moved = map[string]string{}
	return tea.Batch(m.watch.start(m.ctx, p, m.opts.Watch), ageTimer{m.tabPanel}.begin())
}

// refresh has the rows of every tab made again, when each is next open.
func (m *tabPanel) refresh() {
	for t := range m.tabs {
		m.tabs[t].invalidate()
	}
}

func (m *tabPanel) refreshTabs(list ...tabs.Tab) {
	for _, t := range list {
		m.tabs[t].invalidate()
	}
}

// rowsVersion returns a number that is another one whenever rows have changed.
func (m *tabPanel) rowsVersion() int {
	n := 0
	for t := range m.tabs {
		n += m.tabs[t].version
	}
	return n
}

// rebuildRows makes the rows of a tab again, if what they show has changed.
func (m *tabPanel) rebuildRows(t tabs.Tab) {
	if b := &m.tabs[t]; b.outdated {
		b.outdated = false
		b.setRows(m.table[t].Rows())
	}
}

// setMark sets or removes an item's mark. Rows show it without being made again.
func (m *tabPanel) setMark(at int, looked bool) {
	m.Checklist.Mark(at, looked)
	m.activeTab().stale = true
}

// settle brings cursor, window and detail of the open tab in line with each
// other, and notes which lines of evidence are on the screen.
func (m *review) settle() {
	m.Size = frame.Arrange(m.Size.Width, m.Size.Height, m.screen == screenReview)
	if m.tab == tabs.Diff {
		m.Size = m.Size.Narrow()
	}
	switch {
	case m.screen == screenReview && m.Size.Mode != frame.ModeNone && m.page == nil:
		m.activeTab().settle(m.tabPanel)
	case m.screen == screenConfirm && m.Size.Mode > frame.ModeTiny:
		m.confirm.settleConfirm()
	}
}

// activeTab returns the open tab, with up-to-date rows.
func (m *tabPanel) activeTab() *masterDetail {
	m.rebuildRows(m.tab)
	return &m.tabs[m.tab]
}

// key handles all keys. ctrl+c comes first, because it always quits.
func (m *review) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	switch {
	case key.Matches(msg, m.keys.Stop):
		return m.quit()
	case key.Matches(msg, m.keys.Suspend):
		return tea.Suspend
	case m.Size.Mode == frame.ModeNone:
		return m.quitOn(msg)
	case m.search.typing:
		return m.searchKey(msg)
	case m.canI.typing:
		m.canIKey(msg)
		return nil
	case m.narrowing:
		m.onlyKey(msg)
		return nil
	case m.palette.Typing:
		if c := m.palette.Key(m.keys, msg); c != nil {
			return m.reviewKey(c.Press())
		}
		return nil
	case m.page != nil:
		m.page = m.page.Key(m.keys, msg, m.Size)
		return nil
	case m.screen == screenConfirm:
		return m.confirmKey(msg)
	case m.screen == screenReview:
		return m.reviewKey(msg)
	case m.Plan != nil && key.Matches(msg, m.keys.Back):
		m.stopReplan()
		return nil
	}
	return m.quitOn(msg)
}

func (m *review) quitOn(msg tea.KeyPressMsg) tea.Cmd {
	if key.Matches(msg, m.keys.Quit) {
		return m.quit()
	}
	return nil
}

// paste inserts pasted text into the query or question that is being typed. On
// CONFIRM it is ignored, so that it approves nothing.
func (m *review) paste(msg tea.PasteMsg) {
	switch {
	case m.screen != screenReview || m.Size.Mode == frame.ModeNone:
	case m.search.typing:
		m.search.input.Update(msg)
	case m.canI.typing:
		m.canI.input.Update(msg)
	case m.narrowing:
		m.only.Update(msg)
		m.narrow(m.only.Value())
	case m.palette.Typing:
		m.palette.Paste(msg)
	}
}

// showHits goes to the hits of a search, unless CONFIRM has been opened meanwhile.
func (m *review) showHits(msg searchedMsg) tea.Cmd {
	if m.screen != screenReview {
		return nil
	}
	return m.setHits(msg)
}

// reviewed reports whether everything that an approval needs is reviewed, and
// an approval could cover the plan.
func (m *review) reviewed() bool {
	return m.Checklist != nil && m.Checklist.Remaining() == 0 && !hasObstacles(m.Plan) && m.gate.now(m.tabPanel.View) == nil
}

// command returns the command line that the user can copy: the one that
// approves the plan or, before everything is reviewed, the one that shows it.
func (m *review) command() string {
	if m.reviewed() {
		return document.Command(m.Plan)
	}
	return document.RepeatCommand(m.Plan)
}

// quit ends the review without an approval. On CONFIRM it counts as the answer no.
func (m *review) quit() tea.Cmd {
	m.outcome.Kind, m.outcome.Reviewed = Quit, m.reviewed()
	if m.screen == screenConfirm {
		m.outcome.Kind = Declined
	}
	return tea.Quit
}

// reviewKey handles the keys of the REVIEW screen.
func (m *review) reviewKey(msg tea.KeyPressMsg) tea.Cmd {
	k, b := m.keys, m.activeTab()
	if decision, ok := m.conflictKey(msg); ok {
		return decision
	}
	if choice, ok := m.settingKey(msg); ok {
		return choice
	}
	switch {
	case key.Matches(msg, k.Quit):
		return m.quit()
	case m.sheetKey(msg):
	case key.Matches(msg, k.Tabs):
		if at, shown := int(msg.Code-'1'), m.ShownTabs(); at < len(shown) {
			m.openTab(shown[at])
		}
	case key.Matches(msg, k.NextPane):
		m.nextPane(1)
	case key.Matches(msg, k.PrevPane):
		m.nextPane(-1)
	case key.Matches(msg, k.Open):
		m.open()
	case key.Matches(msg, k.Back):
		m.back()
	case key.Matches(msg, k.Next):
		return m.nextOrHit(1)
	case key.Matches(msg, k.Previous):
		return m.nextOrHit(-1)
	case key.Matches(msg, k.Mark):
		m.toggleMark()
	case key.Matches(msg, k.Search):
		m.startSearch()
	case key.Matches(msg, k.NextHit):
		return m.gotoNext(1)
	case key.Matches(msg, k.PreviousHit):
		return m.gotoNext(-1)
	case m.filterKey(msg):
	case m.detailKey(msg):
	case key.Matches(msg, k.Pager):
		return m.openPager()
	case key.Matches(msg, k.Palette):
		m.palette = frame.NewPalette(m.commands())
	case key.Matches(msg, k.Copy):
		return m.copy(b.copyText())
	case key.Matches(msg, k.CopyCommand):
		return m.copy(m.command())
	case key.Matches(msg, k.Approve):
		return m.approve()
	case key.Matches(msg, k.Replan):
		return m.replan()
	case key.Matches(msg, k.Mouse):
		m.mouseOff = !m.mouseOff
		m.notice = frame.MouseNotice(m.mouseOff)
	case key.Matches(msg, k.Help):
		m.openHelp()
	default:
		if !b.move(m.tabPanel, msg) {
			m.notice = unknownKey(msg)
		}
	}
	return nil
}

// commands returns the commands whose names can be typed: the tabs, and those of keys.
func (m *review) commands() []frame.Command {
	var out []frame.Command
	for i, t := range m.ShownTabs() {
		out = append(out, frame.Command{Name: strings.ToLower(m.table[t].Name), Key: strconv.Itoa(i + 1), Does: "open the tab"})
	}
	return append(out, m.keys.ReviewCommands()...)
}

// unknownKey returns the notice that a key does nothing.
func unknownKey(msg tea.KeyPressMsg) string {
	return fmt.Sprintf("%s does nothing here: ? lists the keys", msg.String())
}

// detailKey handles the keys that show more about the selected row; false for others.
func (m *review) detailKey(msg tea.KeyPressMsg) bool {
	k := m.keys
	switch {
	case m.failed != nil && key.Matches(msg, k.YAML):
		m.page = errorPage(m.Size.Width, "What happened", m.failed)
	case key.Matches(msg, k.YAML):
		m.openDoc(diffview.YAML)
	case key.Matches(msg, k.Diff):
		m.openDoc(diffview.Diff)
	case key.Matches(msg, k.Explain):
		m.explain()
	case key.Matches(msg, k.CanI):
		m.startCanI()
	default:
		return false
	}
	return true
}

// filterKey handles the keys that choose what the lists show; false for others.
func (m *review) filterKey(msg tea.KeyPressMsg) bool {
	k := m.keys
	switch {
	case m.tab == tabs.Access && m.activeTab().pane == frame.PaneList && key.Matches(msg, k.Group):
		m.Filter.Group = (m.Filter.Group + 1) % tabs.GroupCount
		m.refreshTabs(tabs.Access)
	case key.Matches(msg, k.Only):
		m.startOnly()
	case key.Matches(msg, k.Filter):
		m.cycleFilter()
	case key.Matches(msg, k.Package):
		m.cyclePackage()
	case key.Matches(msg, k.ClearFilter):
		m.clearFilter()
	default:
		return false
	}
	return true
}

// Run shows a plan and asks for approval. An error means that the screen could
// not run, or that ctx ended it; the outcome then approves nothing.
func Run(ctx context.Context, opts Options) (Outcome, error) {
	if err := opts.check(); err != nil {
		return Outcome{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newReview(ctx, opts)
	if err := frame.Run(ctx, m, opts.Terminal); err != nil {
		out := Outcome{Kind: Quit, Plan: m.Plan, Err: err}
		if ctx.Err() != nil { // a signal, and no panic
			out.MarksErr = m.kept.save(m.Plan, m.Checklist)
		}
		return out, err
	}
	m.outcome.MarksErr = m.kept.save(m.Plan, m.Checklist)
	return m.outcome, nil
}

func (o *Options) check() error {
	if (o.Plan == nil || o.Before != nil) && o.Resolve == nil {
		return errors.New("opening the review: neither a plan nor a way to make one")
	}
	if o.Recheck == nil && !o.ReadOnly {
		return errors.New("opening the review: an approval needs a way to check the cluster again")
	}
	return nil
}
