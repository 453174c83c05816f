package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The columns of the table of webhooks, after the operator and the cluster.
const (
	columnInstalled = "installed"
	columnUpgraded  = "upgraded"
	columnAgain     = "upgraded again"
	columnBack      = "rolled back"
	columnRemoved   = "uninstalled"
	columnKept      = "options kept"
)

var webhookColumns = []string{columnInstalled, columnUpgraded, columnAgain, columnBack, columnRemoved, columnKept}

const webhookTableHead = `# Real operators with webhooks, on clusters that issue certificates in three ways, without a
# word about certificates. "called" are the webhooks that the API server called, with a
# certificate that it trusts, while the operator's own examples were written; the others
# are of kinds or verbs without an example. Versions with "-made" are the newest real
# bundle with another name, version and tag of its image: the corpus has no third one.
# Rewritten by: KUBECTL_OPERATOR_SOAK_RUNS=1 go test ./cmd/internal/cli -run WebhooksOfReal -update
`

// webhookTable is what came of each operator on each cluster.
type webhookTable struct {
	path string
	mu   sync.Mutex
	rows map[string]map[string]string // by operator and cluster, then by column
}

func readWebhookTable(t *testing.T) *webhookTable {
	t.Helper()
	table := &webhookTable{path: filepath.Join("..", "..", "..", "testdata", "webhooks.golden"), rows: map[string]map[string]string{}}
	data, err := os.ReadFile(table.path)
	if err != nil && !*cli.Update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), " | ")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "operator ") || len(cells) != 2+len(webhookColumns) {
			continue
		}
		row := map[string]string{}
		for i, column := range webhookColumns {
			row[column] = strings.TrimSpace(cells[2+i])
		}
		table.rows[strings.TrimSpace(cells[0])+" "+strings.TrimSpace(cells[1])] = row
	}
	return table
}

// compare compares what a run did with the row of the table, or takes it over. A brief
// run did not all of it.
func (w *webhookTable) compare(t *testing.T, operator, cluster string, did map[string]string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	row := w.rows[operator+" "+cluster]
	if *cli.Update && slowtest.Soak() {
		w.rows[operator+" "+cluster] = did
		return
	}
	for column, cell := range did {
		if row[column] != cell {
			t.Errorf("%s on %s: %s is %q, in %s %q", operator, cluster, column, cell, w.path, row[column])
		}
	}
}

// write writes the table again with -update, if a soak made all of it.
func (w *webhookTable) write(t *testing.T) {
	t.Helper()
	if !*cli.Update || !slowtest.Soak() {
		return
	}
	lines := [][]string{slices.Concat([]string{"operator", "cluster"}, webhookColumns)}
	for _, o := range webhookOperators {
		for _, cluster := range webhookClusterNames() {
			line := []string{o.name, cluster}
			for _, column := range webhookColumns {
				line = append(line, w.rows[o.name+" "+cluster][column])
			}
			lines = append(lines, line)
		}
	}
	out := webhookTableHead
	for _, line := range lines {
		for i := range line {
			width := 0
			for _, other := range lines {
				width = max(width, len(other[i]))
			}
			line[i] = fmt.Sprintf("%-*s", width, line[i])
		}
		out += strings.TrimRight(strings.Join(line, " | "), " ") + "\n"
	}
	if err := os.WriteFile(w.path, []byte(out), 0o644); err != nil {
		t.Error(err)
	}
}

func webhookClusterNames() []string {
	return []string{preview.CertsGenerated, preview.CertsCertManager, preview.CertsServiceCA}
}

// The table has each operator on each cluster, and nothing that went wrong.
func TestTheTableOfWebhooksIsWhole(t *testing.T) {
	table := readWebhookTable(t)
	if len(webhookOperators) < 10 || len(table.rows) != len(webhookOperators)*len(webhookClusters()) {
		t.Errorf("%d operators have %d rows", len(webhookOperators), len(table.rows))
	}
	for _, o := range webhookOperators {
		for cluster := range webhookClusters() {
			row := table.rows[o.name+" "+cluster]
			for _, column := range []string{columnInstalled, columnUpgraded, columnAgain, columnBack} {
				var version string
				var called, of int
				if n, err := fmt.Sscanf(row[column], "%s %d of %d called", &version, &called, &of); n != 3 || err != nil || called == 0 || called > of {
					t.Errorf("%s on %s: %s is %q", o.name, cluster, column, row[column])
				}
			}
			if row[columnRemoved] != "all gone" || row[columnKept] != "certs, install mode, values" {
				t.Errorf("%s on %s: uninstalled is %q, and options kept %q", o.name, cluster, row[columnRemoved], row[columnKept])
			}
		}
	}
}

// threeVersions returns the directories of three versions of an operator, the oldest
// first. Where the corpus has fewer, the newest bundle is copied with another name,
// version and image.
func threeVersions(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return semver.MustParse(a.Name()).Compare(semver.MustParse(b.Name())) })
	var out []string
	for _, entry := range entries[max(0, len(entries)-3):] {
		out = append(out, filepath.Join(dir, entry.Name()))
	}
	for len(out) < 3 {
		out = append(out, nextVersion(t, out[len(out)-1]))
	}
	return out
}

// nextVersion makes the version of a bundle that follows one.
func nextVersion(t *testing.T, of string) string {
	t.Helper()
	version := semver.MustParse(filepath.Base(of))
	version.Patch++
	version.Pre = []semver.PRVersion{{VersionStr: "made"}}
	made := filepath.Join(t.TempDir(), version.String())
	if err := os.CopyFS(made, os.DirFS(of)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(made, "manifests", "*clusterserviceversion.yaml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("CSVs %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	docs, err := preview.Decode(data)
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %d documents, %v", files[0], len(docs), err)
	}
	csv := docs[0].(map[string]any)
	meta, spec := preview.Map(csv, "metadata"), preview.Map(csv, "spec")
	name, _, _ := strings.Cut(preview.String(meta, "name"), ".")
	spec["replaces"] = meta["name"]
	meta["name"], spec["version"] = name+".v"+version.String(), version.String()
	image := preview.Maps(preview.Maps(spec, "install", "spec", "deployments")[0], "spec", "template", "spec", "containers")[0]
	repository, _, _ := strings.Cut(preview.String(image, "image"), "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	image["image"] = repository + ":" + version.String()
	if data, err = yaml.Marshal(csv); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	return made
}
