package review

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Document is what every form for people shows of a plan.
type Document struct {
	// Title is the action and its packages, as in "install mongodb 1.10.0".
	Title   string
	Verdict string
	// Head names the release, what applies it, and the cluster.
	Head []Fact
	// Counts is the number of objects or files, in all and for each action.
	Counts string
	// Incomplete is how much could not be read, as in "2 things"; empty for nothing.
	Incomplete string
	// Top are the sections that stand with the verdict: obstacles, options, changes and
	// settings that need less.
	Top []Section
	// Findings are the groups of findings, the most severe first.
	Findings []Finding
	// Sections are all others, in the order of the text form.
	Sections []Section
}

// Fact is a name and its value. A fact without a name continues the one before it.
type Fact struct{ Name, Value string }

// ID names a section.
type ID string

// The sections. The set is closed.
const (
	Head        ID = "head"
	Obstacles   ID = "obstacles"
	Options     ID = "options"
	Changes     ID = "changes"
	Less        ID = "less"
	Open        ID = "open-questions"
	Applier     ID = "applier"
	Accounts    ID = "accounts"
	Permissions ID = "permissions"
	Access      ID = "access"
	Missing     ID = "missing"
	Cloud       ID = "cloud"
	Images      ID = "images"
	Config      ID = "config"
	Files       ID = "files"
	Platforms   ID = "platforms"
	Steps       ID = "steps"
	Objects     ID = "objects"
	Package     ID = "package"
	Details     ID = "details"
	Accept      ID = "accept"
	Apply       ID = "apply"
)

// Section is one part of a review: a table with sentences before and after it.
type Section struct {
	ID      ID
	Title   string
	Subject string // what it is about, such as a package
	Note    string // such as how many rows there are
	Lead    []string
	Columns []Column
	Rows    []Row
	Tail    []string
	// Commands are commands to copy, before Tail.
	Commands []ShellCommand
}

// Texts returns each row in one line.
func (s Section) Texts() []string {
	out := []string{}
	for _, row := range s.Rows {
		out = append(out, words.Joined(" ", row.Cells...))
	}
	return out
}

// ShellCommand is a command to copy, of one or two lines. For says what it does, where that does
// not go without saying.
type ShellCommand struct{ For, Text string }

// Use says how a column is drawn.
type Use int

// The uses of columns.
const (
	Cell    Use = iota // beside the others
	Heading            // above the rows with the same value; all headings after the first on one line
	Below              // on a line of its own, below the row
)

// Column is a column of a section's table.
type Column struct {
	Name string
	Use  Use
	Mark string // before a value that is not in a cell
	// Whole values, such as digests and commands, are copied: their lines are not wrapped.
	Whole bool
}

// Tone is how much a row stands out.
type Tone int

// The tones of rows.
const (
	Plain Tone = iota
	Quiet      // of no interest in a change: only forms that fold show it
	Good
	Caution
)

// Row is a row of a section's table.
type Row struct {
	Mark  string // a symbol, such as "+" or "!"
	Tone  Tone
	Cells []string // by the section's columns
	// Lines are further lines about the row, and Changes the fields that change in it.
	Lines   []Line
	Changes []preview.Change
	// Rest counts the changes that are left out, in words.
	Rest string
	// Names are those of several objects, after the cells.
	Names []string
	// Objects is the number of objects that the row stands for.
	Objects int
}

// Line is a line below a row, with a symbol before it. A line that is whole is not wrapped.
type Line struct {
	Mark, Text string
	Whole      bool
}

// Of returns the document of a plan.
func Of(p *preview.Plan) *Document {
	d := &Document{Title: Title(p), Verdict: verdict.For(p).Sentence, Head: head(p), Counts: countText(p)}
	if !p.Complete {
		d.Incomplete = preview.Plural(len(p.Unknowns), "thing")
	}
	d.Top = filled(obstacleSection(p), optionSection(p), changeSection(p), lessSection(p))
	d.Findings = findings(p)
	d.Sections = filled(openSection(p), applierSection(p), accountSection(p), permissionSection(p), accessSection(p), MissingSection(p), CloudSection(p),
		imageSection(p), configSection(p), fileSection(p), platformSection(p), objectSection(p), stepSection(p))
	d.Sections = append(d.Sections, packageSections(p)...)
	d.Sections = append(d.Sections, filled(detailSection(p), acceptSection(d.Findings), applySection(p))...)
	return d
}

// Origin returns what a plan was made from: what identifies it, its packages, images and
// steps.
func Origin(p *preview.Plan) []Section {
	release := facts(Head, "RELEASE", head(p), true)
	return slices.Concat(filled(release, detailSection(p)), packageSections(p), filled(imageSection(p), stepSection(p)))
}

// filled returns the sections that say something.
func filled(all ...Section) []Section {
	return slices.DeleteFunc(all, func(s Section) bool { return s.Title == "" })
}

// Section returns a section of the document; nil if the plan has none.
func (d *Document) Section(id ID) *Section {
	for _, list := range [][]Section{d.Top, d.Sections} {
		if at := slices.IndexFunc(list, func(s Section) bool { return s.ID == id }); at >= 0 {
			return &list[at]
		}
	}
	return nil
}

// facts returns a section of names and values, without those that have no value; a zero
// section without any.
func facts(id ID, title string, rows []Fact, whole bool) Section {
	s := Section{ID: id, Title: title, Columns: factColumns(whole)}
	for _, row := range rows {
		s.fact(Plain, row.Name, row.Value)
	}
	if len(s.Rows) == 0 {
		return Section{}
	}
	return s
}

// factColumns are the columns of a name and a value, which is whole or wrapped.
func factColumns(whole bool) []Column { return []Column{{Name: "name"}, {Name: "value", Whole: whole}} }

// dropEmpty returns the facts that have a value.
func dropEmpty(rows []Fact) []Fact {
	return slices.DeleteFunc(slices.Clone(rows), func(f Fact) bool { return f.Value == "" })
}
