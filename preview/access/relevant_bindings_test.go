package access

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// rbac writes RBAC objects in short: "ClusterRole NAME[ LABEL=VALUE] RULE" and
// "(Cluster)RoleBinding [NAMESPACE/]NAME ROLE SUBJECT", one to a line, where a
// rule is GROUP|RESOURCE|VERB and a subject KIND:NAME.
func rbac(t *testing.T, lines ...string) []map[string]any {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		f := strings.Fields(line)
		text.WriteString("---\n")
		switch f[0] {
		case "ServiceAccount":
			namespace, name, _ := strings.Cut(f[1], "/")
			text.WriteString("{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + name + ", namespace: " + namespace + "}}\n")
		case "ClusterRole":
			rule, labels := strings.Split(f[len(f)-1], "|"), ""
			if len(f) == 4 {
				key, value, _ := strings.Cut(f[2], "=")
				labels = "labels: {" + key + ": '" + value + "'}"
			}
			text.WriteString("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + f[1] + ", " + labels +
				"}, rules: [{apiGroups: ['" + rule[0] + "'], resources: ['" + rule[1] + "'], verbs: ['" + rule[2] + "']}]}\n")
		default:
			namespace, name, ok := strings.Cut(f[1], "/")
			meta := "name: " + name + ", namespace: " + namespace
			if !ok {
				meta = "name: " + f[1]
			}
			kind, subject, _ := strings.Cut(f[3], ":")
			if account, name, ok := strings.Cut(subject, "/"); ok {
				subject = name + "', namespace: '" + account
			}
			text.WriteString("{apiVersion: rbac.authorization.k8s.io/v1, kind: " + f[0] + ", metadata: {" + meta +
				"}, roleRef: {kind: ClusterRole, name: '" + f[2] + "'}, subjects: [{kind: " + kind + ", name: '" + subject + "'}, {kind: User, name: bob}]}\n")
		}
	}
	return objects(t, text.String())
}

