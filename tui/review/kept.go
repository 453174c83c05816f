package review

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// MarkStore keeps the marks of reviewed findings between sessions, by the
// digest of the plan. They approve nothing: critical findings must be reviewed
// in the session that approves.
type MarkStore struct {
	Load func(digest string) []string
	Save func(digest string, marks []string) error
}

// loadedMarks are the marks of earlier sessions.
type loadedMarks struct {
	plan  *preview.Plan
	marks []string
}

// keptMarks are the marks of the plan under review in the store.
type keptMarks struct {
	store  MarkStore
	loaded loadedMarks
}

// load returns the command that reads the marks of earlier sessions, once per plan.
func (k *keptMarks) load(p *preview.Plan) tea.Cmd {
	if p == nil || k.loaded.plan == p || k.store.Load == nil {
		return nil
	}
	k.loaded = loadedMarks{plan: p}
	load := k.store.Load
	return func() tea.Msg { return loadedMarks{p, load(p.Digest)} }
}

// applyMarks applies the marks of earlier sessions. A finding that gates is not
// marked: its row only says that it was reviewed before.
func (m *review) applyMarks(msg loadedMarks) {
	if msg.plan != m.Plan || len(msg.marks) == 0 {
		return
	}
	m.kept.loaded = msg
	before := tabs.Marks{}
	for _, key := range msg.marks {
		before[key] = true
	}
	for i, it := range m.Checklist.Items {
		switch {
		case slices.ContainsFunc(it.Findings, func(f *preview.Finding) bool { return !before[tabs.FindingKey(f)] }):
		case it.Severity().Gates():
			m.Checklist.Before[i] = true
		default:
			m.Checklist.Mark(i, true)
		}
	}
	for i := range m.Plan.Objects {
		if key := tabs.ObjectKey(&m.Plan.Objects[i]); before[key] {
			m.Checklist.Marks[key] = true
		}
	}
	for t := range m.tabs {
		m.tabs[t].stale = true
	}
}

// save stores the marks of a plan, including those of earlier sessions that still
// count.
func (k *keptMarks) save(p *preview.Plan, list *tabs.Checklist) error {
	if k.store.Save == nil || p == nil || list == nil {
		return nil
	}
	keep := tabs.Marks{}
	for i, it := range list.Items {
		for _, f := range it.Findings {
			if list.Before[i] || list.Marks[tabs.FindingKey(f)] {
				keep[tabs.FindingKey(f)] = true
			}
		}
	}
	for i := range p.Objects {
		if key := tabs.ObjectKey(&p.Objects[i]); list.Marks[key] {
			keep[key] = true
		}
	}
	if len(keep) == 0 && len(k.loaded.marks) == 0 {
		return nil
	}
	return k.store.Save(p.Digest, slices.Sorted(maps.Keys(keep)))
}

// toggleObject sets or removes the mark of the object under the cursor.
func (m *tabPanel) toggleObject() {
	o := m.Object(m.activeTab().selected().Object)
	if o == nil {
		m.notice = "space marks an object; enter opens and closes the branch"
		return
	}
	if key := tabs.ObjectKey(o); m.Checklist.Marks[key] {
		delete(m.Checklist.Marks, key)
	} else {
		m.Checklist.Marks[key] = true
	}
}
