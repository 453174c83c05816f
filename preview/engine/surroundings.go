package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

// maxLimits bounds the quotas and limit ranges that are read of one namespace.
const maxLimits = 100

// readSurroundings reads the ResourceQuotas and LimitRanges of the namespaces
// that pods of the plan go into. Their specs are Facts; what is used of a
// quota is not. Where they may not be listed, the plan says so and is
// complete all the same: a quota never changes what apply sends.
func (d *decider) readSurroundings(ctx context.Context) error {
	for _, namespace := range podNamespaces(d.plan) {
		if !d.namespaces[namespace] {
			continue // a new namespace has none
		}
		for _, kind := range []string{"ResourceQuota", "LimitRange"} {
			if err := d.readLimits(ctx, kind, namespace); err != nil {
				return err
			}
		}
	}
	if err := d.readCredentialsMode(ctx); err != nil {
		return err
	}
	return d.readNodes(ctx)
}

// readCredentialsMode reads how the cluster serves CredentialsRequests, where
// the plan has some. A cluster without such an object serves none.
func (d *decider) readCredentialsMode(ctx context.Context) error {
	ref := risk.CredentialsRef()
	if !risk.ReadsCredentialsMode(cloudAccess(d.plan)) || d.plan.Object(ref.ID()) != nil {
		return nil
	}
	result := d.cluster.Read(ctx, []preview.Ref{ref})[0]
	switch {
	case result.Body != nil:
		return d.readSpec(result.Body, "credentialsMode")
	case preview.ReasonOf(result.Err) == preview.ReasonForbidden:
		d.plan.Reads = append(d.plan.Reads, preview.Read{ID: risk.UnreadID(ref.Kind, "")})
	case result.Err != nil && !preview.Answered(result.Err):
		return fmt.Errorf("reading %s: %w", ref.ID(), result.Err)
	}
	return nil
}

func (d *decider) readLimits(ctx context.Context, kind, namespace string) error {
	found, err := d.cluster.List(ctx, "v1", kind, namespace, "")
	switch {
	case err != nil && preview.Answered(err), len(found) > maxLimits:
		d.plan.Reads = append(d.plan.Reads, preview.Read{ID: risk.UnreadID(kind, namespace)})
		return nil
	case err != nil:
		return fmt.Errorf("listing the %ss of namespace %s: %w", kind, namespace, err)
	}
	for _, body := range found {
		if d.plan.Object(preview.RefOf(body).ID()) != nil {
			continue // the plan's own
		}
		if err := d.readSpec(body); err != nil {
			return err
		}
	}
	return nil
}

// podNamespaces are the namespaces that pods of the plan go into, sorted.
func podNamespaces(p *preview.Plan) []string {
	var out []string
	for i := range p.Objects {
		if pod, _ := preview.PodTemplate(p.Objects[i].Sealed); pod != nil {
			out = append(out, p.Objects[i].Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readNodes reads which platforms the nodes have, where the plan knows on
// which its images run.
func (d *decider) readNodes(ctx context.Context) error {
	if !slices.ContainsFunc(d.plan.Packages, func(pkg preview.Package) bool {
		return slices.ContainsFunc(pkg.Notes, func(n preview.Note) bool { return n.Rule == risk.RuleImagePinned })
	}) {
		return nil
	}
	nodes, err := d.cluster.List(ctx, "v1", "Node", "", "")
	switch {
	case err != nil && preview.Answered(err):
		d.plan.Reads = append(d.plan.Reads, preview.Read{ID: risk.UnreadID("Node", "")})
		return nil
	case err != nil:
		return fmt.Errorf("listing the nodes: %w", err)
	}
	for _, node := range nodes {
		info := preview.Map(node, "status", "nodeInfo")
		if os, arch := preview.String(info, "operatingSystem"), preview.String(info, "architecture"); os != "" && arch != "" {
			d.plan.Reads = append(d.plan.Reads, preview.Read{ID: risk.NodesID(os + "/" + arch), Fingerprint: present})
		}
	}
	return nil // derive drops what several nodes have in common
}
