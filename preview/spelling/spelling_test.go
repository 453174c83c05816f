package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		most int
		want int
	}{
		{"", "", 3, 0}, {"", "abc", 3, 3}, {"abc", "", 3, 3}, {"kitten", "sitting", 9, 3}, {"same", "same", 0, 0}, {"ab", "ba", 2, 2},
		{"kitten", "sitting", 2, 3}, {"a", "abcdef", 2, 3},
	} {
		if got := Distance(tt.a, tt.b, tt.most); got != tt.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", tt.a, tt.b, tt.most, got, tt.want)
		}
	}
}
