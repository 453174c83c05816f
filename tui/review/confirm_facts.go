package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	document "github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// factList builds the lines of names and values on CONFIRM. From the content it
// shows only names and digests.
type factList struct {
	width, column int
	lines         []widget.Line
}

func (h *factList) blank() { h.lines = append(h.lines, nil) }

func (h *factList) add(name string, spans ...widget.Span) {
	lead := widget.Line{widget.Text(theme.Plain, "   "[:h.margin()]), widget.Cell(theme.Plain, name, h.column)}
	h.lines = append(h.lines, append(lead, spans...))
}

func (h *factList) margin() int {
	if h.width < frame.DoubleWidth {
		return 1
	}
	return 3
}

// digest appends a digest in full, on one line or in two halves. It is never cut.
func (h *factList) digest(name, digest string) {
	safe := textsafe.Line(digest)
	room := h.width - h.margin() - h.column - 1
	if textsafe.Width(safe) <= room {
		h.add(name, widget.Text(theme.Strong, safe))
		return
	}
	algorithm, hex, ok := strings.Cut(safe, ":")
	if !ok {
		algorithm, hex = "", safe
	} else {
		algorithm += ":"
	}
	half := (len(hex) + 1) / 2
	h.add(name, widget.Text(theme.Strong, algorithm+hex[:half]))
	h.add("", widget.Text(theme.Strong, strings.Repeat(" ", len(algorithm))+hex[half:]))
}

// maxTagged is how many images without a digest CONFIRM lists; the key tab shows all.
const maxTagged = 3

// maxConfirmChanges is how many changes CONFIRM lists; the Summary has the others.
const maxConfirmChanges = 6

// confirmLayout is how much of CONFIRM is shown above its question.
type confirmLayout struct {
	sentence, blanks bool // the sentence of the verdict, and lines between its parts
	changes, tagged  int  // how many changes and images by tag are listed
}

// confirmLayouts are those that are tried, the fullest first: if there is no room, changes
// are only counted first; then the sentence and blank lines are left out for the first of
// them. Where no change has room or there is none, images by tag are only counted, then
// blank lines are left out, then the sentence.
func confirmLayouts(changes, tagged int) []confirmLayout {
	var out []confirmLayout
	for _, whole := range []bool{true, false} {
		for n := changes; n > 0; n-- {
			out = append(out, confirmLayout{whole, whole, n, tagged})
		}
	}
	for n := tagged; n >= 0; n-- {
		out = append(out, confirmLayout{true, true, 0, n})
	}
	return append(out, confirmLayout{sentence: true}, confirmLayout{blanks: true}, confirmLayout{})
}

// confirmHead returns all that the approval is about, above the question, as much of it as
// has room.
func (m *confirmDialog) confirmHead(width, height int) []widget.Line {
	column, tagged := 12, maxTagged
	if width < frame.DoubleWidth {
		column, tagged = 10, 0
	}
	if m.full {
		h := &factList{width: width, column: column}
		m.allDigests(h)
		return h.lines
	}
	var lines []widget.Line
	for _, layout := range confirmLayouts(min(len(m.listedChanges()), maxConfirmChanges), tagged) {
		h := &factList{width: width, column: column}
		m.confirmFacts(h, layout)
		if lines = h.lines; !layout.blanks {
			lines = slices.DeleteFunc(lines, func(l widget.Line) bool { return len(l) == 0 })
		}
		if len(lines) <= height {
			break
		}
	}
	return lines
}

func (m *confirmDialog) confirmFacts(h *factList, layout confirmLayout) {
	h.blank()
	h.lines = append(h.lines, widget.Line{widget.Text(theme.Plain, "   "[:h.margin()]),
		widget.Text(theme.Strong, "You are about to change "+writeTarget(m.Plan)+". Nothing has been changed yet.")})
	if v := m.Plan.Verdict; layout.sentence && v != nil && v.Sentence != "" {
		for _, line := range widget.Wrap(theme.Plain, v.Sentence, h.width-2*h.margin(), "") {
			h.lines = append(h.lines, append(widget.Line{widget.Text(theme.Plain, "   "[:h.margin()])}, line...))
		}
	}
	h.blank()
	m.targetLines(h)
	m.changeLines(h, layout.changes)
	m.effectLines(h)
	h.blank()
	m.contentLines(h, layout.tagged)
	if m.checked {
		h.blank()
		h.add("checked", widget.Text(theme.Plain, m.at.Format("15:04:05")+"  no reviewed "+reviewedContent(m.Plan)+" has changed since the review"))
	}
}

