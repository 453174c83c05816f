package tabs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// QuestionsID is the id of the row about what the review could not check, which
// is no finding and has no label.
const QuestionsID = "open questions"

// findingRows lists all findings by severity, and last what the review could not check.
func (m *View) findingRows() []Row {
	tiny := m.Size.Mode == frame.ModeTiny
	rows := m.packageRow()
	before := len(rows)
	for _, s := range sections() {
		at := m.Checklist.InSection(s)
		if m.Filter.Package != "" {
			at = slices.DeleteFunc(slices.Clone(at), func(i int) bool { return !m.ItemOfPackage(i) })
		}
		questions := s.Severity == preview.NotKnown && len(m.questions) > 0
		if len(at) == 0 && !questions {
			continue
		}
		if !tiny && len(rows) > 0 {
			rows = append(rows, textRow(widget.Blank()))
		}
		if !tiny {
			rows = append(rows, m.listHeading(s, at))
		}
		columns := m.columns(at)
		for _, i := range at {
			rows = append(rows, m.findingRow(i, columns, false))
		}
		if questions {
			rows = append(rows, m.questionsRow())
		}
	}
	if len(rows) == before && m.Filter.Package != "" {
		rows = append(rows, textRow(frame.Plain("no findings of this package: P shows the next, F all")))
	} else if len(rows) == before {
		rows = append(rows, textRow(frame.Plain("no findings: no rule matched anything in this plan")))
	}
	return rows
}

// packageRow returns a row that names the package whose findings are listed; none for
// a plan of one package. The footer counts all critical findings, whatever is listed.
func (m *View) packageRow() []Row {
	chip := m.packageChip()
	if chip == "" || m.Size.Mode == frame.ModeTiny && m.Filter.Package == "" {
		return nil
	}
	return []Row{textRow(widget.Line{widget.Text(theme.Strong, chip)})}
}

func (m *View) listHeading(s Section, at []int) Row {
	return Row{Text: s.title(), Line: func(width int) widget.Line {
		count := fmt.Sprintf("%d of %d seen", m.reviewedIn(s, at), len(at))
		if len(at) == 0 {
			count = ""
		}
		return widget.Spread(widget.Line{widget.Text(theme.Heading, s.title())}, frame.Plain(count), width)
	}}
}

// reviewedIn returns how many items of a section are reviewed.
func (m *View) reviewedIn(s Section, at []int) int {
	if m.Filter.Package == "" {
		return m.Checklist.seenIn[s]
	}
	n := 0
	for _, i := range at {
		if m.Checklist.IsReviewed(i) {
			n++
		}
	}
	return n
}

// questionsRow returns the row about what the review could not check.
func (m *View) questionsRow() Row {
	text := "not checked: " + m.OpenQuestions()
	return Row{ID: QuestionsID, Text: text, Copy: text, Explain: m.questions[0].Why, Line: func(int) widget.Line {
		return widget.Line{widget.Cell(theme.Caution, " ?", findingMark), widget.Text(theme.Plain, text)}
	}}
}

// OpenQuestions names what the review could not check; empty if there is nothing.
func (m *View) OpenQuestions() string {
	whats := make([]string, 0, len(m.questions))
	for _, q := range m.questions {
		whats = append(whats, q.What)
	}
	return strings.Join(whats, ", ")
}

func (m *findingsTab) questionsDoc(width int) Document {
	b := &frame.Builder{Width: width}
	b.Add(widget.Line{widget.Text(theme.Strong, " What could not be known")})
	b.Text(theme.Plain, " ", "Nothing was asked of the cluster that would answer these.")
	for _, q := range m.questions {
		b.Heading(q.What)
		b.Text(theme.Plain, "   ", q.Why)
	}
	return Document{Lines: b.Lines}
}

// The cells of mark and label before a finding, and between columns.
const (
	findingMark = 7
	columnGap   = 2
)

// findingColumns are the widths, in cells, of the longest texts in two columns
// of a list of findings: what is found, and about whom.
type findingColumns struct{ what, who int }

// measured is how many findings, the most severe ones, decide how wide the
// columns of a list are.
const measured = 64

func (m *View) columns(at []int) findingColumns {
	var c findingColumns
	for _, i := range at[:min(len(at), measured)] {
		what, who := m.itemPhrase(i)
		c.what, c.who = max(c.what, nameWidth(what)), max(c.who, nameWidth(who))
	}
	return c
}

