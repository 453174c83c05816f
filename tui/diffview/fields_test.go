package diffview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// The list of changed fields shows what differs between two rows, and between the
// two values of one, at any width.
func TestFieldsThatAreAlikeAreToldApart(t *testing.T) {
	var changes []preview.Change
	for i := range 20 {
		changes = append(changes, preview.Change{
			Op: diff.OpChange, Path: fmt.Sprintf(".spec.template.spec.containers[name=mongodb-kubernetes-operator].env[%d].value", i),
			From: "quay.io/mongodb/mongodb-kubernetes-agent-ubi:1.8.1", To: "quay.io/mongodb/mongodb-kubernetes-agent-ubi:1.10.0",
		})
	}
	s := &View{Form: FormPaths, Comparison: &Comparison{Changes: changes}}
	s.Build()
	for _, width := range []int{60, 75, 80, 120, 200} {
		seen := map[string]bool{}
		for i := range changes {
			line := s.changeLine(" ", i, width)
			if line.Width() > width || seen[line.Plain()] {
				t.Errorf("at %d columns: %q", width, line.Plain())
			}
			seen[line.Plain()] = true
			if was, is, _ := strings.Cut(line.Plain(), " -> "); !strings.Contains(was, ":1.8") && !strings.Contains(was, "8.1") || !strings.Contains(is, "10.") {
				t.Errorf("at %d columns the versions are not in %q", width, line.Plain())
			}
		}
	}
}
