package risk

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// planOfBundle renders a bundle and makes a plan that creates it; nil when the
// bundle is refused.
func planOfBundle(t testing.TB, dir string) (*preview.Plan, *format.Output) {
	t.Helper()
	f := registryv1.New()
	info, err := f.Detect(os.DirFS(dir))
	if err != nil || info == nil {
		return nil, nil
	}
	release := preview.Release{Name: info.Package, Namespace: info.SuggestedNamespace}
	if release.Namespace == "" {
		release.Namespace = info.Package
	}
	out, err := f.Render(context.Background(), format.Input{Content: os.DirFS(dir), Release: release})
	if err != nil {
		return nil, nil
	}
	p := &preview.Plan{Release: release}
	var bodies []map[string]any
	for _, o := range out.Objects {
		bodies = append(bodies, o.Body)
		p.Objects = append(p.Objects, object(o.Body))
	}
	p.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	p.Cloud = cloud.Delta(preview.Cloud{}, cloud.Scan(cloud.Input{Objects: bodies, Annotations: out.Annotations, PackageID: info.Package}))
	return p, out
}

// corpusEntries returns the entries of a review of every bundle, by bundle.
func corpusEntries(tb testing.TB) map[string][]verdict.Group {
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(tb, "bundles"), "*", "*"))
	if err != nil || len(dirs) == 0 {
		tb.Fatalf("no bundles: %v", err)
	}
	out := map[string][]verdict.Group{}
	for _, dir := range dirs {
		p, content := planOfBundle(tb, dir)
		if p == nil {
			continue
		}
		seen := map[string]bool{}
		findings := evaluate(tb, Input{Plan: p, RelatedImages: content.RelatedImages})
		for _, f := range findings {
			if seen[f.ID] || f.Evidence == "" || f.Title == "" || f.Why == "" {
				tb.Errorf("%s: finding %+v", dir, f)
			}
			seen[f.ID] = true
		}
		out[filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))] = verdict.Groups(findings, p.Access.Accounts)
	}
	return out
}

// signal says how much of a review a person has to read.
type signal struct {
	critical, warning int      // medians of entries
	withCritical      int      // bundles, in percent
	often             []string // rules that head an entry in more than half of the bundles
	lines             []string // rules that head a line of any entry in more than half
}

func signalOf(entries map[string][]verdict.Group) signal {
	var criticals, warnings []int
	first, all, withCritical := map[string]int{}, map[string]int{}, 0
	for _, groups := range entries {
		count, heads, rules := map[preview.Severity]int{}, map[string]bool{}, map[string]bool{}
		for _, g := range groups {
			count[g.Severity()]++
			for i, e := range g.Entries() {
				if f := e.First(); f.Severity == preview.Critical || f.Severity == preview.Warning {
					heads[f.Rule], rules[f.Rule] = heads[f.Rule] || i == 0, true
				}
			}
		}
		for rule := range rules {
			all[rule]++
			if heads[rule] {
				first[rule]++
			}
		}
		criticals, warnings = append(criticals, count[preview.Critical]), append(warnings, count[preview.Warning])
		if count[preview.Critical] > 0 {
			withCritical++
		}
	}
	slices.Sort(criticals)
	slices.Sort(warnings)
	return signal{criticals[len(criticals)/2], warnings[len(warnings)/2], withCritical * 100 / len(entries), inMost(first, len(entries)), inMost(all, len(entries))}
}

// inMost returns the rules that are counted in more than half of n bundles.
func inMost(count map[string]int, n int) []string {
	var out []string
	for _, rule := range slices.Sorted(maps.Keys(count)) {
		if share := count[rule] * 100 / n; share > 50 {
			out = append(out, fmt.Sprintf("%s %d%%", rule, share))
		}
	}
	return out
}

// TestSlowCorpusIsNotTooLoud holds a review of a real bundle to what a person reads
// with care: two critical entries and four warnings, in the median.
func TestSlowCorpusIsNotTooLoud(t *testing.T) {
	slowtest.Skip(t, "the findings of the whole corpus")
	entries := corpusEntries(t)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		for _, g := range entries[name] {
			if g.Severity() == preview.Critical || g.Severity() == preview.Warning {
				t.Logf("%-45s %-3s %s", name, g.Label(), g.Title())
			}
		}
	}
	s := signalOf(entries)
	t.Logf("%d bundles: %d critical and %d warnings in the median, %d%% with a critical; head entries in more than half: %s; head lines of entries there: %s",
		len(entries), s.critical, s.warning, s.withCritical, strings.Join(s.often, ", "), strings.Join(s.lines, ", "))
	if s.critical > 2 || s.warning > 4 {
		t.Errorf("the median bundle has %d critical entries and %d warnings", s.critical, s.warning)
	}
	if len(s.often) > 1 || len(s.often) == 1 && !strings.HasPrefix(s.often[0], rules.ImageByTag.Name) {
		t.Errorf("besides images by tag, more than half of the bundles have entries headed by %s", strings.Join(s.often, ", "))
	}
}

// TestSlowAccountsAmountToWhatTheirFindingsSay: no account that comes to the cluster,
// to every Secret or to nodes is without a critical finding.
func TestSlowAccountsAmountToWhatTheirFindingsSay(t *testing.T) {
	slowtest.Skip(t, "the accounts of the whole corpus")
	for name, groups := range corpusEntries(t) {
		for _, g := range groups {
			if g.Account != nil && verdict.ExtentText(*g.Account) != "" && g.Severity() != preview.Critical {
				t.Errorf("%s: %s %s is %s in effect, %s", name, g.Label(), g.Title(), g.Account.Extent, strings.Join(g.Account.Steps, ", which "))
			}
		}
	}
}

// BenchmarkSignal prints how much of a review of the corpus a person has to read.
func BenchmarkSignal(b *testing.B) {
	var s signal
	for b.Loop() {
		s = signalOf(corpusEntries(b))
	}
	b.ReportMetric(float64(s.critical), "median-critical")
	b.ReportMetric(float64(s.warning), "median-warnings")
	b.ReportMetric(float64(s.withCritical), "%with-critical")
	b.ReportMetric(float64(len(s.often)), "rules-in-most")
	b.ReportMetric(float64(len(s.lines)), "rules-in-most-lines")
}
