package tabs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/describe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Index finds the parts of a plan that belong to an object, so that no frame and
// no document searches the whole plan. Each part is made when it is first asked
// for: the first frame needs none.
type Index struct {
	plan    *preview.Plan
	board   *Checklist
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
func (x *Index) object(id string) (int, bool) {
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
func (x *Index) stageOf(id string) (int, bool) {
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
func (x *Index) itemsOf(id string) []int {
	if x.items == nil {
		x.items = map[string][]int{}
		for i, it := range x.board.Items {
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
func (x *Index) danger(rules []string) int {
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

func (m *View) tree() *tree {
	if m.index.tree == nil {
		m.index.tree = m.index.newTree()
	}
	return m.index.tree
}

// stageAt is the position of the stage of an object, behind all where it has
// none.
func (x *Index) stageAt(i int) int {
	if at, ok := x.stageOf(x.plan.Objects[i].ID); ok {
		return at
	}
	return len(x.plan.Stages)
}

func (x *Index) newTree() *tree {
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

// Object returns the plan's object with an id, nil when there is none.
func (m *View) Object(id string) *preview.Object {
	i, ok := m.index.object(id)
	if !ok {
		return nil
	}
	return &m.Plan.Objects[i]
}

// worstItem is the finding about an object that a person should see first: the
// gravest of those not looked at, else the gravest; -1 without any that is
// more than information.
func (m *View) worstItem(id string) int {
	best := -1
	for _, i := range m.index.itemsOf(id) {
		if m.Checklist.Items[i].Severity() == preview.Info {
			break
		}
		if !m.Checklist.IsReviewed(i) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}

// ForeignFields holds the fields that other managers set in the release's
// objects where the plan sets none: they stay as they are, and a reviewer may
// want to know of them.
type ForeignFields struct {
	Plan *preview.Plan // that it was looked for in
	Of   map[string][]diff.SetField
}

// foreignFieldLines lists what others set in an object.
func (m *View) foreignFieldLines(b *frame.Builder, id string) {
	fields := m.Foreign.Of[id]
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

// PriorAcceptances holds the acceptances of earlier revisions, by revision.
type PriorAcceptances struct {
	Plan *preview.Plan // that it was looked for in
	Of   map[int]PriorAcceptance
}

// IndexMaker returns a function, for use outside of Update, that makes the index of the
// plan whole. It is of its own: the view's is read meanwhile.
func (m *View) IndexMaker() func() Index {
	x := Index{plan: m.Plan, board: m.Checklist}
	return func() Index {
		x.object("")
		x.itemsOf("")
		x.danger(nil)
		x.generatedNames()
		x.tree = x.newTree()
		return x
	}
}

// TakeIndex takes an index that was made ahead of its need, unless one was needed and made
// meanwhile.
func (m *View) TakeIndex(x Index) {
	if x.plan == m.Plan && x.board == m.Checklist && m.index.tree == nil {
		m.index = x
	}
}