// fit returns the widths of the first two of three columns in a row of room cells.
// The third, what a finding means, gets the rest, which is at least two fifths.
func (c findingColumns) fit(room int) (what, who int) {
	most := room*3/5 - 2*columnGap
	if c.what+c.who <= most {
		return c.what, c.who
	}
	who = min(c.who, max(most-c.what, most*3/10))
	return min(c.what, most-who), who
}

// itemPhrase returns a short text for an item: what is found, and about whom.
func (m *View) itemPhrase(at int) (what, who string) {
	if p, ok := m.Checklist.phrases[at]; ok {
		return p[0], p[1]
	}
	it, own := m.Checklist.Items[at], m.Plan.Release.Namespace
	what, who = shortWhatAndWho(it, own)
	if isFold(it) {
		who = ""
	} else {
		f := it.First()
		if of := m.index.generatedName(f.Object); of != "" && strings.HasSuffix(who, f.Object[strings.LastIndex(f.Object, "/")+1:]) {
			kind, _, _ := strings.Cut(who, " ")
			who = kind + " " + of
		}
	}
	m.Checklist.phrases[at] = [2]string{what, who}
	return what, who
}

// phraseDiffers returns where the two texts of an item differ from those of the items
// around it; shared is true if one of these has the same text for what is found.
func (m *View) phraseDiffers(at int) (whatAt, whoAt widget.Differences, shared bool) {
	what, _ := m.itemPhrase(at)
	n := len(m.Checklist.Items)
	whatAt = widget.DifferencesAmong(n, at, func(i int) string {
		w, _ := m.itemPhrase(i)
		shared = shared || i != at && w == what
		return w
	})
	whoAt = widget.DifferencesAmong(n, at, func(i int) string { _, w := m.itemPhrase(i); return w })
	return whatAt, whoAt, shared
}

// isFold reports whether an item stands for findings of one rule about several objects.
func isFold(it item) bool { return len(it.Findings) > 1 && it.Account == nil && it.OneRule() }

// findingRow returns an item as a row: mark, label, what is found, and about
// whom; with means, and if there is room, also what it means.
func (m *View) findingRow(at int, columns findingColumns, means bool) Row {
	it := m.Checklist.Items[at]
	f, label := it.First(), it.Label()
	line := func(width int) widget.Line {
		what, who := m.itemPhrase(at)
		whatAt, whoAt, shared := m.phraseDiffers(at)
		sign, role := frame.SeveritySign(it.Severity(), m.Checklist.IsReviewed(at))
		l := widget.Line{widget.Cell(role, sign, 3), widget.Cell(theme.Strong, label, max(findingMark-3, len(label)+1))}
		room := width - l.Width()
		switch {
		case m.Size.Mode == frame.ModeTiny:
			return append(l, widget.Text(theme.Plain, strings.TrimSpace(what+"  "+who)))
		case !means || m.Size.Mode != frame.ModeDouble:
			return append(l, phrase{what, who, whatAt, whoAt, shared}.line(columns.what, room)...)
		}
		w, o := columns.fit(room)
		gap := widget.Text(theme.Plain, "  ")
		if who == "" {
			return append(l, widget.Apart(theme.Plain, what, whatAt, w+columnGap+o), gap, widget.Text(theme.Plain, meaning(it)))
		}
		return append(l, widget.Apart(theme.Plain, what, whatAt, w), gap, widget.Apart(theme.Plain, who, whoAt, o), gap, widget.Text(theme.Plain, meaning(it)))
	}
	return Row{
		ID: label, Object: f.Object, Copy: f.ID, Explain: f.Why, Line: line,
		words: func() string {
			texts := []string{label, it.Title()}
			for _, f := range it.Findings {
				texts = append(texts, f.Title, frame.ObjectName(f.Object), f.Rule, f.Ref, f.Why, f.Evidence, f.Counted)
			}
			return strings.Join(texts, " ")
		},
	}
}

// meaning returns why an item matters: of an account the way to what it amounts to, of
// an object that could not be read why not.
func meaning(it item) string {
	f := it.First()
	if it.Account != nil && len(it.Account.Steps) > 0 && verdict.ExtentText(*it.Account) != "" {
		return words.Steps(it.Account.Steps)
	}
	if f.Severity == preview.NotKnown && f.Evidence != "" {
		return f.Evidence
	}
	return f.Why
}

// minWho is the width, in cells, to which a name is cut at most.
const minWho = 16

// phrase is the two texts of a finding's row, and where each differs from the
// texts of the rows around it. shared is true if one of these has the same
// what: then who must be shown.
type phrase struct {
	what, who     string
	whatAt, whoAt widget.Differences
	shared        bool
}

