package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// The page, and the only style and script in it. They are ASCII without tabs,
// so that the writer leaves them as they are hashed.
var (
	//go:embed page/page.tmpl
	pageTemplate string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

// page is the data of the HTML template. Its texts are printable already; the template
// escapes them for HTML.
type page struct {
	Title, Counts, Incomplete string
	StyleHash, ScriptHash     string
	Style                     template.CSS
	Script                    template.JS
	Facts, Details            []pageFact
	Sentence                  string
	ObstacleTitle             string
	Obstacles, Options        []pageFact
	Changes, Less             []pageFact
	Diff                      []pageLine
	Accounts                  [][3]string
	Contents                  []pageLink
	Install, Command          string
	Notes                     []string
	Groups                    []pageGroup
	Missing                   [][2]string
	Grants                    []pageGrant
	Mode, Computed            string
	Open                      []pageFact
	GrantNote                 string
	Cloud                     []pageCloud
	Images                    [][3]string
	Files                     []string
	Config, Platforms         string
	Objects                   []pageObject
	ObjectNote                string
	Packages                  []pagePackage
	Rules                     []pageRule
}

type (
	pageFact  struct{ Name, Value string }
	pageLine  struct{ Class, Text string }
	pageLink  struct{ Anchor, Title string }
	pageGroup struct {
		Title    string
		Anchor   string
		Findings []pageFinding
	}
	pageFinding struct {
		Label, Title, Why, Reduce, Class, Anchor string
		Open                                     bool
		Evidence                                 []string
		Rows                                     []pageFact
		Findings                                 []pageFinding // of a group
	}
	pageGrant  struct{ Change, Who, Where, Verbs, On, Means, Via, Rules string }
	pageCloud  struct{ Change, What, Origin, Rules string }
	pageObject struct {
		Class, Symbol, Action, Kind, Name, Origin string
		Conflicts                                 []string
		Changes, Manifest                         string
	}
	pagePackage struct {
		Title string
		Facts []pageFact
	}
	pageRule struct {
		Name, Ref, Source, Anchor string
		Facts                     []pageFact
	}
)

// writeHTML writes one HTML file that loads nothing from elsewhere: its
// Content-Security-Policy permits only the inline style and script with the given
// hashes.
func writeHTML(w io.Writer, p *preview.Plan, _ Options) error {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	safe := textsafe.NewWriter(w)
	if err := t.Execute(safe, pageOf(p)); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return safe.Flush()
}

func pageOf(p *preview.Plan) page {
	out := page{
		Title: line(title(p)), Counts: countText(p), Facts: pageFacts(headFacts(p)), Details: pageFacts(facts(p)),
		Sentence: line(verdict.For(p).Sentence), Obstacles: pageFacts(settledFacts(p)), Options: pageFacts(optionFacts(p)), Changes: pageFacts(changeFacts(verdict.For(p))), Less: pageFacts(mitigationFacts(verdict.For(p))),
		ObstacleTitle: heading(section{title: ObstacleTitle(p)}),
		Style:         template.CSS(pageStyle), Script: template.JS(pageScript), //nolint:gosec // constants
		StyleHash: sourceHash(pageStyle), ScriptHash: sourceHash(pageScript),
		Install: heading(section{title: installSection(p, layout{width: defaultWidth}).title}),
	}
	if !p.Complete {
		out.Incomplete = preview.Plural(len(p.Unknowns), "thing")
	}
	if hasCommand(p) {
		out.Command = Command(p)
	}
	for _, note := range installNotes(p) {
		out.Notes = append(out.Notes, line(note))
	}
	r := newReader(p)
	out.Groups = pageGroups(p, r)
	out.Mode, out.Computed = line(readModeText(p.ReadMode)), line(computedText(p))
	for _, q := range openQuestions(p) {
		out.Open = append(out.Open, pageFact{line(q.What), line(q.Why)})
	}
	out.Rules = pageRules(p, r)
	for _, m := range p.Access.Installer.Missing {
		out.Missing = append(out.Missing, [2]string{line(m.Verb + " " + m.Resource), line(m.Why)})
	}
	out.Grants, out.GrantNote = pageGrants(p)
	out.Cloud = pageClouds(p)
	out.Images = pageImages(p)
	for _, f := range p.Files {
		out.Files = append(out.Files, strings.Join(fileLines(f, layout{width: codeWidth}), "\n"))
	}
	out.Config = strings.Join(configSection(p, layout{width: codeWidth}).lines, "\n")
	out.Platforms = strings.Join(platformSection(p).lines, "\n")
	out.Objects, out.ObjectNote = pageObjects(p)
	if len(p.Packages) > 1 {
		for i := range p.Packages {
			pkg := &p.Packages[i]
			rows := append([]fact{{"bundle", joinTexts("  ", pkg.Bundle, pkg.Format)}, {"content", pkg.ContentDigest}}, packageFacts(pkg)...)
			out.Packages = append(out.Packages, pagePackage{line(joinTexts(" ", pkg.Name, pkg.Version)), pageFacts(dropEmpty(rows))})
		}
	}
	out.Diff, out.Accounts = pageDiff(p), pageAccounts(p)
	out.Contents = out.contents()
	return out
}

// sourceHash returns the Content-Security-Policy source of an inline style or
// script.
func sourceHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func pageFacts(rows []fact) []pageFact {
	var out []pageFact
	for _, row := range rows {
		out = append(out, pageFact{row.name, line(row.value)})
	}
	return out
}

func pageGroups(p *preview.Plan, r *reader) []pageGroup {
	var out []pageGroup
	all := groups(p)
	for _, form := range severities {
		g := pageGroup{Title: heading(section{title: form.title}), Anchor: severityClass(form.severity)}
		for _, group := range groupsOf(all, form.severity) {
			g.Findings = append(g.Findings, pageEntry(group, r))
		}
		if len(g.Findings) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// pageEntry returns a group of findings for the page: as the finding itself if it has
// one, else with its findings nested.
func pageEntry(g verdict.Group, r *reader) pageFinding {
	if len(g.Findings) == 1 {
		return pageEntryOf(g.Entries()[0], g.Label(), r)
	}
	out := pageFinding{
		Label: g.Label(), Title: line(g.Title()), Class: severityClass(g.Severity()), Rows: pageFacts(accountFacts(g)),
		Open: g.Severity() == preview.Critical || g.Severity() == preview.NotKnown,
	}
	for _, e := range g.Entries() {
		out.Findings = append(out.Findings, pageEntryOf(e, string(e.First().Severity), r))
	}
	return out
}

func pageEntryOf(e verdict.Entry, label string, r *reader) pageFinding {
	f := *e.First()
	out := pageFinding{
		Label: label, Title: line(e.Title), Why: line(f.Why), Reduce: r.reduce(f), Class: severityClass(f.Severity),
		Open: f.Severity == preview.Critical || f.Severity == preview.NotKnown,
	}
	for _, piece := range e.Evidence {
		out.Evidence = append(out.Evidence, line(piece.Text))
	}
	rows := []fact{{"from", strings.Join(r.places(e.Findings), ", ")}}
	for _, one := range e.Findings {
		rows = append(rows, fact{"object", one.Object})
		if out.Open {
			rows = append(rows, fact{"accept", one.ID + "=" + one.Fingerprint})
		}
	}
	rows = append(rows, fact{"rule", joinTexts("  ", f.Rule, f.Ref)})
	if f.AcceptedIn > 0 {
		rows = append(rows, fact{"accepted", fmt.Sprintf("earlier, in revision %d", f.AcceptedIn)})
	}
	rows = append(rows, judgedFacts(f)...)
	out.Rows = pageFacts(dropEmpty(rows))
	if _, known := r.book[f.Rule]; known {
		out.Anchor = "rule-" + f.Rule
	}
	return out
}

// severityClass returns the CSS class of a severity. A plan file can contain any text
// as severity, so that unknown ones get the class of info.
func severityClass(s preview.Severity) string {
	if slices.Contains([]preview.Severity{preview.Critical, preview.Warning, preview.NotKnown}, s) {
		return string(s)
	}
	return string(preview.Info)
}

// pageRules returns the explanation of each rule that has findings in the plan.
func pageRules(p *preview.Plan, r *reader) []pageRule {
	var names []string
	for _, f := range p.Findings {
		if _, known := r.book[f.Rule]; known {
			names = append(names, f.Rule)
		}
	}
	slices.Sort(names)
	var out []pageRule
	for _, name := range slices.Compact(names) {
		about := r.book[name]
		out = append(out, pageRule{Name: name, Ref: about.Ref, Source: about.Source, Anchor: "rule-" + name, Facts: pageFacts([]fact{
			{"finds what", about.Title}, {"looks at", about.Looks}, {"why", about.Why}, {"severity", about.When}, {"reduce", about.Reduce},
			{"more", explainCommand(name)},
		})})
	}
	return out
}
