package helm

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

const (
	admin = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: admin}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: User, name: mallory}]
`
	certificate = `apiVersion: v1
kind: Secret
metadata: {name: tls}
data: {key: '{{ genPrivateKey "ecdsa" | b64enc }}'}
`
	password = `apiVersion: v1
kind: Secret
metadata: {name: login}
{{- $old := lookup "v1" "Secret" .Release.Namespace "login" }}
data: {password: '{{ if $old }}{{ index $old.data "password" }}{{ else }}{{ randAlphaNum 9 | b64enc }}{{ end }}'}
`
)

// Objects that a chart makes only at another time, with other random values or against
// another cluster may be anything.
func TestObjectsThatMayBeMissingAreNotKnown(t *testing.T) {
	for name, test := range map[string]struct{ chart, chance, lookup string }{
		"after a date":                        {"{{ if gt (now | unixEpoch | int64) 4000000000 }}\n" + admin + "{{ end }}", "package/demo", ""},
		"within the time of the second":       {`{{ if gt (now | date "2006" | int) ` + strconv.Itoa(time.Now().UTC().Year()) + " }}\n" + admin + "{{ end }}", "rbac.authorization.k8s.io/ClusterRoleBinding/-/admin", ""},
		"by dice that fell alike":             {"{{ if gt (randInt 0 1000000) 999999 }}\n" + admin + "{{ end }}", "package/demo", ""},
		"by an order":                         {"{{ if eq (shuffle \"abcdefghijklmnop\") \"ponmlkjihgfedcba\" }}\n" + admin + "{{ end }}", "package/demo", ""},
		"by a random text that is seen":       {"{{ if true }}\n" + strings.Replace(admin, "mallory", `{{ randInt 0 9 }}`, 1) + "{{ end }}", "", ""},
		"by dice behind a random password":    {password + "{{ if gt (randInt 0 1000000) 999999 }}\n---\n" + admin + "{{ end }}", "package/demo", ""},
		"after a date behind a certificate":   {certificate + "{{ if gt (now | unixEpoch | int64) 4000000000 }}\n---\n" + admin + "{{ end }}", "package/demo", ""},
		"a date beside a certificate":         {strings.Replace(certificate, "data: {", "data: {at: '{{ now | unixEpoch }}', ", 1), "", ""},
		"a name by chance":                    {strings.Replace(admin, "name: admin", `name: "admin-{{ randInt 0 99999 }}"`, 1), "", ""},
		"its own Secret":                      {password, "", ""},
		"if its own Secret exists":            {password + "{{ if $old }}\n---\n" + admin + "{{ end }}", "", "v1/Secret/here/login"},
		"if a Secret in its namespace exists": {"{{ if lookup \"v1\" \"Secret\" .Release.Namespace \"other\" }}\n" + admin + "{{ end }}", "", "v1/Secret/here/other"},
		"if a Secret elsewhere exists":        {"{{ if lookup \"v1\" \"Secret\" \"elsewhere\" \"other\" }}\n" + admin + "{{ end }}", "", "v1/Secret/elsewhere/other"},
		"by the labels of a Namespace":        {"{{ $n := lookup \"v1\" \"Namespace\" \"\" \"kube-system\" }}{{ if dig \"metadata\" \"labels\" \"a\" \"\" $n }}\n" + admin + "{{ end }}", "", "v1/Namespace/-/kube-system"},
		"by how many nodes there are":         {"{{ if gt (len (dig \"items\" list (lookup \"v1\" \"Node\" \"\" \"\"))) 3 }}\n" + admin + "{{ end }}", "", "v1/Node/-/*"},
		"by nothing":                          {admin, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := renderChart(t, input(chartOf("templates/all.yaml", test.chart)))
			for _, want := range []struct {
				rule rules.Rule
				text string
			}{{rules.ObjectsByChance, test.chance}, {rules.ObjectsByLookup, test.lookup}} {
				got := notesOf(out.Notes, want.rule.Name)
				if (want.text != "") != (len(got) == 1) || want.text != "" && !strings.Contains(got[0], want.text) {
					t.Errorf("%s: %q, want one about %q", want.rule, got, want.text)
				}
			}
		})
	}
}

// An answer of the cluster leaves nothing open, and the digest names it.
func TestALookupThatIsAnsweredLeavesNothingOpen(t *testing.T) {
	in := input(chartOf("templates/all.yaml", "{{ if lookup \"v1\" \"Namespace\" \"\" \"kube-system\" }}\n"+admin+"{{ end }}"))
	in.Cluster = clusterWith()
	out := renderChart(t, in)
	if got := notesOf(out.Notes, rules.ObjectsByLookup.Name); len(got) > 0 {
		t.Errorf("open: %q", got)
	}
}
