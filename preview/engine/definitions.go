package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// update is a CustomResourceDefinition that exists and that the plan writes.
type update struct {
	object        *preview.Object
	before, after map[string]any
}

func definitionUpdates(p *preview.Plan) []update {
	var out []update
	for i := range p.Objects {
		o := &p.Objects[i]
		if !o.Is(preview.KindCustomResourceDefinition) || o.LiveBody == nil || o.Sealed == nil {
			continue
		}
		switch o.Action {
		case preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt, preview.ActionUnknown:
		default:
			continue
		}
		after := o.ResultBody
		if after == nil {
			after = o.Sealed
		}
		out = append(out, update{o, o.LiveBody, after})
	}
	return out
}

// storedObjects checks whether what is stored fits the definitions that the plan
// changes.
type storedObjects struct{ passive }

// read checks the stored objects of each definition that the plan
// updates, and records what came of it.
func (c storedObjects) read(ctx context.Context, to *recorder) error {
	for _, u := range definitionUpdates(to.plan) {
		checker := schema.NewChecker(u.before, u.after)
		outcome := &schema.Outcome{StoredVersions: storedVersions(u.before)}
		if checker != nil {
			to.Tell("checking the stored objects of %s", u.object.Name)
			if err := c.checkStored(ctx, to, checker, outcome); err != nil {
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

func (c storedObjects) checkStored(ctx context.Context, to *recorder, checker *schema.Checker, outcome *schema.Outcome) error {
	outcome.Unchecked = checker.Unchecked
	var err error
	for _, version := range checker.ReadAs {
		var broken error
		err = to.cluster.Pages(ctx, checker.Group+"/"+version, checker.Kind, func(objects []map[string]any, remaining int) bool {
			room := min(len(objects), schema.MaxChecked-outcome.Checked)
			remaining += len(objects) - room
			objects = objects[:room]
			for _, object := range objects {
				verdict, err := checker.Check(ctx, object)
				if err != nil {
					broken = err
					return false
				}
				outcome.Refused.Add(object, verdict.Refused)
				outcome.Dropped.Add(object, verdict.Dropped)
			}
			outcome.Checked += len(objects)
			outcome.Total = outcome.Checked + remaining
			return outcome.Checked < schema.MaxChecked
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case broken != nil:
			outcome.Unchecked = append(outcome.Unchecked, broken.Error())
			return nil
		case preview.ReasonOf(err) == preview.ReasonNotServed:
			continue
		case preview.ReasonOf(err) == preview.ReasonForbidden:
			outcome.Unchecked = append(outcome.Unchecked, "its objects may not be listed")
			return nil
		case err != nil && preview.Answered(err):
			outcome.Unchecked = append(outcome.Unchecked, "its objects cannot be listed: "+preview.Shorten(err.Error(), 300))
			return nil
		}
		return err
	}
	if err != nil {
		outcome.Unchecked = append(outcome.Unchecked, "the cluster serves none of its versions")
	}
	return nil
}

func storedVersions(definition map[string]any) []string {
	out := append([]string{}, preview.Texts(preview.List(definition, "status", "storedVersions"))...) // never null in JSON
	slices.Sort(out)
	return slices.Compact(out)
}

// maxIssues bounds how many changes of a schema one finding lists.
const maxIssues = 40

// findings judge updates and deletions of CustomResourceDefinitions:
// one finding for each rule and definition.
func (storedObjects) findings(of *view) []preview.Finding {
	p := of.plan
	rules := map[string]schema.Rule{}
	for _, rule := range schema.Rules() {
		rules[rule.Name] = rule
	}
	outcomes := map[string]*schema.Outcome{}
	for _, read := range p.Reads {
		if outcome := schema.OutcomeOf(read.Body); outcome != nil {
			outcomes[read.ID] = outcome
		}
	}
	var out []preview.Finding
	add := func(name string, severity preview.Severity, o *preview.Object, title, evidence string) {
		out = append(out, preview.NewFinding(name, severity, o.ID, "CustomResourceDefinition "+o.Name+" "+title, rules[name].Why, o.ID+": "+evidence))
	}
	for _, u := range definitionUpdates(p) {
		outcome := outcomes[schema.OutcomeID(u.object.Name)]
		if outcome == nil {
			outcome = &schema.Outcome{Unchecked: []string{"its objects were not looked at"}}
		}
		issues := byRule(schema.Compare(u.before, u.after, outcome.StoredVersions))
		for _, name := range slices.Sorted(maps.Keys(issues)) {
			add(name, worst(issues[name]), u.object, rules[name].Title, listed(issues[name]))
		}
		if outcome.Refused.Count > 0 {
			add(schema.RuleBreak, preview.Critical, u.object, counted("refuses", outcome.Refused, outcome), outcome.Refused.Evidence(outcome))
		}
		if outcome.Dropped.Count > 0 {
			add(schema.RuleLose, preview.Warning, u.object, counted("drops fields of", outcome.Dropped, outcome), outcome.Dropped.Evidence(outcome))
		}
		unchecked := outcome.Unchecked
		if outcome.Total > outcome.Checked {
			unchecked = append(slices.Clone(unchecked), fmt.Sprintf("checked %d of %d", outcome.Checked, outcome.Total))
		}
		if len(unchecked) > 0 {
			add(schema.RuleUnchecked, preview.NotKnown, u.object, rules[schema.RuleUnchecked].Title, strings.Join(unchecked, "; "))
		}
	}
	for i := range p.Objects {
		if o := &p.Objects[i]; isDeletedDefinition(o) {
			title, evidence := rules[schema.RuleDeleted].Title, "the definition is deleted"
			if lost := operandsOf(of, o); lost != "" {
				title, evidence = "is deleted, and with it "+lost, evidence+", and with it "+lost
			}
			add(schema.RuleDeleted, preview.Critical, o, title, evidence)
		}
	}
	for _, o := range keptDefinitions(p) {
		add(schema.RuleKept, preview.Info, o, rules[schema.RuleKept].Title, schema.ServedBy(o.LiveBody))
	}
	return out
}

func counted(verb string, g schema.Group, o *schema.Outcome) string {
	return fmt.Sprintf("%s %d of %d stored objects", verb, g.Count, o.Checked)
}

func byRule(issues []schema.Issue) map[string][]schema.Issue {
	out := map[string][]schema.Issue{}
	for _, issue := range issues {
		out[issue.Rule] = append(out[issue.Rule], issue)
	}
	return out
}

func worst(issues []schema.Issue) preview.Severity {
	severity := preview.Info
	for _, issue := range issues {
		if issue.Severity.Rank() < severity.Rank() {
			severity = issue.Severity
		}
	}
	return severity
}

// listed is the evidence of issues. It ends with a hash where it does not name
// them all, so that accepting it accepts no other list.
func listed(issues []schema.Issue) string {
	all := make([]string, 0, len(issues))
	for _, issue := range issues {
		all = append(all, issue.String())
	}
	text := strings.Join(all[:min(len(all), maxIssues)], "; ")
	if more := len(all) - maxIssues; more > 0 {
		text += fmt.Sprintf("; and %d more (%s)", more, preview.HashBytes([]byte(strings.Join(all, "\n")))[:19])
	}
	return text
}
