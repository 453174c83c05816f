// Package spelling measures how far apart two names are, for "did you mean".
package spelling

// Distance returns the Levenshtein distance of two names in bytes, or most+1 if it is
// more than most.
func Distance(a, b string, most int) int {
	if diff := len(a) - len(b); diff > most || -diff > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return min(row[len(b)], most+1)
}
