package access

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// grant builds a grant from "[NAMESPACE:]GROUPS|RESOURCES[/NAMES]|VERBS", via
// the role named; groups and resources are separated by commas.
func grant(via, text string) preview.Grant {
	g := preview.Grant{
		Subject: preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"},
		Scope:   preview.ScopeCluster, Via: []string{"ClusterRole/" + via, "ClusterRoleBinding/" + via},
	}
	if namespace, rest, ok := strings.Cut(text, ":"); ok {
		g.Scope, g.Namespace, text = preview.ScopeNamespace, namespace, rest
	}
	parts := strings.Split(text, "|")
	g.APIGroups = strings.Split(parts[0], ",")
	resources, names, named := strings.Cut(parts[1], " ")
	g.Resources = strings.Split(resources, ",")
	if named {
		g.ResourceNames = strings.Split(names, ",")
	}
	g.Verbs = strings.Split(parts[2], ",")
	if strings.HasPrefix(parts[1], "/") {
		g.NonResourceURLs, g.Resources, g.APIGroups = g.Resources, nil, nil
	}
	return g
}

func grants(via string, texts ...string) []preview.Grant {
	var out []preview.Grant
	for _, text := range texts {
		out = append(out, grant(via, text))
	}
	return out
}

func TestDelta(t *testing.T) {
	tests := []struct {
		name               string
		installed, planned []string
		want               []string // CHANGE SCOPE: VERBS GROUP|RESOURCES
	}{
		{"everything is new on a fresh install", nil, []string{"|pods|get"}, []string{"new cluster: get |pods"}},
		{"the same rule in a role of another name", []string{"|pods|get"}, []string{"|pods|get"}, []string{"same cluster: get |pods"}},
		{"a verb more on the same resource", []string{"|pods|get"}, []string{"|pods|get,list"}, []string{"widened cluster: get,list |pods"}},
		{"a verb less on the same resource", []string{"|pods|get,list"}, []string{"|pods|get"}, []string{"narrowed cluster: get |pods"}},
		{"a verb more in a rule of its own", []string{"|pods|get"}, []string{"|pods|get", "|pods|list"}, []string{"same cluster: get |pods", "widened cluster: list |pods"}},
		{"a resource more in the same rule", []string{"|pods|get"}, []string{"|pods,secrets|get"}, []string{"widened cluster: get |pods,secrets"}},
		{"a resource more in a rule of its own", []string{"|pods|get"}, []string{"|pods|get", "|secrets|get"}, []string{"same cluster: get |pods", "new cluster: get |secrets"}},
		{"a resource less", []string{"|pods,secrets|get"}, []string{"|pods|get"}, []string{"same cluster: get |pods", "removed cluster: get |secrets"}},
		{"one rule split into two", []string{"|pods,secrets|get"}, []string{"|pods|get", "|secrets|get"}, []string{"same cluster: get |pods", "same cluster: get |secrets"}},
		{"a whole rule removed", []string{"|pods|get", "apps|deployments|get"}, []string{"|pods|get"}, []string{"same cluster: get |pods", "removed cluster: get apps|deployments"}},
		{"a list that becomes a wildcard", []string{"|pods|get"}, []string{"|*|get"}, []string{"widened cluster: get |*"}},
		{"a wildcard that becomes a list", []string{"|*|*"}, []string{"|pods|get"}, []string{"same cluster: get |pods", "removed cluster: * |*"}},
		{"a name taken away widens", []string{"|secrets a|get"}, []string{"|secrets|get"}, []string{"widened cluster: get |secrets"}},
		{"a name added narrows", []string{"|secrets|get"}, []string{"|secrets a|get"}, []string{"narrowed cluster: get |secrets[a]"}},
		{"another name widens", []string{"|secrets a|get"}, []string{"|secrets a,b|get"}, []string{"widened cluster: get |secrets[a,b]"}},
		{"from a namespace to the cluster", []string{"app:|pods|get"}, []string{"|pods|get"}, []string{"widened cluster: get |pods"}},
		{"from the cluster to a namespace", []string{"|pods|get"}, []string{"app:|pods|get"}, []string{"removed cluster: get |pods", "same app: get |pods"}},
		{"another namespace is new", []string{"app:|pods|get"}, []string{"app:|pods|get", "web:|pods|get"}, []string{"same app: get |pods", "new web: get |pods"}},
		{"another API group is new", []string{"apps|deployments|get"}, []string{"extensions|deployments|get"}, []string{"removed cluster: get apps|deployments", "new cluster: get extensions|deployments"}},
		{"a sub-resource under a star", []string{"|*/exec|create"}, []string{"|pods/exec|create"}, []string{"removed cluster: create |*/exec", "same cluster: create |pods/exec"}},
		{"a URL under a star", []string{"x|/metrics/*|get"}, []string{"x|/metrics/cadvisor|get"}, []string{"same cluster: get | url /metrics/cadvisor", "removed cluster: get | url /metrics/*"}},
		{"nothing left", []string{"|pods|get"}, nil, []string{"removed cluster: get |pods"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, line := range briefs(Delta(grants("old", test.installed...), grants("new", test.planned...))) {
				line, _, _ = strings.Cut(line, " via ")
				line = strings.Replace(line, "ServiceAccount op@", "", 1)
				got = append(got, line)
			}
			want := slices.Clone(test.want)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
		})
	}
}

