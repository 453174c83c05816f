package risk

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestManyGrantsTakeLinearTime guards against rules that compare every grant
// with every other: four times as many would take sixteen times as long.
func TestManyGrantsTakeLinearTime(t *testing.T) {
	took := func(n int) time.Duration {
		p := &preview.Plan{Release: preview.Release{Namespace: "app"}}
		for i := range n {
			g := grantOf("certificates.k8s.io,admissionregistration.k8s.io,|signers,secrets,validatingwebhookconfigurations|approve,patch,create")
			if i%2 == 0 {
				g.Subject.Name = fmt.Sprint(i)
			}
			p.Access.Grants = append(p.Access.Grants, g)
		}
		start := time.Now()
		evaluate(t, Input{Plan: p})
		return time.Since(start)
	}
	few := took(5_000)
	if many := took(20_000); many > 10*few+time.Second {
		t.Errorf("5,000 grants took %v, 20,000 took %v", few, many)
	}
}
