package planning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// RegistryPrefix begins the name of a plan that is stored in a registry.
const RegistryPrefix = "oci://"

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

// SavedPlan is a plan that was read from a file or a registry, and verified.
type SavedPlan struct {
	*preview.Plan
	Notice     string // what a person should know about how it was checked
	Place      string // a path, or oci://HOST/REPO@sha256:HEX
	FileSHA256 string // of the plan file
}

// image returns HOST/REPO@sha256:HEX for a plan in a registry, empty for one in a
// file.
func (s *SavedPlan) image() string {
	image, remote := strings.CutPrefix(s.Place, RegistryPrefix)
	if !remote {
		return ""
	}
	return image
}

// PlanStore saves and loads plans and their approvals, in files and registries.
type PlanStore struct {
	schemas  func() engine.Schemas
	registry func() (*source.Fetcher, error)
}

// Saved returns the store of saved plans.
func (p *Planner) Saved() *PlanStore {
	return &PlanStore{schemas: p.env.Schemas, registry: p.artifacts}
}

// Load reads and verifies the plan saved at place, a file or
// oci://HOST/REPO@DIGEST. keys decrypt an encrypted plan.
func (s *PlanStore) Load(ctx context.Context, place string, keys planfile.Keys) (*SavedPlan, error) {
	file, err := s.read(ctx, place, keys)
	if damaged, ok := errors.AsType[*planfile.DamagedError](err); ok {
		return nil, Refuse(fmt.Sprintf("reading the plan %s: %s", place, damaged), "get the file again as it was saved, or preview again")
	}
	if err != nil {
		return nil, err
	}
	plan, notice, err := engine.Verify(file.Plan, s.schemas())
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", place, err)
	}
	plan.SavedAs = place
	return &SavedPlan{Plan: plan, Notice: notice, Place: place, FileSHA256: file.SHA256}, nil
}

