package flyte

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// upstreamChart is the version of Flyte's chart flyte-binary in the corpus at the time
// when the table was compared with upstream last.
const upstreamChart = "v0.2.0"

// A corpus with another version of the chart means that the table has to be compared with
// the releases of today: "make upstream".
func TestTheTableIsAsNewAsTheCorpus(t *testing.T) {
	entries, err := os.ReadDir(corpustest.Dir(t, "charts", "flyte-binary"))
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, entry := range entries {
		versions = append(versions, entry.Name())
	}
	if why := behind(upstreamChart, versions); why != "" {
		t.Errorf("the table is of the time of flyte-binary %s: run \"make upstream\"", why)
	}
}

// behind says that a version is not the newest of some; pre-releases do not count; empty
// where it is.
func behind(of string, versions []string) string {
	newest, err := semver.NewVersion(of)
	if err != nil {
		return of + ", which is no version"
	}
	have := newest
	found := false
	for _, text := range versions {
		v, err := semver.NewVersion(text)
		if err != nil || v.Prerelease() != "" {
			continue
		}
		found = found || v.Equal(have)
		if v.GreaterThan(newest) {
			newest = v
		}
	}
	switch {
	case !newest.Equal(have):
		return of + ", and there is " + newest.Original()
	case !found:
		return of + ", which is not among them"
	}
	return ""
}

// Both of the tests above and below can say it.
func TestATableThatIsOlderSaysSo(t *testing.T) {
	for _, test := range []struct {
		name, of string
		versions []string
		want     string
	}{
		{"the only one", "v0.2.0", []string{"v0.2.0"}, ""},
		{"the newest of several", "v1.16.10", []string{"v1.16.9", "v1.16.10", "v1.2.0"}, ""},
		{"an older one", "v1.16.8", []string{"v1.16.8", "v1.16.10", "v1.16.9"}, "v1.16.8, and there is v1.16.10"},
		{"an older one that is gone", "v1.16.8", []string{"v1.17.0"}, "v1.16.8, and there is v1.17.0"},
		{"a candidate for the next", "v2.0.43", []string{"v2.0.43", "v2.1.0-rc.1"}, ""},
		{"one that upstream does not have", "v9.0.0", []string{"v1.0.0"}, "v9.0.0, which is not among them"},
		{"none", "", []string{"v1.0.0"}, ", which is no version"},
	} {
		if got := behind(test.of, test.versions); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Each row says which engines have the plugin, and ids are as configurations write them.
func TestRowsOfTheTable(t *testing.T) {
	table := upstream()
	var ids []string
	for _, b := range table.plugins {
		ids = append(ids, b.id)
		if b.id != cleanName(b.id) || (b.resource == "") != (b.group == "") || b.account != "" && b.resource == "" {
			t.Errorf("%+v", b)
		}
		for _, has := range []string{b.v1, b.v2} {
			if has != "yes" && has != "-" && !strings.HasPrefix(has, "v") {
				t.Errorf("%s is in engines of %q", b.id, has)
			}
		}
		if b.v1 == "-" && b.v2 == "-" {
			t.Errorf("%s is in no engine", b.id)
		}
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(table.plugins) || !strings.HasPrefix(table.v1, "v1.") || !strings.HasPrefix(table.v2, "v2.") {
		t.Errorf("the table is of %s and %s, of %q", table.v1, table.v2, ids)
	}
}

// The table is compared with a checkout of github.com/flyteorg/flyte that has its tags, in
// the directory that FLYTE names, and is to be of its newest releases. "make upstream" does
// it, each week and in a soak.
func TestTheTableIsThatOfUpstream(t *testing.T) {
	repository := os.Getenv("FLYTE")
	if repository == "" {
		t.Skip("skipped: FLYTE names no checkout of github.com/flyteorg/flyte")
	}
	table := upstream()
	for generation, engine := range map[string]struct {
		of, dir string
		has     func(builtIn) string
	}{
		generationV1: {table.v1, "flytepropeller", func(b builtIn) string { return b.v1 }},
		generationV2: {table.v2, "executor", func(b builtIn) string { return b.v2 }},
	} {
		if why := behind(engine.of, strings.Fields(git(t, repository, "tag", "--list", generation+".*"))); why != "" {
			t.Errorf("the table is of %s: compare it with the newest", why)
		}
		want := registered(t, repository, engine.of, engine.dir)
		var got []string
		for _, b := range table.plugins {
			if engine.has(b) == "yes" {
				got = append(got, b.id)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("engines of %s have\n%q, and the table says\n%q", engine.of, want, got)
		}
	}
}

var (
	importedPlugin = regexp.MustCompile(`"github\.com/flyteorg/flyte/(?:v2/)?(flyteplugins/go/tasks/plugins/[^"]+)"`)
	pluginID       = regexp.MustCompile(`(?s)(?:Register(?:K8s|Core|Remote)Plugin\(|return (?:webapi|core|k8s)\.PluginEntry\{).{0,80}?\bID:\s+([\w."-]+),`)
)

// registered returns the ids of the plugins that the packages register which the program
// of a directory imports, at a tag.
func registered(t *testing.T, repository, tag, dir string) []string {
	t.Helper()
	ids := map[string]bool{}
	imports := git(t, repository, "grep", "-hE", "flyteplugins/go/tasks/plugins/", tag, "--", dir+"/*.go", ":!*_test.go")
	for _, m := range importedPlugin.FindAllStringSubmatch(imports, -1) {
		text := sources(t, repository, tag, m[1])
		for _, found := range pluginID.FindAllStringSubmatch(text, -1) {
			name := found[1]
			if _, constant, other := strings.Cut(name, "."); other { // of the package common next to it
				text, name = text+sources(t, repository, tag, path.Join(path.Dir(m[1]), "common")), constant
			}
			if !strings.HasPrefix(name, `"`) {
				value := regexp.MustCompile(`\b` + name + `\s*=\s*("[^"]+")`).FindStringSubmatch(text)
				if value == nil {
					t.Fatalf("%s of %s has no %s", m[1], tag, name)
				}
				name = value[1]
			}
			ids[strings.Trim(name, `"`)] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

func sources(t *testing.T, repository, tag, dir string) string {
	t.Helper()
	return git(t, repository, "grep", "-h", "", tag, "--", ":(glob)"+dir+"/*.go", ":!*_test.go")
}

func git(t *testing.T, repository string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repository}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}
