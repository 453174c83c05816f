package report

import (
	"errors"
	"io"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Request is the form of a plan that asks for it again, pinned.
const Request = "request"

// PlanRequest holds the request of a plan, with what the plan itself does not
// record.
type PlanRequest interface {
	// Pinned is a request file for exactly what was planned.
	Pinned(p *preview.Plan) ([]byte, error)
	// HostedSet is the set that a host in the cluster loads.
	HostedSet(p *preview.Plan) (*HostedSet, error)
}

// HostedSet is a plugin set and the host that loads it.
type HostedSet struct {
	Name, Deployment string
	// PodTemplate is that of the host, as a v1 PodTemplate, with an init container
	// that installs the set.
	PodTemplate map[string]any
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
