package risk

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudmatch"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// TestSlowCloudAccessOfUpgrades pins how cloud access differs between every two
// neighbouring versions of the real bundles.
func TestSlowCloudAccessOfUpgrades(t *testing.T) {
	slowtest.Skip(t, "the upgrades of the whole corpus")
	packages, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "*"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	var got bytes.Buffer
	pairs := 0
	for _, dir := range packages {
		versions := versionsIn(t, dir)
		for i := 1; i < len(versions); i++ {
			pairs++
			fmt.Fprintf(&got, "%s %s -> %s\n", filepath.Base(dir), versions[i-1], versions[i])
			installed, whyNot := cloudOfBundle(filepath.Join(dir, versions[i-1]))
			planned, refused := cloudOfBundle(filepath.Join(dir, versions[i]))
			if refused = cmp.Or(whyNot, refused); refused != "" {
				fmt.Fprintf(&got, "  not rendered: %s\n", refused)
				continue
			}
			for _, line := range deltaLines(installed, planned) {
				fmt.Fprintf(&got, "  %s\n", line)
			}
		}
	}
	if pairs == 0 {
		t.Fatal("no package has two versions")
	}
	wantGolden(t, "cloud-upgrades.txt", got.Bytes())
}

// TestSlowCloudAccessOfTheCorpus pins what is found in the newest version of each real
// bundle. It was checked by hand against the words for clouds in their manifests: no
// bundle states actions, and those without any sign of a cloud have none here.
func TestSlowCloudAccessOfTheCorpus(t *testing.T) {
	slowtest.Skip(t, "the whole corpus")
	packages, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "*"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	var got bytes.Buffer
	none := 0
	for _, dir := range packages {
		versions := versionsIn(t, dir)
		fmt.Fprintf(&got, "%s %s\n", filepath.Base(dir), versions[len(versions)-1])
		found, refused := cloudOfBundle(filepath.Join(dir, versions[len(versions)-1]))
		lines := deltaLines(preview.Cloud{}, found)
		switch {
		case refused != "":
			lines = []string{"not rendered: " + refused}
		case len(lines) == 0:
			none++
			lines = []string{"none found"}
		}
		for _, line := range lines {
			fmt.Fprintf(&got, "  %s\n", line)
		}
	}
	if none < 20 {
		t.Errorf("%d bundles without cloud access", none)
	}
	wantGolden(t, "cloud-corpus.txt", got.Bytes())
}

// TestRequestsOfTheCorpusAreOfKnownRoles: what publishers ask for is judged, or named as
// info; a warning is for roles of which nothing is known.
func TestRequestsOfTheCorpusAreOfKnownRoles(t *testing.T) {
	requests, named := 0, 0
	err := filepath.WalkDir(corpustest.Dir(t, "credentialsrequests"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), "kind: CredentialsRequest\n") {
			return err
		}
		requests++
		for _, f := range evaluate(t, Input{Plan: planOf(t, string(data))}) {
			if f.Rule != rules.CloudNotJudged.Name {
				continue
			}
			if named++; f.Severity != preview.Info {
				t.Errorf("%s: %s: %s", path, f.Severity, f.Evidence)
			}
		}
		return nil
	})
	if err != nil || requests < 15 || named < 5 {
		t.Errorf("%d requests, %d with something that is not judged: %v", requests, named, err)
	}
}

func wantGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	golden := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func versionsIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, entry := range entries {
		out = append(out, entry.Name())
	}
	slices.SortFunc(out, func(a, b string) int { return semver.MustParse(a).Compare(semver.MustParse(b)) })
	return out
}

// cloudOfBundle renders a bundle and scans it with the annotations that
// registry+v1 gives its pods; why is set when it is refused.
func cloudOfBundle(dir string) (c preview.Cloud, why string) {
	f := registryv1.New()
	info, err := f.Detect(os.DirFS(dir))
	if err != nil || info == nil {
		return c, fmt.Sprint(err)
	}
	release := preview.Release{Name: info.Package, Namespace: cmp.Or(info.SuggestedNamespace, info.Package)}
	out, err := f.Render(context.Background(), format.Input{Content: os.DirFS(dir), Release: release})
	if err != nil {
		return c, err.Error()
	}
	var bodies []map[string]any
	for _, o := range out.Objects {
		bodies = append(bodies, o.Body)
	}
	return cloud.Scan(cloud.Input{Objects: bodies, Annotations: out.Annotations, Documents: out.CloudDocuments, PackageID: info.Package}), ""
}

// deltaLines writes the permissions of an upgrade, and the declarations that
// come, stay and go. The names of generated roles come of their content.
func deltaLines(installed, planned preview.Cloud) []string {
	var out []string
	for _, p := range cloud.Delta(installed, planned).Permissions {
		out = append(out, p.Change+" "+cloudmatch.Line(p))
	}
	declared := map[string]int{}
	for _, d := range installed.Declared {
		declared[d.Provider+": "+withoutHash(d.Origin)] |= 1
	}
	for _, d := range planned.Declared {
		declared[d.Provider+": "+withoutHash(d.Origin)] |= 2
	}
	for line, where := range declared {
		out = append(out, []string{"", "removed", "new", "same"}[where]+" "+line)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func withoutHash(origin string) string {
	words := strings.Fields(origin)
	for i, word := range words {
		if strings.HasPrefix(word, "ClusterRole/") || strings.HasPrefix(word, "Role/") {
			words[i], _, _ = strings.Cut(word, "/")
		}
	}
	return strings.Join(words, " ")
}
