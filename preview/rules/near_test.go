package rules

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	for word, want := range map[string]string{
		"rbac-secret-read": "rbac-secrets-read",
		"webhook":          "rbac-webhooks-delete",
		"exec":             "rbac-custom-exec",
		"pod-privleged":    "pod-privileged",
		"deprecate":        "deprecated",
	} {
		if got := Near(word); len(got) == 0 || got[0] != want || len(got) > maxNear {
			t.Errorf("Near(%q) = %v, want %s first", word, got, want)
		}
	}
	for _, word := range []string{"", "x", "zzzzzzzz", strings.Repeat("rbac", 1000)} {
		if got := Near(word); len(got) != 0 {
			t.Errorf("Near(%.20q) = %v", word, got)
		}
	}
}
