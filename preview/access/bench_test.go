package access

import (
	"fmt"
	"strings"
	"testing"
)

// Far more roles than any operator known brings: 200 roles of ten rules, each
// bound to two service accounts; and the difference to half of them.
func BenchmarkAccess(b *testing.B) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r%d}\nrules:\n", i)
		for j := range 10 {
			fmt.Fprintf(&text, "- {apiGroups: [g%d.example.com], resources: [a%d, b], verbs: [get, list, watch, patch]}\n", j, i)
		}
		text.WriteString(binding("ClusterRoleBinding", "", "ClusterRole", fmt.Sprintf("r%d", i),
			"[{kind: ServiceAccount, namespace: app, name: one}, {kind: ServiceAccount, namespace: app, name: two}]"))
	}
	all := objects(b, text.String())
	b.Run("compute", func(b *testing.B) {
		for b.Loop() {
			if n := len(Compute(Input{Objects: all})); n != 4000 {
				b.Fatalf("%d grants, want 4000", n)
			}
		}
	})
	before, after := Compute(Input{Objects: all[:len(all)/2]}), Compute(Input{Objects: all})
	b.Run("delta", func(b *testing.B) {
		for b.Loop() {
			if n := len(Delta(before, after)); n != 4000 {
				b.Fatalf("%d grants, want 4000", n)
			}
		}
	})
}
