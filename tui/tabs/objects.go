package tabs

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// objectFilter is one of the filters that the key f goes through in the objects tab.
type objectFilter struct {
	name  string
	shows func(m *View, o *preview.Object) bool
}

// objectFilters returns the filters, in the order in which the key f goes through them.
func objectFilters() []objectFilter {
	return []objectFilter{
		objectsAll:       {"all", func(*View, *preview.Object) bool { return true }},
		objectsChanged:   {"changes only", func(_ *View, o *preview.Object) bool { return !isUnchanged(o.Action) }},
		objectsUnchanged: {"unchanged only", func(_ *View, o *preview.Object) bool { return isUnchanged(o.Action) }},
		objectsFindings:  {"with findings", func(m *View, o *preview.Object) bool { return m.index.worstItem(o.ID) >= 0 }},
		objectsOutside:   {"changed outside", func(m *View, o *preview.Object) bool { return len(m.Foreign.Of[o.ID]) > 0 }},
	}
}

// isUnchanged reports whether an action writes nothing and does not block the plan.
func isUnchanged(a preview.Action) bool {
	return a == preview.ActionUnchanged || a == preview.ActionKeep || a == preview.ActionSkip || a == preview.ActionShared
}

// objectsBy returns the indexes of the objects with that action, sorted by id.
func (m *View) objectsBy(a preview.Action) []int {
	var at []int
	for i := range m.Plan.Objects {
		if o := &m.Plan.Objects[i]; o.Action == a && m.ofPackage(o) {
			at = append(at, i)
		}
	}
	sort.SliceStable(at, func(x, y int) bool { return m.Plan.Objects[at[x]].ID < m.Plan.Objects[at[y]].ID })
	return at
}

// objectRow returns the row of the i-th of some objects, which are indexes into
// the plan's.
func (m *View) objectRow(objects []int, i int) Row {
	o := &m.Plan.Objects[objects[i]]
	line := func(width int) widget.Line {
		name, sign := m.index.shortName(o), widget.Line{widget.Cell(frame.ActionRole(o.Action), o.Action.Symbol(), 4)}
		var happens widget.Line
		if n := len(o.Changes); n > 0 && o.Action != preview.ActionCreate {
			happens = append(happens, widget.Text(theme.Change, "  "+fieldsText(o, width)))
		}
		if text := m.renamedText(o); text != "" {
			happens = append(happens, widget.Text(theme.Change, "  "+text))
		}
		if len(o.Conflicts) > 0 {
			happens = append(happens, widget.Text(theme.Fail, "  x "+preview.Plural(len(o.Conflicts), "conflict")))
		}
		room := width - sign.Width() - happens.Width()
		at := widget.DifferencesAmong(len(objects), i, func(i int) string { return m.index.shortName(&m.Plan.Objects[objects[i]]) })
		return append(append(sign, kindAndName(name, at, min(room, nameWidth(name)))...), happens...)
	}
	return Row{ID: o.ID, Object: o.ID, Copy: o.ID, Line: line,
		words: func() string { return string(o.Action) + " " + frame.ObjectName(o.ID) }, says: func() string { return review.ActionText(m.Plan, o) },
		Inside: func() string { return diffview.SearchText(o) }}
}

// kindAndName returns kind and name of an object in that many cells. The kind is
// cut first, to a third of them.
func kindAndName(text string, at widget.Differences, cells int) widget.Line {
	kind, name, _ := strings.Cut(text, " ")
	before, after := at.Split(len(kind) + 1)
	width := max(min(nameWidth(kind), cells-1-nameWidth(name)), min(nameWidth(kind), cells/3))
	return widget.Line{widget.Apart(theme.Plain, kind, before, width), widget.Text(theme.Plain, " "), widget.Apart(theme.Plain, name, after, cells-width-1)}
}

