package record

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// The keys of a record's Secrets.
const (
	keyVersion = "recordVersion"
	keyRecord  = "record" // gzip of the record's JSON, or a part of it
	keyIndex   = "index"  // of the parts, in place of a record too large
	keyPlan    = "plan"   // a part of the plan archive
	keyFence   = "fence"  // of the run that wrote it
	// keySignature is the key in a record's Secret of the signature over the
	// record's hash, if records are signed.
	keySignature = "signature"
	secretType   = preview.TypeRecord
	toolPrefix   = "kubectl-operator/"
)

// Getter reads single objects.
type Getter interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
}

func secretRef(release preview.Release, name string) preview.Ref {
	return preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: release.Namespace, Name: name}
}

// Load reads the newest record of a release, nil if there is none. A record of
// another format version, or one that contradicts itself, is an error.
func Load(ctx context.Context, cluster Getter, release preview.Release) (*Record, error) {
	record, _, err := LoadWithSecret(ctx, cluster, release)
	return record, err
}

// LoadWithSecret is [Load], and also returns the Secret that has the record.
func LoadWithSecret(ctx context.Context, cluster Getter, release preview.Release) (*Record, map[string]any, error) {
	ref := secretRef(release, preview.RecordName(release.Name))
	secret, err := cluster.Get(ctx, ref)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the record %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	if secret == nil {
		return nil, nil, nil
	}
	record, err := Decode(ctx, cluster, secret)
	return record, secret, err
}

// adviseLost adds to the error of a record that cannot be decoded what to do about its
// release.
func adviseLost(err error, secret preview.Ref) error {
	name, _ := releaseOf(secret.Name)
	look := commandline.Join("kubectl", "get", "secret", secret.Name, "-n", secret.Namespace, "-o", "yaml")
	remove := commandline.Join("kubectl", "delete", "secret", secret.Name, "-n", secret.Namespace)
	install := commandline.Operator("install", "REF", name, "-n", secret.Namespace)
	return &commandline.Advised{
		Err:      fmt.Errorf("%w\nlook at it: %s; if it cannot be repaired, delete it and install the release again, which adopts its objects: %s && %s", err, look, remove, install),
		Commands: []string{look, remove, install}, Scope: commandline.Connection,
	}
}

// Decode decodes a record from its Secret, which is also the release's ApplySet
// parent (KEP-3659) and must have this program's labels. The parts of a large
// record are read from the cluster.
func Decode(ctx context.Context, cluster Getter, secret map[string]any) (*Record, error) {
	var record *Record
	release, err := recordOf(secret)
	if err == nil {
		record, err = decodeSecret(ctx, cluster, secret, release, releaseBounds())
	}
	if err != nil {
		return nil, adviseLost(err, preview.RefOf(secret))
	}
	return record, nil
}

// DecodeListed decodes one of many listed records. It reads no further Secrets,
// and a record that has some, or exceeds [listBounds], is an error. unpacked is
// the record's size in bytes.
func DecodeListed(ctx context.Context, secret map[string]any) (record *Record, unpacked int, err error) {
	release, err := recordOf(secret)
	if err != nil {
		ref := preview.RefOf(secret)
		return nil, 0, &Unreadable{Release: preview.Release{Name: strings.TrimPrefix(ref.Name, preview.RecordName("")), Namespace: ref.Namespace}, Why: err}
	}
	where := release.Namespace + "/" + preview.RecordName(release.Name)
	if preview.String(secret, "data", keyIndex) != "" {
		return nil, 0, adviseAlone(fmt.Errorf("the record %s is in several Secrets and too large for a list", where), release)
	}
	record, err = decodeSecret(ctx, nil, secret, release, listBounds())
	if err != nil {
		return nil, 0, adviseAlone(err, release)
	}
	return record, record.unpacked, nil
}

// Unreadable is the error of a record in a list that has not been read.
type Unreadable struct {
	Release preview.Release // by the name of its Secret
	Why     error
	advised error // Why with how to read it alone; nil where nothing is advised
}

