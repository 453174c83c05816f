package tui

import "github.com/kubectl-operator/kubectl-operator/preview/diff"

// contextLines stand around each change.
const contextLines = 3

// minFold unchanged lines are folded; fewer take no more room than the fold.
const minFold = 3

// build makes the rows of the sheet's form.
func (s *sheet) build() {
	s.rows = s.rows[:0]
	for i := range s.notes {
		s.rows = append(s.rows, sheetRow{rowNote, int32(i), 0})
	}
	switch {
	case s.c == nil:
	case s.form == formPaths || len(s.c.lines) == 0:
		for i := range s.c.changes {
			s.rows = append(s.rows, sheetRow{rowChange, int32(i), 0})
		}
	default:
		s.lineRows()
	}
}

func (s *sheet) lineRows() {
	lines := s.c.lines
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

// equalRows shows the unchanged lines from start up to end: those near a
// change, and a fold for the others.
func (s *sheet) equalRows(start, end int) {
	from, to := start, end // the fold
	if start > 0 {
		from = min(start+contextLines, end)
	}
	if end < len(s.c.lines) {
		to = max(end-contextLines, from)
	}
	if s.form == formExact || to-from < minFold || s.unfolded[from] {
		from, to = end, end
	}
	s.plainRows(start, from)
	if from < to {
		s.rows = append(s.rows, sheetRow{rowFold, int32(from), int32(to)})
	}
	s.plainRows(to, end)
}

func (s *sheet) plainRows(start, end int) {
	for i := int32(start); i < int32(end); i++ {
		if n := s.c.gaps[int(i)]; n > 0 {
			s.rows = append(s.rows, sheetRow{rowGap, int32(n), 0})
		}
		if s.form == formBeside {
			s.rows = append(s.rows, sheetRow{rowPair, i, i})
		} else {
			s.rows = append(s.rows, sheetRow{rowLine, i, 0})
		}
	}
}

func (s *sheet) changedRows(start, end int) {
	if s.form != formBeside {
		s.plainRows(start, end)
		return
	}
	for i := start; i < end; i++ {
		twin := s.c.twin[i]
		switch {
		case s.c.lines[i].Op == diff.LineDelete:
			s.rows = append(s.rows, sheetRow{rowPair, int32(i), twin})
		case twin < 0:
			s.rows = append(s.rows, sheetRow{rowPair, -1, int32(i)})
		}
	}
}
