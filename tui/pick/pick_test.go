package pick

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/catalogtest"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// shelf is packages that can be chosen, and how often one was read.
type shelf struct {
	catalogs []*catalog.Catalog
	hits     []catalog.Hit
	read     int
}

// demoShelf is the catalog of the demo, a second one with a package of the
// first, and one that cannot be read.
func demoShelf(t testing.TB) *shelf {
	t.Helper()
	ours := catalogtest.Load(t, os.DirFS("../../testdata/catalogs/demo"), catalog.Origin{Reference: "registry.example.com/catalogs/ours:v1", Digest: tuitest.DigestOf("ours"), Priority: 10})
	theirs := catalogtest.Load(t, fstest.MapFS{"catalog.yaml": {Data: []byte(theirCatalog)}}, catalog.Origin{Reference: "./theirs", Digest: tuitest.DigestOf("theirs")})
	s := &shelf{catalogs: []*catalog.Catalog{ours, theirs}}
	s.hits = append(catalog.Search(s.catalogs, ""), catalog.Hit{Catalog: catalog.Origin{Reference: "./gone"}, Problem: "it changed while it was read"})
	return s
}

// A name that no package has opens the list on what it finds, or at the nearest name.
func TestTheListBeginsWithWhatANameThatNoPackageHasFinds(t *testing.T) {
	for _, tt := range []struct{ name, unknown, nearest, first, head string }{
		{"part of some names", "mongo", "mongodb", "mongodb", `2 of `},
		{"no part, but near to one", "radis", "redis", "redis", `packages of 2 catalogs`},
		{"near to none", "zzz", "", "etcd-backup", `packages of 2 catalogs`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := demoShelf(t).options()
			opts.Unknown, opts.Nearest = tt.unknown, tt.nearest
			m, _ := pickOf(t, opts, 120, 36)
			if at := m.selected(); at < 0 || m.hits[at].Package != tt.first {
				t.Errorf("the cursor is on %d of %v, want %s", at, m.shown, tt.first)
			}
			view := ansi.Strip(m.View().Content)
			for _, want := range []string{tt.head, `no package is called "` + tt.unknown + `"`} {
				if !strings.Contains(view, want) {
					t.Errorf("it does not say %s:\n%s", want, view)
				}
			}
		})
	}
}

const theirCatalog = `
{schema: olm.package, name: mongodb, defaultChannel: v1, description: Another database of documents.}
---
{schema: olm.channel, package: mongodb, name: v1, entries: [{name: m1}, {name: m2, replaces: m1}]}
---
{schema: olm.channel, package: mongodb, name: v0, entries: [{name: m1}]}
---
{schema: olm.bundle, package: mongodb, name: m1, image: "x/m:1", properties: [{type: olm.package, value: {packageName: mongodb, version: 1.0.0}}]}
---
{schema: olm.bundle, package: mongodb, name: m2, image: "x/m:2", properties: [{type: olm.package, value: {packageName: mongodb, version: 1.1.0}}, {type: olm.csv.metadata, value: {provider: {name: ACME}, keywords: [graph]}}]}
---
schema: olm.deprecations
package: mongodb
entries:
- {reference: {schema: olm.package}, message: nobody maintains it any more}
- {reference: {schema: olm.channel, name: v0}, message: use v1}
- {reference: {schema: olm.bundle, name: m1}, message: it loses data}
---
{schema: olm.package, name: odd, defaultChannel: none}
---
{schema: olm.channel, package: odd, name: v1, entries: [{name: o1}]}
---
{schema: olm.bundle, package: odd, name: o1, image: "x/o:1", properties: [{type: olm.package, value: {packageName: odd, version: 1.0.0}}]}
`

func (s *shelf) options() Options {
	return Options{
		Title: "install",
		Load:  func(context.Context, func(string)) ([]catalog.Hit, error) { return s.hits, nil },
		Package: func(_ context.Context, hit catalog.Hit) (*catalog.Package, error) {
			s.read++
			for _, c := range s.catalogs {
				if c.Origin().Reference == hit.Catalog.Reference {
					return c.Package(hit.Package)
				}
			}
			return nil, errors.New("no catalog has it")
		},
	}
}

func pickOf(t testing.TB, opts Options, width, height int) (*pickScreen, *tuitest.Clock) {
	t.Helper()
	m, c := newScreen(t.Context(), opts), tuitest.NewClock()
	tuitest.Drive(m, c, tea.WindowSizeMsg{Width: width, Height: height})
	tuitest.Pump(m, m.Init())
	return m, c
}

func TestChoosingAPackage(t *testing.T) {
	for _, size := range tuitest.Sizes {
		for _, at := range []struct {
			name string
			keys []any
		}{
			{"list", nil},
			{"versions", []any{"down", "down", "enter", "down"}},
			{"deprecated", append(append([]any{"/"}, tuitest.Typed("another")...), "enter", "enter", "end")},
			{"unusable", append(append([]any{"/"}, tuitest.Typed("odd")...), "enter", "enter")},
			{"searching", append([]any{"/"}, tuitest.Typed("data")...)},
			{"nothing found", append([]any{"/"}, tuitest.Typed("nosuch")...)},
			{"help", []any{"?"}},
		} {
			t.Run(at.name+" "+tuitest.SizeName(size), func(t *testing.T) {
				m, c := pickOf(t, demoShelf(t).options(), size[0], size[1])
				tuitest.Drive(m, c, at.keys...)
				golden(t, "pick/"+tuitest.SizeName(size)+"/"+strings.ReplaceAll(at.name, " ", "-"), m, size[0], size[1])
			})
		}
	}
}