func (s *PlanStore) read(ctx context.Context, place string, keys planfile.Keys) (*planfile.File, error) {
	image, remote := strings.CutPrefix(place, RegistryPrefix)
	if !remote {
		return planfile.Load(place, keys)
	}
	if err := checkPlanImage(image); err != nil {
		return nil, err
	}
	fetcher, err := s.registry()
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

// checkPlanImage returns an error unless an image is HOST/REPO@sha256:HEX. A
// tag is refused, because it could move.
func checkPlanImage(image string) error {
	_, digest, pinned := strings.Cut(image, "@")
	switch {
	case !pinned:
		return Usagef("%s%s names no digest, and a tag can be moved to another plan; preview --out printed the reference with @sha256:..., and \"crane digest %s\" prints the digest", RegistryPrefix, image, image)
	case !ref.IsDigest(digest):
		return Usagef("%s%s: a digest is sha256: and 64 lower-case hexadecimal digits", RegistryPrefix, image)
	}
	return nil
}

// SaveOptions say where a plan is saved, and whether it is encrypted for recipients.
type SaveOptions struct {
	To               string // a file, or oci://HOST/REPO[:TAG]
	PlaintextSecrets bool
	Recipients       []string // keys of age or ssh, or files of them
}

// Save saves a plan and notes in it where it was saved.
func (s *PlanStore) Save(ctx context.Context, plan *preview.Plan, o SaveOptions) error {
	to, err := planfile.ReadRecipients(o.Recipients)
	if err != nil {
		return fmt.Errorf("--plan-recipient: %w", err)
	}
	options := planfile.Options{Recipients: to, PlaintextSecrets: o.PlaintextSecrets}
	repository, remote := strings.CutPrefix(o.To, RegistryPrefix)
	stored := asStored(plan)
	if !remote {
		if err := planfile.Save(o.To, stored, options); err != nil {
			return err
		}
		plan.SavedAs = o.To
		return nil
	}
	data, err := planfile.Pack(stored, options)
	if err != nil {
		return err
	}
	fetcher, err := s.registry()
	if err != nil {
		return err
	}
	digest, err := fetcher.PushArtifact(ctx, repository, source.Artifact{
		Type: planArtifact, MediaType: planMediaType, Title: "plan.tgz", Data: data, Annotations: planAnnotations(plan),
	}, "")
	if err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	plan.SavedAs = RegistryPrefix + repositoryName(repository) + "@" + digest
	return nil
}

// asStored returns a plan as its file has it. What cannot be verified when the file is
// read is left out: what policies were computed to refuse, which an apply computes again
// before it writes, and how many custom resources an uninstall leaves.
func asStored(plan *preview.Plan) *preview.Plan {
	refused := plan.Computed != nil && len(plan.Computed.Refused) > 0
	if !refused && plan.Request.Action != preview.RequestUninstall {
		return plan
	}
	stored := *plan
	stored.Computed = nil
	stored.Verdict = &preview.Verdict{Obstacles: engine.Obstacles(&stored), Mitigations: plan.Verdict.Mitigations}
	verdict.Renew(&stored)
	return &stored
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

// repositoryName returns HOST/REPO of an image reference.
func repositoryName(image string) string {
	repo, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndex(repo, ":"); colon > strings.LastIndex(repo, "/") {
		repo = repo[:colon]
	}
	return repo
}

// artifacts returns the client for artifacts in registries, such as saved plans
// and approvals.
func (p *Planner) artifacts() (*source.Fetcher, error) {
	opts, err := p.env.fetching(p.Source, func(string) {})
	if err != nil {
		return nil, err
	}
	if !p.Read.Offline {
		opts.Cluster = targetCluster{p}
	}
	return source.New(opts), nil
}

// An approval as an OCI artifact that refers to the plan's.
const (
	approvalArtifact  = "application/vnd.kubectl-operator.approval.v1alpha1"
	approvalMediaType = "application/vnd.dsse.envelope.v1+json"
)

// maxApprovals is the most approvals that are read beside a plan file.
const maxApprovals = 200

// approvalSuffix matches what an approval's file name has after the plan's file name.
var approvalSuffix = lazyregexp.New(`^\.approval-[1-9][0-9]{0,3}\.json$`)

// KeepApproval stores a signed approval beside its plan, and returns where.
func (s *PlanStore) KeepApproval(ctx context.Context, plan *SavedPlan, signed []byte) (string, error) {
	if image := plan.image(); image != "" {
		fetcher, err := s.registry()
		if err != nil {
			return "", err
		}
		_, digest, _ := strings.Cut(image, "@")
		own, err := fetcher.PushArtifact(ctx, repositoryName(image), source.Artifact{
			Type: approvalArtifact, MediaType: approvalMediaType, Title: "approval.json", Data: signed,
		}, digest)
		if err != nil {
			return "", fmt.Errorf("saving the approval: %w", err)
		}
		return RegistryPrefix + repositoryName(image) + "@" + own, nil
	}
	for n := 1; n <= maxApprovals; n++ {
		path := fmt.Sprintf("%s.approval-%d.json", plan.Place, n)
		err := planfile.WriteNew(path, signed)
		if _, taken := errors.AsType[*planfile.ExistsError](err); taken {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("saving the approval: %w", err)
		}
		return path, nil
	}
	return "", fmt.Errorf("saving the approval: there are %d beside %s; delete old ones", maxApprovals, plan.Place)
}

// Quorum returns the approvals stored beside a plan, with how many of which
// signers are needed; nil if none are needed.
func (s *PlanStore) Quorum(ctx context.Context, plan *SavedPlan, need int, signers string) (*approval.Quorum, error) {
	if need == 0 {
		return nil, nil
	}
	data, err := ReadSmallFile(signers)
	if err != nil {
		return nil, fmt.Errorf("reading --approvers: %w", err)
	}
	approvers, err := approval.ReadApprovers(data)
	if shared, ok := errors.AsType[*approval.SharedKeyError](err); ok {
		return nil, Refuse("reading --approvers "+signers+": "+shared.Error(), "give each person a key of their own")
	}
	if err != nil {
		return nil, fmt.Errorf("reading --approvers %s: %w", signers, err)
	}
	if need > len(approvers.Approvers) {
		return nil, Usagef("--require-approvals %d: %s names %d approvers", need, signers, len(approvers.Approvers))
	}
	found, err := s.approvals(ctx, plan)
	if err != nil {
		return nil, err
	}
	return &approval.Quorum{Need: need, Approvers: approvers, PlanFile: plan.FileSHA256, Found: found}, nil
}

// approvals returns all approvals that are stored beside a plan, valid or not.
func (s *PlanStore) approvals(ctx context.Context, plan *SavedPlan) ([]approval.FoundApproval, error) {
	if image := plan.image(); image != "" {
		return s.pulledApprovals(ctx, image)
	}
	dir, name := filepath.Split(plan.Place)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, fmt.Errorf("looking for approvals beside the plan: %w", err)
	}
	var out []approval.FoundApproval
	for _, entry := range entries {
		suffix, beside := strings.CutPrefix(entry.Name(), name)
		if !beside || !approvalSuffix.MatchString(suffix) {
			continue
		}
		if len(out) == maxApprovals {
			return nil, fmt.Errorf("looking for approvals beside the plan: there are more than %d; delete old ones", maxApprovals)
		}
		found := approval.FoundApproval{Name: entry.Name()}
		if entry.Type().IsRegular() { // a pipe would be waited for
			found.Data, found.Err = ReadSmallFile(dir + entry.Name())
		} else {
			found.Err = errors.New("it is not a regular file")
		}
		out = append(out, found)
	}
	return out, nil
}

func (s *PlanStore) pulledApprovals(ctx context.Context, image string) ([]approval.FoundApproval, error) {
	fetcher, err := s.registry()
	if err != nil {
		return nil, err
	}
	files, unreadable, err := fetcher.ReferringArtifacts(ctx, image, source.ArtifactKind{
		Type: approvalArtifact, MediaType: approvalMediaType, MaxBytes: approval.MaxBytes, What: "an approval",
	})
	if err != nil {
		return nil, fmt.Errorf("looking for approvals of the plan: %w", err)
	}
	var out []approval.FoundApproval
	for _, digest := range slices.Sorted(maps.Keys(files)) {
		out = append(out, approval.FoundApproval{Name: digest, Data: files[digest]})
	}
	for _, digest := range slices.Sorted(maps.Keys(unreadable)) {
		out = append(out, approval.FoundApproval{Name: digest, Err: unreadable[digest]})
	}
	return out, nil
}

// ReadSmallFile reads a file such as a key or an approval, up to a size limit.
func ReadSmallFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, approval.MaxBytes+1))
	if err == nil && len(data) > approval.MaxBytes {
		err = fmt.Errorf("%s has more than 1 MiB", path)
	}
	return data, err
}
