package tabs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Index finds what a plan has about an object, such as its findings, so that no
// frame searches the whole plan. Each of its maps is made when it is first
// needed; the first frame needs none.
type Index struct {
	plan    *preview.Plan
	board   *Checklist
	objects map[string]int             // position in the plan's objects, by id
	stages  map[string]int             // position in the plan's stages, by object id
	items   map[string][]int           // positions on the checklist, by object id
	worst   map[string]int             // rank of a rule's worst finding, by rule
	tree    *tree                      // made when the objects tab opens
	names   map[string]string          // words for generated names, by object id
	renamed map[string]*preview.Object // what an object replaces, by its id
	gone    map[string]bool            // ids of objects that others replace; made with renamed
}

// tree is the order of the objects in the objects tab, and its branches.
type tree struct {
	kinds  []string // kind and group, by position of the object
	stages []int    // position of the stage, by that of the object; after all stages if it has none
	order  []int    // positions of the objects by stage, kind and id

	branches map[string]branch // as they were made last, by id
}

// object returns the position of an object in the plan; false if it is not there.
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

// stageOf returns the position of the stage in which an object is written;
// false if none.
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

// itemsOf returns the positions, on the checklist, of the findings about an
// object, most severe first.
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

// danger returns the severity rank of the worst finding of these rules, that of
// info if they have none. A lower rank is worse.
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

// objectTree returns the tree of the objects tab, which is made at the first call.
func (x *Index) objectTree() *tree {
	if x.tree == nil {
		x.tree = x.newTree()
	}
	return x.tree
}

// stageAt returns the position of the stage of the plan's i-th object, after
// all stages if it has none.
func (x *Index) stageAt(i int) int { return x.objectTree().stages[i] }

func (x *Index) newTree() *tree {
	objects := x.plan.Objects
	t := &tree{kinds: make([]string, len(objects)), stages: make([]int, len(objects)), order: make([]int, len(objects)), branches: map[string]branch{}}
	for i := range objects {
		o := &objects[i]
		t.order[i], t.kinds[i], t.stages[i] = i, o.Kind+"."+o.Ref().Group(), len(x.plan.Stages)
		if stage, ok := x.stageOf(o.ID); ok {
			t.stages[i] = stage
		}
	}
	slices.SortFunc(t.order, func(a, b int) int {
		return cmp.Or(t.stages[a]-t.stages[b], strings.Compare(t.kinds[a], t.kinds[b]), strings.Compare(objects[a].ID, objects[b].ID))
	})
	return t
}

// Object returns the plan's object with that id, nil if there is none.
func (m *View) Object(id string) *preview.Object {
	i, ok := m.index.object(id)
	if !ok {
		return nil
	}
	return &m.Plan.Objects[i]
}

// worstItem returns the index of the item about an object that the user should
// see first: the most severe one that is not reviewed, else the most severe. It
// is -1 if there is none but information.
func (x *Index) worstItem(id string) int {
	best := -1
	for _, i := range x.itemsOf(id) {
		if x.board.Items[i].Severity() == preview.Info {
			break
		}
		if !x.board.IsReviewed(i) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}

// ForeignFields are the fields of the release's live objects that other field managers
// set and the plan does not: they stay as they are, and are shown to the reviewer.
type ForeignFields struct {
	Plan *preview.Plan // that it was looked for in
	Of   map[string][]diff.SetField
}

// foreignFieldLines appends the fields that only others set in an object.
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
		b.Text(theme.Plain, "   ", f.Path+"  "+frame.ShortValue(f.Value)+setterText(f.Setter))
	}
	b.Text(theme.Plain, "   ", "the apply leaves these fields as they are")
}

// PriorAcceptance records with which revision, by whom and when a finding was
// accepted. Fields that are not on record any more are empty.
type PriorAcceptance struct {
	By      string
	At      time.Time
	Version string
}

// PriorAcceptances are the acceptances of earlier revisions, by revision.
type PriorAcceptances struct {
	Plan *preview.Plan // that it was looked for in
	Of   map[int]PriorAcceptance
}

// IndexMaker returns a function that makes a complete index of the plan, to be called
// outside of Update. It makes a new one, because the view reads its own meanwhile.
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

// TakeIndex replaces the view's index by one that was made in the background,
// unless the view has needed its own and made it meanwhile.
func (m *View) TakeIndex(x Index) {
	if x.plan == m.Plan && x.board == m.Checklist && m.index.tree == nil {
		m.index = x
	}
}

// isRisky reports whether a finding of one of these rules is critical or a warning.
func (x *Index) isRisky(rules []string) bool {
	return x.danger(rules) <= preview.Warning.Rank()
}

// changeMark says how a grant differs from those of the installed revision,
// with "!" before it if a rule found it risky.
func (x *Index) changeMark(change string, rules []string) string {
	switch {
	case x.isRisky(rules):
		return "! " + change
	case isChanged(change):
		return "+ " + change
	case change == preview.GrantRemoved, change == preview.GrantNarrowed:
		return "- " + change
	}
	return "= " + change
}

func (x *Index) stageID(i int) string {
	if at := x.stageAt(i); at < len(x.plan.Stages) {
		return x.plan.Stages[at].ID
	}
	return ""
}

func (x *Index) stageTitle(i int) string {
	if at := x.stageAt(i); at < len(x.plan.Stages) {
		return strconv.Itoa(at+1) + " " + x.plan.Stages[at].ID
	}
	return "no change"
}

func (x *Index) kindAt(i int) string { return x.objectTree().kinds[i] }
