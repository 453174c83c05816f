package diffview

import (
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// NewFile returns a view of what the plan changes in a file: lines of its text,
// or fields of its content.
func NewFile(f *preview.File) *View {
	s := &View{File: f, Kind: Diff, Form: FormUnified, unfolded: map[int]bool{}}
	s.name = f.Path
	s.happens = widget.Line{widget.Text(frame.ActionRole(f.Action), "   "+f.Action.Symbol()+" "+string(f.Action))}
	was := "  (does not exist)"
	if f.Live.Mode != "" {
		was = "  mode " + f.Live.Mode
	}
	s.Notes = []widget.Line{
		{widget.Text(theme.Caution, " --- installed"+was)},
		{widget.Text(theme.Change, " +++ after  mode "+f.Mode)},
	}
	c := &Comparison{gaps: map[int]int{}}
	longer := 0 // by how much the text after is, up to the place
	for _, change := range f.Changes {
		first, ok := placeStart(change.Path)
		from, _ := change.From.(string)
		to, _ := change.To.(string)
		switch {
		case ok:
			longer += c.addPlace(first, longer, from, to)
		case change.Path == "more":
			s.Notes = append(s.Notes, frame.Plain(" "+to))
		default:
			c.Changes = append(c.Changes, change)
		}
	}
	c.pair()
	if len(c.Starts) > 0 {
		c.opensAt = c.Starts[0]
	}
	s.Fill(c)
	return s
}

// placeStart returns the first line number of a path of the form "lines 3-9";
// false for any other path.
func placeStart(path string) (int, bool) {
	lines, ok := strings.CutPrefix(path, "lines ")
	first, _, _ := strings.Cut(lines, "-")
	n, err := strconv.Atoi(first)
	return n, ok && err == nil && n > 0
}

// addPlace adds changed lines to the comparison: from, replaced by to, which
// begins at line first of the new text. longer is by how many lines the new text
// is longer up to there; the result is by how many this change makes it longer.
func (c *Comparison) addPlace(first, longer int, from, to string) int {
	before := 0 // where the last place ends
	for _, l := range c.Lines {
		before = max(before, l.To)
	}
	if n := first - before - 1; n > 0 {
		c.gaps[len(c.Lines)] = n
	}
	grown := 0
	for _, l := range diff.Lines(from, to) {
		if l.From > 0 {
			l.From += first - 1 - longer
			grown--
		}
		if l.To > 0 {
			l.To += first - 1
			grown++
		}
		c.Lines = append(c.Lines, l)
	}
	return grown
}
