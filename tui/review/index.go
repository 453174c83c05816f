package review

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// index finds the parts of a plan that belong to an object, so that no frame and
// no document searches the whole plan. Each part is made when it is first asked
// for: the first frame needs none.
type index struct {
	plan    *preview.Plan
	board   *board
	objects map[string]int   // position in the plan's objects, by id
	stages  map[string]int   // position in the plan's stages, by object id
	items   map[string][]int // positions on the board, by object id
	worst   map[string]int   // rank of a rule's worst finding, by rule
	tree    *tree            // made when the objects tab opens
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

// itemsOf are the positions on the board of the findings about an object, by
// rank.
func (x *index) itemsOf(id string) []int {
	if x.items == nil {
		x.items = map[string][]int{}
		for i, it := range x.board.items {
			for _, f := range it.findings {
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

// lookAhead returns the command that makes the index of a plan, once per plan:
// tabs open sooner where it is there.
func (m *deck) lookAhead() tea.Cmd {
	if m.plan == nil || m.indexed == m.plan {
		return nil
	}
	m.indexed = m.plan
	x := index{plan: m.plan, board: m.board} // of its own: the review's is read meanwhile
	return func() tea.Msg {
		x.object("")
		x.itemsOf("")
		x.danger(nil)
		x.tree = x.newTree()
		return indexedMsg{x}
	}
}

// foundIndex takes it, unless it was made meanwhile because it was needed.
func (m *deck) foundIndex(msg indexedMsg) {
	if x := msg.index; x.plan == m.plan && x.board == m.board && m.index.tree == nil {
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

// worst is the finding about an object that a person should see first: the
// gravest of those not looked at, else the gravest; -1 without any that is
// more than information.
func (m *view) worst(id string) int {
	best := -1
	for _, i := range m.index.itemsOf(id) {
		if m.board.items[i].severity() == preview.Info {
			break
		}
		if !m.board.looked(i) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}
