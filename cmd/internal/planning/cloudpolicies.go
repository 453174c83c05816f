package planning

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// CloudOptions are the policies that a reviewer attaches to a plan: what the publisher
// of the package says that it needs in a cloud, in a document of its own.
type CloudOptions struct {
	Policies []string // FILE or URL#sha256=HEX
}

// attach adds the policies to the options of a plan. They are part of its Facts, and
// its record keeps them, for the next version to be compared with.
func (p *Planner) attach(ctx context.Context, r *Resolver, opts *engine.Options) error {
	if len(p.Cloud.Policies) == 0 {
		return nil
	}
	with := preview.ReleaseOptions{}
	if opts.ReleaseOptions != nil {
		with = *opts.ReleaseOptions
	}
	for _, place := range p.Cloud.Policies {
		data, err := r.readPolicy(ctx, place)
		if err != nil {
			return fmt.Errorf("reading --cloud-policy: %w", err)
		}
		documents, err := cloud.ReadPolicy(data)
		if err != nil {
			return Usagef("--cloud-policy %s: %s", place, err)
		}
		with.CloudPolicies = append(with.CloudPolicies, preview.CloudPolicy{SHA256: preview.HashBytes(data), Documents: documents})
	}
	opts.ReleaseOptions, opts.Request.CloudPolicies = &with, p.Cloud.Policies
	return nil
}

func (r *Resolver) readPolicy(ctx context.Context, place string) ([]byte, error) {
	if !strings.HasPrefix(place, "https://") && !strings.HasPrefix(place, "http://") {
		return ReadSmallFile(place)
	}
	reference, err := ref.Parse(place)
	if err != nil {
		return nil, Usagef("--cloud-policy %s: %s", place, err)
	}
	if reference.Kind != ref.KindArchive || reference.SHA256 == "" {
		return nil, Usagef("--cloud-policy %s: a URL needs the digest of what is there: %s#sha256=HEX, as sha256sum prints it", place, place)
	}
	return cacheFirst(r, func(from *source.Fetcher) ([]byte, error) { return from.Document(ctx, reference, approval.MaxBytes) })
}
