package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func TestAModeIsChosen(t *testing.T) {
	both, others := []string{"SingleNamespace", "OwnNamespace", "MultiNamespace"}, []string{"SingleNamespace", "MultiNamespace"}
	for name, tt := range map[string]struct {
		supported []string
		typed     string
		want      string // MODE NAMESPACES, empty for none
		said      string
	}{
		"an empty line takes the narrowest":        {both, "\n", "OwnNamespace", "  1  OwnNamespace     it watches its own namespace\n  2  SingleNamespace"},
		"a number":                                 {both, "1\n", "OwnNamespace", ""},
		"a name, in any case":                      {both, " ownnamespace \n", "OwnNamespace", ""},
		"another namespace":                        {both, "2\ntenant\n", "SingleNamespace tenant", "Which namespaces does it watch?"},
		"several namespaces":                       {both, "MultiNamespace\na, b,c\n", "MultiNamespace a b c", ""},
		"what is no mode is asked again":           {both, "9\nEverywhere\n0\n1\n", "OwnNamespace", "No mode is called that."},
		"a mode that is not supported":             {both, "AllNamespaces\nq\n", "", "No mode is called that."},
		"q quits":                                  {both, "q\n", "", ""},
		"the end of the input is no answer":        {both, "1", "", ""},
		"no namespace is no answer":                {both, "2\n \n", "", ""},
		"an end instead of namespaces is none":     {both, "2\n", "", ""},
		"nothing is the default that needs a name": {others, "\n", "", "an empty line quits"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			answer, ok, err := askInstallMode(t.Context(), strings.NewReader(tt.typed), &out, &format.UnclearModeError{Name: "demo.v1\x1b[2J", Supported: tt.supported})
			got := ""
			if ok {
				got = strings.Join(slices.Concat([]string{answer.Mode}, answer.Watch), " ")
			}
			if err != nil || got != tt.want {
				t.Errorf("chosen: %q, %v; want %q", got, err, tt.want)
			}
			if said := out.String(); !strings.Contains(said, tt.said) || strings.Contains(said, "\x1b") {
				t.Errorf("it says\n%q, want %q", said, tt.said)
			}
		})
	}
}
