package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

const (
	maxValue     = 400  // cells of one value, apart from what changed in it
	maxChanged   = 1000 // cells of what changed in a value
	contextCells = 32   // around what changed, where the rest is cut
	maxDiffLines = 40   // of one value of several lines
)

func imageSection(p *preview.Plan, l layout) section {
	if len(p.Images) == 0 {
		return section{}
	}
	s := section{title: "IMAGES"}
	platforms := risk.PinnedPlatforms(p)
	pinned := 0
	for _, image := range p.Images {
		if image.Pinned {
			pinned++
			s.lines = append(s.lines, "    pinned  "+line(image.Reference))
		} else {
			s.lines = append(s.lines, "  "+l.paint(yellow, "!")+" by tag  "+line(image.Reference))
			if image.Digest != "" {
				s.lines = append(s.lines, "            at review "+line(image.Digest))
			}
		}
		if len(platforms) > 0 {
			s.lines = append(s.lines, "            "+platformWords(platforms[image.Reference]))
		}
	}
	s.note = fmt.Sprintf("%s, %d pinned by digest", preview.Plural(len(p.Images), "image"), pinned)
	if len(platforms) == 0 {
		s.note += ", " + platformWords(nil)
	}
	return s
}

// platformWords returns the platforms of an image as text, or that they were not read.
func platformWords(list []string) string {
	if len(list) == 0 {
		return "platforms not read"
	}
	return "runs on " + line(strings.Join(list, ", "))
}

// objectSection lists the objects by action: updated, adopted and deleted ones one by
// one with their changed fields; created, kept and skipped ones by kind; unchanged ones
// as a number.
func objectSection(p *preview.Plan, l layout) section {
	if len(p.Objects) == 0 {
		return section{}
	}
	s := section{title: "OBJECTS", note: countText(p)}
	if order := stageText(p); order != "" {
		s.add(0, l.wrap("  ", order)...)
	}
	for _, action := range preview.Actions() {
		var members []*preview.Object
		for i := range p.Objects {
			if p.Objects[i].Action == action {
				members = append(members, &p.Objects[i])
			}
		}
		if len(members) == 0 {
			continue
		}
		head := fmt.Sprintf("%-3s %s %d", action.Symbol(), action, len(members))
		s.add(0, "  "+l.paint(blue, head))
		switch action {
		case preview.ActionUnchanged:
		case preview.ActionCreate, preview.ActionShared, preview.ActionSkip, preview.ActionKeep:
			for _, text := range byKind(members, l) {
				s.add(namesIn(text), text)
			}
			for _, o := range members {
				if len(o.Changes) > 0 { // of a create: by admission
					s.add(0, objectLines(p, o, l)...)
				}
			}
		default:
			for _, o := range members {
				s.add(1, objectLines(p, o, l)...)
			}
		}
	}
	return s
}

// add appends lines to a section. n is the number of objects in the first line; the
// others continue it.
func (s *section) add(n int, lines ...string) {
	for i, text := range lines {
		if i > 0 {
			n = 0
		}
		s.lines, s.items = append(s.lines, text), append(s.items, n)
	}
}

// namesIn returns the number of objects that a line of [byKind] names.
func namesIn(text string) int {
	n := len(strings.Split(strings.TrimSpace(text), "  "))
	if !strings.HasPrefix(text, "        ") {
		n--
	}
	return n
}

func stageText(p *preview.Plan) string {
	var parts []string
	for _, stage := range p.Stages {
		parts = append(parts, stage.ID)
	}
	if len(parts) < 2 {
		return ""
	}
	return "in the order " + strings.Join(parts, ", ")
}

func byKind(objects []*preview.Object, l layout) []string {
	names := map[string][]string{}
	var kinds []string
	for _, o := range objects {
		if names[o.Kind] == nil {
			kinds = append(kinds, o.Kind)
		}
		names[o.Kind] = append(names[o.Kind], objectName(o))
	}
	slices.Sort(kinds)
	var out []string
	for _, kind := range kinds {
		slices.Sort(names[kind])
		out = append(out, l.hang("      "+line(kind)+"  ", "        ", strings.Join(names[kind], "  "))...)
	}
	return out
}

func objectName(o *preview.Object) string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

func objectLines(p *preview.Plan, o *preview.Object, l layout) []string {
	out := []string{"      " + line(o.Kind+" "+objectName(o))}
	for _, text := range p.Contested(o) {
		out = append(out, l.hang("        "+l.paint(yellow, "!")+" ", "          ", line(text))...)
	}
	for _, text := range o.Adoption.Lines() {
		out = append(out, l.hang("        ", "          ", text)...)
	}
	if len(o.Changes) == 0 {
		out = append(out, secretKeyLines(o.SecretKeys)...)
	}
	if o.Action == preview.ActionDelete {
		return out
	}
	changes, rest := o.Changes, ""
	if o.Is(preview.KindCustomResourceDefinition) {
		changes, rest = schemaChanges(o.Changes)
	}
	for _, c := range changes {
		out = append(out, changeLines(c, l)...)
	}
	if rest != "" {
		out = append(out, l.hang("        ", "          ", rest)...)
	}
	return out
}

