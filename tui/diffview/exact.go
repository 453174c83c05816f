package diffview

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"slices"
)

// AfterBody returns the object as it would be: the result of the dry run, else what was
// computed in its place, else the planned object; nil if it would be deleted.
func AfterBody(o *preview.Object) map[string]any {
	switch {
	case o.Action == preview.ActionDelete:
		return nil
	case o.ResultBody != nil:
		return o.ResultBody
	case o.Computed != nil:
		return o.Computed
	case o.Action == preview.ActionKeep || o.Planned == nil:
		return o.LiveBody
	}
	return o.Planned
}

// SentBody returns the object as it is sent to the API server, or the live object if
// nothing is sent; the result what says which of the two.
func SentBody(p *preview.Plan, o *preview.Object) (body map[string]any, what string) {
	if body := p.Sent(o); body != nil {
		return body, "sent to the API server"
	}
	return o.LiveBody, "live in the cluster"
}

// Exact returns a comparison with one text only, such as the object as it is
// sent. It opens at the line that evidence is about, if there is any.
func Exact(o *preview.Object, body map[string]any, evidence string, w *Job) *Comparison {
	text := exactText(o, body, false)
	w.step()
	if w.Abandoned() {
		return nil
	}
	c := &Comparison{}
	inParallel(func() { c.after = diff.Fields(text); w.step() }, func() { c.Lines = diff.Lines(text, text); c.pair() })
	c.opensAt = max(0, c.LineAbout(evidence))
	return c
}

// SearchText returns the text that a search of objects looks in: the object as
// it is, and as it would be.
func SearchText(o *preview.Object) string {
	from, to := o.Compared(AfterBody(o))
	return exactText(o, from, true) + exactText(o, to, false)
}

// exactText returns an object as YAML. Sensitive values are masked; the mask of
// a Secret's value says whether it differs from the live one.
func exactText(o *preview.Object, body map[string]any, live bool) string {
	if len(body) == 0 {
		return ""
	}
	masked := preview.MaskObject(body)
	if o.Kind == "Secret" {
		masked = preview.CloneBody(masked)
		data := preview.Map(masked, "data")
		for k := range data {
			if how := o.SecretKeys[k]; how == "equal" || how != "" && !live {
				data[k] = "(secret, " + how + ")"
			}
		}
	}
	// Masked once already; diff.YAML would mask the words about Secrets again.
	return diff.Manifest(masked)
}

// Text returns the lines of the comparison. If any is changed, each begins with
// its sign ("+", "-" or a space).
func (c *Comparison) Text() []string {
	out := make([]string, 0, len(c.Lines))
	changed := slices.ContainsFunc(c.Lines, func(l diff.Line) bool { return l.Op != diff.LineEqual })
	for _, l := range c.Lines {
		text := l.Text
		if changed {
			text = string(l.Op) + " " + text
		}
		out = append(out, text)
	}
	return out
}
