package diffview

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// Comparison is the comparison of two texts: an object (or file) as it is, and as it
// would be. It never changes. A large one is made in the background, not in Update.
type Comparison struct {
	Lines   []diff.Line
	twin    []int32 // the line that replaces a line, or is replaced by it; -1 for none
	Starts  []int   // the first line of every run of changed lines
	Changes []preview.Change
	live    []diff.Field // of the text before, numbered by From
	after   []diff.Field
	gaps    map[int]int // how many lines are left out before a line
	widest  int         // cells of the longest line
	last    int         // the highest number of a line
	opensAt int         // the line of what a finding is about, else of the first change
}

// Compare compares an object as it is with the object as it would be. It returns
// nil if w is abandoned meanwhile. If a finding was opened, evidence is what it saw in the
// object, and the comparison opens at the line that this is about.
func Compare(o *preview.Object, evidence string, w *Job) *Comparison {
	c := &Comparison{}
	from, to := o.Compared(AfterBody(o))
	var before, after string
	text := func(text *string, fields *[]diff.Field, body map[string]any, live bool) func() {
		return func() {
			if *text = exactText(o, body, live); w.Abandoned() {
				return
			}
			w.step()
			*fields = diff.Fields(*text)
			w.step()
		}
	}
	inParallel(text(&before, &c.live, from, true), text(&after, &c.after, to, false))
	if w.Abandoned() {
		return nil
	}
	inParallel(func() {
		if before != "" || after != "" {
			c.Changes = diff.Changes(from, to)
		}
		w.step()
	}, func() {
		c.Lines = diff.Lines(before, after)
		w.step()
		c.pair()
		w.step()
	})
	if w.Abandoned() {
		return nil
	}
	if len(c.Starts) > 0 {
		c.opensAt = c.Starts[0]
	}
	if at := c.LineAbout(evidence); at >= 0 {
		c.opensAt = at
	}
	return c
}

// pair finds where runs of changed lines begin, and pairs the deleted lines of
// each run with the inserted lines that follow them, in order.
func (c *Comparison) pair() {
	c.twin = make([]int32, len(c.Lines))
	for _, l := range c.Lines {
		c.widest, c.last = max(c.widest, textsafe.Width(textsafe.Line(l.Text))), max(c.last, l.From, l.To)
	}
	for i := 0; i < len(c.Lines); {
		c.twin[i] = -1
		if c.Lines[i].Op == diff.LineEqual {
			i++
			continue
		}
		c.Starts = append(c.Starts, i)
		for i < len(c.Lines) && c.Lines[i].Op != diff.LineEqual {
			i = c.pairBlock(i)
		}
	}
}

// pairBlock pairs the deleted lines from line at on with the inserted lines
// after them, and returns where those end.
func (c *Comparison) pairBlock(at int) int {
	inserted := at
	for inserted < len(c.Lines) && c.Lines[inserted].Op == diff.LineDelete {
		c.twin[inserted] = -1
		inserted++
	}
	end := inserted
	for end < len(c.Lines) && c.Lines[end].Op == diff.LineInsert {
		c.twin[end] = -1
		end++
	}
	for k := range min(inserted-at, end-inserted) {
		c.twin[at+k], c.twin[inserted+k] = int32(inserted+k), int32(at+k)
	}
	return end
}

// Path returns the path of the field that a line belongs to.
func (c *Comparison) Path(line int) string {
	if line < 0 || line >= len(c.Lines) {
		return ""
	}
	l := c.Lines[line]
	if l.Op == diff.LineDelete {
		return diff.FieldAt(c.live, l.From)
	}
	return diff.FieldAt(c.after, l.To)
}

// change returns the number, from 1, of the run of changes that a line is in or
// comes after; 0 before the first run.
func (c *Comparison) change(line int) int {
	at, found := slices.BinarySearch(c.Starts, line)
	if found {
		at++
	}
	return at
}

// spans returns the parts of a changed line that the line paired with it does not have.
func (c *Comparison) spans(line int) []diff.Span {
	other := c.twin[line]
	if other < 0 {
		return nil
	}
	if c.Lines[line].Op == diff.LineDelete {
		from, _ := diff.Spans(c.Lines[line].Text, c.Lines[other].Text)
		return from
	}
	_, to := diff.Spans(c.Lines[other].Text, c.Lines[line].Text)
	return to
}

