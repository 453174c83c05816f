package review

import (
	"fmt"
	"sort"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// objectFilter is one of the choices of what the objects tab shows.
type objectFilter struct {
	name  string
	shows func(m *view, o *preview.Object) bool
}

// objectFilters are the choices, in the order f goes through them.
func objectFilters() []objectFilter {
	return []objectFilter{
		objectsAll:       {"all", func(*view, *preview.Object) bool { return true }},
		objectsChanged:   {"changes only", func(_ *view, o *preview.Object) bool { return !stays(o.Action) }},
		objectsUnchanged: {"unchanged only", func(_ *view, o *preview.Object) bool { return stays(o.Action) }},
		objectsFindings:  {"with findings", func(m *view, o *preview.Object) bool { return m.worst(o.ID) >= 0 }},
		objectsOutside:   {"changed outside", func(m *view, o *preview.Object) bool { return len(m.outside.of[o.ID]) > 0 }},
	}
}

// stays reports whether an action sends nothing and stops nothing.
func stays(a preview.Action) bool {
	return a == preview.ActionUnchanged || a == preview.ActionKeep || a == preview.ActionSkip || a == preview.ActionShared
}

// objectsBy returns the indexes of the objects with an action, sorted by name.
func (m *view) objectsBy(a preview.Action) []int {
	var at []int
	for i := range m.plan.Objects {
		if o := &m.plan.Objects[i]; o.Action == a && m.ofPackage(o) {
			at = append(at, i)
		}
	}
	sort.SliceStable(at, func(x, y int) bool { return m.plan.Objects[at[x]].ID < m.plan.Objects[at[y]].ID })
	return at
}

func (m *view) objectRow(o *preview.Object) row {
	line := func(width int) widget.Line {
		name, sign := frame.ObjectName(o.ID), widget.Line{widget.Cell(frame.ActionRole(o.Action), o.Action.Symbol(), 4)}
		var happens widget.Line
		if n := len(o.Changes); n > 0 && o.Action != preview.ActionCreate {
			happens = append(happens, widget.Text(theme.Change, "  "+preview.Plural(n, "field")))
		}
		if len(o.Conflicts) > 0 {
			happens = append(happens, widget.Text(theme.Fail, "  x "+preview.Plural(len(o.Conflicts), "conflict")))
		}
		return append(sign, widget.KeepEnd(theme.Plain, frame.ShortKind(name), happens, width-sign.Width())...)
	}
	return row{id: o.ID, object: o.ID, copy: o.ID, line: line,
		words: func() string { return string(o.Action) + " " + frame.ObjectName(o.ID) }, says: func() string { return m.explainAction(o) }}
}

// treeRow is an object below the branch of its kind: what happens to it, the
// gravest finding about it, and its name; with room also all of its findings.
func (m *objectsTab) treeRow(i, depth int, parent string) row {
	o := &m.plan.Objects[i]
	about, items := m.index.itemsOf(o.ID), m.board.items
	line := func(width int) widget.Line {
		name := o.Name
		if o.Namespace != "" && o.Namespace != m.plan.Release.Namespace {
			name = o.Namespace + "/" + name
		}
		sign, role := "", theme.Plain
		if at := m.worst(o.ID); at >= 0 {
			sign, role = frame.SeveritySign(m.board.items[at].severity(), m.board.looked(at))
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
		return append(append(l, widget.Tail(theme.Plain, name, max(8, width-l.Width()-tail.Width()-1))), tail...)
	}
	return row{
		id: o.ID, parent: parent, object: o.ID, copy: o.ID, line: line, says: func() string { return m.explainAction(o) },
		words: func() string { return string(o.Action) + " " + frame.ObjectName(o.ID) + " " + labelsOf(items, about) },
	}
}

// labelsOf are the labels of some items, those that are information left out.
func labelsOf(items []item, at []int) string {
	var labels []string
	for _, i := range at {
		if it := items[i]; it.severity() != preview.Info {
			labels = append(labels, it.label())
		}
	}
	return strings.Join(labels, " ")
}

// wideRow is from how many cells a row of the tree has room for words and labels.
const wideRow = 60

// explainAction says in words what apply does with an object.
func (m *view) explainAction(o *preview.Object) string {
	if len(m.plan.Packages) == 0 { // nothing is installed: the release goes
		switch o.Action {
		case preview.ActionDelete:
			if o.Kind == "Namespace" {
				return "was made by the release and is deleted last, with everything in it"
			}
			return "belongs to the release and is deleted"
		case preview.ActionKeep:
			if o.Kind == "CustomResourceDefinition" {
				return "belongs to the release and stays, with its objects; --include-crds deletes them all"
			}
			return "belongs to the release and stays, with what it holds"
		}
	}
	switch o.Action {
	case preview.ActionCreate:
		return "does not exist yet and is created; if somebody makes it meanwhile, apply stops"
	case preview.ActionUpdate:
		return "exists and changes in " + preview.Plural(len(o.Changes), "field") + "; everything else in it stays"
	case preview.ActionUnchanged:
		return "is already as it would be; nothing is sent"
	case preview.ActionDelete:
		if o.FormerOwner() {
			return "is deleted first, so that what is adopted is not given back to it or deleted with it"
		}
		return "belongs to the installed revision, not to this one, and is deleted"
	case preview.ActionKeep:
		if preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
			return "is being deleted, and waits for its finalizers"
		}
		return "belongs to the installed revision, not to this one, and stays: it is never pruned"
	case preview.ActionShared:
		return "another release has exactly the same; it stays that one's, and nothing is sent"
	case preview.ActionSkip:
		return "the cluster does not serve its kind; nothing is sent, and an upgrade creates it once the API is there"
	case preview.ActionReplace:
		return "a field that cannot change differs: deleted, then created again"
	case preview.ActionAdopt:
		return "exists and is not of this release, which takes it over: one write takes its former owner off, and the apply follows"
	case preview.ActionBlocked:
		return "belongs to somebody else, is being deleted or may not be replaced; the plan cannot be applied"
	case preview.ActionUnknown:
		return "could not be read: it may exist, and may differ"
	}
	return string(o.Action)
}

// doc is what the plan knows of an object.
func (m *objectsTab) doc(id string, width int) document {
	if strings.HasPrefix(id, branchPrefix) {
		return m.branchDoc(id, width)
	}
	o := m.object(id)
	if o == nil {
		return document{}
	}
	b := &frame.Builder{Width: width}
	b.Add(widget.Line{widget.Text(theme.Strong, " "+frame.ObjectName(id)), widget.Text(frame.ActionRole(o.Action), "   "+o.Action.Symbol()+" "+string(o.Action))})
	b.Text(theme.Plain, " ", m.explainAction(o))
	for _, u := range m.plan.Unknowns {
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
		b.Heading("What changes")
		changeLines(b, o.Changes, 0)
	}
	m.conflicts(b, o)
	secretKeys(b, o)
	m.outsideLines(b, id)
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
	return document{lines: b.Lines}
}

func (m *view) conflicts(b *frame.Builder, o *preview.Object) {
	if len(o.Conflicts) == 0 {
		return
	}
	b.Heading("Fields that others manage")
	for _, c := range o.Conflicts {
		b.Text(theme.Fail, "   ", "x "+m.plan.Contested(o, c))
	}
}

// secretKeys says which keys of a Secret differ, and nothing about values.
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

// stageOf names the step of the apply that writes an object.
func (m *view) stageOf(id string) string {
	i, ok := m.index.stageOf(id)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s (%d of %d)", m.plan.Stages[i].ID, i+1, len(m.plan.Stages))
}