// treeRow returns the row of an object below its kind: its action, the most
// severe finding about it, and its name; if there is room, the labels of all
// findings about it.
func (m *objectsTab) treeRow(objects []int, i, depth int, parent string) Row {
	o := &m.Plan.Objects[objects[i]]
	about, items := m.index.itemsOf(o.ID), m.Checklist.Items
	line := func(width int) widget.Line {
		name := m.index.nameInTree(o)
		sign, role := "", theme.Plain
		if at := m.index.worstItem(o.ID); at >= 0 {
			sign, role = frame.SeveritySign(m.Checklist.Items[at].Severity(), m.Checklist.IsReviewed(at))
		}
		if m.Checklist.Marks[ObjectKey(o)] && role != theme.Risk { // a mark hides no critical finding
			sign, role = "ok", theme.Good
		}
		action := widget.Cell(frame.ActionRole(o.Action), o.Action.Symbol(), 4)
		if width >= wideRow {
			action = widget.Cell(frame.ActionRole(o.Action), fmt.Sprintf("%-3s %s", o.Action.Symbol(), o.Action), 14)
		}
		l := widget.Line{widget.Text(theme.Plain, strings.Repeat("  ", depth)), action, widget.Cell(role, sign, 3)}
		var tail widget.Line
		if len(o.Conflicts) > 0 {
			tail = append(tail, widget.Text(theme.Fail, "  x "+preview.Plural(len(o.Conflicts), "conflict")))
		}
		if n := len(o.Changes); n > 0 && o.Action != preview.ActionCreate {
			tail = append(tail, widget.Text(theme.Change, "  "+preview.Plural(n, "field")))
		}
		if labels := labelsOf(items, about); width >= wideRow && labels != "" {
			tail = append(tail, widget.Text(theme.Plain, "  "+labels))
		}
		at := widget.DifferencesAmong(len(objects), i, func(i int) string { return m.index.nameInTree(&m.Plan.Objects[objects[i]]) })
		return append(append(l, widget.Apart(theme.Plain, name, at, max(8, width-l.Width()-tail.Width()-1))), tail...)
	}
	r := Row{
		ID: o.ID, Parent: parent, Object: o.ID, Copy: o.ID, Line: line, says: func() string { return review.ActionText(m.Plan, o) },
		words: func() string { return string(o.Action) + " " + frame.ObjectName(o.ID) + " " + labelsOf(items, about) },
	}
	if !slices.Contains(diffOrder(), o.Action) { // else it is found in the diff
		r.Inside = func() string { return diffview.SearchText(o) }
	}
	return r
}

// labelsOf returns the labels of the items at some indexes, without those of
// information.
func labelsOf(items []item, at []int) string {
	var labels []string
	for _, i := range at {
		if it := items[i]; it.Severity() != preview.Info {
			labels = append(labels, it.Label())
		}
	}
	return strings.Join(labels, " ")
}

// wideRow is the width, in cells, from which a row of the tree has room for
// words and labels.
const wideRow = 60

