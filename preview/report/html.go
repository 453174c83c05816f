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
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
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

// page is the data of the HTML template: the review, and what the page has besides: the
// changes as a diff, the manifests, and the rules. The template makes its texts printable,
// with the function line, and escapes them for HTML.
type page struct {
	*review.Document
	StyleHash, ScriptHash string
	Style                 template.CSS
	Script                template.JS
	Groups                []pageGroup
	Diff                  []pageLine
	Objects               []pageObject
	Rules                 []pageRule
	ApplySection          review.Section
}

type (
	pageLine  struct{ Class, Text string }
	pageGroup struct {
		Title, Anchor string
		Findings      []review.Finding
	}
	pageObject struct {
		Class, Symbol, Action, Name, Origin string
		Conflicts                           []string
		Changes, Manifest                   string
	}
	pageRule struct {
		Name, Ref, Source string
		Facts             []review.Fact
	}
)

// writeHTML writes one HTML file that loads nothing from elsewhere: its
// Content-Security-Policy permits only the inline style and script with the given
// hashes.
func writeHTML(w io.Writer, p *preview.Plan, _ Options) error {
	book := pages.New()
	t, err := template.New("page").Funcs(template.FuncMap{
		"known": func(rule string) bool { _, known := book[rule]; return known },
		"line":  line, "lines": textsafe.Block, "heading": func(s review.Section) string { return sentenceCase(s.Title) },
		"short": shortHeading,
		"cells": pageCells, "class": severityClass, "open": func(s preview.Severity) bool { return s.Gates() },
		"inner": pageInner,
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	safe := textsafe.NewWriter(w)
	if err := t.Execute(safe, pageOf(p, book)); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return safe.Flush()
}

func pageOf(p *preview.Plan, book pages.Index) page {
	out := page{
		Document: review.Of(p), Diff: pageDiff(p), Objects: pageObjects(p), Rules: pageRules(p, book),
		Style: template.CSS(pageStyle), Script: template.JS(pageScript), //nolint:gosec // constants
		StyleHash: sourceHash(pageStyle), ScriptHash: sourceHash(pageScript),
	}
	out.ApplySection = *out.Section(review.Apply)
	for _, form := range review.Severities() {
		if found := out.Of(form.Severity); len(found) > 0 {
			out.Groups = append(out.Groups, pageGroup{sentenceCase(form.Title), severityClass(form.Severity), found})
		}
	}
	out.Sections = slices.DeleteFunc(out.Sections, func(s review.Section) bool {
		return s.ID == review.Permissions || s.ID == review.Accept || s.ID == review.Apply
	})
	// How much each account may do stands before what was found.
	slices.SortStableFunc(out.Sections, func(a, b review.Section) int {
		return preview.FalseFirst(a.ID != review.Accounts, b.ID != review.Accounts)
	})
	return out
}

// sourceHash returns the Content-Security-Policy source of an inline style or
// script.
func sourceHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// pageCell is a cell of a table, with what stands below its text.
type pageCell struct {
	Name, Text string
	Below      []string
}

// pageCells returns the cells of a row, with its symbol in the first that is no heading, and what
// stands below the row in the last.
func pageCells(s review.Section, row review.Row) []pageCell {
	var out []pageCell
	at := 0 // the first cell that is no heading
	for i, text := range row.Cells {
		column := s.Columns[i]
		if column.Use == review.Heading {
			at++
		}
		switch last := len(out) - 1; {
		case column.Use != review.Below:
			out = append(out, pageCell{Name: column.Name, Text: line(text)})
		case text != "" && last >= 0:
			out[last].Below = append(out[last].Below, marked(column.Mark)+line(text))
		}
	}
	if len(row.Names) > 0 {
		out = append(out, pageCell{Text: line(strings.Join(row.Names, "  "))})
	}
	if row.Mark != "" && at < len(out) {
		out[at].Text = strings.TrimSpace(line(row.Mark) + " " + out[at].Text)
	}
	return out
}

// pageInner returns the lines and changes of a row as preformatted text.
func pageInner(row review.Row) string {
	t := table{layout: layout{width: codeWidth}}
	return strings.Join(t.below("", review.Row{Lines: row.Lines, Changes: row.Changes, Rest: row.Rest}), "\n")
}

// shortHeading returns the heading of a section for the list of contents.
func shortHeading(s review.Section) string {
	switch s.ID {
	case review.Open:
		return "Not known"
	case review.Less:
		return "Needs less"
	}
	return sentenceCase(s.Title)
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
func pageRules(p *preview.Plan, book pages.Index) []pageRule {
	var names []string
	for _, f := range p.Findings {
		if _, known := book[f.Rule]; known {
			names = append(names, f.Rule)
		}
	}
	slices.Sort(names)
	var out []pageRule
	for _, name := range slices.Compact(names) {
		about := book[name]
		out = append(out, pageRule{Name: name, Ref: about.Ref, Source: about.Source, Facts: []review.Fact{
			{Name: "finds what", Value: about.Title}, {Name: "looks at", Value: about.Looks}, {Name: "why", Value: about.Why},
			{Name: "severity", Value: about.When}, {Name: "reduce", Value: about.Reduce}, {Name: "more", Value: review.ExplainCommand(name)},
		}})
	}
	return out
}

// What a page holds of manifests: a browser is to open it at 5,000 objects.
const (
	maxManifest  = 64 << 10 // bytes of one
	maxManifests = 12 << 20 // bytes of all
	manifestCut  = "… the rest is left out here, -o manifests has it\n"
)

// pageObjects returns every object, in the order of [preview.Actions].
func pageObjects(p *preview.Plan) []pageObject {
	var out []pageObject
	room := maxManifests
	for _, action := range preview.Actions() {
		for i := range p.Objects {
			if o := &p.Objects[i]; o.Action == action {
				out = append(out, pageObjectOf(p, o, &room))
			}
		}
	}
	return out
}

func pageObjectOf(p *preview.Plan, o *preview.Object, room *int) pageObject {
	out := pageObject{
		Class: string(o.Action), Symbol: o.Action.Symbol(), Action: string(o.Action), Name: preview.IDPlace(o.ID),
		Origin: strings.Join([]string{o.APIVersion, o.Origin.Place(), o.Digest}, "  "), Conflicts: p.Contested(o),
	}
	out.Changes = clipText(pageInner(review.Row{Changes: o.Changes}), room)
	switch {
	case o.Planned == nil:
	case *room == 0:
		out.Manifest = manifestCut
	default:
		out.Manifest = clipText(textsafe.Block(diff.YAML(p.Sent(o))), room)
	}
	return out
}

// clipText shortens text to the bytes in room, at most [maxManifest], and reduces room
// by the bytes used.
func clipText(text string, room *int) string {
	most := min(maxManifest, *room)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:max(most, 0)], "")
		if text != "" {
			text += "\n"
		}
		text += manifestCut
	}
	*room = max(0, *room-len(text))
	return text
}

// pageDiff returns the lines of [diffRows] for the page, with their CSS classes.
func pageDiff(p *preview.Plan) []pageLine {
	rows, more := diffRows(p)
	out := make([]pageLine, 0, len(rows)+1)
	for _, row := range rows {
		class := "same"
		switch {
		case strings.HasPrefix(row, "@@"):
			class = "object"
		case strings.HasPrefix(row, "+"):
			class = "add"
		case strings.HasPrefix(row, "-"):
			class = "del"
		}
		out = append(out, pageLine{class, row})
	}
	if more > 0 {
		out = append(out, pageLine{"same", "… " + preview.Plural(more, "more line") + ", see Objects below"})
	}
	return out
}
