package help

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// The columns of a line of text: no page is wider than the eye follows, and none
// is broken below the least.
const (
	leastWidth   = 40
	mostWidth    = 100
	unknownWidth = 80
)

// renderer prints Markdown as plain lines. It supports only the Markdown that the
// manual uses, which a test ensures.
type renderer struct {
	width int
	out   strings.Builder
}

// render returns the text of a page in lines of at most width columns; code and
// long words may be wider. A width of 0 means that none is known.
func render(source string, width int) string {
	if width == 0 {
		width = unknownWidth
	}
	r := &renderer{width: min(max(width, leastWidth), mostWidth)}
	r.blocks(parse(strings.Split(source, "\n")), "")
	return r.out.String()
}

// blocks prints blocks, with an empty line between them.
func (r *renderer) blocks(list []block, indent string) {
	for i := range list {
		if i > 0 {
			r.out.WriteString("\n")
		}
		r.block(list[i], indent)
	}
}

func (r *renderer) block(b block, indent string) {
	switch b.kind {
	case paragraph:
		r.wrap(indent, indent, plain(b.text))
	case heading:
		r.wrap(indent, indent, strings.ToUpper(plain(b.text)))
	case fencedCode:
		for _, line := range b.lines {
			r.line(indent+"    ", line)
		}
	case itemList:
		r.list(b.items, indent)
	case cellTable:
		r.table(b.rows, indent)
	}
}

// list prints each list item after a dash, and nested content below the item's text.
func (r *renderer) list(items [][]block, indent string) {
	for _, item := range items {
		for i, part := range item {
			if i == 0 {
				r.wrap(indent+"- ", indent+"  ", plain(part.text))
				continue
			}
			r.block(part, indent+"  ")
		}
	}
}

// narrow is the largest width of the first column, in cells, that leaves room for the
// other columns next to it instead of below.
const narrow = 14

// table prints each row as its first cell followed by the others, on the same line
// or below it, because a table of sentences is wider than a terminal. From the
// third column on, each cell is preceded by its column's title.
func (r *renderer) table(source [][]string, indent string) {
	var rows [][]string
	beside := 0
	for _, row := range source {
		var cells []string
		for _, cell := range row {
			cells = append(cells, plain(cell))
		}
		if len(rows) > 0 {
			beside = max(beside, textsafe.Width(cells[0]))
		}
		rows = append(rows, cells)
	}
	for _, cells := range rows[1:] {
		first, rest := indent+"      ", indent+"      "
		if beside <= narrow {
			rest = indent + strings.Repeat(" ", beside+4)
			first = indent + "  " + cells[0] + strings.Repeat(" ", beside-textsafe.Width(cells[0])+2)
		} else {
			r.wrap(indent+"  ", indent+"    ", cells[0])
		}
		for i, cell := range cells[1:] {
			if cell == "" {
				continue
			}
			if i > 0 {
				cell = rows[0][i+1] + ": " + cell
			}
			r.wrap(first, rest, cell)
			first = rest
		}
	}
}

// hardSpace is the character for a space that must not break a line.
const hardSpace = "\u00a0"

// reference returns the target of a link: another topic's name, or a URL.
func reference(destination string) string {
	if topic, isTopic := strings.CutSuffix(destination, ".md"); isTopic && !strings.Contains(topic, "/") {
		return " (help" + hardSpace + topic + ")"
	}
	return " (" + destination + ")"
}

// wrap prints a text in lines, the first after the text first, the others after rest.
func (r *renderer) wrap(first, rest, text string) {
	line, empty := first, true
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\n' }) {
		if !empty && textsafe.Width(line)+1+textsafe.Width(word) > r.width {
			r.line("", line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	r.line("", line)
}

func (r *renderer) line(indent, text string) {
	r.out.WriteString(strings.TrimRight(indent+strings.ReplaceAll(text, hardSpace, " "), " ") + "\n")
}
