package risk

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestManyGrantsTakeLinearTime guards against rules that compare every grant
// with every other: 20,000 of them would take minutes.
func TestManyGrantsTakeLinearTime(t *testing.T) {
	p := &preview.Plan{Release: preview.Release{Namespace: "app"}}
	for i := range 20_000 {
		g := grantOf("certificates.k8s.io,admissionregistration.k8s.io,|signers,secrets,validatingwebhookconfigurations|approve,patch,create")
		if i%2 == 0 {
			g.Subject.Name = fmt.Sprint(i)
		}
		p.Access.Grants = append(p.Access.Grants, g)
	}
	start := time.Now()
	evaluate(t, Input{Plan: p})
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