func TestOpeningTheCatalogsShowsWhatIsDone(t *testing.T) {
	for _, size := range tuitest.Sizes {
		c, opts := tuitest.NewClock(), demoShelf(t).options()
		opts.Now = c.Now
		m := newScreen(t.Context(), opts)
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, line := range []string{"resolving registry.example.com/catalogs/ours:v1", "downloading registry.example.com/catalogs/ours@sha256:4c1f: 1.0 of 9.0 MiB", "downloading registry.example.com/catalogs/ours@sha256:4c1f: 2.0 of 9.0 MiB"} {
			m.Update(frame.ProgressMsg{Line: line})
			c.Forward(4 * time.Second)
		}
		m.Update(frame.ProgressMsg{}) // nothing came for a while
		golden(t, "pick/"+tuitest.SizeName(size)+"/opening", m, size[0], size[1])
	}
}

func TestWhatAChoiceStandsFor(t *testing.T) {
	search := func(text string) []any { return append(append([]any{"/"}, tuitest.Typed(text)...), "enter") }
	for _, tt := range []struct {
		name string
		keys []any
		want string // PACKAGE of CATALOG CHANNEL VERSION, empty for none
	}{
		{"enter twice leaves version and channel to the catalog", []any{"enter", "enter"}, "etcd-backup of registry.example.com/catalogs/ours:v1  "},
		{"a version is chosen with its channel", append(search("another"), "enter", "down", "down", "enter"), "mongodb of ./theirs v1 1.0.0"},
		{"the last version is of the last channel", append(search("another"), "enter", "end", "enter"), "mongodb of ./theirs v0 1.0.0"},
		{"a name is found before a description", append(search("a"), "enter", "enter"), "etcd-backup of registry.example.com/catalogs/ours:v1  "},
		{"a provider and a keyword are found", append(search("acme"), "enter", "enter"), "mongodb of ./theirs  "},
		{"a catalog is found", append(search("./their"), "enter", "enter"), "mongodb of ./theirs  "},
		{"an expression finds", append(search("re:^re.*s"), "enter", "enter"), "redis of registry.example.com/catalogs/ours:v1  "},
		{"enter ends typing and chooses nothing", search("redis"), ""},
		{"esc in the versions goes back, esc in the list leaves", []any{"enter", "esc", "esc"}, ""},
		{"esc drops a search before it leaves", append(search("redis"), "esc", "enter", "enter"), "etcd-backup of registry.example.com/catalogs/ours:v1  "},
		{"q leaves", []any{"enter", "q"}, ""},
		{"ctrl+c leaves while typing", []any{"/", "r", "ctrl+c"}, ""},
		{"what cannot be installed cannot be chosen", append(search("odd"), "enter", "enter"), ""},
		{"nothing found is nothing to choose", append(search("nosuch"), "enter", "enter"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, c := pickOf(t, demoShelf(t).options(), 120, 36)
			tuitest.Drive(m, c, tt.keys...)
			got := ""
			if p := m.choice; p.Hit != nil {
				got = p.Hit.Package + " of " + p.Hit.Catalog.Reference + " " + p.Channel + " " + p.Version
			}
			if got != tt.want {
				t.Errorf("chose %q, want %q:\n%s", got, tt.want, strings.Join(tuitest.ScreenOf(m), "\n"))
			}
		})
	}
}