func TestDeltaOfAnotherSubjectIsNew(t *testing.T) {
	planned := grant("r", "|pods|get")
	planned.Subject.Name = "other"
	got := Delta(grants("r", "|pods|get"), []preview.Grant{planned})
	if len(got) != 2 || got[0].Change != preview.GrantRemoved || got[1].Change != preview.GrantNew {
		t.Errorf("got %v", briefs(got))
	}
}

func TestDeltaLeavesItsArgumentsAlone(t *testing.T) {
	installed, planned := grants("old", "a,b|x,y|get"), grants("new", "a|x|get")
	Delta(installed, planned)
	for _, g := range append(installed, planned...) {
		if g.Change != "" || len(g.Verbs) != 1 {
			t.Errorf("changed to %s", brief(g))
		}
	}
	if installed[0].Resources[1] != "y" || len(installed[0].APIGroups) != 2 {
		t.Errorf("changed to %s", brief(installed[0]))
	}
}

func TestDeltaOfAGrantTooLargeToExpand(t *testing.T) {
	many := func(n int) []string {
		var out []string
		for i := range n {
			out = append(out, strings.Repeat("x", i+1))
		}
		return out
	}
	huge := grant("r", "|pods|get")
	huge.APIGroups, huge.Resources, huge.Verbs = many(110), many(110), many(110)
	if got := Delta([]preview.Grant{huge}, []preview.Grant{huge}); len(got) != 1 || got[0].Change != preview.GrantSame {
		t.Errorf("compared with itself: %d grants, the first %s", len(got), got[0].Change)
	}
	wider := clone(huge)
	wider.Verbs = append(wider.Verbs, "zz")
	if got := Delta([]preview.Grant{huge}, []preview.Grant{wider}); len(got) != 2 {
		t.Errorf("compared with a wider one: %d grants", len(got))
	}
}

func TestExplain(t *testing.T) {
	tests := []struct{ grant, want string }{
		{"|secrets|get,list,watch", "can read the content of every Secret in every namespace"},
		{"app:|secrets db|get", "can read the content of Secret db in namespace app"},
		{"|secrets|*", "can read the content of every Secret and write Secrets in every namespace"},
		{"|*|get,list", "can get and list every resource in every namespace"},
		{"*|*|*", "can do anything with every resource of every API group in every namespace"},
		{"apps|daemonsets,deployments|create,get,patch,watch", "can get, watch, create and patch daemonsets and deployments of apps in every namespace"},
		{",apps|pods|delete", "can delete pods of core and apps in every namespace"},
		{"app:|configmaps a,b|update", "can update configmaps in namespace app, only a and b"},
		{"|a,b,c,d,e,f,g,h|get", "can get a, b, c, d, e, f and 2 more in every namespace"},
		{"x|/metrics|get", "can get /metrics of the API server"},
		{"x|/x,*|*", "can send any request to every URL of the API server that is not a resource"},
		{"|serviceaccounts/token|create", "can obtain a token of every ServiceAccount in every namespace"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			if got := words.Explain(grant("r", test.grant)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
