package review

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// corpusPlans are plans of the bundles of the corpus, by name: each installed, and
// as an upgrade of the version before it. Those that are refused are left out.
func corpusPlans(t *testing.T) map[string]*preview.Plan {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(dirs, func(a, b string) int {
		if c := strings.Compare(filepath.Dir(a), filepath.Dir(b)); c != 0 {
			return c
		}
		older, err := semver.NewVersion(filepath.Base(a))
		newer, err2 := semver.NewVersion(filepath.Base(b))
		if err != nil || err2 != nil {
			return strings.Compare(a, b)
		}
		return older.Compare(newer)
	})
	plans := map[string]*preview.Plan{}
	var before *preview.Plan
	for i, dir := range dirs {
		p := corpusPlan(t, dir)
		if p == nil {
			continue
		}
		name := filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))
		plans[name] = p
		if before != nil && filepath.Dir(dirs[i-1]) == filepath.Dir(dir) {
			plans[name+" (upgrade)"] = upgradeOf(before, corpusPlan(t, dir))
		}
		before = p
	}
	if len(plans) < 40 {
		t.Fatalf("only %d plans", len(plans))
	}
	return plans
}

// corpusPlan is the plan that installs a bundle, nil for one that is refused.
func corpusPlan(t *testing.T, dir string) *preview.Plan {
	t.Helper()
	for _, mode := range []string{"", "OwnNamespace"} {
		f := registryv1.New()
		info, err := f.Detect(os.DirFS(dir))
		if err != nil || info == nil {
			return nil
		}
		release := preview.Release{Name: info.Package, Namespace: info.SuggestedNamespace}
		if release.Namespace == "" {
			release.Namespace = info.Package
		}
		output, err := f.Render(t.Context(), format.Input{Content: os.DirFS(dir), Release: release, Params: format.Params{InstallMode: mode}})
		if err != nil {
			continue
		}
		content, err := planned.Prepare(release, planned.Material{
			Info: *info, Output: output, Sources: []preview.Source{{Kind: "directory", Reference: dir, Digest: tuitest.DigestOf(dir)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{
			Release: release, Request: preview.Request{Reference: dir, Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return nil
}

// upgradeOf makes a plan of one that installs: with the objects of an older one as
// live objects.
func upgradeOf(older, p *preview.Plan) *preview.Plan {
	p.Request.Action, p.Base = preview.RequestUpgrade, preview.Base{Revision: 1, Digest: older.Digest}
	for i := range p.Objects {
		o := &p.Objects[i]
		was := older.Object(o.ID)
		if was == nil {
			continue
		}
		o.Action, o.LiveBody, o.ResultBody, o.Changes = preview.ActionUnchanged, was.Planned, o.Planned, diff.Changes(was.Planned, o.Planned)
		if len(o.Changes) > 0 {
			o.Action = preview.ActionUpdate
		}
	}
	for _, was := range older.Objects {
		if p.Object(was.ID) == nil {
			was.Action, was.LiveBody, was.Planned = preview.ActionDelete, was.Planned, nil
			p.Objects = append(p.Objects, was)
		}
	}
	p.Access.Grants = access.Delta(older.Access.Grants, p.Access.Grants)
	p.Stages = preview.BuildStages(p.Objects, "")
	return p
}

// eachList shows every list of a plan in a window, grouped in every way, and calls
// look with its name, its rows and its width.
func eachList(t *testing.T, p *preview.Plan, width int, look func(name string, m *review, cells int)) {
	t.Helper()
	m, c := reviewOf(t, p, width, 50)
	for i, tab := range m.ShownTabs() {
		tuitest.Drive(m, c, fmt.Sprint(i+1), "F")
		groups := 1
		if tab == tabs.Access {
			groups = tabs.GroupCount
		}
		if tab == tabs.Objects {
			m.openBranches()
		}
		for g := range groups {
			cells := m.Size.Width
			if m.split() {
				cells = m.Size.Left
			}
			look(fmt.Sprintf("%s/%d at %d", m.table[tab].Name, g, width), m, cells)
			if groups > 1 {
				tuitest.Drive(m, c, "g")
			}
		}
	}
}

// visibleRow is what tells a row from others: what is seen of it, without its
// label, which says nothing of what it is about.
func visibleRow(m *review, r tabs.Row, cells int) string {
	line := strings.Fields(ansi.Strip(m.withMark(" ", r, cells).Paint(m.Theme, cells)))
	return strings.Join(slices.DeleteFunc(line, func(word string) bool { return word == r.ID }), " ")
}

// TestSlowNoTwoRowsOfTheCorpusLookTheSame: in no list do two rows about different
// things look alike below one heading, whatever was cut.
func TestSlowNoTwoRowsOfTheCorpusLookTheSame(t *testing.T) {
	slowtest.Skip(t, "the rows of the whole corpus")
	plans, rows, cut := corpusPlans(t), 0, 0
	for name, p := range plans {
		for _, width := range []int{80, 120, 200} {
			eachList(t, p, width, func(list string, m *review, cells int) {
				seen, heading := map[string]tabs.Row{}, ""
				for _, r := range m.activeTab().rows {
					if r.ID == "" {
						heading = r.Text
						continue
					}
					rows++
					shown := visibleRow(m, r, cells)
					if strings.Contains(shown, "…") {
						cut++
					}
					key := heading + "\x00" + r.Parent + "\x00" + shown
					if other, same := seen[key]; same && other.SearchText() != r.SearchText() {
						t.Errorf("%s: %s: two rows are %q:\n%s\n%s", name, list, shown, frame.Clip(other.SearchText(), 300), frame.Clip(r.SearchText(), 300))
					}
					seen[key] = r
				}
			})
		}
	}
	t.Logf("%d plans, %d rows, %d of them cut", len(plans), rows, cut)
	if cut == 0 {
		t.Error("no row is cut: the test sees none")
	}
}

// TestRowsOfTheCorpusSayWhichAPIGroup: a row of grants begins with the API group of
// its resources, and no row is cut before it.
func TestRowsOfTheCorpusSayWhichAPIGroup(t *testing.T) {
	p := corpusPlan(t, corpustest.Dir(t, "bundles", "argocd-operator", "0.18.0"))
	for _, width := range []int{80, 120, 200} {
		eachList(t, p, width, func(list string, m *review, cells int) {
			if m.tab != tabs.Access || m.Filter.Group == tabs.GroupResource {
				return
			}
			for i, g := range m.access.Grants {
				want := strings.Join(m.Plan.Access.Grants[g.Of[0]].APIGroups, ", ")
				if width < 120 {
					want = want[:min(len(want), 14)] // and as much as there is room for
				}
				if shown := visibleRow(m, m.access.GrantRow(i), cells); !strings.Contains(shown, want) {
					t.Errorf("%s: no group %q in %q", list, want, shown)
				}
			}
		})
	}
}

// TestTheSelectedRowIsShownWhole: what a row does not show stands in full below
// the list, where lines are free.
func TestTheSelectedRowIsShownWhole(t *testing.T) {
	p := corpusPlan(t, corpustest.Dir(t, "bundles", "mongodb-kubernetes", "1.10.0"))
	for _, width := range []int{80, 120, 200} {
		shown := 0
		eachList(t, p, width, func(list string, m *review, cells int) {
			b := m.activeTab()
			for i, r := range b.rows {
				if len(b.rows) > m.PaneHeight()-4 || r.ID == "" || !strings.Contains(visibleRow(m, r, cells), "…") {
					continue
				}
				b.list.Cursor = i
				full := m.fullRow(b, cells, m.PaneHeight())
				if len(full) == 0 {
					if strings.Contains(r.Line(wholeRow).Plain(), "…") {
						continue // it is as long as it gets
					}
					t.Errorf("%s: %q is not shown whole", list, visibleRow(m, r, cells))
					continue
				}
				shown++
				var words []string
				for _, line := range full {
					words = append(words, strings.Fields(line.Plain())...)
				}
				if got := strings.Join(words, ""); !strings.Contains(strings.Join(tuitest.ScreenOf(m), ""), strings.TrimSpace(full[0].Plain())) || strings.Contains(got, "…") {
					t.Errorf("%s: %q has below it %q", list, visibleRow(m, r, cells), got)
				}
			}
		})
		if shown == 0 {
			t.Errorf("no row is cut at %d columns", width)
		}
	}
}
