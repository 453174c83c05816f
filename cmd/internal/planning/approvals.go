package planning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// An approval as an OCI artifact that refers to the plan's.
const (
	approvalArtifact  = "application/vnd.kubectl-operator.approval.v1alpha1"
	approvalMediaType = "application/vnd.dsse.envelope.v1+json"
)

// maxApprovals is how many are read beside a plan in a file.
const maxApprovals = 200

// approvalSuffix follows the name of the plan file.
var approvalSuffix = regexp.MustCompile(`^\.approval-[1-9][0-9]{0,3}\.json$`)

// KeepApproval puts an approval beside its plan, and says where.
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
	return "", fmt.Errorf("saving the approval: there are %d beside %s; delete what is not needed", maxApprovals, plan.Place)
}

// Quorum reads who may approve and what lies beside the plan; nil where no
// approvals are needed.
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

// approvals are those beside a plan, good or not.
func (s *PlanStore) approvals(ctx context.Context, plan *SavedPlan) ([]approval.Found, error) {
	if image := plan.image(); image != "" {
		return s.pulledApprovals(ctx, image)
	}
	dir, name := filepath.Split(plan.Place)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, fmt.Errorf("looking for approvals beside the plan: %w", err)
	}
	var out []approval.Found
	for _, entry := range entries {
		suffix, beside := strings.CutPrefix(entry.Name(), name)
		if !beside || !approvalSuffix.MatchString(suffix) {
			continue
		}
		if len(out) == maxApprovals {
			return nil, fmt.Errorf("looking for approvals beside the plan: there are more than %d; delete what is not needed", maxApprovals)
		}
		found := approval.Found{Name: entry.Name()}
		if entry.Type().IsRegular() { // a pipe would be waited for
			found.Data, found.Err = ReadSmallFile(dir + entry.Name())
		} else {
			found.Err = errors.New("it is no plain file")
		}
		out = append(out, found)
	}
	return out, nil
}

func (s *PlanStore) pulledApprovals(ctx context.Context, image string) ([]approval.Found, error) {
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
	var out []approval.Found
	for _, digest := range slices.Sorted(maps.Keys(files)) {
		out = append(out, approval.Found{Name: digest, Data: files[digest]})
	}
	for _, digest := range slices.Sorted(maps.Keys(unreadable)) {
		out = append(out, approval.Found{Name: digest, Err: unreadable[digest]})
	}
	return out, nil
}

// ReadSmallFile reads a key or an approval, which are small.
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
