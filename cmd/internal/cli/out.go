package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// ociPrefix marks a plan in a registry.
const ociPrefix = "oci://"

// The plan file as an OCI artifact, and who may read what in it without reading
// the plan: an encrypted plan has the same annotations.
const (
	planArtifact      = "application/vnd.kubectl-operator.plan.v1alpha1"
	planMediaType     = "application/vnd.kubectl-operator.planfile.v1alpha1"
	digestAnnotation  = "kubectl-operator/digest"
	contentAnnotation = "kubectl-operator/content-digest"
	releaseAnnotation = "kubectl-operator/release" // NAMESPACE/NAME
	targetAnnotation  = "kubectl-operator/target"  // identity of the cluster
	expiresAnnotation = "kubectl-operator/expires"
)

// outFlags say where a plan is saved, and who may read and apply it until when.
type outFlags struct {
	to               string
	plaintextSecrets bool
	recipients       []string
	expires          time.Duration
}

func (f *outFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.to, "out", "", "save the plan, for install --plan: to this file, or to a registry as oci://HOST/REPO[:TAG]")
	flags.BoolVar(&f.plaintextSecrets, "plaintext-secrets", false, "let the saved plan hold secret values in the clear")
	flags.StringArrayVar(&f.recipients, "plan-recipient", nil, "encrypt the saved plan for this key of age or ssh, age1... or ssh-ed25519 ..., or for those in a file (repeatable)")
	flags.DurationVar(&f.expires, "expires", 0, "how long the saved plan can be applied, such as 72h (default: for ever)")
}

func (f *outFlags) check() error {
	switch {
	case f.to == "" && (f.plaintextSecrets || len(f.recipients) > 0 || f.expires != 0):
		return usagef("--plaintext-secrets, --plan-recipient and --expires are about the plan that --out saves; add --out")
	case f.plaintextSecrets && len(f.recipients) > 0:
		return usagef("--plan-recipient encrypts the plan; leave out --plaintext-secrets")
	case f.expires < 0 || f.expires > 0 && f.expires < time.Second:
		return usagef("--expires %s: want a second or more, such as 72h", f.expires)
	}
	if to, ok := strings.CutPrefix(f.to, ociPrefix); ok {
		if err := source.CheckArtifactDestination(to); err != nil {
			return usagef("--out %s", err)
		}
	}
	return nil
}

// save saves a plan and notes in it where.
func (f *outFlags) save(ctx context.Context, p *planner, plan *preview.Plan) error {
	to, err := planfile.ReadRecipients(f.recipients)
	if err != nil {
		return fmt.Errorf("--plan-recipient: %w", err)
	}
	options := planfile.Options{Recipients: to, PlaintextSecrets: f.plaintextSecrets}
	repository, remote := strings.CutPrefix(f.to, ociPrefix)
	if !remote {
		if err := planfile.Save(f.to, plan, options); err != nil {
			return err
		}
		plan.SavedAs = f.to
		return nil
	}
	data, err := planfile.Pack(plan, options)
	if err != nil {
		return err
	}
	fetcher, err := p.artifacts()
	if err != nil {
		return err
	}
	digest, err := fetcher.PushArtifact(ctx, repository, source.Artifact{
		Type: planArtifact, MediaType: planMediaType, Title: "plan.tgz", Data: data, Annotations: planAnnotations(plan),
	}, "")
	if err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	plan.SavedAs = ociPrefix + repositoryName(repository) + "@" + digest
	p.app.streams.Errorf("plan saved as %s\n", plan.SavedAs)
	return nil
}

func planAnnotations(plan *preview.Plan) map[string]string {
	out := map[string]string{
		digestAnnotation: plan.Digest, contentAnnotation: plan.ContentDigest,
		releaseAnnotation: plan.Release.Namespace + "/" + plan.Release.Name,
	}
	if plan.Target.Identity != "" {
		out[targetAnnotation] = plan.Target.Identity
	}
	if plan.Options.Expires != "" {
		out[expiresAnnotation] = plan.Options.Expires
	}
	return out
}

// repositoryName is HOST/REPO of an image, whatever follows.
func repositoryName(image string) string {
	repo, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndex(repo, ":"); colon > strings.LastIndex(repo, "/") {
		repo = repo[:colon]
	}
	return repo
}

// artifacts reads and writes what lies in registries beside content.
func (p *planner) artifacts() (*source.Fetcher, error) {
	opts, err := p.app.sourceOptions(p.source, func(string) {})
	if err != nil {
		return nil, err
	}
	if !p.read.offline {
		opts.Cluster = targetCluster{p}
	}
	return source.New(opts), nil
}
