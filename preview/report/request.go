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
	// HostedSet is the set that a host in the cluster loads.
	HostedSet(p *preview.Plan) (*HostedSet, error)
}

// HostedSet is a plugin set that a host in the cluster loads, and the host's pod
// template.
type HostedSet struct {
	Name, Deployment string
	// PodTemplate is that of the host, as a v1 PodTemplate, with an init container
	// that installs the set.
	PodTemplate map[string]any
	// Needs are what the template refers to and the set does not bring, one sentence
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
