package diffview

import "github.com/kubectl-operator/kubectl-operator/preview/diff"

// contextLines is how many unchanged lines are shown before and after each change.
const contextLines = 3

// minFold is how many unchanged lines are folded at least; fewer take no more
// room than the line that stands for them.
const minFold = 3

// Build makes the rows of the view, in its form.
func (s *View) Build() {
	s.Rows = s.Rows[:0]
	for i := range s.Notes {
		s.Rows = append(s.Rows, Row{rowNote, int32(i), 0})
	}
	switch {
	case s.Comparison == nil:
	case s.Form == FormPaths || len(s.Comparison.Lines) == 0:
		for i := range s.Comparison.Changes {
			s.Rows = append(s.Rows, Row{rowChange, int32(i), 0})
		}
	default:
		s.lineRows()
	}
}

func (s *View) lineRows() {
	lines := s.Comparison.Lines
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && lines[end].Op == diff.LineEqual {
			end++
		}
		s.equalRows(i, end)
		for i = end; end < len(lines) && lines[end].Op != diff.LineEqual; {
			end++
		}
		s.changedRows(i, end)
		i = end
	}
}

// equalRows adds rows for the unchanged lines from start up to end: for those
// near a change, and one fold for the others.
func (s *View) equalRows(start, end int) {
	from, to := start, end // the fold
	if start > 0 {
		from = min(start+contextLines, end)
	}
	if end < len(s.Comparison.Lines) {
		to = max(end-contextLines, from)
	}
	if s.Form == FormExact || to-from < minFold || s.unfolded[from] {
		from, to = end, end
	}
	s.plainRows(start, from)
	if from < to {
		s.Rows = append(s.Rows, Row{RowFold, int32(from), int32(to)})
	}
	s.plainRows(to, end)
}

func (s *View) plainRows(start, end int) {
	for i := int32(start); i < int32(end); i++ {
		if n := s.Comparison.gaps[int(i)]; n > 0 {
			s.Rows = append(s.Rows, Row{RowGap, int32(n), 0})
		}
		if s.Form == FormBeside {
			s.Rows = append(s.Rows, Row{rowPair, i, i})
		} else {
			s.Rows = append(s.Rows, Row{RowLine, i, 0})
		}
	}
}

func (s *View) changedRows(start, end int) {
	if s.Form != FormBeside {
		s.plainRows(start, end)
		return
	}
	for i := start; i < end; i++ {
		twin := s.Comparison.twin[i]
		switch {
		case s.Comparison.Lines[i].Op == diff.LineDelete:
			s.Rows = append(s.Rows, Row{rowPair, int32(i), twin})
		case twin < 0:
			s.Rows = append(s.Rows, Row{rowPair, -1, int32(i)})
		}
	}
}
