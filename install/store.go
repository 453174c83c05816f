package install

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// The keys of a record's Secrets.
const (
	keyVersion = "recordVersion"
	keyRecord  = "record" // gzip of the record's JSON
	keyPlan    = "plan"   // a part of the plan archive
	secretType = "kubectl-operator/record"
	toolPrefix = "kubectl-operator/"
)

// maxAttempts bounds how often one write is tried.
const maxAttempts = 5

// Getter reads single objects.
type Getter interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
}

func secretRef(release preview.Release, name string) preview.Ref {
	return preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: release.Namespace, Name: name}
}

// LoadRecord reads the newest record of a release, nil when there is none. A
// record of another format version, or one that does not hold together, is an
// error.
func LoadRecord(ctx context.Context, cluster Getter, release preview.Release) (*Record, error) {
	record, _, err := loadRecord(ctx, cluster, release)
	return record, err
}

func loadRecord(ctx context.Context, cluster Getter, release preview.Release) (*Record, map[string]any, error) {
	ref := secretRef(release, preview.RecordName(release.Name))
	secret, err := cluster.Get(ctx, ref)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the record %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	if secret == nil {
		return nil, nil, nil
	}
	record, err := DecodeRecord(secret)
	return record, secret, err
}

// DecodeRecord reads the record out of its Secret, which is also the release's
// ApplySet parent (KEP-3659) and must be marked as ours.
func DecodeRecord(secret map[string]any) (*Record, error) {
	ref := preview.RefOf(secret)
	where := "reading the record " + ref.Namespace + "/" + ref.Name
	name, ok := releaseOf(ref.Name)
	if !ok {
		return nil, fmt.Errorf("%s: not the name of a record", where)
	}
	release := preview.Release{Name: name, Namespace: ref.Namespace}
	if id := preview.String(secret, "metadata", "labels", preview.LabelSetID); id != preview.SetID(release) {
		return nil, fmt.Errorf("%s: its label %s is not that of this release; another tool wrote it", where, preview.LabelSetID)
	}
	if tool := preview.String(secret, "metadata", "annotations", preview.AnnotationTool); !strings.HasPrefix(tool, toolPrefix) {
		return nil, fmt.Errorf("%s: it belongs to the tool %q", where, tool)
	}
	return decodeSecret(where, secret, release)
}

func decodeSecret(where string, secret map[string]any, release preview.Release) (*Record, error) {
	version, err := secretValue(secret, keyVersion)
	if err == nil && string(version) != recordVersion {
		return nil, fmt.Errorf("%s: its format is version %q, this tool reads %s; use the tool that wrote it", where, version, recordVersion)
	}
	packed, err2 := secretValue(secret, keyRecord)
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	record, err := decodeHeader(packed, release)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return record, nil
}

// LoadRevision reads the record of one revision, nil when it is not kept.
func LoadRevision(ctx context.Context, cluster Getter, release preview.Release, revision int) (*Record, error) {
	newest, err := LoadRecord(ctx, cluster, release)
	if err != nil || newest == nil || newest.Revision == revision {
		return newest, err
	}
	ref := secretRef(release, partName(release.Name, revision, 0))
	secret, err := cluster.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("reading the record %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	if secret == nil {
		return nil, nil
	}
	return decodeSecret("reading the record "+ref.Namespace+"/"+ref.Name, secret, release)
}

// LoadPlan reads the plan of a record's revision. The bodies of its Secrets
// are not recorded: they come from sealed, by object id, and must have the
// reviewed digest; sealed may be nil when the plan holds no Secret.
func LoadPlan(ctx context.Context, cluster Getter, record *Record, sealed map[string]map[string]any) (*preview.Plan, error) {
	plan, err := loadPlan(ctx, cluster, record)
	if err != nil {
		return nil, err
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Sealed == nil && o.Digest != "" {
			o.Sealed = sealed[o.ID]
		}
	}
	if err := engine.CheckSealed(plan); err != nil {
		return nil, fmt.Errorf("the recorded plan: %w", err)
	}
	return plan, nil
}

