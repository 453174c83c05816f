package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// maxLimits is the most ResourceQuotas, and the most LimitRanges, that are read of one
// namespace. Of a namespace with more, none is.
const maxLimits = 100

// podConstraints is the check that records what limits the plan's pods: quotas, limit
// ranges, platforms of nodes, and how cloud credentials are provided.
type podConstraints struct{ noCheck }

// read records the ResourceQuotas and LimitRanges of the namespaces that the plan has
// pods in. Their specs are facts; the amounts in use are not. If they may not be
// listed, the plan says so and is still complete, because a quota does not change what
// apply sends.
func (c podConstraints) read(ctx context.Context, to *recorder) error {
	for _, namespace := range podNamespaces(to.plan) {
		if !to.namespaces[namespace] {
			continue // a new namespace has none
		}
		for _, kind := range []string{"ResourceQuota", "LimitRange"} {
			if err := c.readLimits(ctx, to, kind, namespace); err != nil {
				return err
			}
		}
	}
	if err := c.readCredentialsMode(ctx, to); err != nil {
		return err
	}
	return c.readNodes(ctx, to)
}

// readCredentialsMode records how an OpenShift cluster serves CredentialsRequests, if
// the plan has any.
func (c podConstraints) readCredentialsMode(ctx context.Context, to *recorder) error {
	ref := risk.CredentialsRef()
	if !risk.ReadsCredentialsMode(cloudAccess(to.plan)) || to.plan.Object(ref.ID()) != nil {
		return nil
	}
	result := to.cluster.Read(ctx, []preview.Ref{ref})[0]
	switch {
	case result.Body != nil:
		return to.readSpec(result.Body, "credentialsMode")
	case preview.ReasonOf(result.Err) == preview.ReasonForbidden:
		to.plan.Reads = append(to.plan.Reads, preview.Read{ID: risk.UnreadID(ref.Kind, "")})
	case result.Err != nil && !preview.Answered(result.Err):
		return fmt.Errorf("reading %s: %w", ref.ID(), result.Err)
	}
	return nil
}

func (c podConstraints) readLimits(ctx context.Context, to *recorder, kind, namespace string) error {
	found, err := to.cluster.List(ctx, "v1", kind, namespace, "", "spec")
	switch {
	case err != nil && preview.Answered(err), len(found) > maxLimits:
		to.plan.Reads = append(to.plan.Reads, preview.Read{ID: risk.UnreadID(kind, namespace)})
		return nil
	case err != nil:
		return fmt.Errorf("listing the %ss of namespace %s: %w", kind, namespace, err)
	}
	for _, body := range found {
		if to.plan.Object(preview.RefOf(body).ID()) != nil {
			continue // the plan's own
		}
		if err := to.readSpec(body); err != nil {
			return err
		}
	}
	return nil
}

// podNamespaces returns the namespaces that pods of the plan go into, sorted.
func podNamespaces(p *preview.Plan) []string {
	var out []string
	for i := range p.Objects {
		if pod, _ := preview.PodTemplate(p.Objects[i].Planned); pod != nil {
			out = append(out, p.Objects[i].Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readNodes records the platforms of the nodes, if the plan has pinned images, whose
// platforms are known.
func (c podConstraints) readNodes(ctx context.Context, to *recorder) error {
	if !slices.ContainsFunc(to.plan.Packages, func(pkg preview.Package) bool {
		return slices.ContainsFunc(pkg.Notes, func(n preview.Note) bool { return n.Rule == rules.ImagePinned.Name })
	}) {
		return nil
	}
	nodes, err := to.cluster.List(ctx, "v1", "Node", "", "", "status.nodeInfo")
	switch {
	case err != nil && preview.Answered(err):
		to.plan.Reads = append(to.plan.Reads, preview.Read{ID: risk.UnreadID("Node", "")})
		return nil
	case err != nil:
		return fmt.Errorf("listing the nodes: %w", err)
	}
	for _, node := range nodes {
		info := preview.Map(node, "status", "nodeInfo")
		if os, arch := preview.String(info, "operatingSystem"), preview.String(info, "architecture"); os != "" && arch != "" {
			to.plan.Reads = append(to.plan.Reads, preview.Read{ID: risk.NodesID(os + "/" + arch), Fingerprint: preview.Present})
		}
	}
	return nil // derive drops what several nodes have in common
}

func (c podConstraints) staleReads(ctx context.Context, again *rereader) ([]string, error) {
	now, err := again.currentReads(ctx, c.read)
	return append(again.changedReads(now), again.unlistedReads(now)...), err
}