// Doc returns the detail of an object, or of a branch.
func (m *objectsTab) Doc(id string, width int) Document {
	if strings.HasPrefix(id, BranchPrefix) {
		return m.branchDoc(id, width)
	}
	o := m.Object(id)
	if o == nil {
		return Document{}
	}
	b := &frame.Builder{Width: width}
	b.Add(widget.Line{widget.Text(theme.Strong, " "+frame.ObjectName(id)), widget.Text(frame.ActionRole(o.Action), "   "+o.Action.Symbol()+" "+string(o.Action))})
	b.Text(theme.Plain, " ", review.ActionText(m.Plan, o))
	for _, u := range m.Plan.Unknowns {
		if u.Object == id {
			b.Text(theme.Caution, " ", "? not known: "+u.Why)
		}
	}
	if lines := o.Adoption.Lines(); len(lines) > 0 {
		b.Heading("Adoption")
		for _, text := range lines {
			b.Text(theme.Plain, "   ", text)
		}
	}
	if len(o.Changes) > 0 && o.Action != preview.ActionCreate {
		b.Heading(m.changesTitle(o))
		changeLines(b, o.Changes, 0)
	}
	m.conflicts(b, o)
	secretKeys(b, o)
	m.foreignFieldLines(b, id)
	m.findingsOf(b, id)
	b.Heading("Identity")
	b.Pair("id", o.ID)
	b.Pair("apiVersion", o.APIVersion)
	b.Pair("package", o.Package)
	b.Pair("stage", m.stageOf(id))
	if place := o.Origin.Place(); place != "" {
		b.Pair("from", place)
	}
	b.Pair("object", o.Digest)
	b.Pair("live uid", o.Live.UID)
	b.Pair("live", o.Live.Fingerprint)
	b.Pair("result", o.Result)
	b.Blank()
	b.Text(theme.Plain, "   ", "e shows the exact YAML, d the difference to the cluster")
	return Document{Lines: b.Lines}
}

// secretKeys appends which keys of a Secret differ from the live one, without values.
func secretKeys(b *frame.Builder, o *preview.Object) {
	if len(o.SecretKeys) == 0 {
		return
	}
	b.Heading("Keys of the Secret")
	keys := make([]string, 0, len(o.SecretKeys))
	for k := range o.SecretKeys {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		b.Text(theme.Plain, "   ", fmt.Sprintf("%s  (secret, %s)", k, o.SecretKeys[k]))
	}
}

// stageOf names the stage in which an object is written, as in "crds (1 of 5)".
func (m *View) stageOf(id string) string {
	i, ok := m.index.stageOf(id)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s (%d of %d)", m.Plan.Stages[i].ID, i+1, len(m.Plan.Stages))
}

// BranchPrefix begins the row ids of branches. No object id begins with it,
// because object ids begin with an API group, which is a DNS name.
const BranchPrefix = "="

// A plan of more than manyObjects begins with its long branches closed, those
// in which all objects are alike and no finding is.
const (
	manyObjects = 60
	longBranch  = 8
)

// branch is a branch of the tree: a stage of the apply, or a kind in a stage,
// with the objects in it.
type branch struct {
	id     string
	depth  int
	title  string
	at     []int // positions in the plan's objects
	items  []int // positions on the checklist of the findings about them
	counts map[preview.Action]int
	grave  map[preview.Severity]int // objects with findings, by the gravest
}

// branches records, by id, which branches of the tree the user has opened
// (true) or closed.
type branches map[string]bool

// objectsTab shows the objects as a tree of stages and kinds.
type objectsTab struct{ *View }

func (m *objectsTab) Count() int { return len(m.Plan.Objects) }

// Rows returns the tree: the stages in the order of the apply, the kinds in
// them, and their objects. A stage with objects of one kind is one branch.
func (m *objectsTab) Rows() []Row {
	shown := m.shownObjects()
	rows := append(make([]Row, 0, len(shown)+len(shown)/8+16), m.objectChips(len(shown)))
	for len(shown) > 0 {
		stage := shown[:commonPrefix(shown, m.index.stageAt)]
		shown = shown[len(stage):]
		title := m.index.stageTitle(stage[0])
		if commonPrefix(stage, m.index.kindAt) == len(stage) {
			rows = m.addBranch(rows, "", title+"  "+kindWord(m.Plan.Objects[stage[0]].Kind), stage)
			continue
		}
		b := m.newBranch(0, title, BranchPrefix+m.index.stageID(stage[0]), stage)
		rows = append(rows, m.branchRow(b, ""))
		for len(stage) > 0 && m.isOpen(b) {
			kind := stage[:commonPrefix(stage, m.index.kindAt)]
			stage = stage[len(kind):]
			rows = m.addBranch(rows, b.id, kindWord(m.Plan.Objects[kind[0]].Kind), kind)
		}
	}
	if len(rows) == 1 {
		rows = append(rows, textRow(frame.Plain("nothing to show with this filter: F shows all")))
	}
	return rows
}

