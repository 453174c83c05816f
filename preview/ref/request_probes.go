package ref

import "github.com/kubectl-operator/kubectl-operator/preview/health"

// probes reads progression probes in the shape of OLM v1's ClusterObjectSet.
func probes(list field) []health.Check {
	var out []health.Check
	for _, item := range list.items() {
		selector := item.at("selector")
		p := health.Probe{Selector: health.Selector{
			Type: selector.at("type").need(), Group: selector.at("groupKind.group").text(), Kind: selector.at("groupKind.kind").text(),
			MatchLabels: selector.at("label.matchLabels").stringMap(),
		}}
		for _, term := range selector.at("label.matchExpressions").items() {
			p.Selector.Terms = append(p.Selector.Terms, health.Term{
				Key: term.at("key").need(), Operator: term.at("operator").need(), Values: term.at("values").texts(),
			})
		}
		for _, a := range item.at("assertions").items() {
			p.Assertions = append(p.Assertions, health.Assertion{
				Type:      a.at("type").need(),
				Condition: a.at("conditionEqual.type").text(), Status: a.at("conditionEqual.status").text(),
				FieldA: a.at("fieldsEqual.fieldA").text(), FieldB: a.at("fieldsEqual.fieldB").text(),
				FieldPath: a.at("fieldValue.fieldPath").text(), Value: a.at("fieldValue.value").text(),
				Expression: a.at("cel.expression").text(), Message: a.at("cel.message").text(),
			})
		}
		checks, err := p.Checks()
		if err != nil {
			item.fail("%s", err)
			return nil
		}
		if out = append(out, checks...); len(out) > health.MaxChecks {
			list.fail("%d checks; at most %d are made", len(out), health.MaxChecks)
			return nil
		}
	}
	return out
}
