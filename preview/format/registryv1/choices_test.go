package registryv1

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// The settings that make an operator watch fewer namespaces, the fewest first.
func TestChoicesOfFewerNamespaces(t *testing.T) {
	every := []string{allNamespaces, singleNamespace, ownNamespace, multiNamespace}
	watch := func(namespaces ...string) format.Params { return format.Params{WatchNamespaces: namespaces} }
	const own = "demo-system" // the release namespace
	for _, tc := range []struct {
		name      string
		supported []string
		params    format.Params
		elsewhere string
		want      []string // MODE NAMESPACES
	}{
		{"of all its own, and the one in which the user works", every, format.Params{}, "orders", []string{"OwnNamespace", "SingleNamespace orders"}},
		{"of all its own, where the user works in no other", every, format.Params{}, "", []string{"OwnNamespace"}},
		{"its own is no other namespace", []string{singleNamespace, allNamespaces}, format.Params{}, own, nil},
		{"no mode that the bundle does not support", []string{multiNamespace, allNamespaces}, format.Params{}, "orders", nil},
		{"of one other its own", every, watch("orders"), "sales", []string{"OwnNamespace"}},
		{"of its own none", every, watch(own), "orders", nil},
		{"of two each", every, watch("orders", "sales"), "", []string{"OwnNamespace", "SingleNamespace sales", "SingleNamespace orders"}},
		{"of three each two", every, watch("a", "b", "c"), "", []string{"OwnNamespace", "MultiNamespace b c", "MultiNamespace a c", "MultiNamespace a b"}},
		{"of very many none but its own", every, watch("a", "b", "c", "d", "e", "f", "g"), "", []string{"OwnNamespace"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := format.Input{Content: makeBundle(t, modes(t, tc.supported...), nil), Release: preview.Release{Name: "demo", Namespace: own}, Params: tc.params, Elsewhere: tc.elsewhere}
			choices, err := New().(format.Chooser).Choices(in)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range choices {
				got = append(got, strings.Join(append([]string{c.Params.InstallMode}, c.Params.WatchNamespaces...), " "))
				flags := strings.NewReplacer("--install-mode ", "", "--watch-namespace ", "").Replace(strings.Join(c.Flags, " "))
				if flags != got[len(got)-1] {
					t.Errorf("the flags %q set %q", c.Flags, got[len(got)-1])
				}
				mustRender(t, in.Content, c.Params)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("choices %q, want %q", got, tc.want)
			}
		})
	}
}
