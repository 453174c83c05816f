package schema

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// CheckStored checks the stored objects of a CRD, at most MaxChecked, and fills in the
// outcome. It errs if ctx is cancelled, the cluster cannot be read, or the schema
// cannot be evaluated.
func (c *Checker) CheckStored(ctx context.Context, pager Pager, outcome *Outcome) error {
	outcome.Unchecked = c.Unchecked
	var err error
	for _, version := range c.ReadAs {
		var broken error
		err = pager.Pages(ctx, c.Group+"/"+version, c.Kind, func(objects []map[string]any, remaining int) bool {
			room := min(len(objects), MaxChecked-outcome.Checked)
			remaining += len(objects) - room
			objects = objects[:room]
			for _, object := range objects {
				verdict, err := c.Check(ctx, object)
				if err != nil {
					broken = err
					return false
				}
				outcome.Refused.Add(object, verdict.Refused)
				outcome.Dropped.Add(object, verdict.Dropped)
			}
			outcome.Checked += len(objects)
			outcome.Total = outcome.Checked + remaining
			return outcome.Checked < MaxChecked
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

// Title returns for how many of the checked objects something holds: "VERB 3 of 10
// stored objects".
func (g Group) Title(verb string, o *Outcome) string {
	return fmt.Sprintf("%s %d of %d stored objects", verb, g.Count, o.Checked)
}
