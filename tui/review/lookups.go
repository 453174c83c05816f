package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/describe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// index finds the parts of a plan that belong to an object, so that no frame and
// no document searches the whole plan. Each part is made when it is first asked
// for: the first frame needs none.
type index struct {
	plan    *preview.Plan
	board   *checklist
	objects map[string]int    // position in the plan's objects, by id
	stages  map[string]int    // position in the plan's stages, by object id
	items   map[string][]int  // positions on the checklist, by object id
	worst   map[string]int    // rank of a rule's worst finding, by rule
	tree    *tree             // made when the objects tab opens
	names   map[string]string // words for generated names, by object id
}

// tree is the order of the objects tab.
type tree struct {
	kinds []string // kind and group, by position of the object
	order []int    // positions of the objects by stage, kind and id

	branches map[string]branch // as they were made last, by id
}

// object is the position of an object in the plan.
func (x *index) object(id string) (int, bool) {
	if x.objects == nil {
		x.objects = make(map[string]int, len(x.plan.Objects))
		for i := range x.plan.Objects {
			x.objects[x.plan.Objects[i].ID] = i
		}
	}
	i, ok := x.objects[id]
	return i, ok
}

// stageOf is the position of the stage that writes an object.
func (x *index) stageOf(id string) (int, bool) {
	if x.stages == nil {
		x.stages = make(map[string]int, len(x.plan.Objects))
		for i, s := range x.plan.Stages {
			for _, id := range s.Objects {
				x.stages[id] = i
			}
		}
	}
	i, ok := x.stages[id]
	return i, ok
}

// itemsOf are the positions on the checklist of the findings about an object, by
// rank.
func (x *index) itemsOf(id string) []int {
	if x.items == nil {
		x.items = map[string][]int{}
		for i, it := range x.board.items {
			for _, f := range it.Findings {
				if at := x.items[f.Object]; len(at) == 0 || at[len(at)-1] != i {
					x.items[f.Object] = append(at, i)
				}
			}
		}
	}
	return x.items[id]
}

// danger is the rank of the worst finding of some rules, that of info where
// they have none. Lower is worse.
func (x *index) danger(rules []string) int {
	if x.worst == nil {
		x.worst = map[string]int{}
		for i := range x.plan.Findings {
			f := &x.plan.Findings[i]
			if rank, known := x.worst[f.Rule]; !known || f.Severity.Rank() < rank {
				x.worst[f.Rule] = f.Severity.Rank()
			}
		}
	}
	worst := preview.Info.Rank()
	for _, rule := range rules {
		if rank, ok := x.worst[rule]; ok {
			worst = min(worst, rank)
		}
	}
	return worst
}

func (m *view) tree() *tree {
	if m.index.tree == nil {
		m.index.tree = m.index.newTree()
	}
	return m.index.tree
}

// buildIndex returns the command that makes the index of a plan, once per plan:
// tabs open sooner where it is there.
func (m *tabPanel) buildIndex() tea.Cmd {
	if m.plan == nil || m.indexed == m.plan {
		return nil
	}
	m.indexed = m.plan
	x := index{plan: m.plan, board: m.checklist} // of its own: the review's is read meanwhile
	return func() tea.Msg {
		x.object("")
		x.itemsOf("")
		x.danger(nil)
		x.generatedNames()
		x.tree = x.newTree()
		return indexedMsg{x}
	}
}

// setIndex takes it, unless it was made meanwhile because it was needed.
func (m *tabPanel) setIndex(msg indexedMsg) {
	if x := msg.index; x.plan == m.plan && x.board == m.checklist && m.index.tree == nil {
		m.index = x
	}
}

// stageAt is the position of the stage of an object, behind all where it has
// none.
func (x *index) stageAt(i int) int {
	if at, ok := x.stageOf(x.plan.Objects[i].ID); ok {
		return at
	}
	return len(x.plan.Stages)
}

func (x *index) newTree() *tree {
	objects := x.plan.Objects
	t := &tree{kinds: make([]string, len(objects)), order: make([]int, len(objects)), branches: map[string]branch{}}
	stages := make([]int, len(objects))
	for i := range objects {
		o := &objects[i]
		t.order[i], t.kinds[i], stages[i] = i, o.Kind+"."+o.Ref().Group(), x.stageAt(i)
	}
	slices.SortFunc(t.order, func(a, b int) int {
		return cmp.Or(stages[a]-stages[b], strings.Compare(t.kinds[a], t.kinds[b]), strings.Compare(objects[a].ID, objects[b].ID))
	})
	return t
}

// object returns the plan's object with an id, nil when there is none.
func (m *view) object(id string) *preview.Object {
	i, ok := m.index.object(id)
	if !ok {
		return nil
	}
	return &m.plan.Objects[i]
}

