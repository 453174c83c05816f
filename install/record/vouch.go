package record

import (
	"context"
	"fmt"
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// witnessRef is the Role that vouches for the newest record of a release: it has no rules,
// and its annotations have the number of the revision and the digest of what the next plan
// takes from it. A Role, because a user who may write Secrets, as with the ClusterRole edit,
// may write none.
func witnessRef(release preview.Release) preview.Ref {
	return preview.Ref{
		APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role",
		Namespace: release.Namespace, Name: preview.RecordName(release.Name),
	}
}

// Witness is what the annotations of the Role of a release say about its newest record.
type Witness struct {
	Revision int    // 0 where there is none
	Options  string // digest
	// Hidden is true if the user may not read the Role.
	Hidden bool
}

func readWitness(ctx context.Context, cluster Getter, release preview.Release) (Witness, error) {
	ref := witnessRef(release)
	role, err := cluster.Get(ctx, ref)
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		return Witness{Hidden: true}, nil
	case err != nil:
		return Witness{}, fmt.Errorf("reading the Role %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	revision, _ := strconv.Atoi(preview.String(role, "metadata", "annotations", preview.AnnotationRevision)) // 0 vouches for nothing
	return Witness{Revision: revision, Options: preview.String(role, "metadata", "annotations", preview.AnnotationOptions)}, nil
}

// optionsDigest returns the digest of what the next plan takes from a record; empty where
// it takes nothing.
func (r *Record) optionsDigest() (string, error) {
	return preview.OptionsDigest(r.Release, r.Revision, r.Digest, r.Options, r.Packages)
}

// Vouched reports whether something that a user who may write Secrets cannot write vouches
// for what the next plan takes from the record: a signature, or the Role of the release.
func (r *Record) Vouched() bool {
	signed := r.Signature != nil && r.Signature.Key != "" && r.Signature.Wrong() == ""
	digest, err := r.optionsDigest()
	return err == nil && (digest == "" || signed || r.witness.Revision == r.Revision && r.witness.Options == digest)
}

// WitnessHidden reports whether the user may not read what would vouch for the record.
func (r *Record) WitnessHidden() bool { return r.witness.Hidden }

// vouch has the Role of the release vouch for a record that was just written after another
// one, nil for none. A run that may not write it goes on: the next plan then says what it
// takes from the record.
func (s *Store) vouch(ctx context.Context, before, record *Record) {
	if before != nil && before.witness.Revision == 0 {
		if digest, err := record.optionsDigest(); err == nil && digest == "" {
			return
		}
	}
	for try := range clock.MaxAttempts {
		err := s.Lock.Confirm(ctx)
		if err == nil {
			err = s.writeWitness(ctx, record)
		}
		reason := preview.ReasonOf(err)
		if reason != preview.ReasonChanged && reason != preview.ReasonUnavailable || clock.Pause(ctx, s.Clock, err, try) != nil {
			return
		}
	}
}

func (s *Store) writeWitness(ctx context.Context, record *Record) error {
	digest, err := record.optionsDigest()
	if err != nil {
		return err
	}
	ref := witnessRef(s.Release)
	live, err := s.Cluster.Get(ctx, ref)
	switch {
	case err != nil:
		return err
	case digest == "" && live == nil:
		return nil
	case digest == "":
		_, err := s.Cluster.Delete(ctx, ref, preview.UID(live), preview.ResourceVersion(live), preview.Background)
		return err
	}
	item := preview.DryRun{Force: true, UID: preview.UID(live), ResourceVersion: preview.ResourceVersion(live), Body: map[string]any{
		"apiVersion": ref.APIVersion, "kind": ref.Kind,
		"metadata": map[string]any{
			"name": ref.Name, "namespace": ref.Namespace,
			"labels": map[string]any{preview.LabelRelease: s.Release.Name},
			"annotations": map[string]any{
				preview.AnnotationRevision: strconv.Itoa(record.Revision), preview.AnnotationOptions: digest,
			},
		},
	}}
	if _, err = s.Cluster.Apply(ctx, item); err == nil {
		record.witness = Witness{Revision: record.Revision, Options: digest}
	}
	return err
}
