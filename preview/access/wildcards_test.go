package access

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// names are the resources of a list, with their verbs where asked for.
func names(list []preview.ResourceAccess) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.Resource)
	}
	return out
}

func TestWildcardsAreExpanded(t *testing.T) {
	crd := objects(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {group: example.com, scope: Cluster, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, subresources: {status: {}}}]}}`)
	tests := []struct {
		name, grant string
		count       int // at least
		first       string
		has, not    string // RESOURCE=VERBS
		text        string
	}{
		{"everything is every resource and sub-resource, and what RBAC alone knows", "*|*|*", 120, "secrets",
			"pods/exec=create,get users=impersonate serviceaccounts=create,delete,deletecollection,get,impersonate,list,patch,update,watch signers.certificates.k8s.io=approve,attest,sign things.example.com/status=get,patch,update", "", "resources: secrets, pods/exec, pods/attach, nodes/proxy, serviceaccounts/token, users (impersonate)"},
		{"a wildcard in verbs brings the verbs that nobody lists", "rbac.authorization.k8s.io|clusterroles|*", 1, "clusterroles.rbac.authorization.k8s.io",
			"clusterroles.rbac.authorization.k8s.io=bind,create,delete,deletecollection,escalate,get,list,patch,update,watch", "",
			"clusterroles.rbac.authorization.k8s.io: get, list, watch, create, update, patch, delete, deletecollection, bind, escalate"},
		{"named verbs stay as they are, and what does not know them is not reached", "|*|get", 20, "secrets", "secrets=get pods/exec=get pods/log=get", "bindings users serviceaccounts/token", ""},
		{"of several resources the worst comes first", "|configmaps,pods|*", 2, "pods", "", "secrets pods/exec", "2 resources: pods, configmaps"},
		{"in a namespace what has none is out of reach, but for the namespace itself", "app:|*|*", 30, "secrets", "namespaces=create,delete,get,list,patch,update,watch", "nodes nodes/proxy persistentvolumes users", ""},
		{"a sub-resource of everything", "*|*/status|patch", 25, "certificatesigningrequests.certificates.k8s.io/status", "deployments.apps/status=patch things.example.com/status=patch", "deployments.apps", ""},
		{"of another group", "apps|*|*", 10, "deployments.apps", "deployments.apps/scale=get,patch,update", "secrets pods", ""},
		{"what is not served is said", "example.org|widgets|*", 0, "", "", "", "nothing that is served; not served: widgets"},
		{"the plan's own definition counts", "example.com|*|*", 2, "", "things.example.com=create,delete,deletecollection,get,list,patch,update,watch", "", "2 resources: things.example.com, things.example.com/status"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := Expand([]preview.Grant{grant("r", test.grant)}, BuiltInServed(), crd)
			if len(w.Meanings) != 1 {
				t.Fatalf("%+v", w)
			}
			m := w.Meanings[0]
			if m.Count < test.count || m.Count != len(m.Dangerous)+len(m.Others) || test.count < 20 && m.Count > 2*test.count {
				t.Errorf("%d reached, %d and %d listed", m.Count, len(m.Dangerous), len(m.Others))
			}
			if first := slices.Concat(names(m.Dangerous), []string{""})[0]; first != test.first {
				t.Errorf("first of the dangerous is %q, want %q", first, test.first)
			}
			reached := map[string]string{}
			for _, r := range slices.Concat(m.Dangerous, m.Others) {
				reached[r.Resource] = strings.Join(r.Verbs, ",")
			}
			for _, want := range strings.Fields(test.has) {
				name, verbs, _ := strings.Cut(want, "=")
				if reached[name] != verbs {
					t.Errorf("%s: %q, want %q", name, reached[name], verbs)
				}
			}
			for _, name := range strings.Fields(test.not) {
				if verbs, there := reached[name]; there {
					t.Errorf("%s is not reached, and still %s", name, verbs)
				}
			}
			if text := words.WildcardText(&m); !strings.Contains(text, test.text) {
				t.Errorf("said %q, want %q", text, test.text)
			}
		})
	}
	if w := Expand([]preview.Grant{grant("r", "|pods|get")}, BuiltInServed(), nil); w != nil {
		t.Errorf("no wildcard, and still %+v", w)
	}
}

// Every dangerous resource is one that Kubernetes or OpenShift serves, or that
// only RBAC knows: a typo here would hide it among the others.
func TestDangersAreOfWhatExists(t *testing.T) {
	x := newExpander(BuiltInServed(), nil)
	known := map[string][]string{"securitycontextconstraints.security.openshift.io": {"use", "create", "update", "patch"}}
	for _, s := range x.served {
		known[resourceName(s.Group, s.Resource)] = s.Verbs
	}
	for _, d := range dangers {
		for _, verb := range strings.Fields(d.verbs) {
			if !slices.Contains(known[d.name], verb) {
				t.Errorf("%s has no verb %s among %v", d.name, verb, known[d.name])
			}
		}
	}
}

func TestExpansionIsBounded(t *testing.T) {
	var list []preview.ServedResource
	for i := range 20_000 {
		list = append(list, preview.ServedResource{Group: fmt.Sprintf("g%d.example.com", i%100), Resource: fmt.Sprintf("r%05d", i), Namespaced: true, Verbs: []string{"get"}})
	}
	var grants []preview.Grant
	for i := range 10_000 {
		grants = append(grants, grant("r", fmt.Sprintf("*|*,r%d|*", i)))
	}
	w := Expand(grants, list, nil)
	listed := 0
	for _, m := range w.Meanings {
		listed += len(m.Others)
		if m.Count < 20_000 || m.Count != len(m.Dangerous)+len(m.Others)+m.More {
			t.Fatalf("%d counted, %d and %d listed, %d more", m.Count, len(m.Dangerous), len(m.Others), m.More)
		}
	}
	if len(w.Meanings) != maxMeanings || w.More != 10_000-maxMeanings || listed != maxReached {
		t.Errorf("%d rules expanded, %d not, %d resources listed", len(w.Meanings), w.More, listed)
	}
	if text := words.DiscoveryText(w); !strings.Contains(text, "9950 more rules") {
		t.Error(text)
	}
}