// line returns both texts in a row of room cells. what comes first. If it needs
// the room, and no row around it has the same, who is left out.
func (p phrase) line(column, room int) widget.Line {
	what, who := nameWidth(p.what), nameWidth(p.who)
	column = min(column, max(room*3/5, room-columnGap-who))
	if p.shared && what > column {
		column = max(room*3/5, min(what, room-columnGap-minWho))
	}
	left := room - column - columnGap
	if p.who == "" || !p.shared && (left < minWho || what > column) {
		return widget.Line{widget.Apart(theme.Plain, p.what, p.whatAt, room)}
	}
	return widget.Line{widget.Apart(theme.Plain, p.what, p.whatAt, column), widget.Text(theme.Plain, "  "), widget.Apart(theme.Plain, p.who, p.whoAt, left)}
}

// maxEvidence is how many lines of evidence are shown; the others are counted.
const maxEvidence = 20

// findingsTab shows the findings, the most severe first.
type findingsTab struct{ *View }

func (m *findingsTab) Count() int { return len(m.Checklist.Items) }

func (m *findingsTab) Rows() []Row { return m.findingRows() }

// Doc returns the detail of a finding: first the evidence, then the object's
// changes, why it matters, where it comes from, the live values, how to reduce
// it and how to roll it back.
func (m *findingsTab) Doc(id string, width int) Document {
	if id == QuestionsID {
		return m.questionsDoc(width)
	}
	at := m.Checklist.Find(id)
	if at < 0 {
		return Document{}
	}
	it := m.Checklist.Items[at]
	of := m.Reader().Group(it)
	b := &frame.Builder{Width: width}
	m.findingHead(b, it, of)
	d := Document{}
	b.Heading("Evidence")
	d.Evidence[0] = len(b.Lines)
	end, cut := m.evidence(b, it, of)
	d.Evidence[1] = end
	f, one := it.First(), len(it.Findings) == 1
	if one {
		m.changedFieldLines(b, f)
	}
	if o := m.Object(f.Object); o != nil && AboutConflicts(f) {
		m.conflicts(b, o)
	}
	reasons(b, of)
	if one {
		m.originLines(b, f)
		m.liveLines(b, f)
	} else {
		m.allObjects(b, it)
	}
	m.reduce(b, of)
	if command := frame.UndoCommand(m.Plan); command != "" {
		b.Heading("Rollback")
		b.Text(theme.Plain, "   ", command)
	}
	for n, e := range entriesOf(of) {
		if shown, ok := cut[n]; ok {
			b.Heading("Further evidence: " + e.Title)
			for _, piece := range e.Evidence[shown:] {
				b.Text(theme.Plain, "   ", piece.Text)
			}
		}
	}
	d.Lines = b.Lines
	return d
}

// entriesOf returns the findings of a group, or a finding that is in none.
func entriesOf(f review.Finding) []review.Finding {
	if len(f.Findings) > 0 {
		return f.Findings
	}
	return []review.Finding{f}
}

// findingHead appends label, severity and rule of an item, what it is about,
// and who accepted it before.
func (m *findingsTab) findingHead(b *frame.Builder, it item, of review.Finding) {
	f := it.First()
	sign, role := frame.SeveritySign(f.Severity, false)
	b.Add(widget.Line{
		widget.Text(role, " "+strings.TrimSpace(sign)+" "), widget.Text(theme.Strong, it.Label()),
		widget.Text(role, "  "+string(f.Severity)), widget.Text(theme.Plain, "   rule "+words.Joined(" ", f.Rule, words.Enclosed(f.Ref))),
	})
	if len(it.Findings) == 1 {
		b.Text(theme.Strong, " ", f.Title)
		b.Add(m.objectLine(f.Object, b.Width))
	} else {
		b.Text(theme.Strong, " ", it.Title())
		for _, fact := range of.Account {
			b.Text(theme.Plain, " ", fact.Name+" "+fact.Value)
		}
	}
	if f.AcceptedIn > 0 {
		b.Text(theme.Plain, " ", "accepted earlier"+m.acceptance(f.AcceptedIn)+"; the evidence is the same")
	}
	if at := m.Checklist.Find(it.Label()); at >= 0 && m.Checklist.Before[at] && !m.Checklist.IsReviewed(at) {
		b.Text(theme.Plain, " ", "reviewed in an earlier session; an approval needs it to be reviewed in this one")
	}
	for _, fact := range of.Judged {
		b.Text(theme.Plain, " ", fact.Name+" "+fact.Value)
	}
}