// LineOf returns the index of the line that shows a change: a line of the
// changed field, or of a field around it. It is -1 if there is none.
func (c *Comparison) LineOf(change preview.Change) int {
	fields, op := c.after, diff.LineInsert
	if change.Op == diff.OpRemove {
		fields, op = c.live, diff.LineDelete
	}
	for path := strings.TrimSuffix(change.Path, "[]"); path != ""; path = parent(path) {
		for i, f := range fields {
			if f.Path != path {
				continue
			}
			until := 1 << 30
			if i+1 < len(fields) {
				until = fields[i+1].Line
			}
			if strings.HasSuffix(change.Path, "[]") {
				until = f.Line + 1_000
			}
			return c.changedLineFrom(f.Line, until, op)
		}
	}
	return -1
}

// changedLineFrom returns the index of the first changed line with a line number
// from number on and below until; if none is changed, of the first line there.
func (c *Comparison) changedLineFrom(number, until int, op diff.LineOp) int {
	of := func(l diff.Line) int {
		if op == diff.LineDelete {
			return l.From
		}
		return l.To
	}
	first := -1
	for i, l := range c.Lines {
		n := of(l)
		if n < number {
			continue
		}
		if n >= until && first >= 0 {
			break
		}
		if first < 0 {
			first = i
		}
		if l.Op == op {
			return i
		}
	}
	return first
}

// parent returns the path of the map or list that a path is in, empty for the object.
func parent(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '.' || path[i] == '[' {
			return path[:i]
		}
	}
	return ""
}

// LineAbout returns the index of the line that a text of evidence is about, -1
// if there is none. That is the field whose name the text has, and whose path
// shares most words with it; of equal ones, a changed line. If the text names
// no field, it is a value in the list item that shares most words with it, such
// as a role's rule with the named verbs.
func (c *Comparison) LineAbout(evidence string) int {
	if evidence == "" {
		return -1
	}
	said := map[string]bool{}
	for _, word := range pathWords(evidence) {
		said[word] = true
	}
	best, at := 0, -1
	for i, l := range c.Lines {
		path, ok := c.ownPath(l)
		if !ok {
			continue
		}
		points := wordsShared(path, said)
		if points > 0 && l.Op != diff.LineEqual {
			points++
		}
		if points > best {
			best, at = points, i
		}
	}
	if at < 0 {
		return c.itemAbout(said)
	}
	return at
}

// ownPath returns the path of the field that begins in a line; false if none does.
func (c *Comparison) ownPath(l diff.Line) (path string, ok bool) {
	fields, number := c.after, l.To
	if l.Op == diff.LineDelete {
		fields, number = c.live, l.From
	}
	k, ok := slices.BinarySearchFunc(fields, number, func(f diff.Field, n int) int { return f.Line - n })
	if !ok {
		return "", false
	}
	return fields[k].Path, true
}

// wordsShared returns two points for each word of a path that is in said; 0 if
// the name of the field itself is not.
func wordsShared(path string, said map[string]bool) int {
	words := pathWords(path)
	if len(words) == 0 || !said[words[len(words)-1]] || path == ".kind" {
		return 0
	}
	n := 0
	for _, word := range words {
		if said[word] {
			n++
		}
	}
	return 2 * n
}

// itemAbout returns a line of the list item that has most of the words said:
// the one with the word that fewest items have. It is -1 if no item has any.
func (c *Comparison) itemAbout(said map[string]bool) int {
	type value struct {
		line int
		word string
	}
	items, in, order := map[string][]value{}, map[string]map[string]bool{}, []string{}
	for i, l := range c.Lines {
		path := c.Path(i)
		end := strings.IndexByte(path, ']')
		if end < 0 {
			continue
		}
		_, text, isField := strings.Cut(l.Text, ":")
		if !isField {
			text = l.Text
		}
		for _, word := range pathWords(text) {
			if !said[word] {
				continue
			}
			item := path[:end+1]
			if items[item] == nil {
				order = append(order, item)
			}
			items[item] = append(items[item], value{i, word})
			if in[word] == nil {
				in[word] = map[string]bool{}
			}
			in[word][item] = true
		}
	}
	best, at := 0, -1
	for _, item := range order {
		distinct := map[string]bool{}
		for _, v := range items[item] {
			distinct[v.word] = true
		}
		if len(distinct) <= best {
			continue
		}
		best = len(distinct)
		rarest := items[item][0]
		for _, v := range items[item] {
			if len(in[v.word]) < len(in[rarest.word]) {
				rarest = v
			}
		}
		at = rarest.line
	}
	return at
}

// pathWords splits a path or a sentence into its names and numbers, in small letters.
func pathWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}
