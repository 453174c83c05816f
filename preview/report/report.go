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
