package planning_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// chartPair is a real chart in two versions.
type chartPair struct{ repository, name, from, to string }

// chartPairs are charts of other repositories, in clones that "make upstream" makes.
func chartPairs(t *testing.T) (pairs []chartPair) {
	t.Helper()
	file, err := os.Open("testdata/helmcharts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) == 4 {
			pairs = append(pairs, chartPair{f[0], f[1], f[2], f[3]})
		}
	}
	return pairs
}

// extract writes a version of a chart from a clone to a directory, which it returns.
func (c chartPair) extract(t *testing.T, clones, version string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `git -C "$1" archive "$2" "$3" | tar -x -C "$4"`, "sh",
		filepath.Join(clones, strings.ReplaceAll(c.repository, "/", "+")), c.name+"-"+version, "charts/"+c.name, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("extracting: %v\n%s", err, out)
	}
	return filepath.Join(dir, "charts", c.name)
}

func TestClusterHelmUpgradesAsPredicted(t *testing.T) {
	clones := os.Getenv("UPSTREAM")
	if clones == "" {
		t.Skip("skipped: UPSTREAM names no directory of clones")
	}
	for _, pair := range chartPairs(t) {
		for version := range helmPrograms {
			t.Run(version+"/"+pair.name, func(t *testing.T) {
				short := strings.ToLower(strings.ReplaceAll(version, " ", ""))
				h := ownerBy(t, version, strings.ReplaceAll(short+"-"+pair.name, "prometheus", "pro"))
				h.flags = []string{"--no-hooks"}
				from, to := pair.extract(t, clones, pair.from), pair.extract(t, clones, pair.to)
				if out, err := h.try(t, "install", h.release.Name, from, "--no-hooks"); err != nil {
					t.Skipf("skipped: helm does not install it: %v\n%s", err, out)
				}
				sum := h.follows(t, to)
				t.Logf("%s %s %s→%s: %d objects, %d change, %d fields", version, pair.name, pair.from, pair.to, sum.objects, sum.changed, sum.fields)
				h.must(t, "uninstall", h.release.Name, "--no-hooks")
			})
		}
	}
}
