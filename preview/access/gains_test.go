package access

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// withoutVia are the briefs of grants, without who and through what.
func withoutVia(grants []preview.Grant) []string {
	var out []string
	for _, line := range briefs(grants) {
		line, _, _ = strings.Cut(line, " via ")
		out = append(out, strings.Replace(line, "ServiceAccount op@", "", 1))
	}
	slices.Sort(out)
	return out
}

func TestGains(t *testing.T) {
	tests := []struct {
		name               string
		installed, planned []string
		want               []string
	}{
		{"nothing, where a role has another name", []string{"|pods|get"}, []string{"|pods|get"}, nil},
		{"a verb more is that verb alone", []string{"|pods,secrets|get,list"}, []string{"|pods,secrets|get,list,watch"}, []string{"new cluster: watch |pods,secrets"}},
		{"a resource more is that resource alone", []string{"|pods|get,list"}, []string{"|pods,secrets|get,list"}, []string{"new cluster: get,list |secrets"}},
		{"a resource in a role that other roles have too", []string{"|pods|get", "|secrets|list"}, []string{"|pods,secrets|get,list"}, []string{"new cluster: get |secrets", "new cluster: list |pods"}},
		{"several roles gain the same", []string{"|pods|get"}, []string{"|pods|get,list", "|pods|list"}, []string{"new cluster: list |pods"}},
		{"a verb less", []string{"|pods|get,list"}, []string{"|pods|get"}, []string{"removed cluster: list |pods"}},
		{"a name taken away", []string{"|secrets a|get"}, []string{"|secrets|get"}, []string{"new cluster: get |secrets"}},
		{"a name added", []string{"|secrets|get"}, []string{"|secrets a|get"}, []string{"removed cluster: get |secrets"}},
		{"a verb on every name and the same on one", nil, []string{"|secrets|get", "|secrets a|get,list"}, []string{"new cluster: get |secrets", "new cluster: list |secrets[a]"}},
		{"what a wildcard permitted is not gained", []string{"*|*|*"}, []string{"|pods|get"}, []string{"removed cluster: * *|*"}},
		{"from a namespace to the cluster", []string{"app:|pods|get"}, []string{"|pods|get"}, []string{"new cluster: get |pods"}},
		{"the same resources of two groups", nil, []string{",events.k8s.io|events|create"}, []string{"new cluster: create ,events.k8s.io|events"}},
		{"a URL", []string{"x|/metrics|get"}, []string{"x|/metrics,/healthz|get"}, []string{"new cluster: get | url /healthz"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			gained, lost := Gains(grants("old", test.installed...), grants("new", test.planned...))
			if got := withoutVia(slices.Concat(gained, lost)); !slices.Equal(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

// However rights are divided over roles, what is gained is the difference of the sets,
// each right once.
func TestGainsAreTheDifferenceHoweverRolesAreDivided(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	pick := func(from ...string) string {
		var out []string
		for _, s := range from {
			if random.IntN(2) == 0 {
				out = append(out, s)
			}
		}
		if out == nil {
			return from[0]
		}
		return strings.Join(out, ",")
	}
	set := func() []string {
		var out []string
		for range random.IntN(5) {
			namespace := []string{"", "", "app:"}[random.IntN(3)]
			out = append(out, fmt.Sprintf("%s%s|%s|%s", namespace, pick("", "apps"), pick("pods", "secrets", "nodes"), pick("get", "list", "watch")))
		}
		return out
	}
	singles := func(grants []preview.Grant) map[tuple]int {
		out := map[tuple]int{}
		for _, g := range grants {
			for _, single := range tuplesOf(g) {
				out[single]++
			}
		}
		return out
	}
	for range 500 {
		before, after := grants("old", set()...), grants("new", set()...)
		gained, _ := Gains(before, after)
		subjects := subjectsOf(slices.Concat(before, after))
		had, has, got := expand(before, subjects), expand(after, subjects), singles(gained)
		for single := range has.has {
			if want := !had.covers(single); want != (got[single] == 1) {
				t.Fatalf("%+v: gained %d times, want %v; from %v to %v", single, got[single], want, withoutVia(before), withoutVia(after))
			}
		}
		for single, n := range got {
			if !has.has[single] || n > 1 {
				t.Fatalf("%+v is %d times among the gains of %v over %v", single, n, withoutVia(after), withoutVia(before))
			}
		}
	}
}