// listedChanges are the changes to what is installed, without the numbers of objects,
// which CONFIRM has anyway.
func (m *confirmDialog) listedChanges() []preview.Highlight {
	var out []preview.Highlight
	if v := m.Plan.Verdict; v != nil {
		for _, c := range v.Changes {
			if c.Topic != preview.TopicObjects {
				out = append(out, c)
			}
		}
	}
	return out
}

// changeLines append the first changes, a line each, and count the others.
func (m *confirmDialog) changeLines(h *factList, most int) {
	list, room := m.listedChanges(), h.width-h.margin()-h.column-1
	for i, c := range list[:most] {
		name := ""
		if i == 0 {
			name = "changes"
		}
		text := c.Topic + " " + words.ShortDigests(c.Text)
		if more := len(list) - most; i == most-1 && more > 0 {
			rest := fmt.Sprintf("   and %d more in the Summary", more)
			text = frame.Clip(text, room-len(rest)) + rest
		}
		h.add(name, widget.Text(theme.Plain, frame.Clip(text, room)))
	}
}

func (m *confirmDialog) targetLines(h *factList) {
	t, p := m.Plan.Target, m.Plan
	if p.OnMachine() {
		m.placeLines(h)
		return
	}
	uid := t.Identity
	if uid == "" {
		uid = "unknown"
	}
	server := widget.Text(theme.Plain, "   "+t.Server)
	if h.width < frame.DoubleWidth {
		h.add("cluster", widget.Text(theme.Strong, frame.Cluster(p)), server)
		h.add("", widget.Text(theme.Plain, "uid "+uid))
	} else {
		h.add("cluster", widget.Text(theme.Strong, frame.Cluster(p)), server, widget.Text(theme.Plain, "   uid "+uid))
	}
	m.whoLines(h)
	h.add("namespace", widget.Text(theme.Strong, p.Release.Namespace), widget.Text(theme.Plain, m.namespaceState()))
}

// whoLines append the user who would apply, with the groups that may give rights.
func (m *confirmDialog) whoLines(h *factList) {
	t := m.Plan.Target
	if len(t.Groups) == 0 {
		h.add("as", widget.Text(theme.Plain, t.User))
		return
	}
	room := h.width - h.margin() - h.column - 1
	for i, line := range widget.Wrap(theme.Plain, t.User+"   (groups: "+strings.Join(t.Groups, ", ")+")", room, "") {
		switch {
		case i == maxGroupLines:
			h.add("", widget.Text(theme.Plain, "… more groups"))
			return
		case i == 0:
			h.add("as", line...)
		default:
			h.add("", line...)
		}
	}
}

// maxGroupLines is how many lines the groups of a user take at most.
const maxGroupLines = 2

// placeLines append the target of a plugin set: platform, location, machine,
// generation.
func (m *confirmDialog) placeLines(h *factList) {
	p := m.Plan
	h.add("platform", widget.Text(theme.Strong, p.Platform))
	h.add("location", widget.Text(theme.Strong, frame.SetLocation(p)))
	if p.Location != nil {
		h.add("host", widget.Text(theme.Plain, p.Location.Host))
	}
	if p.Generation != nil {
		h.add("generation", widget.Text(theme.Plain, document.GenerationText(p.Generation)))
	}
}

func (m *confirmDialog) namespaceState() string {
	o := m.Plan.Object(preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: m.Plan.Release.Namespace}.ID())
	if o != nil && o.Action == preview.ActionCreate {
		return "  (created by this plan)"
	}
	return "  (exists)"
}

// contentLines append the packages to apply, with at most tagged of the images by tag.
func (m *confirmDialog) contentLines(h *factList, tagged int) {
	p := m.Plan
	h.digest("plan", p.Digest) // first, where not all of it fits
	if p.OnMachine() {
		h.digest("content", p.ContentDigest)
		return
	}
	for _, pkg := range p.Packages {
		name := "bundle"
		if pkg.Parameters.Section != nil {
			name = frame.Clip(pkg.Name, h.column-1)
		}
		for _, s := range pkg.Sources {
			h.add(name, widget.Text(theme.Plain, s.Reference))
			h.digest("", s.Digest)
			name = ""
		}
		if len(pkg.Sources) == 0 {
			h.digest(name, pkg.ContentDigest)
		}
	}
	m.imageLines(h, tagged)
}