func TestClicksChooseNothing(t *testing.T) {
	m, c := pickOf(t, demoShelf(t).options(), 120, 36)
	for y := range 36 {
		for _, x := range []int{2, 60, 100} {
			tuitest.Drive(m, c, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
			tuitest.CheckFrame(t, m, 120, 36)
		}
	}
	if m.choice.Hit != nil {
		t.Errorf("a click chose %s", m.choice.Hit.Package)
	}
}

func TestCatalogsThatCannotBeOpenedEndTheChoice(t *testing.T) {
	opts := demoShelf(t).options()
	opts.Load = func(context.Context, func(string)) ([]catalog.Hit, error) { return nil, errors.New("no route to host") }
	m, _ := pickOf(t, opts, 80, 24)
	if m.err == nil || m.choice.Hit != nil {
		t.Errorf("err = %v, picked %v", m.err, m.choice)
	}
	if _, err := Run(t.Context(), Options{}); err == nil {
		t.Error("without a way to read catalogs there is no error")
	}
}

func TestAPackageThatCannotBeReadSaysWhy(t *testing.T) {
	opts := demoShelf(t).options()
	opts.Package = func(context.Context, catalog.Hit) (*catalog.Package, error) {
		return nil, errors.New("its blob is gone")
	}
	m, c := pickOf(t, opts, 80, 24)
	tuitest.Drive(m, c, "enter")
	if all := strings.Join(tuitest.ScreenOf(m), "\n"); !strings.Contains(all, "x its versions cannot be read: its blob is gone") {
		t.Errorf("it does not say why:\n%s", all)
	}
}

// manyHits are packages of a large catalog.
func manyHits(n int) []catalog.Hit {
	hits := make([]catalog.Hit, n)
	for i := range hits {
		hits[i] = catalog.Hit{
			Package: fmt.Sprintf("package-%05d", i), Version: "1.0.0", DefaultChannel: "stable", Catalog: catalog.Origin{Reference: "./many"},
			Description: strings.Repeat("what it does is described at some length; ", 4),
		}
	}
	return hits
}

func TestMovingAmongManyPackagesCostsNoMore(t *testing.T) {
	var allocs, bytes [2]uint64
	for i, n := range []int{1_000, 10_000} {
		opts := demoShelf(t).options()
		opts.Load = func(context.Context, func(string)) ([]catalog.Hit, error) { return manyHits(n), nil }
		m, c := pickOf(t, opts, 120, 36)
		tuitest.Drive(m, c, "end")
		allocs[i], bytes[i] = tuitest.Frames(m, []string{"up", "pgup", "down"})
	}
	t.Logf("allocations %v, bytes %v", allocs, bytes)
	if allocs[1] > allocs[0]*5/4 || bytes[1] > bytes[0]*5/4 {
		t.Errorf("a frame of 1,000 packages takes %d allocations of %d bytes, one of 10,000 takes %d of %d", allocs[0], bytes[0], allocs[1], bytes[1])
	}
}

func TestSearchingManyPackagesMakesNothingOfThoseItPassesOver(t *testing.T) {
	opts := demoShelf(t).options()
	opts.Load = func(context.Context, func(string)) ([]catalog.Hit, error) { return manyHits(10_000), nil }
	m, _ := pickOf(t, opts, 120, 36)
	m.input.Update(tea.PasteMsg{Content: "package-0999"})
	m.filter()
	if len(m.shown) != 10 {
		t.Fatalf("%d packages are shown", len(m.shown))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m.filter()
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 200 {
		t.Errorf("a key takes %d allocations with 10,000 packages", n)
	}
}

func TestSlowHostileCatalogsDrawNothing(t *testing.T) {
	slowtest.Skip(t, "drawing every hostile text in every size")
	for i, text := range tuitest.HostileTexts(t) {
		s := demoShelf(t)
		for at := range s.hits {
			h := &s.hits[at]
			h.Description, h.Version, h.DefaultChannel, h.Deprecated = text+h.Description, text+h.Version, text+h.DefaultChannel, text
			h.Catalog.Reference, h.Catalog.Digest = text+h.Catalog.Reference, text
			if h.Problem != "" {
				h.Problem = text
			} else if h.Package != "" {
				h.Package = text + h.Package
			}
		}
		opts := s.options()
		opts.Title, opts.Asked = text, text
		whole := opts.Package
		opts.Package = func(ctx context.Context, hit catalog.Hit) (*catalog.Package, error) {
			hit.Catalog.Reference, hit.Package = strings.TrimPrefix(hit.Catalog.Reference, text), strings.TrimPrefix(hit.Package, text)
			p, err := whole(ctx, hit)
			if i%2 == 1 || err != nil {
				return nil, errors.New(text)
			}
			hostile := *p // its bundles are found by their names, which stay
			hostile.Description, hostile.Deprecated, hostile.DefaultChannel = text, text, text+p.DefaultChannel
			hostile.Channels = slices.Clone(p.Channels)
			for at := range hostile.Channels {
				hostile.Channels[at].Name, hostile.Channels[at].Deprecated = text+p.Channels[at].Name, text
			}
			return &hostile, nil
		}
		for _, size := range tuitest.Sizes {
			m, c := pickOf(t, opts, size[0], size[1])
			m.log.Add(text, m.opts.Now())
			for _, key := range []any{"?", "esc", "down", "enter", "end", "esc", "/", "a"} {
				tuitest.Drive(m, c, key)
				checkHarmless(t, fmt.Sprintf("text %d at %s after %v", i, tuitest.SizeName(size), key), m, size)
			}
		}
	}
}

func TestAPickInAnyWindow(t *testing.T) {
	m, c := pickOf(t, demoShelf(t).options(), 120, 36)
	tuitest.Drive(m, c, "down", "enter")
	for width := 0; width < 130; width += 9 {
		for height := 0; height < 40; height += 5 {
			tuitest.Drive(m, c, tea.WindowSizeMsg{Width: width, Height: height}, "up", "down")
			if width >= frame.MinWidth && height >= frame.MinHeight {
				tuitest.CheckFrame(t, m, width, height)
			} else if lines := strings.Split(ansi.Strip(m.View().Content), "\n"); len(lines) != 1 {
				t.Errorf("%dx%d draws %d lines", width, height, len(lines))
			}
		}
	}
}
