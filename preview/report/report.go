// Package report writes a plan for people and programs: as text, as Markdown
// for change reviews, as one HTML file, as SARIF for code scanning, as JSON and
// YAML, and as the manifests themselves. The same plan gives the same bytes on
// any machine at any time.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// The names of forms that callers choose.
const (
	Text      = "text"      // a document for a terminal
	Markdown  = "markdown"  // for change reviews, at most [MarkdownLimit] bytes
	JSON      = "json"      // the plan, field names are contract
	YAML      = "yaml"      // the same
	Manifests = "manifests" // the sealed objects, in the order they are written
	HTML      = "html"      // one file for a browser, which loads nothing
	SARIF     = "sarif"     // the findings for code scanning, SARIF 2.1.0
	// CloudPolicy is for a cloud team: the policies and roles that give the access
	// which the plan asks for.
	CloudPolicy = "cloud-policy"
)

const defaultWidth = 100

// Options are how a plan is written: the form, and settings of single forms.
type Options struct {
	Format string // the name of one of [Forms]; empty means Text
	// Color and ASCII apply to text: our own colour sequences, and nothing
	// beyond ASCII. Width is the number of cells of a line, 0 for the default.
	Color bool
	ASCII bool
	Width int
	// Brief leaves text with the head and the findings that count.
	Brief bool
	// PlaintextSecrets writes sensitive values into manifests as they are.
	PlaintextSecrets bool
	// Plural names resources as the cluster does; nil where there is none.
	Plural installer.Plural
	// Asked is the request that the plan was made for; nil where only the
	// plan is known.
	Asked PlanRequest
	// TemplateOf is what pod templates are for; empty means the host.
	TemplateOf TemplateOf
}

// Write writes a plan in the form that the options name. Untrusted text is escaped in
// every form: for people by textsafe, for programs by the escapes of JSON and YAML. An
// unknown form is an error.
func Write(w io.Writer, p *preview.Plan, o Options) error {
	form, ok := FormOf(cmp.Or(o.Format, Text))
	if !ok {
		return fmt.Errorf("format %q: want %s", o.Format, OneOf(Names(OfRequest)))
	}
	return form.write(w, p, o)
}

func writeJSON(w io.Writer, p *preview.Plan, _ Options) error {
	data, err := encode(p)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func encode(p *preview.Plan) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(p); err != nil {
		return nil, fmt.Errorf("encoding the plan: %w", err)
	}
	return textsafe.JSON(out.Bytes()), nil
}

func writeYAML(w io.Writer, p *preview.Plan, _ Options) error {
	data, err := encode(p)
	if err != nil {
		return err
	}
	doc, err := preview.DecodeJSON(data)
	if err != nil {
		return fmt.Errorf("encoding the plan: %w", err)
	}
	body, _ := doc.(map[string]any)
	_, err = io.WriteString(w, diff.Manifest(body))
	return err
}

func writeText(w io.Writer, p *preview.Plan, o Options) error {
	l := layout{width: o.Width, color: o.Color}
	if l.width <= 0 {
		l.width = defaultWidth
	}
	l.width = max(l.width, 40)
	var out strings.Builder
	for _, line := range header(p, l) {
		out.WriteString(line + "\n")
	}
	shown := sections(p, l)
	if o.Brief {
		shown = slices.DeleteFunc(findingSections(p, l), func(s section) bool { return s.title == "INFO" })
		shown = slices.DeleteFunc(append(shown, detailSection(p), acceptSection(p)), func(s section) bool { return s.title == "" })
	}
	for _, s := range shown {
		out.WriteString("\n" + l.paint(bold, joinTexts(" ", s.title, line(s.subject))))
		if s.note != "" {
			out.WriteString("  " + s.note)
		}
		out.WriteString("\n")
		for _, line := range s.lines {
			out.WriteString(line + "\n")
		}
	}
	safe := textsafe.NewWriter(w)
	if o.Color {
		safe = textsafe.NewColorWriter(w)
	}
	if o.ASCII {
		safe = safe.ASCII()
	}
	if _, err := io.WriteString(safe, out.String()); err != nil {
		return err
	}
	return safe.Flush()
}

// section is one part of a report, with a title. Its lines are escaped and laid out;
// its subject, such as the name of a package, is not escaped.
type section struct {
	title, note string
	subject     string
	lines       []string
	// items says of each line how many objects begin in it, for what is cut
	// off; nil where lines are not about objects.
	items []int
}

// sections returns the sections after the report's header, without empty ones.
func sections(p *preview.Plan, l layout) []section {
	all := append(findingSections(p, l), openSection(p, l), applierSection(p, l))
	all = append(all, accessSection(p, l), rightsSection(p, l), cloudSection(p, l), imageSection(p, l),
		configSection(p, l), fileSection(p, l), platformSection(p), objectSection(p, l))
	all = append(all, packageSections(p, l)...)
	all = append(all, detailSection(p), acceptSection(p), installSection(p, l))
	var out []section
	for _, s := range all {
		if s.title != "" {
			out = append(out, s)
		}
	}
	return out
}
