package ref

import "github.com/kubectl-operator/kubectl-operator/preview/health"

// probes reads a list of progression probes, in the form that OLM v1's ClusterObjectSet
// has, as health checks.
func probes(list field) []health.Check {
	var out []health.Check
	for _, item := range list.Items() {
		selector := item.At("selector")
		p := health.Probe{Selector: health.Selector{
			Type: selector.At("type").Need(), Group: selector.At("groupKind.group").Text(), Kind: selector.At("groupKind.kind").Text(),
			MatchLabels: selector.At("label.matchLabels").TextMap(),
		}}
		for _, term := range selector.At("label.matchExpressions").Items() {
			p.Selector.Terms = append(p.Selector.Terms, health.Term{
				Key: term.At("key").Need(), Operator: term.At("operator").Need(), Values: term.At("values").Texts(),
			})
		}
		for _, a := range item.At("assertions").Items() {
			p.Assertions = append(p.Assertions, health.Assertion{
				Type:      a.At("type").Need(),
				Condition: a.At("conditionEqual.type").Text(), Status: a.At("conditionEqual.status").Text(),
				FieldA: a.At("fieldsEqual.fieldA").Text(), FieldB: a.At("fieldsEqual.fieldB").Text(),
				FieldPath: a.At("fieldValue.fieldPath").Text(), Value: a.At("fieldValue.value").Text(),
				Expression: a.At("cel.expression").Text(), Message: a.At("cel.message").Text(),
			})
		}
		checks, err := p.Checks()
		if err != nil {
			item.Fail("%s", err)
			return nil
		}
		if out = append(out, checks...); len(out) > health.MaxChecks {
			list.Fail("%d checks; at most %d are made", len(out), health.MaxChecks)
			return nil
		}
	}
	return out
}
