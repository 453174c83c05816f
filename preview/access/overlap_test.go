package access

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestOverlap_OfTwoGrants(t *testing.T) {
	grant := func(verb, group, resource string, names ...string) preview.Grant {
		return preview.Grant{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
	}
	url := func(verb, path string) preview.Grant {
		return preview.Grant{Verbs: []string{verb}, NonResourceURLs: []string{path}}
	}
	for _, tt := range []struct {
		name string
		a, b preview.Grant
		want bool
	}{
		{"the same", grant("get", "", "pods"), grant("get", "", "pods"), true},
		{"another verb", grant("get", "", "pods"), grant("list", "", "pods"), false},
		{"another group", grant("get", "", "pods"), grant("get", "metrics.k8s.io", "pods"), false},
		{"every verb", grant("*", "", "pods"), grant("list", "", "pods"), true},
		{"every group and resource", grant("get", "*", "*"), grant("get", "apps", "deployments"), true},
		{"one name of all", grant("get", "", "secrets", "a"), grant("get", "", "secrets"), true},
		{"another name", grant("get", "", "secrets", "a"), grant("get", "", "secrets", "b"), false},
		{"a URL", url("get", "/metrics"), url("get", "/metrics"), true},
		{"every URL", url("get", "*"), url("get", "/metrics"), true},
		{"a URL is no resource", url("get", "*"), grant("get", "", "pods"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if Overlap(tt.a, tt.b) != tt.want || Overlap(tt.b, tt.a) != tt.want {
				t.Errorf("want %v both ways", tt.want)
			}
		})
	}
}
