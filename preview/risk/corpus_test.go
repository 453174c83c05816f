package risk

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
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

// TestCorpusIsNotTooLoud prints what the rules find in every bundle. More than
// seven critical findings are more than a person reads with care.
func TestCorpusIsNotTooLoud(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "bundle\tgrants\tcritical\twarning\tinfo\tcritical rules")
	var criticals []int
	for _, dir := range dirs {
		p, out := planOfBundle(t, dir)
		if p == nil {
			continue
		}
		counts := map[preview.Severity]int{}
		var rules []string
		seen := map[string]bool{}
		for _, f := range evaluate(t, Input{Plan: p, RelatedImages: out.RelatedImages}) {
			counts[f.Severity]++
			if f.Severity == preview.Critical {
				rules = append(rules, f.Rule)
			}
			if seen[f.ID] || f.Evidence == "" || f.Title == "" || f.Why == "" {
				t.Errorf("%s: finding %+v", dir, f)
			}
			seen[f.ID] = true
		}
		criticals = append(criticals, counts[preview.Critical])
		slices.Sort(rules)
		name := filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\n", name, len(p.Access.Grants), counts[preview.Critical], counts[preview.Warning],
			counts[preview.Info], strings.Join(slices.Compact(rules), " "))
	}
	_ = w.Flush() // into memory
	t.Logf("\n%s", table.String())
	slices.Sort(criticals)
	if median := criticals[len(criticals)/2]; median > 7 {
		t.Errorf("the median bundle has %d critical findings", median)
	}
}
