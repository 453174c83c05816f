package help

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// commonMark prints Markdown as [renderer] does, from what a parser of all of CommonMark
// reads.
type commonMark struct {
	source []byte
	renderer
}

func renderCommonMark(source []byte, width int) string {
	r := &commonMark{source: source, renderer: renderer{width: width}}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table))
	r.blocks(markdown.Parser().Parse(text.NewReader(source)), "")
	return r.out.String()
}

// blocks prints the blocks below a node, with an empty line between them.
func (r *commonMark) blocks(parent ast.Node, indent string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			r.out.WriteString("\n")
		}
		r.block(n, indent)
	}
}

func (r *commonMark) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		r.wrap(indent, indent, strings.ToUpper(r.inline(n)))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		for i := range n.Lines().Len() {
			segment := n.Lines().At(i)
			r.line(indent+"    ", strings.TrimRight(string(segment.Value(r.source)), "\n"))
		}
	case *ast.List:
		r.list(n, indent)
	case *table.Table:
		r.table(n, indent)
	default:
		r.wrap(indent, indent, r.inline(n))
	}
}

// list prints each list item after a dash, and nested content below the item's text.
func (r *commonMark) list(n *ast.List, indent string) {
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		for part := item.FirstChild(); part != nil; part = part.NextSibling() {
			if part.PreviousSibling() == nil {
				r.wrap(indent+"- ", indent+"  ", r.inline(part))
				continue
			}
			r.block(part, indent+"  ")
		}
	}
}

// table prints each row as its first cell followed by the others, on the same line
// or below it, because a table of sentences is wider than a terminal. From the
// third column on, each cell is preceded by its column's title.
func (r *commonMark) table(n *table.Table, indent string) {
	var rows [][]string
	beside := 0
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.inline(cell))
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

// inline returns the text below a node as one line. Spaces inside code become
// non-breaking until [renderer.wrap], so that a command is not split.
func (r *commonMark) inline(parent ast.Node) string {
	var out strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out.Write(util.UnescapePunctuations(n.Segment.Value(r.source)))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteString(" ")
			}
		case *ast.CodeSpan:
			out.WriteString(strings.NewReplacer("\n", hardSpace, " ", hardSpace).Replace(r.inline(n)))
		case *ast.Link:
			out.WriteString(r.inline(n) + reference(string(n.Destination)))
		case *ast.AutoLink:
			out.Write(n.URL(r.source))
		default:
			out.WriteString(r.inline(n))
		}
	}
	return out.String()
}
