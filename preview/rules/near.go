package rules

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/spelling"
)

// maxNear is the most names that [Near] returns.
const maxNear = 3

// Near returns the names of rules that are similar to a word, for "did you mean": those
// that contain the word, else those with a few letters changed, the most similar first.
func Near(word string) []string {
	word = strings.ToLower(word)
	if len(word) > 100 { // no name of ours, and costly to compare
		return nil
	}
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, r := range All() {
		far := spelling.Distance(word, r.Name, max(len(word), len(r.Name)))
		if len(word) >= 3 && strings.Contains(r.Name, word) {
			far = 0
		}
		if far <= max(2, len(word)/3) {
			found = append(found, candidate{r.Name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.far - b.far })
	var out []string
	for _, c := range found[:min(len(found), maxNear)] {
		out = append(out, c.name)
	}
	return out
}
