package deps

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

func TestAClosureIsInstalledDependenciesFirst(t *testing.T) {
	cat := published(t, "cat",
		bundle{pkg: "database", version: "2.1.0", properties: []catalog.Property{needsAPI("Certificate"), provides("Database")}},
		bundle{pkg: "certs", version: "1.5.0", properties: []catalog.Property{provides("Certificate")}},
		bundle{pkg: "queue", version: "0.3.0", properties: []catalog.Property{needsPackage("certs", ">=1.0.0 <2.0.0")}},
	)
	s := mustSolve(t, Problem{Root: root(needsPackage("database", ">=2.0.0"), needsPackage("queue", "0.3.0")), Sources: sources(cat)})
	if got, want := names(s), "certs 1.5.0, database 2.1.0, queue 0.3.0, app 1.0.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	database := s.Packages[1]
	if got, want := database.Why, "required by app 1.0.0; head of channel stable"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := database.Dependencies[0]; got.Constraint != "API x.example/v1/Certificate" || got.By != "package certs 1.5.0" {
		t.Errorf("got %+v", got)
	}
	if database.Image != "registry.example/database:v2.1.0" || database.Channel != "stable" || database.Catalog.Reference != "cat" || database.Root {
		t.Errorf("got %+v", database)
	}
}

