package report

import (
	"errors"
	"io"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Request is the name of the form that prints a request file for the plan with every
// reference pinned.
const Request = "request"

// PlanRequest gives access to what was asked for when the plan was made, of which the
// plan itself does not record everything.
type PlanRequest interface {
	// Pinned is a request file for exactly what was planned.
	Pinned(p *preview.Plan) ([]byte, error)
	// PodTemplates are those that a plugin set takes, for a host or for the jobs that
	// run its plugins.
	PodTemplates(p *preview.Plan, of TemplateOf) (*PodTemplates, error)
}

// TemplateOf is what pod templates are for.
type TemplateOf string

// What pod templates are for: the host that loads a set, and the executors in which jobs
// run its plugins.
const (
	OfHost     TemplateOf = "host"
	OfExecutor TemplateOf = "executor"
)

// TemplatesOf returns all that pod templates can be for, the default first.
func TemplatesOf() []string { return []string{string(OfHost), string(OfExecutor)} }

// PodTemplates are pod templates for a plugin set.
type PodTemplates struct {
	About     string           // one or two lines for the reader, without "#"
	Templates []map[string]any // v1 PodTemplates
	// Needs are what the templates refer to and the set does not bring, one sentence
	// for each.
	Needs []string
}

func writeRequest(w io.Writer, p *preview.Plan, o Options) error {
	if o.Asked == nil {
		return errors.New("writing a request: a plan alone does not say what was asked for; use preview")
	}
	text, err := o.Asked.Pinned(p)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