// acceptance returns in which revision and version a finding was accepted, by
// whom and when, as far as that is known.
func (m *View) acceptance(revision int) string {
	text := fmt.Sprintf(" in revision %d", revision)
	a, ok := m.Prior.Of[revision]
	if !ok {
		return text
	}
	if a.Version != "" {
		text += ", version " + a.Version
	}
	if a.By != "" {
		text += ", by " + a.By
	}
	if !a.At.IsZero() {
		text += " on " + a.At.UTC().Format("2006-01-02")
	}
	return text
}

// reasons appends why each finding of a group matters, each reason once.
func reasons(b *frame.Builder, of review.Finding) {
	b.Heading("Why it matters")
	said := map[string]bool{}
	for _, f := range entriesOf(of) {
		if !said[f.Why] {
			said[f.Why] = true
			b.Text(theme.Plain, "   ", f.Why)
		}
	}
}

// evidence appends the evidence of each finding of an item. Of critical
// findings and unreadable objects it shows all, and they count as reviewed only
// when every line was on the screen. It returns the line at which the evidence
// to be seen ends, which is that of the most severe finding, and for findings with more
// evidence, by their position, how many pieces are shown.
func (m *findingsTab) evidence(b *frame.Builder, it item, of review.Finding) (end int, cut map[int]int) {
	cut = map[int]int{}
	for n, f := range entriesOf(of) {
		switch sign, role := frame.SeveritySign(f.Severity, false); {
		case isFold(it):
			b.Text(theme.Strong, "   ", frame.ObjectName(f.Objects[0]))
		case len(it.Findings) > 1:
			b.Text(role, "   ", strings.TrimSpace(sign)+" "+f.Title+"  ("+f.Rule+")")
		}
		start, whole := len(b.Lines), f.Severity.Gates()
		pieces := f.Evidence
		if len(pieces) == 0 {
			pieces = []preview.Piece{{Text: it.First().Title}}
		}
		for i, piece := range pieces {
			if !whole && i > 0 && len(b.Lines)-start >= maxEvidence && i < len(pieces)-1 {
				b.Text(theme.Caution, "   ", words.EvidenceRest(pieces[i:], "at the end of this page"))
				cut[n] = i
				break
			}
			b.Text(theme.Plain, "   ", piece.Text)
		}
		if f.Severity == it.Severity() {
			end = len(b.Lines)
		}
	}
	return end, cut
}

// objectLine returns a line with an object's name and the action on it.
func (m *View) objectLine(id string, width int) widget.Line {
	var happens widget.Line
	if o := m.Object(id); o != nil {
		happens = widget.Line{widget.Text(frame.ActionRole(o.Action), "   "+o.Action.Symbol()+" "+string(o.Action))}
	}
	return append(frame.Plain(" "), frame.NameAndAction(theme.Plain, frame.ObjectName(id), happens, width-2)...)
}

// changedFieldLines appends the changed fields of the object that a finding is about.
func (m *findingsTab) changedFieldLines(b *frame.Builder, f *preview.Finding) {
	if o := m.Object(f.Object); o != nil && o.Action != preview.ActionCreate && len(o.Changes) > 0 {
		b.Heading(m.changesTitle(o))
		changeLines(b, o.Changes, 8)
	}
}

// originLines appends the place in the content of what a finding is about.
func (m *findingsTab) originLines(b *frame.Builder, f *preview.Finding) {
	o := m.Object(f.Object)
	if o == nil {
		return
	}
	b.Heading("Where it comes from")
	if place := originText(o.Origin.At(f.Line)); place != "" {
		b.Text(theme.Plain, "   ", place)
	} else {
		b.Text(theme.Plain, "   ", "not from this content: it is of the installed revision")
	}
	if len(m.Plan.Packages) > 1 && o.Package != "" {
		b.Text(theme.Plain, "   ", "package "+o.Package)
	}
	if o.Digest != "" {
		b.Text(theme.Plain, "   ", o.Digest)
	}
	if !m.Plain {
		b.Text(theme.Plain, "   ", "e shows the exact YAML, d the difference to the cluster")
	}
}

// maxLive is how many fields are listed with their live values.
const maxLive = 8