func TestWhatTheClusterAlreadyGives(t *testing.T) {
	plan := []string{"ServiceAccount app/op", "ClusterRole own |pods|get", "ClusterRoleBinding own own ServiceAccount:app/op"}
	tests := []struct {
		name          string
		plan, cluster []string
		want          []string // changes against nothing installed, held marked
	}{
		{
			"a binding to the account is held, and not new", plan,
			[]string{"ClusterRole reader |secrets|get", "ClusterRoleBinding theirs reader ServiceAccount:app/op"},
			[]string{"same held op@cluster: get |secrets via ClusterRole/reader ClusterRoleBinding/theirs"},
		},
		{
			"so is one to a group that the account is in", plan,
			[]string{"ClusterRole reader |secrets|get", "RoleBinding kube-system/theirs reader Group:system:serviceaccounts:app"},
			[]string{"same held system:serviceaccounts:app@kube-system: get |secrets via ClusterRole/reader RoleBinding/kube-system/theirs"},
		},
		{
			"one to all accounts of another namespace does not matter", plan,
			[]string{"ClusterRole reader |secrets|get", "ClusterRoleBinding theirs reader Group:system:serviceaccounts:other"},
			nil,
		},
		{
			"nor does what every cluster gives to everybody", plan,
			[]string{"ClusterRoleBinding system:basic-user system:basic-user Group:system:authenticated"},
			nil,
		},
		{
			"but it does when somebody widened that role", plan,
			[]string{"ClusterRole system:basic-user |secrets|get", "ClusterRoleBinding system:basic-user system:basic-user Group:system:authenticated"},
			[]string{"same held system:authenticated@cluster: get |secrets via ClusterRole/system:basic-user ClusterRoleBinding/system:basic-user"},
		},
		{
			"a binding of the cluster to a role of the plan gives new rights to whom it names",
			[]string{"ClusterRole own |pods|get"},
			[]string{"ClusterRoleBinding waiting own Group:devs"},
			[]string{
				"new devs@cluster: get |pods via ClusterRole/own ClusterRoleBinding/waiting",
				"new bob@cluster: get |pods via ClusterRole/own ClusterRoleBinding/waiting",
			},
		},
		{
			"an account that the cluster binds to a role of the plan has it besides what others give",
			[]string{"ClusterRole own |pods|get"},
			[]string{
				"ClusterRole reader |secrets|get", "ClusterRoleBinding waiting own ServiceAccount:app/theirs",
				"ClusterRoleBinding theirs reader ServiceAccount:app/theirs", "ClusterRoleBinding others reader ServiceAccount:app/other",
			},
			[]string{
				"new theirs@cluster: get |pods via ClusterRole/own ClusterRoleBinding/waiting",
				"new bob@cluster: get |pods via ClusterRole/own ClusterRoleBinding/waiting",
				"same held theirs@cluster: get |secrets via ClusterRole/reader ClusterRoleBinding/theirs",
			},
		},
		{
			"a role that aggregates to view widens everybody with view, admin through edit too, by just that",
			[]string{"ClusterRole own rbac.authorization.k8s.io/aggregate-to-view=true example.com|things|get"},
			[]string{"RoleBinding team/viewers view Group:devs", "ClusterRoleBinding admins admin Group:ops", "ClusterRoleBinding others system:node Group:nodes"},
			[]string{
				"new devs@team: get example.com|things via ClusterRole/view RoleBinding/team/viewers",
				"new ops@cluster: get example.com|things via ClusterRole/admin ClusterRoleBinding/admins",
				"new bob@cluster: get example.com|things via ClusterRole/admin ClusterRoleBinding/admins",
				"new bob@team: get example.com|things via ClusterRole/view RoleBinding/team/viewers",
			},
		},
		{
			"what both give is of the plan, and not new", plan,
			[]string{"ClusterRole reader |pods|get", "ClusterRoleBinding theirs reader ServiceAccount:app/op"},
			nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			planned, cluster := rbac(t, test.plan...), rbac(t, test.cluster...)
			roles := slices.DeleteFunc(slices.Clone(cluster), func(b map[string]any) bool { return !isRole(b) })
			held, far := RelevantBindings(planned, cluster, roles)
			existing := slices.Concat(roles, held, far)
			in := Input{Existing: existing, Accounts: planned}
			before := Compute(in)
			in.Objects = planned
			var got []string
			for _, g := range Delta(before, Compute(in)) {
				if g.Held != (g.Change == preview.GrantSame && !slices.Contains(g.Via, "ClusterRoleBinding/own")) {
					t.Errorf("held %v: %s", g.Held, brief(g))
				}
				if len(g.Via) == 2 && g.Via[1] == "ClusterRoleBinding/own" {
					continue
				}
				if len(g.Via) > 2 {
					if g.Change != preview.GrantSame {
						t.Errorf("%s", brief(g))
					}
					continue
				}
				line := strings.Replace(brief(g), g.Subject.Kind+" ", "", 1)
				if g.Held {
					line = strings.Replace(line, g.Change+" ", g.Change+" held ", 1)
				}
				got = append(got, line)
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func TestAMissingBuiltInRoleGrantsNothing(t *testing.T) {
	in := Input{Objects: objects(t, binding("ClusterRoleBinding", "", "ClusterRole", "view", "[{kind: User, name: u}]"))}
	if len(Compute(in)) == 0 {
		t.Error("view is not known")
	}
	in.Missing = []string{"rbac.authorization.k8s.io/ClusterRole/-/view"}
	if got := Compute(in); len(got) != 0 {
		t.Errorf("the cluster does not have view, and still %v", briefs(got))
	}
}

func TestRolesThatCollectEachOtherEnd(t *testing.T) {
	text := ""
	for _, name := range []string{"a", "b"} {
		text += "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + name + ", labels: {ring: x}}, " +
			"aggregationRule: {clusterRoleSelectors: [{matchLabels: {ring: x}}]}, rules: [{apiGroups: [''], resources: [" + name + "], verbs: [get]}]}\n"
	}
	text += binding("ClusterRoleBinding", "", "ClusterRole", "a", "[{kind: User, name: u}]")
	if got := Compute(Input{Objects: objects(t, text)}); len(got) != 2 {
		t.Errorf("got %v", briefs(got))
	}
}
