package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// lookups is the check whether the lookups of Helm templates still have the same
// results as when the plan was rendered.
type lookups struct{ noCheck }

// read repeats the reads of the cluster that templates made during rendering, such as
// lookup. The results are facts: if one changes between review and apply, the templates
// would render other objects.
func (c lookups) read(ctx context.Context, to *recorder) error {
	var served []string
	for _, pkg := range to.plan.Packages {
		for _, read := range pkg.Parameters.ClusterReads {
			if read.Kind == preview.ReadAPIVersion && served == nil {
				var err error
				if served, err = to.cluster.APIVersions(ctx); err != nil {
					return fmt.Errorf("reading the APIs of the cluster: %w", err)
				}
			}
			value, err := c.currentValue(ctx, to, read, served)
			if err != nil {
				return err
			}
			to.plan.Reads = append(to.plan.Reads, preview.Read{ID: read.ID(), Fingerprint: value})
		}
	}
	return nil
}

// currentValue returns the present result of a read that a template made.
func (c lookups) currentValue(ctx context.Context, to *recorder, read preview.ClusterRead, served []string) (string, error) {
	switch read.Kind {
	case preview.ReadKubeVersion:
		return to.plan.Target.Version, nil
	case preview.ReadAPIVersion:
		return preview.APIVersionValue(served, read.Name), nil
	case preview.ReadLookup:
		return c.lookup(ctx, to, read.Name)
	}
	return "", fmt.Errorf("the plan was made with an answer of the kind %.40q, which this version does not know", read.Kind)
}

func (c lookups) lookup(ctx context.Context, to *recorder, name string) (string, error) {
	ref, err := preview.ParseLookup(name)
	if err != nil {
		return "", err
	}
	var found []map[string]any
	if ref.Name == "" {
		found, err = to.cluster.List(ctx, ref.APIVersion, ref.Kind, ref.Namespace, "")
	} else {
		result := to.cluster.Read(ctx, []preview.Ref{ref})[0]
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

// recordedLookups returns the results of the reads that templates made, as they were at
// rendering, by the id of the read.
func recordedLookups(p *preview.Plan) map[string]string {
	out := map[string]string{}
	for _, pkg := range p.Packages {
		for _, read := range pkg.Parameters.ClusterReads {
			out[read.ID()] = read.Value
		}
	}
	return out
}

// checkLookups returns an error if a result that templates read changed between
// rendering and planning.
func checkLookups(p *preview.Plan) error {
	answers := recordedLookups(p)
	for _, r := range p.Reads {
		if value, answer := answers[r.ID]; answer && value != r.Fingerprint {
			return &RefusedError{
				What: "the cluster changed while the plan was made: " + strings.TrimPrefix(r.ID, "render/") + " is not what the templates read",
				Next: "run the command again",
			}
		}
	}
	return nil
}

func (c lookups) staleReads(ctx context.Context, again *rereader) ([]string, error) {
	target, err := again.cluster.Target(ctx)
	if err != nil && preview.ReasonOf(err) != preview.ReasonForbidden {
		return nil, fmt.Errorf("identifying the cluster: %w", err)
	}
	now, err := again.currentReads(ctx, func(ctx context.Context, to *recorder) error {
		to.plan.Target = target
		return c.read(ctx, to)
	})
	return again.changedReads(now), err
}