// liveLines appends, for the object that a finding is about, the live values
// that the plan changes, and who set them.
func (m *findingsTab) liveLines(b *frame.Builder, f *preview.Finding) {
	o := m.Object(f.Object)
	if o == nil {
		return
	}
	b.Heading("Live now")
	switch {
	case o.Action == preview.ActionUnknown:
		b.Text(theme.Caution, "   ", "not known: "+m.unknownWhy(o.ID))
	case o.LiveBody == nil:
		b.Text(theme.Plain, "   ", "does not exist")
	case len(o.Changes) == 0:
		b.Text(theme.Plain, "   ", "exists; "+setterOf(o.LiveBody))
	default:
		setters := map[string]diff.Setter{}
		for _, field := range diff.SetFields(o) {
			setters[field.Path] = field.Setter
		}
		for i, c := range o.Changes {
			if i == maxLive && len(o.Changes) > maxLive+1 {
				b.Text(theme.Plain, "   ", fmt.Sprintf("… %d more: d shows them", len(o.Changes)-i))
				break
			}
			value := "(not set)"
			if c.Op != diff.OpAdd {
				value = frame.ShortValue(c.Readable().From)
			}
			b.Text(theme.Plain, "   ", c.Path+"  "+value+setterText(setters[c.Path]))
		}
	}
}

// setterOf names the field manager that wrote a live object last, as far as it
// is recorded.
func setterOf(live map[string]any) string {
	last := preview.FieldOwner{}
	for _, owner := range preview.FieldOwners(live) {
		if owner.Time >= last.Time {
			last = owner
		}
	}
	if last.Manager == "" {
		return "who wrote it is not recorded"
	}
	day, _, _ := strings.Cut(last.Time, "T")
	return strings.TrimSpace("last written by " + strings.Join(frame.NonEmpty(last.Manager, day), " on "))
}

// unknownWhy returns why an object could not be read.
func (m *View) unknownWhy(id string) string {
	for _, u := range m.Plan.Unknowns {
		if u.Object == id {
			return u.Why
		}
	}
	return "it could not be read"
}

// allObjects appends every object that an item of several findings is about.
func (m *findingsTab) allObjects(b *frame.Builder, it item) {
	b.Heading("Where it comes from")
	for _, f := range it.Findings {
		o := m.Object(f.Object)
		if o == nil {
			b.Item(theme.Plain, " ", frame.ObjectName(f.Object))
			continue
		}
		b.Item(frame.ActionRole(o.Action), o.Action.Symbol(), strings.Join(frame.NonEmpty(frame.ObjectName(f.Object), originText(o.Origin.At(f.Line))), "  "))
	}
}

// reduce appends how to make findings less severe, and where to read more.
func (m *View) reduce(b *frame.Builder, of review.Finding) {
	b.Heading("How to reduce it")
	for _, way := range of.Reduce {
		b.Text(theme.Plain, "   ", way)
	}
	rule := entriesOf(of)[0].Rule
	_, known := m.Reader().Book[rule]
	switch {
	case !known:
		b.Text(theme.Plain, "   ", "There is no page for this rule: it is not one of this program.")
	case m.Plain:
		b.Text(theme.Plain, "   ", "more: "+review.ExplainCommand(rule))
	default:
		b.Text(theme.Plain, "   ", "x shows the page of the rule")
	}
}

// changeLines appends changed fields, at most limit of them; 0 means all.
func changeLines(b *frame.Builder, changes []preview.Change, limit int) {
	for i, c := range changes {
		if limit > 0 && i == limit {
			b.Text(theme.Plain, "   ", fmt.Sprintf("… %d more: d shows them", len(changes)-i))
			return
		}
		switch c = c.Readable(); c.Op {
		case "add":
			b.Text(theme.Added, "   ", fmt.Sprintf("+ %s  %s", c.Path, frame.ShortValue(c.To)))
		case "remove":
			b.Text(theme.Removed, "   ", fmt.Sprintf("- %s  %s", c.Path, frame.ShortValue(c.From)))
		default:
			b.Text(theme.Change, "   ", fmt.Sprintf("~ %s  %s -> %s", c.Path, frame.ShortValue(c.From), frame.ShortValue(c.To)))
		}
	}
}

// findingsOf appends the findings about an object.
func (m *View) findingsOf(b *frame.Builder, id string) {
	for n, i := range m.index.itemsOf(id) {
		if n == 0 {
			b.Heading("Findings")
		}
		m.findingLine(b, i)
	}
}

// findingLine appends item i of the checklist as one line, in another row's detail.
func (m *View) findingLine(b *frame.Builder, i int) {
	it := m.Checklist.Items[i]
	sign, role := frame.SeveritySign(it.Severity(), m.Checklist.IsReviewed(i))
	b.Text(role, "   ", fmt.Sprintf("%s %s %s", strings.TrimSpace(sign), it.Label(), it.Title()))
}