// maxSchemaChanges is how many changed fields of a CRD are listed (40). Its versions
// change in hundreds, and what breaks stored objects is a finding.
const maxSchemaChanges = 40

// schemaChanges returns the changed fields of a CRD to list: without descriptions, what is
// taken away or changed first. rest counts the others.
func schemaChanges(all []preview.Change) (list []preview.Change, rest string) {
	descriptions := 0
	for _, c := range all {
		if strings.HasSuffix(c.Path, ".description") {
			descriptions++
		} else {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b preview.Change) int {
		return preview.FalseFirst(a.Op == diff.OpAdd, b.Op == diff.OpAdd)
	})
	list = list[:min(len(list), maxSchemaChanges)]
	var more []string
	if n := len(all) - len(list) - descriptions; n > 0 {
		more = append(more, preview.Plural(n, "more field"))
	}
	if descriptions > 0 {
		more = append(more, preview.Plural(descriptions, "description"))
	}
	if len(more) > 0 {
		rest = "… " + strings.Join(more, ", ") + ": the screen and -o json have all"
	}
	return list, rest
}

// secretKeyLines returns a line for each key of a Secret that differs, for a plan
// without dry run, which has no changed fields.
func secretKeyLines(states map[string]string) []string {
	var out []string
	for key, state := range states {
		if state != "equal" {
			out = append(out, "        ~ key "+line(key+": "+state))
		}
	}
	slices.Sort(out)
	return out
}

func changeLines(c preview.Change, l layout) []string { return changeLinesAt("        ", c, l) }

// changeLinesAt returns the lines about a changed field, indented by indent.
func changeLinesAt(indent string, c preview.Change, l layout) []string {
	later := indent + "    "
	name := line(c.Path) + ":"
	c = c.Readable()
	switch c.Op {
	case diff.OpAdd:
		return l.exact(indent+"+ "+name, later, wholeValue(c.To))
	case diff.OpRemove:
		return l.exact(indent+"- "+name, later, wholeValue(c.From))
	}
	from, fromOK := c.From.(string)
	to, toOK := c.To.(string)
	if fromOK && toOK && strings.Contains(strings.TrimSpace(from+to), "\n") {
		return append([]string{indent + "~ " + name}, fold(textDiff(from, to, later), maxDiffLines, later)...)
	}
	was, is := changedValues(c, maxValue)
	return l.exact(indent+"~ "+name, later, was+" -> "+is)
}

// textDiff returns the changed lines of a text as a diff, with two lines around them.
// They are not wrapped, because indentation is content.
func textDiff(from, to, indent string) []string {
	var out []string
	for _, hunk := range diff.Hunks(from, to, 2) {
		if len(out) > 0 {
			out = append(out, indent+"…")
		}
		for _, changed := range hunk.Lines {
			out = append(out, indent+string(changed.Op)+" "+changedLine(changed))
		}
	}
	return out
}

// changedLine returns a line of a diff, of which the changed part is not cut at
// [maxValue].
func changedLine(l diff.Line) string {
	changed := diff.Span{End: len(l.Text)}
	if n := len(l.Spans); n > 0 {
		changed = diff.Span{Start: l.Spans[0].Start, End: l.Spans[n-1].End}
	} else if l.Op == diff.LineEqual {
		changed = diff.Span{}
	}
	return around(l.Text, changed, maxValue)
}

// wholeValue returns a value that is new or removed, so that all of it is a change.
func wholeValue(v any) string {
	text := valueText(v)
	return around(text, diff.Span{End: len(text)}, maxValue)
}

// changedValues returns both values of a changed field, each cut to about n cells around
// what is not the same in both.
func changedValues(c preview.Change, n int) (was, is string) {
	was, is = valueText(c.From), valueText(c.To)
	inWas, inIs := diff.Middle(was, is)
	return around(was, inWas, n), around(is, inIs, n)
}

// around returns a text cut to about n cells before and after its changed part, and that
// part to [maxChanged]: where a text is cut must not hide what is reviewed.
func around(text string, changed diff.Span, n int) string {
	width := textsafe.Width(line(text))
	if width <= n {
		return line(text)
	}
	start, end := max(0, changed.Start-contextCells), min(len(text), max(changed.End+contextCells, changed.Start-contextCells+n))
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	shown, rest := line(text[start:end]), ""
	if start > 0 {
		shown = "…" + shown
	}
	if shown = textsafe.Truncate(shown, max(n, maxChanged)); end < len(text) && !strings.HasSuffix(shown, "…") {
		shown += "…"
	}
	if start > 0 || strings.HasSuffix(shown, "…") {
		rest = " (" + strconv.Itoa(width) + " characters)"
	}
	return shown + rest
}

// valueText returns a value as JSON, which distinguishes "1" from 1.
func valueText(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "(not shown: " + err.Error() + ")"
	}
	switch s := v.(type) {
	case preview.Caption:
		return line(string(s))
	case string:
		if s == preview.Masked || s == diff.MaskedChanged {
			return s
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}
