package diffview

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

func TestYAMLIsColouredByWhatItIs(t *testing.T) {
	look := theme.New(theme.Options{Color: true})
	for _, tc := range []struct {
		text   string
		begins bool
		parts  []string // painted, in this order
	}{
		{"  replicas: 3", true, []string{look.Paint(theme.Field, "replicas"), ": ", look.Paint(theme.Literal, "3")}},
		{`  - name: "a: b"`, true, []string{"  - ", look.Paint(theme.Field, "name"), ": ", look.Paint(theme.String, `"a: b"`)}},
		{`  "a: b": on`, true, []string{"  ", look.Paint(theme.Field, `"a: b"`), ": on"}},
		{"  spec:", true, []string{"  ", look.Paint(theme.Field, "spec"), ":"}},
		{"    replicas: 3", false, []string{"    replicas: 3"}}, // of a block of text
		{"  - --listen=:8080", true, []string{"  - --listen=:8080"}},
	} {
		line := yamlSpans(tc.text, tc.begins)
		if line.Plain() != tc.text {
			t.Errorf("%q became %q", tc.text, line.Plain())
		}
		want := ""
		for _, part := range tc.parts {
			want += part
		}
		if tc.text[:2] == "  " && tc.parts[0][0] == '\x1b' {
			want = "  " + want
		}
		if got := line.Paint(look, line.Width()); got != want {
			t.Errorf("%q is painted %q, want %q", tc.text, got, want)
		}
	}
}