func (u *Unreadable) Error() string { return u.Unwrap().Error() }

// Unwrap returns the reason, with what to do about it.
func (u *Unreadable) Unwrap() error { return cmp.Or(u.advised, u.Why) }

// adviseAlone returns the error of a record in a list, with how to read it alone.
func adviseAlone(err error, release preview.Release) error {
	look := commandline.AboutRelease(release, "status")
	return &Unreadable{Release: release, Why: err, advised: &commandline.Advised{
		Err: fmt.Errorf("%w; inspect it alone: %s", err, look), Commands: []string{look}, Scope: commandline.Connection,
	}}
}

// recordOf returns the release, by its labels, whose record a Secret has. A
// Secret that is no record is an error.
func recordOf(secret map[string]any) (preview.Release, error) {
	ref := preview.RefOf(secret)
	where := "reading the record " + ref.Namespace + "/" + ref.Name
	name, ok := releaseOf(ref.Name)
	if !ok {
		return preview.Release{}, fmt.Errorf("%s: not the name of a record", where)
	}
	release := preview.Release{Name: name, Namespace: ref.Namespace}
	if id := preview.String(secret, "metadata", "labels", preview.LabelSetID); id != preview.SetID(release) {
		return preview.Release{}, fmt.Errorf("%s: its label %s names another release; another tool wrote it", where, preview.LabelSetID)
	}
	// A package's own objects carry the marks of the release that brought them.
	if of := preview.String(secret, "metadata", "labels", preview.LabelRelease); of != name || preview.String(secret, "metadata", "labels", preview.LabelPartOf) != "" {
		return preview.Release{}, fmt.Errorf("%s: it is marked as an object of release %q, not as the record of this one", where, of)
	}
	if preview.String(secret, "type") != secretType {
		return preview.Release{}, fmt.Errorf("%s: its type is %q; a record has type %s", where, preview.String(secret, "type"), secretType)
	}
	if tool := preview.String(secret, "metadata", "annotations", preview.AnnotationTool); !strings.HasPrefix(tool, toolPrefix) {
		return preview.Release{}, fmt.Errorf("%s: it belongs to the tool %q", where, tool)
	}
	return release, nil
}

func decodeSecret(ctx context.Context, cluster Getter, secret map[string]any, release preview.Release, within bounds) (*Record, error) {
	ref := preview.RefOf(secret)
	where := "reading the record " + ref.Namespace + "/" + ref.Name
	version, err := secretValue(secret, keyVersion)
	if err == nil && string(version) != recordVersion {
		return nil, fmt.Errorf("%s: its format is version %q, this tool reads %s; use the tool that wrote it", where, version, recordVersion)
	}
	packed, slot, err2 := header(ctx, cluster, secret, release)
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	record, err := decodeHeader(packed, release, within)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	record.slot, record.stored = slot, storedForm{sum: sumOf(packed), signature: signatureOf(secret)}
	return record, nil
}

// header returns the encoded record in a Secret, or joins it from the parts that the
// Secret's index names; slot is the slot of the parts, 0 without.
func header(ctx context.Context, cluster Getter, secret map[string]any, release preview.Release) (packed []byte, slot int, err error) {
	if preview.String(secret, "data", keyIndex) == "" {
		packed, err = secretValue(secret, keyRecord)
		return packed, 0, err
	}
	text, err := secretValue(secret, keyIndex)
	if err != nil {
		return nil, 0, err
	}
	index, err := decodeIndex(text)
	if err != nil {
		return nil, 0, err
	}
	parts, err := readParts(ctx, cluster, release, keyRecord, index.Parts, func(i int) string {
		return partName(release.Name, index.Revision, slotPart(index.Slot, i))
	})
	if err == nil {
		packed, err = join(parts, index.Archive)
	}
	return packed, index.Slot, err
}