// shownObjects returns the indexes of the objects that pass the filters, by
// stage, kind and id.
func (m *objectsTab) shownObjects() []int {
	shows := objectFilters()[m.Filter.Objects].shows
	var at []int
	for _, i := range m.index.objectTree().order {
		if o := &m.Plan.Objects[i]; m.ofPackage(o) && shows(m.View, o) && (m.Filter.Only.find == nil || m.Filter.Only.passes(string(o.Action)+" "+frame.ObjectName(o.ID))) {
			at = append(at, i)
		}
	}
	return at
}

// commonPrefix returns how many elements at the front of a list have the same
// value of the function of.
func commonPrefix[T comparable](list []int, of func(int) T) int {
	n := 0
	for n < len(list) && of(list[n]) == of(list[0]) {
		n++
	}
	return n
}

// addBranch appends the row of a kind's branch and, if it is open, those of its
// objects. at are their indexes.
func (m *objectsTab) addBranch(rows []Row, parent, title string, at []int) []Row {
	depth := 0
	if parent != "" {
		depth = 1
	}
	b := m.newBranch(depth, title, BranchPrefix+m.index.stageID(at[0])+"/"+m.index.kindAt(at[0]), at)
	rows = append(rows, m.branchRow(b, parent))
	if !m.isOpen(b) {
		return rows
	}
	for i := range at {
		rows = append(rows, m.treeRow(at, i, depth+1, b.id))
	}
	return rows
}

func (m *objectsTab) newBranch(depth int, title, id string, at []int) branch {
	b := branch{id: id, depth: depth, title: title, at: at, counts: map[preview.Action]int{}, grave: map[preview.Severity]int{}}
	for _, i := range at {
		o := &m.Plan.Objects[i]
		b.counts[o.Action]++
		if items := m.index.itemsOf(o.ID); len(items) > 0 {
			b.items = append(b.items, items...)
			b.grave[m.Checklist.Items[items[0]].Severity()]++
		}
	}
	slices.Sort(b.items)
	b.items = slices.Compact(b.items)
	m.index.objectTree().branches[id] = b
	return b
}

// isOpen reports whether a branch shows its objects: as the user left it, else
// by default, which depends on how many objects there are.
func (m *objectsTab) isOpen(b branch) bool {
	if open, touched := m.Branches[b.id]; touched {
		return open
	}
	if len(m.Plan.Objects) <= manyObjects || len(b.at) <= longBranch || m.Filter.Objects != objectsAll || m.Filter.Package != "" || m.Filter.Only.find != nil {
		return true
	}
	same := b.counts[preview.ActionCreate] == len(b.at) || b.counts[preview.ActionUnchanged] == len(b.at)
	isKind := strings.Contains(b.id, "/")
	return !isKind || !same || b.grave[preview.Critical]+b.grave[preview.Warning]+b.grave[preview.NotKnown] > 0
}

// branchRow returns the row of a branch: its title and, on the right, how many
// of its objects have findings, and how many have which action.
func (m *objectsTab) branchRow(b branch, parent string) Row {
	mark := "▸ "
	if m.isOpen(b) {
		mark = "▾ "
	}
	left := widget.Line{widget.Text(theme.Plain, strings.Repeat("  ", b.depth)+mark), widget.Text(theme.Heading, b.title)}
	return Row{
		ID: b.id, Parent: parent, Text: b.title, Copy: b.title, says: func() string { return branchWords(b) },
		Line: func(width int) widget.Line {
			right := b.tally(true)
			if left.Width()+right.Width() > width {
				right = b.tally(false)
			}
			return widget.Spread(left, right, width)
		},
	}
}

