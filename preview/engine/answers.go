package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// readAnswers asks the cluster again what rendering asked it. The answers are
// Facts: when one moves between review and apply, the objects are not those
// that the content makes any more.
func (d *decider) readAnswers(ctx context.Context) error {
	var served []string
	for _, pkg := range d.plan.Packages {
		for _, read := range pkg.Parameters.ClusterReads {
			if read.Kind == preview.ReadAPIVersion && served == nil {
				var err error
				if served, err = d.cluster.APIVersions(ctx); err != nil {
					return fmt.Errorf("asking the cluster for what it serves: %w", err)
				}
			}
			value, err := d.answer(ctx, read, served)
			if err != nil {
				return err
			}
			d.plan.Reads = append(d.plan.Reads, preview.Read{ID: read.ID(), Fingerprint: value})
		}
	}
	return nil
}

// answer is the value that a cluster read has now.
func (d *decider) answer(ctx context.Context, read preview.ClusterRead, served []string) (string, error) {
	switch read.Kind {
	case preview.ReadKubeVersion:
		return d.plan.Target.Version, nil
	case preview.ReadAPIVersion:
		return preview.APIVersionValue(served, read.Name), nil
	case preview.ReadLookup:
		return d.lookup(ctx, read.Name)
	}
	return "", fmt.Errorf("the plan was made with an answer of the kind %.40q, which this version does not know", read.Kind)
}

func (d *decider) lookup(ctx context.Context, name string) (string, error) {
	ref, err := preview.ParseLookup(name)
	if err != nil {
		return "", err
	}
	var found []map[string]any
	if ref.Name == "" {
		found, err = d.cluster.List(ctx, ref.APIVersion, ref.Kind, ref.Namespace, "")
	} else {
		result := d.cluster.Read(ctx, []preview.Ref{ref})[0]
		if err = result.Err; result.Body != nil {
			found = append(found, result.Body)
		}
	}
	switch preview.ReasonOf(err) {
	case preview.ReasonNotServed:
		return preview.LookupAbsent, nil
	case preview.ReasonForbidden:
		return string(preview.ReasonForbidden), nil // which it was not at review
	}
	if err != nil {
		return "", fmt.Errorf("looking up %s again: %w", name, err)
	}
	return preview.LookupValue(ref, found)
}

// answersOf maps the reads that stand for answers to the values that the
// objects were made with.
func answersOf(p *preview.Plan) map[string]string {
	out := map[string]string{}
	for _, pkg := range p.Packages {
		for _, read := range pkg.Parameters.ClusterReads {
			out[read.ID()] = read.Value
		}
	}
	return out
}

// sameAnswers refuses a plan whose cluster changed between rendering and
// reading.
func sameAnswers(p *preview.Plan) error {
	answers := answersOf(p)
	for _, r := range p.Reads {
		if value, answer := answers[r.ID]; answer && value != r.Fingerprint {
			return &Refused{
				What: "the cluster changed while the plan was made: " + strings.TrimPrefix(r.ID, "render/") + " is not what the templates were told",
				Next: "run the command again",
			}
		}
	}
	return nil
}
