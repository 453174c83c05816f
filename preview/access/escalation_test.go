package access

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// of makes grants of an account, written as [grant] reads them.
func of(name string, texts ...string) []preview.Grant {
	list := grants("r", texts...)
	for i := range list {
		list[i].Subject.Name = name
	}
	return list
}

// reach is the path of an account among the plan's own.
func reach(grants []preview.Grant, from preview.Subject) []string {
	return NewAccountGraph(GraphInput{Grants: grants}).Path(from).Steps
}

func TestReach(t *testing.T) {
	admin, reader := of("admin", "*|*|*"), of("reader", "|secrets|list")
	tests := []struct {
		name   string
		grants [][]preview.Grant
		want   string
	}{
		{"pods of the namespace run as any account there", [][]preview.Grant{of("op", "app:|pods|create"), admin},
			"runs pods in namespace app as ServiceAccount app/admin; can do everything"},
		{"so do deployments, in every namespace", [][]preview.Grant{of("op", "apps|deployments|patch"), reader},
			"runs deployments in namespace app as ServiceAccount app/reader; reads every Secret"},
		{"pods of another namespace do not", [][]preview.Grant{of("op", "other:|pods|create"), admin}, ""},
		{"a token of the one account that is named", [][]preview.Grant{of("op", "app:|serviceaccounts/token admin|create"), admin},
			"obtains a token of ServiceAccount app/admin; can do everything"},
		{"a token of another one leads nowhere", [][]preview.Grant{of("op", "app:|serviceaccounts/token other|create"), admin}, ""},
		{"several steps, the shortest way", [][]preview.Grant{
			of("op", "app:|pods/exec|get"), of("mid", "app:|serviceaccounts/token last|create"),
			of("last", "rbac.authorization.k8s.io|clusterroles|bind", "rbac.authorization.k8s.io|clusterrolebindings|create"),
		}, "runs commands in pods of namespace app, such as those of ServiceAccount app/last; gives itself any right"},
		{"over an account in between", [][]preview.Grant{
			of("op", "app:|serviceaccounts mid|impersonate"), of("mid", "app:|serviceaccounts/token last|create"), of("last", "|nodes/proxy|get"),
		}, "impersonates ServiceAccount app/mid; obtains a token of ServiceAccount app/last; reaches every kubelet"},
		{"the rights of two accounts together", [][]preview.Grant{
			of("op", "app:|serviceaccounts/token mid|create", "certificates.k8s.io|certificatesigningrequests|create"),
			of("mid", "certificates.k8s.io|certificatesigningrequests/approval|update", "certificates.k8s.io|signers kubernetes.io/kube-apiserver-client|approve"),
		}, "obtains a token of ServiceAccount app/mid; approves a client certificate of its own for any user"},
		{"Secrets alone, none of which has a token", [][]preview.Grant{of("op", "app:|secrets|get"), admin}, ""},
		{"Secrets that it makes and reads", [][]preview.Grant{of("op", "app:|secrets|create", "app:|secrets s|get"), admin},
			"creates and reads a Secret in namespace app with a token of ServiceAccount app/admin; can do everything"},
		{"who is at an end already needs no way", [][]preview.Grant{of("op", "|secrets|get", "|pods|create"), admin}, ""},
		{"two that lead to each other only", [][]preview.Grant{of("op", "app:|pods|create"), of("mid", "app:|pods|create")}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var all []preview.Grant
			for _, list := range test.grants {
				all = append(all, list...)
			}
			got := strings.Join(reach(all, preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}), "; ")
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestReachThroughAGroup(t *testing.T) {
	list := append(of("op", "app:|pods|create"), of("mid", "app:|configmaps|get")...)
	everybody := grant("r", "|secrets|get")
	everybody.Subject = preview.Subject{Kind: "Group", Name: "system:serviceaccounts:other"}
	list = append(list, everybody)
	from := preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "op"}
	if got := reach(list, from); got != nil {
		t.Errorf("the group of another namespace: %v", got)
	}
	list[1].Subject.Namespace, list[0].Namespace = "other", "other"
	if got := reach(list, from); len(got) != 2 || got[1] != "reads every Secret" {
		t.Errorf("got %v", got)
	}
}

// Ten thousand rules and more accounts than are looked at end in time.
func TestReachOfAVeryLargePlan(t *testing.T) {
	var list []preview.Grant
	for i := range 10_000 {
		list = append(list, of(fmt.Sprintf("a%d", i%1000), "app:|serviceaccounts/token|create", fmt.Sprintf("g|r%d|get", i))...)
	}
	if got := reach(list, preview.Subject{Kind: "ServiceAccount", Namespace: "app", Name: "a0"}); got != nil {
		t.Errorf("got %v", got)
	}
}
