package planned

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestANoteCountsCriticalFindingsBeyondThoseThatItHas(t *testing.T) {
	for warnings, end := range map[int]string{0: "", 1: "; and one warning", 7: "; and 7 warnings"} {
		for criticals, more := range map[int]string{1: "", maxHookDangers: "", maxHookDangers + 3: "; and 3 more critical"} {
			n := &hookNote{}
			for i := range criticals {
				n.add(preview.Finding{
					Severity: preview.Critical, Claim: preview.Claim{Subject: "Job j", Predicate: fmt.Sprint("danger ", i)},
					Pieces: []preview.Piece{{Object: "batch/Job/app/j", What: "e"}},
				})
			}
			for range warnings {
				n.add(preview.Finding{Severity: preview.Warning, Title: "Job j: less"})
			}
			n.add(preview.Finding{Severity: preview.Info, Title: "Job j: nothing"})
			text := n.text()
			if got := strings.Count(text, "danger"); got != min(criticals, maxHookDangers) || !strings.HasPrefix(text, "danger 0 (e)") || !strings.HasSuffix(text, ")"+more+end) {
				t.Errorf("%d critical, %d warnings: %q", criticals, warnings, text)
			}
		}
	}
}