// imageLines append the number of images by digest, and at most tagged of those
// by tag, each with the digest that its tag has today.
func (m *confirmDialog) imageLines(h *factList, tagged int) {
	var byTag []preview.Image
	for _, image := range m.Plan.Images {
		if !image.Pinned {
			byTag = append(byTag, image)
		}
	}
	all := len(m.Plan.Images)
	if all == 0 {
		return
	}
	count := fmt.Sprintf("%d of %d by digest", all-len(byTag), all)
	if len(byTag) == 0 || tagged == 0 {
		h.add("images", widget.Text(theme.Plain, count+"   tab: all of them in full"))
		return
	}
	h.add("images", widget.Text(theme.Plain, count))
	for _, image := range byTag[:min(tagged, len(byTag))] {
		h.image("", image)
	}
	if more := len(byTag) - tagged; more > 0 {
		h.add("", widget.Text(theme.Plain, fmt.Sprintf("… %d more by tag, tab to see all in full", more)))
	}
}

// image appends an image and its digest, or the digest that its tag has today.
func (h *factList) image(name string, image preview.Image) {
	ref, digest, _ := strings.Cut(image.Reference, "@")
	h.add(name, widget.Text(theme.Plain, ref))
	switch {
	case digest != "":
		h.digest("", digest)
	case image.Digest != "":
		h.add("", widget.Text(theme.Caution, "by tag, not pinned; its digest today"))
		h.digest("", image.Digest)
	default:
		h.add("", widget.Text(theme.Caution, "by tag, digest not resolved (use --pin-images)"))
	}
}

func (m *confirmDialog) effectLines(h *factList) {
	line := tabs.ActionCounts(m.Plan.Summary, m.Size.Mode == frame.ModeDouble)
	if m.Plan.OnMachine() {
		line = tabs.FileCounts(m.Plan.Files, m.Size.Mode == frame.ModeDouble)
	}
	if m.Size.Mode == frame.ModeDouble {
		// Counts start with the gap they have in a sentence.
		h.column -= 3
		h.add("will do", line...)
		h.column += 3
	} else {
		h.add("will do", line...)
	}
	if u := m.Plan.FailureRollback; u != nil {
		text := fmt.Sprintf("rolls back to revision %d automatically", u.Revision)
		if u.Revision == 0 {
			text = "removes what it created automatically"
		}
		h.add("a failure", widget.Text(theme.Plain, text))
	}
	m.itemLines(h, "accepted", preview.Critical, theme.Plain)
	m.itemLines(h, "not known", preview.NotKnown, theme.Caution)
	if text := m.OpenQuestions(); text != "" {
		h.add("unchecked", widget.Text(theme.Caution, text))
	}
}

// maxItemLines is how many lines the labels of findings take at most.
const maxItemLines = 3

// itemLines append the findings of a severity, in a few lines; the others are counted.
func (m *confirmDialog) itemLines(h *factList, name string, s preview.Severity, role theme.Role) {
	at := m.Checklist.OfSeverity(s)
	room := h.width - h.margin() - h.column - len("… 99 more")
	long := 48
	if m.Size.Mode != frame.ModeDouble {
		long = 32
	}
	var lines []string
	for n, i := range at {
		it := m.Checklist.Items[i]
		what, who := tabs.WhatAndWho(it)
		if s == preview.NotKnown {
			what = who
		}
		next := it.Label() + " " + frame.Clip(what, long)
		last := len(lines) - 1
		switch {
		case last >= 0 && textsafe.Width(lines[last])+textsafe.Width(next)+3 <= room:
			lines[last] += "   " + next
		case last+1 < maxItemLines:
			lines = append(lines, next)
		default:
			lines[last] += fmt.Sprintf("   … %d more", len(at)-n)
			n = len(at)
		}
		if n == len(at) {
			break
		}
	}
	for _, line := range lines {
		h.add(name, widget.Text(role, line))
		name = ""
	}
}

// allDigests appends the second page of CONFIRM: every image and source with
// its digest.
func (m *confirmDialog) allDigests(h *factList) {
	h.blank()
	for _, pkg := range m.Plan.Packages {
		for _, s := range pkg.Sources {
			h.add(s.Kind, widget.Text(theme.Plain, s.Reference))
			h.digest("", s.Digest)
		}
		h.digest("content", pkg.ContentDigest)
	}
	h.digest("plan", m.Plan.Digest)
	for _, image := range m.Plan.Images {
		h.blank()
		h.image("image", image)
	}
}