// readParts reads the value of a key from each of the Secrets that contain the
// parts of a record or plan; name returns the name of the i-th, from 1.
func readParts(ctx context.Context, cluster Getter, release preview.Release, key string, count int, name func(i int) string) ([][]byte, error) {
	var parts [][]byte
	for i := 1; i <= count; i++ {
		ref := secretRef(release, name(i))
		secret, err := cluster.Get(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("reading part %d of %d, Secret %s/%s: %w", i, count, ref.Namespace, ref.Name, err)
		}
		if secret == nil {
			return nil, fmt.Errorf("part %d of %d, Secret %s/%s, is gone", i, count, ref.Namespace, ref.Name)
		}
		part, err := secretValue(secret, key)
		if err != nil {
			return nil, fmt.Errorf("part %d of %d, Secret %s/%s: %w", i, count, ref.Namespace, ref.Name, err)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// LoadRevision reads the record of one revision, nil if it is not on record. One that is
// not that which the newest record names is an error.
func LoadRevision(ctx context.Context, cluster Getter, release preview.Release, revision int) (*Record, error) {
	newest, err := Load(ctx, cluster, release)
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
	record, err := decodeSecret(ctx, cluster, secret, release, releaseBounds())
	if err == nil && record.Revision != revision {
		err = fmt.Errorf("reading the record %s/%s: it is the record of revision %d", ref.Namespace, ref.Name, record.Revision)
	}
	if err == nil {
		err = newest.checkNamed(record)
	}
	if err != nil {
		return nil, err
	}
	return record, nil
}

// LoadPlan reads the plan of a recorded revision. Bodies of Secrets are not
// recorded: they are taken from sealed, by object id, and must have the
// recorded digest. sealed may be nil if the plan contains no Secret.
func LoadPlan(ctx context.Context, cluster Getter, record *Record, sealed map[string]map[string]any) (*preview.Plan, error) {
	plan, err := LoadArchivedPlan(ctx, cluster, record)
	if err != nil {
		return nil, err
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Planned == nil && o.Digest != "" {
			o.Planned = sealed[o.ID]
		}
	}
	if err := engine.CheckPlanned(plan.Plan); err != nil {
		return nil, fmt.Errorf("the recorded plan: %w", err)
	}
	return plan.Plan, nil
}

// LoadRecordedPlan reads the plan of a recorded revision without the bodies of
// Secrets; shapes has their keys without values, by object id. All other bodies
// are verified by their digests.
func LoadRecordedPlan(ctx context.Context, cluster Getter, record *Record) (plan *preview.Plan, shapes map[string]map[string]any, err error) {
	loaded, err := LoadArchivedPlan(ctx, cluster, record)
	if err != nil {
		return nil, nil, err
	}
	for i := range loaded.Objects {
		o := &loaded.Objects[i]
		if o.Planned == nil {
			continue
		}
		if digest, err := preview.HashObject(o.Planned, loaded.Pin(o.Package)); err != nil || digest != o.Digest || preview.RefOf(o.Planned) != o.Ref() {
			return nil, nil, fmt.Errorf("reading the plan of revision %d: %s does not match its digest", record.Revision, o.ID)
		}
	}
	return loaded.Plan, loaded.Shapes, nil
}

// LoadArchivedPlan reads the plan of a recorded revision, which lacks the
// bodies of its Secrets.
func LoadArchivedPlan(ctx context.Context, cluster Getter, record *Record) (*ArchivedPlan, error) {
	where := fmt.Sprintf("reading the plan of revision %d", record.Revision)
	parts, err := readParts(ctx, cluster, record.Release, keyPlan, record.Archive.Parts, func(i int) string {
		return partName(record.Release.Name, record.Revision, i)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	plan, err := decodeArchive(parts, record.Archive, record.Digest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return plan, nil
}

// SecretWriter writes the Secrets of records.
type SecretWriter interface {
	Getter
	// Apply is a server-side apply.
	Apply(ctx context.Context, item preview.DryRun) (map[string]any, error)
	Delete(ctx context.Context, ref preview.Ref, uid, resourceVersion string, dependents preview.Propagation) (gone bool, err error)
}

// Lock is the lock of a release, held by the run that writes the release's records.
type Lock interface {
	// Confirm returns nil only while this run is the only writer.
	Confirm(ctx context.Context) error
	// Prove is Confirm by a renewal, whatever the age of the last one.
	Prove(ctx context.Context) error
	// LostError ends what is done under a lock that another run turned out to hold.
	LostError() error
	// Fence names this run in a record that it writes.
	Fence(revision int) Fence
}

// Store writes the records of one release. Only the run that holds the lock has one.
type Store struct {
	Cluster SecretWriter
	Release preview.Release
	Tool    string
	Clock   clock.Clock
	Lock    Lock
	Keys    Keys
	// Parent is the record's Secret as last read under the lock, or written.
	Parent map[string]any
}

// Begin writes what has to be stored before a new revision's first object: a copy of the
// previous record, the plan, and last the new record, which makes the revision the
// newest.
func (s *Store) Begin(ctx context.Context, plan *preview.Plan, before, record *Record) error {
	parts, archive, err := encodeArchive(plan)
	if err != nil {
		return err
	}
	record.Archive = archive
	for i, part := range parts {
		body := s.secret(partName(s.Release.Name, record.Revision, i+1), map[string][]byte{keyPlan: part})
		if err := s.put(ctx, body); err != nil {
			return err
		}
	}
	if before != nil {
		before.State = before.State.whenSuperseded()
		data, _, err := s.header(ctx, before, 0, s.Keys.ForSuccessor(before))
		if err != nil {
			return err
		}
		for i := range record.Older {
			if record.Older[i].Revision == before.Revision {
				record.Older[i].SHA256 = digestOf(before.stored.sum)
			}
		}
		body := s.secret(partName(s.Release.Name, before.Revision, 0), data)
		if err := s.put(ctx, body); err != nil {
			return err
		}
	}
	if err := s.Save(ctx, record, plan.Objects); err != nil {
		return err
	}
	s.vouch(ctx, before, record)
	return nil
}

// Save writes the record. more are objects that may be created next: the applyset
// annotations of the record's Secret must name their kinds before that.
func (s *Store) Save(ctx context.Context, record *Record, more []preview.Object) error {
	holdings, err := json.Marshal(record.holdings())
	if err != nil {
		return err
	}
	data, slot, err := s.header(ctx, record, len(holdings), s.Keys)
	if err != nil {
		return err
	}
	data[preview.KeyHoldings] = holdings
	body := s.secret(preview.RecordName(s.Release.Name), data)
	meta := preview.Map(body, "metadata")
	preview.Map(meta, "labels")[preview.LabelSetID] = preview.SetID(s.Release)
	meta["annotations"] = map[string]any{
		preview.AnnotationTool:  toolPrefix + "v" + strings.TrimPrefix(s.Tool, "v"),
		preview.AnnotationKinds: record.groupKinds(more),
		preview.AnnotationExtra: record.namespaces(more),
	}
	preview.Map(body, "data")[keyFence] = s.Lock.Fence(record.Revision).encoded()
	written, err := s.write(ctx, body, s.Parent)
	if err != nil {
		return err
	}
	s.Parent, record.slot, record.Signature = written, slot, s.Keys.ownSignature()
	return nil
}

// header encodes and signs a record for its Secret; the Secret has other data of beside
// bytes. A record that is too large is first written to further Secrets, in the slot
// that the stored record does not use. So the old record stays complete until the Secret
// with the index is written.
func (s *Store) header(ctx context.Context, record *Record, beside int, keys Keys) (data map[string][]byte, slot int, err error) {
	packed, err := encodeHeader(record)
	if err != nil {
		return nil, 0, err
	}
	record.stored.sum = sumOf(packed)
	data = map[string][]byte{}
	sig, err := keys.sign(packed)
	if err != nil {
		return nil, 0, err
	}
	if sig != nil {
		data[keySignature] = sig
	}
	if len(packed)+beside <= maxPartBytes {
		data[keyRecord] = packed
		return data, 0, nil
	}
	parts := split(packed)
	index := headerIndex{Revision: record.Revision, Slot: 1, Archive: archiveOf(packed, parts)}
	if record.slot == 1 {
		index.Slot = 2
	}
	for i, part := range parts {
		name := partName(s.Release.Name, record.Revision, slotPart(index.Slot, i+1))
		if err := s.put(ctx, s.secret(name, map[string][]byte{keyRecord: part})); err != nil {
			return nil, 0, err
		}
	}
	data[keyIndex], err = json.Marshal(index)
	return data, index.Slot, err
}

func (s *Store) secret(name string, data map[string][]byte) map[string]any {
	values := map[string]any{keyVersion: base64.StdEncoding.EncodeToString([]byte(recordVersion))}
	for key, value := range data {
		values[key] = base64.StdEncoding.EncodeToString(value)
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata": map[string]any{
			"name": name, "namespace": s.Release.Namespace,
			"labels": map[string]any{preview.LabelRelease: s.Release.Name},
		},
		"data": values,
	}
}

// put writes a further Secret, and replaces one that an interrupted run has left.
func (s *Store) put(ctx context.Context, body map[string]any) error {
	_, err := s.write(ctx, body, nil)
	return err
}

// write sends a Secret until it is stored, replacing exactly the version live.
// If the stored Secret has changed, it is replaced only if the change was this
// run's own, an interrupted run's, or an edit by hand; a record of a run that
// took the lock ends this run.
func (s *Store) write(ctx context.Context, body, live map[string]any) (map[string]any, error) {
	ref := preview.RefOf(body)
	doing := fmt.Sprintf("writing the record %s/%s", ref.Namespace, ref.Name)
	parent := live // nil for what is no record itself
	var last error
	for try := range clock.MaxAttempts {
		if err := s.Lock.Confirm(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		item := preview.DryRun{Body: body, Force: true}
		if live != nil {
			item.UID, item.ResourceVersion = preview.UID(live), preview.ResourceVersion(live)
		}
		var written map[string]any
		err := clock.Unthrottled(ctx, s.Clock, func() (err error) {
			written, err = s.Cluster.Apply(ctx, item)
			return err
		})
		if err == nil {
			return written, nil
		}
		last = err
		reason := preview.ReasonOf(err)
		if reason != preview.ReasonChanged && reason != preview.ReasonUnavailable || preview.Throttled(err) {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		if live, err = s.Cluster.Get(ctx, ref); err != nil {
			return nil, fmt.Errorf("reading the record %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		if live != nil && preview.String(live, "type") != secretType {
			return nil, fmt.Errorf("writing the record: Secret %s/%s exists and is not a record", ref.Namespace, ref.Name)
		}
		if isStored(live, body) {
			return live, nil // it was written, and only the answer was lost
		}
		if err := s.mayReplace(ctx, live, body, parent); err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		if err := clock.Pause(ctx, s.Clock, last, try); err != nil {
			break
		}
	}
	return nil, fmt.Errorf("%s: %w", doing, last)
}

// mayReplace returns nil if a stored Secret that has changed may be replaced: a
// record only if it has this run's fence, or the fence of the record that this run
// read under the lock (parent). After that read, the Lease must still be this run's.
func (s *Store) mayReplace(ctx context.Context, live, body, parent map[string]any) error {
	if live == nil {
		return s.Lock.Confirm(ctx)
	}
	stored, own := FenceOf(live), FenceOf(body)
	if own != (Fence{}) && stored != own && (parent == nil || stored != FenceOf(parent)) {
		return s.Lock.LostError()
	}
	return s.Lock.Prove(ctx)
}

// isStored reports whether a stored Secret has the content that was sent.
func isStored(live, sent map[string]any) bool {
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
