package help

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// blockKind is a kind of block of Markdown. A paragraph is what is nothing else.
type blockKind int

const (
	paragraph blockKind = iota
	heading
	fencedCode
	itemList
	cellTable
)

// block is a block of a page. The manual uses a part of CommonMark and tables, which this
// package reads itself: a parser of all of it would be a fiftieth of the program. A test
// compares the two on every page.
type block struct {
	kind  blockKind
	text  string     // of a heading or a paragraph, in one line
	lines []string   // of code
	items [][]block  // of a list
	rows  [][]string // of a table, its head first
}

var (
	listItem  = lazyregexp.New(`^(?:[*-]|[0-9]{1,9}[.)]) +`)
	tableRule = lazyregexp.New(`^\|?[ :|-]*-[ :|-]*$`)
)

// parse reads lines into blocks.
func parse(lines []string) []block {
	var out []block
	for len(lines) > 0 {
		var b block
		n := 1
		switch line := lines[0]; {
		case strings.TrimSpace(line) == "":
			lines = lines[1:]
			continue
		case strings.HasPrefix(line, "```"):
			b, n = parseCode(lines)
		case strings.HasPrefix(line, "#"):
			b = block{kind: heading, text: strings.TrimSpace(strings.TrimLeft(line, "#"))}
		case listItem.MatchString(line):
			b, n = parseList(lines)
		case strings.HasPrefix(line, "|") && len(lines) > 1 && tableRule.MatchString(lines[1]):
			b, n = parseTable(lines)
		default:
			b, n = parseParagraph(lines)
		}
		out, lines = append(out, b), lines[n:]
	}
	return out
}

// parseCode reads a fenced block, and returns how many lines it has.
func parseCode(lines []string) (block, int) {
	end := slices.IndexFunc(lines[1:], func(line string) bool { return strings.HasPrefix(line, "```") })
	if end < 0 {
		end = len(lines) - 1
	}
	return block{kind: fencedCode, lines: lines[1 : end+1]}, min(end+2, len(lines))
}

// parseParagraph reads lines up to an empty one, or to the begin of another block.
func parseParagraph(lines []string) (block, int) {
	var text []string
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || len(text) > 0 && (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "#") || listItem.MatchString(line)) {
			break
		}
		text = append(text, trimmed)
	}
	return block{text: strings.Join(text, " ")}, len(text)
}

// parseList reads the items of a list: the text after the mark, and lines that are
// indented below it.
func parseList(lines []string) (block, int) {
	b := block{kind: itemList}
	n := 0
	for n < len(lines) {
		mark := listItem.FindString(lines[n])
		if mark == "" {
			break
		}
		item := []string{lines[n][len(mark):]}
		for n++; n < len(lines); n++ {
			line := lines[n]
			below, indented := strings.CutPrefix(line, strings.Repeat(" ", len(mark)))
			empty := strings.TrimSpace(line) == ""
			if !indented && !empty {
				break
			}
			item = append(item, below)
		}
		b.items = append(b.items, parse(item))
	}
	return b, n
}

// parseTable reads the rows of a table; the second is the rule below its head.
func parseTable(lines []string) (block, int) {
	b := block{kind: cellTable}
	n := 0
	for ; n < len(lines) && strings.HasPrefix(lines[n], "|"); n++ {
		if n == 1 {
			continue
		}
		cells := cellsOf(lines[n])
		for len(b.rows) > 0 && len(cells) < len(b.rows[0]) {
			cells = append(cells, "")
		}
		b.rows = append(b.rows, cells)
	}
	return b, n
}

// cellsOf splits a row of a table; a bar after a backslash is one of the text.
func cellsOf(line string) []string {
	const bar = "\x00"
	line = strings.TrimSpace(strings.ReplaceAll(line, `\|`, bar))
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), bar, "|")
	}
	return cells
}

var (
	link     = lazyregexp.New(`^\[((?:[^\]\\]|\\.)*)\]\(([^)]*)\)`)
	autoLink = lazyregexp.New(`^<([a-z]+:[^ >]*)>`)
	emphasis = lazyregexp.New(`^(\*\*|\*)([^ *](?:[^*]*[^ *])?)`)
)

const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// plain returns the text of a line of Markdown without its marks. Spaces inside code become
// non-breaking until [renderer.wrap], so that a command is not split.
func plain(text string) string {
	var out strings.Builder
	for text != "" {
		n := 1
		switch text[0] {
		case '\\':
			if len(text) > 1 && strings.IndexByte(punctuation, text[1]) >= 0 {
				text = text[1:]
			}
			out.WriteByte(text[0])
		case '`':
			var code string
			code, n = codeSpan(text)
			out.WriteString(code)
		case '[':
			if m := link.FindStringSubmatch(text); m != nil {
				out.WriteString(plain(m[1]) + reference(m[2]))
				n = len(m[0])
				break
			}
			out.WriteByte('[')
		case '<':
			if m := autoLink.FindStringSubmatch(text); m != nil {
				out.WriteString(m[1])
				n = len(m[0])
				break
			}
			out.WriteByte('<')
		case '*':
			if m := emphasis.FindStringSubmatch(text); m != nil && strings.HasPrefix(text[len(m[0]):], m[1]) {
				out.WriteString(plain(m[2]))
				n = len(m[0]) + len(m[1])
				break
			}
			out.WriteByte('*')
		default:
			n = max(strings.IndexAny(text, "\\`[<*"), 0)
			if n == 0 {
				n = len(text)
			}
			out.WriteString(text[:n])
		}
		text = text[n:]
	}
	return out.String()
}

// codeSpan returns the code that begins with backquotes, and how many bytes it is there.
// Backquotes that as many do not close are text.
func codeSpan(text string) (string, int) {
	marks := len(text) - len(strings.TrimLeft(text, "`"))
	for at := marks; ; {
		end := strings.Index(text[at:], text[:marks])
		if end < 0 {
			return text[:marks], marks
		}
		end += at
		after := end + marks
		if after < len(text) && text[after] == '`' { // a longer run
			at = after + len(text[after:]) - len(strings.TrimLeft(text[after:], "`"))
			continue
		}
		code := text[marks:end]
		if strings.HasPrefix(code, " ") && strings.HasSuffix(code, " ") && strings.TrimSpace(code) != "" {
			code = code[1 : len(code)-1]
		}
		return strings.ReplaceAll(code, " ", hardSpace), after
	}
}
