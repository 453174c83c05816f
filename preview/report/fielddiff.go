package report

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// Bounds of the changed fields that the Markdown form shows before everything
// else that is not decisive.
const (
	maxDiffRows   = 80
	maxDiffFields = 16  // of an object
	maxDiffValue  = 160 // cells of a value, apart from what changed in it
	maxDiffBytes  = 16000
)

// diffRows lists the objects that a plan creates, changes and deletes, with the changed
// fields, as lines of a unified diff, CRDs last. Changed descriptions are only counted.
// more is the number of lines beyond [maxDiffRows] and [maxDiffBytes]. A plan that only creates has none.
func diffRows(p *preview.Plan) (rows []string, more int) {
	if p.Summary.Update+p.Summary.Replace+p.Summary.Delete+p.Summary.Adopt == 0 {
		return nil, 0
	}
	for _, definitions := range []bool{false, true} {
		for i := range p.Objects {
			o := &p.Objects[i]
			if o.Is(preview.KindCustomResourceDefinition) != definitions {
				continue
			}
			switch name := line(preview.IDLabel(o.ID)); {
			case o.Action == preview.ActionDelete:
				rows = append(rows, "- "+name)
			case o.Action == preview.ActionCreate:
				rows = append(rows, "+ "+name)
			case len(o.Changes) > 0:
				rows = append(append(rows, "@@ "+name+" @@"), fieldRows(o)...)
			}
		}
	}
	kept, size := 0, 0
	for kept < min(len(rows), maxDiffRows) && size < maxDiffBytes {
		size += len(rows[kept])
		kept++
	}
	return rows[:kept], len(rows) - kept
}

// fieldRows returns the diff lines of an object's changed fields, at most
// [maxDiffFields]. If there are more, fields that administrators watch come first,
// then removed and replaced ones, and annotations last.
func fieldRows(o *preview.Object) []string {
	descriptions, shown := 0, make([]preview.Change, 0, len(o.Changes))
	for _, c := range o.Changes {
		if strings.HasSuffix(c.Path, ".description") {
			descriptions++
			continue
		}
		shown = append(shown, c)
	}
	left := len(shown) - maxDiffFields
	if left > 0 {
		rank := func(c preview.Change) int {
			switch {
			case verdict.Watches(o, c.Path):
				return 0
			case strings.Contains(c.Path, ".metadata.annotations"):
				return 3
			case c.Op == diff.OpAdd:
				return 2
			}
			return 1
		}
		slices.SortStableFunc(shown, func(a, b preview.Change) int { return rank(a) - rank(b) })
		shown = shown[:maxDiffFields]
	}
	var rows []string
	for _, c := range shown {
		rows = append(rows, fieldRow(c)...)
	}
	if left > 0 {
		rows = append(rows, "  and "+preview.Plural(left, "more field"))
	}
	if descriptions > 0 {
		rows = append(rows, "  and "+preview.Plural(descriptions, "description"))
	}
	return rows
}

func fieldRow(c preview.Change) []string {
	name := line(c.Path) + ": "
	c = c.Readable()
	from, isFrom := c.From.(string)
	to, isTo := c.To.(string)
	switch {
	case c.Op == diff.OpAdd:
		return []string{"+ " + name + wholeValue(c.To)}
	case c.Op == diff.OpRemove:
		return []string{"- " + name + wholeValue(c.From)}
	case isFrom && isTo && strings.Contains(strings.TrimSpace(from+to), "\n"):
		return append([]string{"  " + name}, fold(textDiff(from, to, ""), maxDiffLines, "  ")...)
	}
	was, is := changedValues(c, maxDiffValue)
	return []string{"- " + name + was, "+ " + name + is}
}

// diffBlock returns the changed fields as a Markdown code block, empty if the plan only
// creates objects.
func diffBlock(p *preview.Plan) string {
	rows, more := diffRows(p)
	if len(rows) == 0 {
		return ""
	}
	block := "\n" + fence("diff", rows)
	if more > 0 {
		block += "\n… " + preview.Plural(more, "more line") + ", see Objects below\n"
	}
	return block
}
