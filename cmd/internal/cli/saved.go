package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// identityVariable names the file of age keys for those who keep them where
// sops looks for them too.
const identityVariable = "SOPS_AGE_KEY_FILE"

// savedFlags say how a saved plan is opened.
type savedFlags struct {
	identity string
}

func (f *savedFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.identity, "plan-identity", "", "file of the age key, or of the private ssh key, that opens an encrypted plan (default: the file that "+identityVariable+" names)")
}

func (f *savedFlags) keys(getenv func(string) string) planfile.Keys {
	if f.identity != "" {
		return planfile.Keys{File: f.identity}
	}
	return planfile.Keys{File: getenv(identityVariable)}
}

// savedPlan is a plan that was read from a file or a registry, and verified.
type savedPlan struct {
	*preview.Plan
	place  string // a path, or oci://HOST/REPO@sha256:HEX
	sha256 string // of the plan file
}

// image is HOST/REPO@sha256:HEX of a plan in a registry, empty for a file.
func (s *savedPlan) image() string {
	image, remote := strings.CutPrefix(s.place, ociPrefix)
	if !remote {
		return ""
	}
	return image
}

// loadPlan reads and verifies a saved plan.
func (p *planner) loadPlan(ctx context.Context, place string, flags savedFlags) (*savedPlan, error) {
	file, err := p.readPlan(ctx, place, flags.keys(p.app.getenv))
	if damaged, ok := errors.AsType[*planfile.Damaged](err); ok {
		return nil, Refuse(fmt.Sprintf("reading the plan %s: %s", place, damaged), "get the file again as it was saved, or preview again")
	}
	if err != nil {
		return nil, err
	}
	var notice string
	plan, err := interruptible(ctx, func() (plan *preview.Plan, err error) {
		plan, notice, err = engine.Verify(file.Plan, p.typer())
		return plan, err
	})
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", place, err)
	}
	if notice != "" {
		p.app.streams.Errorf("note: %s\n", notice)
	}
	plan.SavedAs = place
	return &savedPlan{Plan: plan, place: place, sha256: file.SHA256}, nil
}

func (p *planner) readPlan(ctx context.Context, place string, keys planfile.Keys) (*planfile.File, error) {
	image, remote := strings.CutPrefix(place, ociPrefix)
	if !remote {
		return planfile.Load(place, keys)
	}
	if err := checkPlanImage(image); err != nil {
		return nil, err
	}
	fetcher, err := p.artifacts()
	if err != nil {
		return nil, err
	}
	data, err := fetcher.PullArtifact(ctx, image, source.ArtifactKind{
		Type: planArtifact, MediaType: planMediaType, MaxBytes: planfile.MaxBytes, What: "a plan",
	})
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	file, err := planfile.Open(data, keys)
	if err != nil {
		return nil, fmt.Errorf("reading the plan %s: %w", place, err)
	}
	return file, nil
}

// checkPlanImage wants HOST/REPO@sha256:HEX and nothing that somebody could move.
func checkPlanImage(image string) error {
	_, digest, pinned := strings.Cut(image, "@")
	switch {
	case !pinned:
		return Usagef("%s%s names no digest, and a tag can be moved to another plan; preview --out printed the reference with @sha256:..., and \"crane digest %s\" prints the digest", ociPrefix, image, image)
	case !ref.IsDigest(digest):
		return Usagef("%s%s: a digest is sha256: and 64 lower-case hexadecimal digits", ociPrefix, image)
	}
	return nil
}