// tally returns how many objects of a branch have findings of each severity,
// and how many have which action; inWords adds the actions' names.
func (b branch) tally(inWords bool) widget.Line {
	var line widget.Line
	for _, s := range []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown} {
		if n := b.grave[s]; n > 0 {
			sign, role := frame.SeveritySign(s, false)
			line = append(line, widget.Text(role, " "+strings.TrimSpace(sign)+strconv.Itoa(n)))
		}
	}
	for _, a := range preview.Actions() {
		n := b.counts[a]
		if n == 0 {
			continue
		}
		text := "  " + a.Symbol() + " " + strconv.Itoa(n)
		if inWords {
			text += " " + string(a)
		}
		line = append(line, widget.Text(frame.ActionRole(a), text))
	}
	return append(line, frame.Plain(" ")...)
}

// kindWord returns a kind as the tree shows it.
func kindWord(kind string) string {
	if kind == "ServiceAccount" {
		return kind // fits as it is
	}
	return frame.ShortKind(kind)
}

// branchWords says in words how many objects a branch has, by action.
func branchWords(b branch) string {
	var parts []string
	for _, a := range preview.Actions() {
		if n := b.counts[a]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, a))
		}
	}
	return preview.Plural(len(b.at), "object") + ": " + strings.Join(parts, ", ")
}

// objectChips returns the row that says which objects the list shows.
func (m *objectsTab) objectChips(shown int) Row {
	text := fmt.Sprintf("show: %s (f)   %d of %d", objectFilters()[m.Filter.Objects].name, shown, len(m.Plan.Objects)) + m.Filter.Only.chip()
	if chip := m.packageChip(); chip != "" {
		text = chip + "   " + text
	}
	return textRow(widget.Line{widget.Text(theme.Strong, text)})
}

// branchDoc returns the detail of a branch, by its row id.
func (m *objectsTab) branchDoc(id string, width int) Document {
	stage, kind, _ := strings.Cut(strings.TrimPrefix(id, BranchPrefix), "/")
	b, branch := &frame.Builder{Width: width}, m.index.objectTree().branches[id]
	if len(branch.at) == 0 {
		return Document{}
	}
	n := m.index.stageAt(branch.at[0])
	b.Add(widget.Line{widget.Text(theme.Strong, " "+strings.TrimSpace(stage+" "+frame.ShortKind(strings.TrimSuffix(kind, "."))))})
	if n < len(m.Plan.Stages) {
		s := m.Plan.Stages[n]
		b.Text(theme.Plain, " ", fmt.Sprintf("step %d of %d of the apply; when it is not done after %s, the apply stops before the next", n+1, len(m.Plan.Stages), s.Timeout))
	}
	b.Heading("What happens")
	for _, a := range preview.Actions() {
		if n := branch.counts[a]; n > 0 {
			b.Add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(frame.ActionRole(a), a.Symbol(), 4), widget.Text(theme.Plain, preview.Plural(n, "object")+"  "+string(a))})
		}
	}
	m.findingsIn(b, branch.items)
	b.Blank()
	b.Text(theme.Plain, "   ", "enter opens and closes the branch")
	return Document{Lines: b.Lines}
}

// findingsIn appends the first findings of a branch, without information.
func (m *View) findingsIn(b *frame.Builder, items []int) {
	for n, i := range items {
		switch {
		case m.Checklist.Items[i].Severity() == preview.Info:
			return
		case n == 0:
			b.Heading("Findings")
		case n == maxEvidence:
			b.Text(theme.Plain, "   ", fmt.Sprintf("… and %d more about these objects", len(items)-n))
			return
		}
		m.findingLine(b, i)
	}
}

// OpenAll opens every branch.
func (m *View) OpenAll() {
	for i := range m.Plan.Objects {
		m.Branches[BranchPrefix+m.index.stageID(i)] = true
		m.Branches[BranchPrefix+m.index.stageID(i)+"/"+m.index.kindAt(i)] = true
	}
}
