package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// definitionUpdate is an existing CRD that the plan changes.
type definitionUpdate struct {
	object        *preview.Object
	before, after map[string]any
}

func definitionUpdates(p *preview.Plan) []definitionUpdate {
	var out []definitionUpdate
	for i := range p.Objects {
		o := &p.Objects[i]
		if !o.Is(preview.KindCustomResourceDefinition) || o.LiveBody == nil || o.Planned == nil {
			continue
		}
		switch o.Action {
		case preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt, preview.ActionUnknown:
		default:
			continue
		}
		after := o.ResultBody
		if after == nil {
			after = o.Planned
		}
		out = append(out, definitionUpdate{o, o.LiveBody, after})
	}
	return out
}

// storedObjects is the check whether custom resources in the cluster are valid under
// the CRDs that the plan changes.
type storedObjects struct{ noCheck }

// read checks the custom resources of each CRD that the plan changes, and records the
// results.
func (storedObjects) read(ctx context.Context, to *recorder) error {
	for _, u := range definitionUpdates(to.plan) {
		checker := schema.NewChecker(u.before, u.after)
		outcome := &schema.Outcome{StoredVersions: storedVersions(u.before)}
		if checker != nil {
			to.Report("checking the stored objects of %s", u.object.Name)
			if err := checker.CheckStored(ctx, to.cluster, outcome); err != nil {
				return fmt.Errorf("reading the objects of %s: %w", u.object.Name, err)
			}
		}
		outcome.Finish()
		body, err := outcome.Body(u.object.Name)
		if err != nil {
			return err
		}
		fingerprint, err := preview.Hash(body)
		if err != nil {
			return err
		}
		to.plan.Reads = append(to.plan.Reads, preview.Read{ID: schema.OutcomeID(u.object.Name), Fingerprint: fingerprint, Body: body})
	}
	return nil
}

func storedVersions(definition map[string]any) []string {
	out := append([]string{}, preview.Texts(preview.List(definition, "status", "storedVersions"))...) // never null in JSON
	slices.Sort(out)
	return slices.Compact(out)
}

// findings returns one finding for each rule and CRD that the plan changes or
// deletes.
func (storedObjects) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	outcomes := map[string]*schema.Outcome{}
	for _, read := range p.Reads {
		if outcome := schema.OutcomeOf(read.Body); outcome != nil {
			outcomes[read.ID] = outcome
		}
	}
	var out []preview.Finding
	addOf := func(severity preview.Severity, rule rules.Rule, o *preview.Object, predicate string, evidence ...preview.Piece) {
		evidence[0].Object = o.ID // of all of them
		out = append(out, rule.FindingOf(severity, o.ID, preview.Claim{Subject: o.Label(), Predicate: predicate, Clause: true}, evidence...))
	}
	add := func(rule rules.Rule, o *preview.Object, predicate string, evidence ...string) {
		addOf(rule.Severity(), rule, o, predicate, rules.Said(evidence...)...)
	}
	for _, u := range definitionUpdates(p) {
		outcome := outcomes[schema.OutcomeID(u.object.Name)]
		if outcome == nil {
			outcome = &schema.Outcome{Unchecked: []string{"its objects were not looked at"}}
		}
		issues := schema.GroupByRule(schema.Compare(u.before, u.after, outcome.StoredVersions))
		for _, name := range slices.Sorted(maps.Keys(issues)) {
			rule := issues[name][0].Rule
			addOf(schema.WorstSeverity(issues[name]), rule, u.object, rule.Title, schema.IssueEvidence(issues[name])...)
		}
		if outcome.Refused.Count > 0 {
			add(rules.CRDStoredObjectsBreak, u.object, outcome.Refused.Title("refuses", outcome), outcome.Refused.Evidence(outcome)...)
		}
		if outcome.Dropped.Count > 0 {
			add(rules.CRDStoredObjectsLoseFields, u.object, outcome.Dropped.Title("drops fields of", outcome), outcome.Dropped.Evidence(outcome)...)
		}
		unchecked := outcome.Unchecked
		if outcome.Total > outcome.Checked {
			unchecked = append(slices.Clone(unchecked), fmt.Sprintf("checked %d of %d", outcome.Checked, outcome.Total))
		}
		if len(unchecked) > 0 {
			add(rules.CRDStoredObjectsUnchecked, u.object, rules.CRDStoredObjectsUnchecked.Title, unchecked...)
		}
	}
	for i := range p.Objects {
		if o := &p.Objects[i]; isDeletedDefinition(o) {
			predicate, evidence, also := rules.CRDDeleted.Title, "the CRD is deleted", operandsOf(of, o)
			if also != "" {
				predicate, evidence = "is deleted, and with it "+also, evidence+", and with it "+also
			}
			add(rules.CRDDeleted, o, predicate, evidence)
			if also != schema.NoObjects {
				out[len(out)-1].AlsoDeleted = also
			}
		}
	}
	for _, o := range keptCRDs(p) {
		add(rules.CRDKept, o, rules.CRDKept.Title, schema.VersionsText(o.LiveBody))
	}
	return out
}
