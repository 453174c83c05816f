package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

var update = flag.Bool("update", false, "rewrite golden files")

// For every two neighbouring versions of one package in the corpus: the permissions that
// only the newer has, and that only the older has.
func TestSlowEveryUpgradeSaysWhatChangesInAccess(t *testing.T) {
	slowtest.Skip(t, "the upgrades of the whole corpus")
	for _, pair := range upgrades(t) {
		name := filepath.Base(filepath.Dir(pair[0])) + "_" + filepath.Base(pair[0]) + "_" + filepath.Base(pair[1])
		t.Run(name, func(t *testing.T) {
			older, newer := planOf(t, pair[0]), planOf(t, pair[1])
			if older == nil || newer == nil {
				t.Skip("one of the two cannot be previewed; see TestSlowEveryRealBundleHasOneContentDigest")
			}
			text := "access\n" + accessDelta(older.Access.Grants, newer.Access.Grants)
			path := filepath.Join("testdata", "upgrades", name+".golden")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if text != string(want) {
				t.Errorf("%s; rewrite it with -update when this is right:\n%s", path, text)
			}
		})
	}
}

// upgrades lists pairs of bundle directories, older first.
func upgrades(t *testing.T) [][2]string {
	t.Helper()
	byPackage := map[string][]string{}
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t), "bundles", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if _, err := semver.NewVersion(filepath.Base(dir)); err == nil {
			byPackage[filepath.Dir(dir)] = append(byPackage[filepath.Dir(dir)], dir)
		}
	}
	var out [][2]string
	for _, versions := range byPackage {
		slices.SortFunc(versions, func(a, b string) int {
			return semver.MustParse(filepath.Base(a)).Compare(semver.MustParse(filepath.Base(b)))
		})
		for i := 1; i < len(versions); i++ {
			out = append(out, [2]string{versions[i-1], versions[i]})
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	if len(out) == 0 {
		t.Fatal("the corpus has no two versions of one package")
	}
	return out
}

// planOf is nil for a bundle that cannot be previewed.
func planOf(t *testing.T, dir string) *preview.Plan {
	t.Helper()
	content, release, err := seal(t, dir)
	if err != nil {
		return nil
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{
		Release: release, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// accessDelta writes what is not the same, one grant to a line, and a count.
func accessDelta(older, newer []preview.Grant) string {
	var b strings.Builder
	count := map[string]int{}
	for _, g := range access.Delta(older, newer) {
		count[g.Change]++
		if g.Change == preview.GrantSame {
			continue
		}
		subject := g.Subject.Kind + " " + strings.TrimPrefix(g.Subject.Namespace+"/"+g.Subject.Name, "/")
		where := "in the cluster"
		if g.Scope == preview.ScopeNamespace {
			where = "in namespace " + g.Namespace
		}
		fmt.Fprintf(&b, "  %s: %s %s: %s on %s", g.Change, subject, where, strings.Join(g.Verbs, ","),
			strings.Join(slices.Concat(g.Resources, g.NonResourceURLs), ","))
		if len(g.Resources) > 0 {
			fmt.Fprintf(&b, " of %q", strings.Join(g.APIGroups, ","))
		}
		if len(g.ResourceNames) > 0 {
			fmt.Fprintf(&b, " named %s", strings.Join(g.ResourceNames, ","))
		}
		b.WriteByte('\n')
	}
	for _, change := range []string{preview.GrantNew, preview.GrantWidened, preview.GrantNarrowed, preview.GrantRemoved, preview.GrantSame} {
		fmt.Fprintf(&b, "  %d %s\n", count[change], change)
	}
	return b.String()
}