// loadPlan reads a recorded plan as it is, without the bodies of its Secrets.
func loadPlan(ctx context.Context, cluster Getter, record *Record) (*preview.Plan, error) {
	var parts [][]byte
	for i := 1; i <= record.Archive.Parts; i++ {
		ref := secretRef(record.Release, partName(record.Release.Name, record.Revision, i))
		secret, err := cluster.Get(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("reading the plan in %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		part, err := secretValue(secret, keyPlan)
		if err != nil {
			return nil, fmt.Errorf("reading the plan in %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		parts = append(parts, part)
	}
	return decodeArchive(parts, record.Archive, record.Digest)
}

// store writes the records of one release. Only the holder of the lock has one.
type store struct {
	cluster Cluster
	release preview.Release
	tool    string
	// parent is the record's Secret as last read or written.
	parent map[string]any
}

// begin writes everything a new revision needs before its first object: the
// record it replaces under a name of its own, the plan, and last the record
// itself, which makes the revision the newest.
func (s *store) begin(ctx context.Context, plan *preview.Plan, before, record *Record) error {
	parts, archive, err := encodeArchive(plan)
	if err != nil {
		return err
	}
	record.Archive = archive
	for i, part := range parts {
		body := s.secret(partName(s.release.Name, record.Revision, i+1), map[string][]byte{keyPlan: part})
		if err := s.put(ctx, body); err != nil {
			return err
		}
	}
	if before != nil {
		if before.State.Unfinished() && before.State != RecordFailed {
			before.State = RecordAbandoned
		}
		packed, err := encodeHeader(before)
		if err != nil {
			return err
		}
		body := s.secret(partName(s.release.Name, before.Revision, 0), map[string][]byte{keyRecord: packed})
		if err := s.put(ctx, body); err != nil {
			return err
		}
	}
	return s.save(ctx, record, plan.Objects)
}

// save writes the record. more are objects whose kinds may come into being
// next; the applyset annotations name them before they do.
func (s *store) save(ctx context.Context, record *Record, more []preview.Object) error {
	packed, err := encodeHeader(record)
	if err != nil {
		return err
	}
	body := s.secret(preview.RecordName(s.release.Name), map[string][]byte{keyRecord: packed})
	meta := preview.Map(body, "metadata")
	preview.Map(meta, "labels")[preview.LabelSetID] = preview.SetID(s.release)
	meta["annotations"] = map[string]any{
		preview.AnnotationTool:  toolPrefix + "v" + strings.TrimPrefix(s.tool, "v"),
		preview.AnnotationKinds: record.groupKinds(more),
		preview.AnnotationExtra: record.namespaces(more),
	}
	written, err := s.write(ctx, body, s.parent)
	if err != nil {
		return err
	}
	s.parent = written
	return nil
}

func (s *store) secret(name string, data map[string][]byte) map[string]any {
	values := map[string]any{keyVersion: base64.StdEncoding.EncodeToString([]byte(recordVersion))}
	for key, value := range data {
		values[key] = base64.StdEncoding.EncodeToString(value)
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata": map[string]any{
			"name": name, "namespace": s.release.Namespace,
			"labels": map[string]any{preview.LabelRelease: s.release.Name},
		},
		"data": values,
	}
}

// put writes a further Secret over whatever an interrupted run left there.
func (s *store) put(ctx context.Context, body map[string]any) error {
	_, err := s.write(ctx, body, nil)
	return err
}

// write sends a Secret of ours until it is stored. Only the lock's holder
// writes them, so a change underneath is either our own write, whose answer
// was lost, or somebody's edit, which our fields overrule.
func (s *store) write(ctx context.Context, body, live map[string]any) (map[string]any, error) {
	ref := preview.RefOf(body)
	var last error
	for range maxAttempts {
		item := preview.DryRun{Body: body, Force: true}
		if live != nil {
			item.UID, item.ResourceVersion = uidOf(live), versionOf(live)
		}
		written, err := s.cluster.Apply(ctx, item)
		if err == nil {
			return written, nil
		}
		last = err
		switch preview.ReasonOf(err) {
		case preview.ReasonChanged, preview.ReasonUnavailable:
		default:
			return nil, fmt.Errorf("writing the record %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		if live, err = s.cluster.Get(ctx, ref); err != nil {
			return nil, fmt.Errorf("reading the record %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		if live != nil && preview.String(live, "type") != secretType {
			return nil, fmt.Errorf("writing the record: Secret %s/%s exists and is not a record", ref.Namespace, ref.Name)
		}
		if holds(live, body) {
			return live, nil // it was written, and only the answer was lost
		}
	}
	return nil, fmt.Errorf("writing the record %s/%s: %w", ref.Namespace, ref.Name, last)
}

// holds reports whether a stored Secret is what was sent.
func holds(live, sent map[string]any) bool {
	if live == nil || !reflect.DeepEqual(live["data"], sent["data"]) {
		return false
	}
	for _, field := range []string{"labels", "annotations"} {
		for key, want := range preview.Map(sent, "metadata", field) {
			if preview.String(live, "metadata", field, key) != want {
				return false
			}
		}
	}
	return true
}

func uidOf(body map[string]any) string { return preview.String(body, "metadata", "uid") }
func versionOf(body map[string]any) string {
	return preview.String(body, "metadata", "resourceVersion")
}