// worstItem is the finding about an object that a person should see first: the
// gravest of those not looked at, else the gravest; -1 without any that is
// more than information.
func (m *view) worstItem(id string) int {
	best := -1
	for _, i := range m.index.itemsOf(id) {
		if m.checklist.items[i].Severity() == preview.Info {
			break
		}
		if !m.checklist.isReviewed(i) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}

// foreignFields holds the fields that other managers set in the release's
// objects where the plan sets none: they stay as they are, and a reviewer may
// want to know of them.
type foreignFields struct {
	plan *preview.Plan // that it was looked for in
	of   map[string][]diff.SetField
}

type foreignFieldsMsg foreignFields

// findForeignFields returns the command that reads the managed fields of a plan's
// live objects, once per plan: there may be thousands. A release that is not
// installed yet has none.
func (m *tabPanel) findForeignFields() tea.Cmd {
	p := m.plan
	if p == nil || m.foreign.plan == p {
		return nil
	}
	m.foreign = foreignFields{plan: p}
	if p.Base.Revision == 0 {
		return nil
	}
	return func() tea.Msg {
		found := foreignFieldsMsg{plan: p, of: map[string][]diff.SetField{}}
		for i := range p.Objects {
			if fields := describe.ForeignFields(&p.Objects[i]); len(fields) > 0 {
				found.of[p.Objects[i].ID] = fields
			}
		}
		return found
	}
}

// setForeignFields shows what a look at the managed fields found.
func (m *tabPanel) setForeignFields(msg foreignFieldsMsg) {
	if msg.plan != m.plan {
		return
	}
	m.foreign = foreignFields(msg)
	m.refreshTab(tabSummary)
	m.refreshTab(tabObjects)
}

// foreignFieldLines lists what others set in an object.
func (m *view) foreignFieldLines(b *frame.Builder, id string) {
	fields := m.foreign.of[id]
	if len(fields) == 0 {
		return
	}
	b.Heading("Changed outside this plan")
	for i, f := range fields {
		if i == maxEvidence {
			b.Text(theme.Plain, "   ", fmt.Sprintf("… %d more fields", len(fields)-i))
			break
		}
		b.Text(theme.Plain, "   ", f.Path+"  "+frame.ShortValue(f.Value)+describe.Setter(f.Setter))
	}
	b.Text(theme.Plain, "   ", "the apply leaves these fields as they are")
}

// PriorAcceptance records who accepted a finding with an earlier revision,
// when, and which version that was. Fields that are not on record any more are
// empty.
type PriorAcceptance struct {
	By      string
	At      time.Time
	Version string
}

// priorAcceptances holds the acceptances of earlier revisions, by revision.
type priorAcceptances struct {
	plan *preview.Plan // that it was looked for in
	of   map[int]PriorAcceptance
}

type priorAcceptancesMsg priorAcceptances

// findPriorAcceptances returns the command that asks who accepted the findings that a
// plan has from an earlier revision, once per plan and when there are any.
func (m *tabPanel) findPriorAcceptances() tea.Cmd {
	p, ask := m.plan, m.opts.PriorAcceptance
	if p == nil || m.prior.plan == p {
		return nil
	}
	m.prior = priorAcceptances{plan: p}
	revisions := map[int]bool{}
	for _, f := range p.Findings {
		if f.AcceptedIn > 0 {
			revisions[f.AcceptedIn] = true
		}
	}
	if ask == nil || len(revisions) == 0 {
		return nil
	}
	ctx := m.ctx
	return func() tea.Msg {
		found := priorAcceptancesMsg{plan: p, of: map[int]PriorAcceptance{}}
		for revision := range revisions {
			if a, ok := ask(ctx, p.Release, revision); ok {
				found.of[revision] = a
			}
		}
		return found
	}
}

func (m *tabPanel) setPriorAcceptances(msg priorAcceptancesMsg) {
	if msg.plan != m.plan {
		return
	}
	m.prior = priorAcceptances(msg)
	m.refreshTab(tabSummary)
	m.refreshTab(tabFindings)
}

// gateError holds the gate's refusal of a plan that no approval can cover; nil
// for others.
type gateError struct {
	plan *preview.Plan // that it was looked for in
	why  error
}

type gateErrorMsg gateError

// checkGate returns the command that asks the gate about a plan, once per
// plan: it walks all of the plan, which the first frame does not wait for.
func (m *review) checkGate() tea.Cmd {
	if m.plan == nil || m.gateErr.plan == m.plan {
		return nil
	}
	m.gateErr = gateError{plan: m.plan}
	if m.opts.ReadOnly {
		return nil
	}
	p, ask := m.plan, m.gate()
	return func() tea.Msg { return gateErrorMsg{p, ask()} }
}

func (m *review) setGateError(msg gateErrorMsg) {
	if msg.plan == m.plan {
		m.gateErr = gateError(msg)
	}
}

// gateErrorNow asks the gate now, however late the answer of the command is: a
// user whose plan no approval can cover is not asked.
func (m *review) gateErrorNow() error {
	if m.opts.ReadOnly {
		return nil
	}
	m.gateErr = gateError{m.plan, m.gate()()}
	return m.gateErr.why
}

// gate returns the question whether an approval that accepts everything would
// cover the plan. It changes nothing of the review.
func (m *review) gate() func() error {
	p, gate, b := m.plan, m.opts.Gate, m.checklist
	return func() error {
		return gate(p, record.Approval{
			Digest: p.Digest, How: record.ApprovedOnScreen, By: p.Target.User, Ruleset: p.Ruleset, Accepted: b.accepted(),
		})
	}
}
