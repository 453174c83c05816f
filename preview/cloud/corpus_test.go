package cloud_test

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
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
)

func TestMain(m *testing.M) {
	child.Main(helm.Task())
	os.Exit(m.Run())
}

// The verdicts of the table: the detected access, compared with the publisher's documents.
const (
	agrees  = "agrees"
	less    = "less"
	more    = "more"
	both    = "less and more"
	refused = "refused" // no plan is made of the package
)

// documented is a row of testdata/corpus.tsv.
type documented struct {
	found, says []string
	where       string
	verdict     string
	why         string
}

func readCorpusTable(t *testing.T) map[string]documented {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "corpus.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]documented{}
	for _, f := range tsv.Rows(string(data), 6) {
		rows[f[0]] = documented{found: items(f[1]), says: items(f[2]), where: f[3], verdict: f[4], why: f[5]}
	}
	if n := strings.Count(string(data), "\n"); len(rows) == 0 || n-strings.Count("\n"+string(data), "\n#") != len(rows) {
		t.Fatalf("testdata/corpus.tsv has %d lines and %d rows of six columns", n, len(rows))
	}
	return rows
}

func items(cell string) []string {
	if cell == "none" || cell == refused {
		return nil
	}
	list := strings.Split(cell, ", ")
	slices.Sort(list)
	return list
}

// Access to clouds that is found in each package of the corpus is what the table says,
// where a person compared it with what the publisher writes. Packages that have none by
// their documents are found to have none.
func TestSlowCorpusAccessIsThatOfThePublishersDocuments(t *testing.T) {
	slowtest.Skip(t, "the packages of the corpus")
	table := readCorpusTable(t)
	without := 0
	for name, dirs := range corpusPackages(t) {
		row, ok := table[name]
		if !ok {
			t.Errorf("%s has no row", name)
			continue
		}
		delete(table, name)
		read := false
		for _, dir := range dirs {
			found, ok := accessOf(t, dir)
			if !ok {
				continue
			}
			read = true
			if !slices.Equal(found, row.found) {
				t.Errorf("%s: found\n\t%s\nin the table is\n\t%s", dir, strings.Join(found, ", "), strings.Join(row.found, ", "))
			}
		}
		if read == (row.verdict == refused) {
			t.Errorf("%s: a plan is made of it: %t, and its verdict is %s", name, read, row.verdict)
		}
		if len(row.found)+len(row.says) == 0 {
			without++
		}
	}
	for name := range table {
		t.Errorf("the corpus has no %s", name)
	}
	if without < 20 {
		t.Errorf("only %d packages have no access by either", without)
	}
}

// The verdict of each row follows from its cells, and what is not found or not documented
// has a reason.
func TestCorpusVerdictsFollow(t *testing.T) {
	for name, row := range readCorpusTable(t) {
		if row.where == "" {
			t.Errorf("%s: where the publisher says it is missing", name)
		}
		if row.verdict != agrees && row.why == "" {
			t.Errorf("%s: why it is %s is missing", name, row.verdict)
		}
		if want := verdictOf(row, says(t, row)); row.verdict != refused && row.verdict != want {
			t.Errorf("%s: the verdict is %s, want %s", name, row.verdict, want)
		}
	}
}

// says returns the access that documents state; it reads documents of the corpus ("@FILE").
func says(t *testing.T, row documented) []string {
	t.Helper()
	var out []string
	for _, item := range row.says {
		file, isFile := strings.CutPrefix(item, "@")
		if !isFile {
			out = append(out, item)
			continue
		}
		data, err := os.ReadFile(filepath.Join(corpustest.Dir(t), file))
		if err != nil {
			t.Fatal(err)
		}
		list, err := cloud.ReadPolicy(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range cloud.Scan(cloud.Input{Attached: []preview.CloudPolicy{{Documents: list}}}).Permissions {
			for _, what := range slices.Concat(p.Actions, p.Roles) {
				out = append(out, p.Provider+" "+what)
			}
		}
	}
	return out
}

// verdictOf compares the detected access with the documents: permission by permission,
// and by provider where either has access alone. Access that an operator requests from
// the cloud it runs on counts for any provider.
func verdictOf(row documented, says []string) string {
	permissions, providers := map[bool]map[string]bool{}, map[bool]map[string]bool{}
	for found, list := range map[bool][]string{true: row.found, false: says} {
		permissions[found], providers[found] = map[string]bool{}, map[string]bool{}
		for _, item := range list {
			provider, what, _ := strings.Cut(item, " ")
			if found {
				_, what, _ = strings.Cut(what, " ") // how sure it is
			}
			providers[found][provider] = true
			if what != "access" {
				permissions[found][strings.ToLower(provider+" "+what)] = true
			}
		}
	}
	anyCloud := providers[true][cloud.Openshift]
	lacks := func(list, of map[string]bool, except bool) bool {
		for item := range list {
			if !of[item] && !except && item != cloud.Openshift {
				return true
			}
		}
		return false
	}
	isLess := lacks(permissions[false], permissions[true], false) || lacks(providers[false], providers[true], anyCloud)
	isMore := lacks(permissions[true], permissions[false], false) || lacks(providers[true], providers[false], false) || anyCloud && len(says) == 0
	switch {
	case isLess && isMore:
		return both
	case isLess:
		return less
	case isMore:
		return more
	}
	return agrees
}

// corpusPackages returns the directories of each package, bundles and charts.
func corpusPackages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, kind := range []string{"bundles", "charts"} {
		dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t, kind), "*", "*"))
		if err != nil || len(dirs) == 0 {
			t.Fatalf("no %s: %v", kind, err)
		}
		for _, dir := range dirs {
			name := filepath.Base(filepath.Dir(dir))
			if kind == "charts" {
				name = "chart " + name
			}
			out[name] = append(out[name], dir)
		}
	}
	return out
}

// accessOf returns the access to clouds in a package as it is rendered, one text for each
// kind; false if it is refused.
func accessOf(t *testing.T, dir string) ([]string, bool) {
	t.Helper()
	content := os.DirFS(dir)
	for _, f := range []format.Format{registryv1.New(), helm.New()} {
		info, err := f.Detect(content)
		if err != nil || info == nil {
			continue
		}
		out, err := f.Render(context.Background(), format.Input{Content: content, Info: *info, Release: preview.Release{Name: "r", Namespace: "n"}, Params: format.Params{KubeVersion: "v1.37.1"}})
		if err != nil {
			return nil, false
		}
		var bodies []map[string]any
		for _, o := range out.Objects {
			bodies = append(bodies, o.Body)
		}
		found := cloud.Scan(cloud.Input{Objects: bodies, Annotations: out.Annotations, Documents: out.CloudDocuments, PackageID: info.Package})
		kinds := map[string]bool{}
		for _, p := range found.Permissions {
			for _, what := range slices.Concat(p.Actions, p.Roles) {
				kinds[fmt.Sprintf("%s %s %s", p.Provider, p.Certainty, what)] = true
			}
		}
		for _, d := range found.Declared {
			kinds[fmt.Sprintf("%s %s access", d.Provider, d.Certainty)] = true
		}
		return slices.Sorted(maps.Keys(kinds)), true
	}
	return nil, false
}