func TestPreference(t *testing.T) {
	certs := func(version string, more ...catalog.Property) bundle {
		return bundle{pkg: "certs", version: version, properties: append(more, provides("Certificate"))}
	}
	beta := certs("3.0.0")
	beta.channel = "beta"
	old := certs("2.0.0")
	old.deprecated = "use another"
	withdrawn := certs("2.0.0", catalog.Property{Type: typeDeprecated})
	skipping := certs("2.1.0")
	skipping.skips = []string{"certs.v2.0.0"}
	anyCerts := root(needsPackage("certs", ">=1.0.0"))
	needsCertificate := root(needsAPI("Certificate"))
	held := func(version string) []Installed {
		return []Installed{{Package: "certs", Version: version, By: "release app"}}
	}
	others := held("1.0.0")
	others[0].By = "ClusterExtension certs"
	fromSecond := root(needsPackage("certs", ">=1.0.0"))
	fromSecond.Source = 1
	tests := []struct {
		name    string
		problem Problem
		want    string
	}{
		{"the head of the default channel", Problem{Root: anyCerts, Sources: sources(published(t, "a", certs("1.0.0"), certs("2.0.0"), beta))}, "certs 2.0.0"},
		{"another channel where only that fits", Problem{Root: root(needsPackage("certs", ">=3.0.0")), Sources: sources(published(t, "a", certs("1.0.0"), beta))}, "certs 3.0.0"},
		{"what is not deprecated", Problem{Root: anyCerts, Sources: sources(published(t, "a", certs("1.0.0"), old))}, "certs 1.0.0"},
		{"what is deprecated where nothing else fits", Problem{Root: root(needsPackage("certs", ">=2.0.0")), Sources: sources(published(t, "a", certs("1.0.0"), old))}, "certs 2.0.0"},
		{"never what is withdrawn", Problem{Root: anyCerts, Sources: sources(published(t, "a", certs("1.0.0"), withdrawn))}, "certs 1.0.0"},
		{"what is skipped last", Problem{Root: root(needsPackage("certs", "<2.1.0")), Sources: sources(published(t, "a", certs("1.0.0"), certs("2.0.0"), skipping))}, "certs 1.0.0"},
		{"the catalog of higher priority", Problem{Root: anyCerts, Sources: sources(published(t, "a", certs("1.0.0")), published(t, "b", certs("2.0.0")))}, "certs 1.0.0"},
		{"the requirer's own catalog", Problem{Root: fromSecond, Sources: sources(published(t, "a", certs("1.0.0")), published(t, "b", certs("2.0.0")))}, "certs 2.0.0"},
		{"what the release has", Problem{Root: anyCerts, Release: held("1.0.0"), Sources: sources(published(t, "a", certs("1.0.0"), certs("2.0.0")))}, "certs 1.0.0"},
		{"an upgrade of it before a downgrade", Problem{Root: anyCerts, Release: held("1.5.0"), Sources: sources(published(t, "a", certs("1.0.0"), certs("2.0.0"), beta), published(t, "b", certs("1.9.0")))}, "certs 2.0.0"},
		{"a downgrade where nothing else fits", Problem{Root: root(needsPackage("certs", "<2.0.0")), Release: held("2.0.0"), Sources: sources(published(t, "a", certs("1.0.0"), certs("2.0.0")))}, "certs 1.0.0"},
		{"nothing where others have it", Problem{Root: anyCerts, Installed: others, Sources: sources(published(t, "a", certs("1.0.0"), certs("2.0.0")))}, ""},
		{"nothing where the cluster serves it", Problem{Root: needsCertificate, Cluster: serving{"Certificate": "ClusterExtension certs"}, Sources: sources(published(t, "a", certs("1.0.0")))}, ""},
		{"nothing where nobody's definition is served", Problem{Root: needsCertificate, Cluster: serving{"Certificate": ""}, Sources: sources(published(t, "a", certs("1.0.0")))}, ""},
		{"the release's own provider, served as it is", Problem{Root: needsCertificate, Cluster: serving{"Certificate": ""}, Release: held("1.0.0"), Sources: sources(published(t, "a", certs("2.0.0")))}, "certs 2.0.0"},
		{"a package, though its API was left behind", Problem{Root: anyCerts, Cluster: serving{"Certificate": ""}, Sources: sources(published(t, "a", certs("2.0.0")))}, "certs 2.0.0"},
		{"what is part of it anyway", Problem{Root: root(needsPackage("zeta", "1.0.0"), needsAPI("Certificate")), Sources: sources(published(t, "a", certs("2.0.0"), bundle{pkg: "zeta", version: "1.0.0", properties: []catalog.Property{provides("Certificate")}}))}, "zeta 1.0.0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := names(mustSolve(t, test.problem))
			want := strings.TrimPrefix(test.want+", app 1.0.0", ", ")
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestWhatMeetsARequirementWithoutAPackage(t *testing.T) {
	s := mustSolve(t, Problem{
		Root:      root(needsPackage("certs", ">=1.0.0"), needsAPI("Queue")),
		Installed: []Installed{{Package: "certs", Version: "1.2.0", By: "ClusterExtension certs"}},
		Cluster:   serving{"Queue": "CSV queue.v1 in queues"},
	})
	want := []string{"the cluster: certs 1.2.0, ClusterExtension certs", "the cluster: serves x.example/v1/Queue, CSV queue.v1 in queues"}
	for i, d := range s.Packages[0].Dependencies {
		if got := d.By + ": " + d.Detail; got != want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
}

func TestASolutionThatTheFirstChoiceWouldMiss(t *testing.T) {
	cat := published(t, "cat",
		bundle{pkg: "a", version: "2.0.0", properties: []catalog.Property{needsPackage("c", ">=2.0.0")}},
		bundle{pkg: "a", version: "1.0.0", properties: []catalog.Property{needsPackage("c", ">=1.0.0")}},
		bundle{pkg: "b", version: "1.0.0", properties: []catalog.Property{needsPackage("c", "<2.0.0")}},
		bundle{pkg: "c", version: "2.0.0"}, bundle{pkg: "c", version: "1.0.0"},
	)
	s := mustSolve(t, Problem{Root: root(needsPackage("a", ">0.0.0"), needsPackage("b", ">0.0.0")), Sources: sources(cat)})
	if got, want := names(s), "c 1.0.0, a 1.0.0, b 1.0.0, app 1.0.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestACircleIsASolution(t *testing.T) {
	cat := published(t, "cat",
		bundle{pkg: "a", version: "1.0.0", properties: []catalog.Property{needsPackage("b", "1.0.0"), needsPackage("app", "1.0.0")}},
		bundle{pkg: "b", version: "1.0.0", properties: []catalog.Property{needsPackage("a", "1.0.0")}},
	)
	s := mustSolve(t, Problem{Root: root(needsPackage("a", "1.0.0")), Sources: sources(cat)})
	if got, want := names(s), "b 1.0.0, a 1.0.0, app 1.0.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConstraintsOnOneBundle(t *testing.T) {
	labelled := func(pkg, version, label string) bundle {
		return bundle{pkg: pkg, version: version, properties: []catalog.Property{
			provides("Certificate"), {Type: typeLabel, Value: fields{"label": label}},
		}}
	}
	cat := published(t, "cat", labelled("certs", "1.0.0", "plain"), labelled("certs", "2.0.0", "gold"), labelled("other", "1.0.0", "gold"))
	tests := []struct {
		name  string
		value catalog.Property
		want  string
	}{
		{"all on the same bundle", needs(group("all", apiOf("Certificate"), pkgOf("certs", "<2.0.0"))), "certs 1.0.0"},
		{"any", needs(group("any", pkgOf("nothing", ">0.0.0"), pkgOf("other", ">0.0.0"))), "other 1.0.0"},
		{"not within all", needs(group("all", apiOf("Certificate"), group("not", pkgOf("certs", ">0.0.0")))), "other 1.0.0"},
		{"a label", catalog.Property{Type: typeLabelRequired, Value: fields{"label": "plain"}}, "certs 1.0.0"},
		{"not alone is met by the root itself", needs(group("not", pkgOf("certs", ">0.0.0"))), ""},
		{"of several keys gvk comes first", needs(fields{"gvk": apiOf("Certificate")["gvk"], "package": pkgOf("nothing", "1.0.0")["package"]}), "certs 2.0.0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := strings.TrimPrefix(test.want+", app 1.0.0", ", ")
			if got := names(mustSolve(t, Problem{Root: root(test.value), Sources: sources(cat)})); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestWhyItCannotBe(t *testing.T) {
	cat := published(t, "cat",
		bundle{pkg: "a", version: "1.0.0", properties: []catalog.Property{needsPackage("c", ">=2.0.0"), provides("A")}},
		bundle{pkg: "b", version: "1.0.0", properties: []catalog.Property{needsPackage("c", "<2.0.0"), provides("A")}},
		bundle{pkg: "c", version: "2.0.0"}, bundle{pkg: "c", version: "1.0.0"},
		bundle{pkg: "d", version: "1.0.0", properties: []catalog.Property{{Type: typeDeprecated}}},
		bundle{pkg: "e", version: "1.0.0", properties: []catalog.Property{needs(fields{"surprise": "x"})}},
		bundle{pkg: "f", version: "1.0.0", properties: []catalog.Property{needsPackage("a", "2.0.0")}},
		bundle{pkg: "f", version: "1.1.0", properties: []catalog.Property{needsPackage("a", "2.0.0")}},
		bundle{pkg: "h", version: "1.0.0", properties: []catalog.Property{provides("A")}},
		bundle{pkg: "g", version: "1.0.0", image: "no image at all"},
	)
	tests := []struct {
		name    string
		problem Problem
		want    string
	}{
		{"two that want different versions", Problem{Root: root(needsPackage("a", "1.0.0"), needs(fields{"failureMessage": "b is good", "package": pkgOf("b", "1.0.0")["package"]}))},
			`app 1.0.0 cannot be installed with its dependencies: app 1.0.0 requires package a 1.0.0; app 1.0.0 requires package b 1.0.0 ("b is good"); a 1.0.0 requires package c >=2.0.0; b 1.0.0 requires package c <2.0.0; of package c one version only can be installed`},
		{"two that provide the same", Problem{Root: root(needsPackage("a", "1.0.0"), needsPackage("h", "1.0.0"))},
			"app 1.0.0 requires package a 1.0.0; app 1.0.0 requires package h 1.0.0; API x.example/v1/A can have one provider only, of a, h"},
		{"a package that nobody has", Problem{Root: root(needsPackage("z", "1.0.0"), needsPackage("y", "1.0.0"))},
			"app 1.0.0 requires package z 1.0.0; no catalog has that package; also, app 1.0.0 requires package y 1.0.0; no catalog has that package"},
		{"an API that nobody provides", Problem{Root: root(needsAPI("Nothing"))}, "app 1.0.0 requires API x.example/v1/Nothing; no catalog has a package that provides it"},
		{"a range without a version", Problem{Root: root(needsPackage("c", ">2.0.0"))}, "requires package c >2.0.0; the catalogs have 2.0.0, 1.0.0"},
		{"a bundle that is withdrawn", Problem{Root: root(needsPackage("d", ">0.0.0"))}, "d 1.0.0 cannot be used: it is withdrawn (olm.deprecated)"},
		{"a bundle with a constraint of the future", Problem{Root: root(needsPackage("e", ">0.0.0"))}, `e 1.0.0 cannot be used: property olm.constraint: field "surprise" is not known`},
		{"a bundle without an image", Problem{Root: root(needsPackage("g", ">0.0.0"))}, "g 1.0.0 cannot be used: "},
		{"several versions that say the same", Problem{Root: root(needsPackage("f", ">0.0.0"))}, "f 1.1.0, 1.0.0 require package a 2.0.0; the catalogs have 1.0.0"},
		{"another version of the root", Problem{Root: root(needsPackage("app", "2.0.0"))}, "it is being installed itself, in version 1.0.0"},
		{"a version that others installed", Problem{Root: root(needsPackage("c", ">=2.0.0")), Installed: []Installed{{Package: "c", Version: "1.0.0", By: "ClusterExtension c"}}},
			"app 1.0.0 requires package c >=2.0.0; package c 1.0.0 is installed already, by ClusterExtension c"},
		{"an API that belongs to others", Problem{Root: root(needsPackage("a", "1.0.0")), Cluster: serving{"A": "Helm release a"}},
			"app 1.0.0 requires package a 1.0.0; API x.example/v1/A is provided already, by Helm release a"},
		{"an API of an installed package", Problem{Root: root(needsPackage("a", "1.0.0")), Installed: []Installed{{Package: "x", Version: "1.0.0", By: "CSV x", Properties: []catalog.Property{provides("A")}}}},
			"API x.example/v1/A is provided already, by x 1.0.0, CSV x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.problem.Sources = sources(cat)
			mustFail(t, test.problem, test.want)
			var typed *Unsatisfiable
			if _, err := Solve(context.Background(), test.problem); !errors.As(err, &typed) || len(typed.Constraints) == 0 {
				t.Errorf("%T is not an Unsatisfiable", err)
			}
		})
	}
	t.Run("no catalog", func(t *testing.T) {
		mustFail(t, Problem{Root: root(needsPackage("c", "1.0.0"))}, "no catalog is configured to look in; name one with --catalog")
	})
}

func TestEqualPrioritiesAreNoPick(t *testing.T) {
	certs := bundle{pkg: "certs", version: "1.0.0"}
	a, b := published(t, "a", certs), published(t, "b", certs)
	equal := []Source{{a, 5}, {b, 5}}
	mustFail(t, Problem{Root: root(needsPackage("certs", "1.0.0")), Sources: equal},
		`package "certs", which app 1.0.0 requires, is in two catalogs of equal priority, a and b; choose one with --catalog, or give one a higher priority`)
	t.Run("the requirer's own catalog is one", func(t *testing.T) {
		r := root(needsPackage("certs", "1.0.0"))
		r.Source = 1
		if got := mustSolve(t, Problem{Root: r, Sources: equal}).Packages[0]; got.Source != 1 || got.Catalog.Reference != "b" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestBadRoots(t *testing.T) {
	deep := any(pkgOf("a", "1.0.0"))
	for range 20 {
		deep = group("all", deep)
	}
	tests := []struct {
		name string
		root Root
		want string
	}{
		{"a range that is none", root(needsPackage("a", "~>1")), `app 1.0.0: property olm.package.required: "~>1" is not a version range`},
		{"a package that is none", root(needsPackage("../a", "1.0.0")), `packageName "../a" is not a package name`},
		{"an empty constraint", root(needs(fields{"failureMessage": "x"})), "it is empty"},
		{"an unknown field", root(needs(fields{"gvk": apiOf("A")["gvk"], "x": 1})), `field "x" is not known`},
		{"an unknown field further in", root(needs(group("all", fields{"package": fields{"packageName": "a", "versionRange": "1.0.0", "x": 1}}))), `all: field "x" is not known`},
		{"a constraint that is text", root(needs("gvk")), "its value is no mapping"},
		{"a group of nothing", root(needs(group("any"))), "any: it has no constraints"},
		{"too deep", root(needs(deep)), "nested deeper than 16 levels"},
		{"too large", root(needs(fields{"failureMessage": strings.Repeat("x", maxConstraintBytes), "gvk": apiOf("A")["gvk"]})), "more than 131072 bytes"},
		{"an API without a kind", root(needsAPI("")), "field kind is empty"},
		{"a version that is none", Root{Package: "app", Version: "one", Source: -1}, `app: "one" is not a semantic version`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mustFail(t, Problem{Root: test.root}, test.want)
		})
	}
}

func TestRequirementsAreListedOnce(t *testing.T) {
	list := []catalog.Property{needsPackage("a", ">1.0.0"), provides("A"), needsPackage("a", ">1.0.0"), needs(group("any", apiOf("A"), pkgOf("b", "1.0.0")))}
	got, err := Requirements(list)
	if err != nil {
		t.Fatal(err)
	}
	want := "package a >1.0.0|any of (API x.example/v1/A; package b 1.0.0)"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !Needed(list) || Needed([]catalog.Property{provides("A")}) {
		t.Error("Needed does not tell")
	}
}

func TestASolveThatIsCancelledStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(ctx, Problem{Root: root()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
