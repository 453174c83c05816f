package report

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

// The table of forms in the manual is made from [Forms].
func TestTheManualListsTheForms(t *testing.T) {
	path := filepath.Join("..", "..", "cmd", "internal", "cli", "help", "reports.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| `-o` | for |\n| --- | --- |\n"
	start := bytes.Index(page, []byte(head))
	if start < 0 {
		t.Fatalf("reports.md has no table %q", head)
	}
	start += len(head)
	size := bytes.Index(page[start:], []byte("\n\n")) + 1
	want := formRows()
	if string(page[start:start+size]) == want {
		return
	}
	if !*update {
		t.Fatalf("the table of reports.md is not that of the forms; run go test -update. Want:\n%s", want)
	}
	if err := os.WriteFile(path, slices.Concat(page[:start], []byte(want), page[start+size:]), 0o644); err != nil {
		t.Fatal(err)
	}
}

// formRows are the rows of the forms; those for the same purpose share one.
func formRows() string {
	var out strings.Builder
	all := Forms()
	for i := 0; i < len(all); {
		var names []string
		purpose := all[i].For
		for ; i < len(all) && all[i].For == purpose; i++ {
			names = append(names, "`"+all[i].Name+"`")
		}
		out.WriteString("| " + strings.Join(names, ", ") + " | " + purpose + " |\n")
	}
	return out.String()
}

func TestEveryFormIsNamedOnceAndWrites(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Forms() {
		if f.Name == "" || f.For == "" || f.write == nil || seen[f.Name] {
			t.Errorf("the form %q is named twice, or lacks its purpose or writer", f.Name)
		}
		seen[f.Name] = true
		if f.Progress && f.Scope != AnyPlan {
			t.Errorf("%s: a run reports in forms that every plan has", f.Name)
		}
	}
	p := reviewtest.Plans(t)["fresh-install"]
	for _, name := range Names(OfRelease) {
		if got := write(t, p, Options{Format: name}); got == "" {
			t.Errorf("-o %s writes nothing", name)
		}
	}
	for _, f := range Forms() {
		if f.Scope != OfRequest {
			continue
		}
		if err := Write(new(bytes.Buffer), p, Options{Format: f.Name}); err == nil || !strings.Contains(err.Error(), "use preview") {
			t.Errorf("-o %s of a plan alone: error = %v, want the command that knows what was asked for", f.Name, err)
		}
	}
}
