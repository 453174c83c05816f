package applier

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxHelmRelease is the most bytes that the record of a Helm release may unpack to; its
// Secret has at most 1 MiB.
const maxHelmRelease = 32 << 20

// HelmRecord is the record of one revision of a Helm release. Helm 3 and 4 keep it in a
// Secret or ConfigMap as JSON, in gzip, in base64.
type HelmRecord struct {
	Release preview.Release
	// Revision counts from 1, State is such as deployed, failed or pending-upgrade.
	Revision int
	State    string
	// Chart and Version are those of the chart's metadata.
	Chart, Version string
	// Values are the given ones, without the chart's own.
	Values map[string]any
	// ServerSide is true if the revision was written by server-side apply, as only Helm 4
	// does.
	ServerSide bool
	// Helm3 is true if Helm 3 wrote the revision, which says nothing of how.
	Helm3 bool
	// UID is that of the object that holds the record.
	UID string
	// manifest has the objects without hooks, in YAML.
	manifest string
}

// HelmRecords are those records of a release that the next upgrade starts from.
type HelmRecords struct {
	// Last is the newest revision, Current the deployed one, which the upgrade starts from:
	// Last itself where none is deployed.
	Last, Current HelmRecord
}

// helmRevision is a record that was listed and not yet read.
type helmRevision struct {
	ref      preview.Ref
	number   int
	deployed bool
	store    helmStore
}

// helmStore is where the records of releases are: Helm keeps them, or a controller that uses
// its code.
type helmStore struct{ kind, namespace, owner, secretType string }

// helmChunks is the type of Secrets that hold a record in several (helm-operator-plugins
// v0.9.1, pkg/storage/chunked.go).
const helmChunks = "operatorframework.io/index.v1"

// ReadHelm returns the records of a Helm release that an upgrade starts from, nil if there
// is no release of that name. Helm keeps them in Secrets, or in ConfigMaps if its storage
// driver says so, in the namespace storage.
func ReadHelm(ctx context.Context, cluster Cluster, release preview.Release, storage string) (*HelmRecords, error) {
	return readHelmStores(ctx, cluster, release, helmStore{"Secret", storage, "helm", "helm.sh/release.v1"}, helmStore{"ConfigMap", storage, "helm", ""})
}

// readHelmStores is [ReadHelm] for the first store that has records of the release.
func readHelmStores(ctx context.Context, cluster Cluster, release preview.Release, stores ...helmStore) (*HelmRecords, error) {
	for _, store := range stores {
		revisions, err := helmRevisions(ctx, cluster, store, release.Name)
		if err != nil {
			return nil, err
		}
		if len(revisions) == 0 {
			continue
		}
		last := revisions[len(revisions)-1]
		current := last
		for _, r := range revisions {
			if r.deployed {
				current = r
			}
		}
		var out HelmRecords
		if out.Last, err = readHelmRevision(ctx, cluster, last, release); err != nil {
			return nil, err
		}
		if out.Current = out.Last; current != last {
			out.Current, err = readHelmRevision(ctx, cluster, current, release)
		}
		return &out, err
	}
	return nil, nil
}

// helmRevisions lists the revisions of a release, the oldest first.
func helmRevisions(ctx context.Context, cluster Cluster, store helmStore, name string) ([]helmRevision, error) {
	held, err := cluster.List(ctx, "v1", store.kind, store.namespace, "owner="+store.owner+",name="+name, "type")
	if err != nil {
		return nil, err
	}
	var out []helmRevision
	for _, body := range held {
		number, err := strconv.Atoi(preview.String(body, "metadata", "labels", "version"))
		if err != nil {
			continue
		}
		ref := preview.Ref{APIVersion: "v1", Kind: store.kind, Namespace: store.namespace, Name: preview.String(body, "metadata", "name")}
		switch of := preview.String(body, "type"); {
		case of == store.secretType:
		case strings.HasPrefix(of, "helm.sh/release."):
			return nil, fmt.Errorf("Secret %s is of type %s, which this program does not read; upgrade this program", ref.Name, of)
		default:
			continue
		}
		out = append(out, helmRevision{ref, number, preview.String(body, "metadata", "labels", "status") == "deployed", store})
	}
	slices.SortFunc(out, func(a, b helmRevision) int { return a.number - b.number })
	return out, nil
}

// readHelmRevision reads one record. One of another release is refused.
func readHelmRevision(ctx context.Context, cluster Cluster, from helmRevision, release preview.Release) (HelmRecord, error) {
	r := cluster.Read(ctx, []preview.Ref{from.ref})[0]
	if r.Err != nil {
		return HelmRecord{}, r.Err
	}
	if r.Body == nil {
		return HelmRecord{}, fmt.Errorf("%s %s was removed while it was read; run the command again", from.ref.Kind, from.ref.Name)
	}
	var record HelmRecord
	var err error
	if from.store.secretType == helmChunks {
		record, err = readChunked(ctx, cluster, r.Body)
	} else if record, err = readHelmRecord(r.Body); err == nil && record.Chart == "" {
		err = errors.New("it names no chart or no revision")
	}
	if err == nil && (record.Release.Name != release.Name || record.Release.Namespace != release.Namespace || record.Revision != from.number) {
		err = fmt.Errorf("it is the record of revision %d of release %s in namespace %s", record.Revision, record.Release.Name, record.Release.Namespace)
	}
	if err != nil {
		return HelmRecord{}, fmt.Errorf("%s %s: %w", from.ref.Kind, from.ref.Name, err)
	}
	return record, nil
}

func readHelmRecord(held map[string]any) (HelmRecord, error) {
	record := HelmRecord{UID: preview.UID(held)}
	packed := []byte(preview.String(held, "data", "release"))
	if preview.IsKind(held, preview.KindSecret) {
		data, err := base64.StdEncoding.DecodeString(string(packed))
		if err != nil {
			return record, errors.New("it is not base64")
		}
		packed = data
	}
	data, err := unpackHelmRecord(packed)
	if err != nil {
		return record, err
	}
	return record, record.decode(data)
}

// readChunked reads a record that is JSON in gzip, cut into the value of a Secret and those
// of others.
func readChunked(ctx context.Context, cluster Cluster, index map[string]any) (HelmRecord, error) {
	record := HelmRecord{UID: preview.UID(index)}
	names, err := base64.StdEncoding.DecodeString(preview.String(index, "data", "extraChunks"))
	if err != nil {
		return record, errors.New("it is not base64")
	}
	more, err := preview.DecodeJSON(names)
	if err != nil {
		return record, err
	}
	refs := []preview.Ref{preview.RefOf(index)}
	for _, name := range preview.Texts(more) {
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: refs[0].Namespace, Name: name})
	}
	if len(refs) > maxHelmChunks {
		return record, fmt.Errorf("it has more than %d parts", maxHelmChunks)
	}
	var packed []byte
	for _, r := range cluster.Read(ctx, refs) {
		part, err := base64.StdEncoding.DecodeString(preview.String(r.Body, "data", "chunk"))
		if r.Err != nil || err != nil || len(part) == 0 {
			return record, cmp.Or(r.Err, fmt.Errorf("its part %s is missing or not base64", r.Ref.Name))
		}
		packed = append(packed, part...)
	}
	data, err := unzip(packed)
	if err != nil {
		return record, err
	}
	return record, record.decode(data)
}

// maxHelmChunks is the most parts that operator-controller reads (v1.11.0,
// internal/operator-controller/action/storagedriver.go).
const maxHelmChunks = 11

// decode reads the JSON of a record.
func (record *HelmRecord) decode(data []byte) error {
	decoded, err := preview.DecodeJSON(data)
	if err != nil {
		return err
	}
	body, _ := decoded.(map[string]any)
	record.Release = preview.Release{Name: preview.String(body, "name"), Namespace: preview.String(body, "namespace")}
	record.State = preview.String(body, "info", "status")
	record.Chart, record.Version = preview.String(body, "chart", "metadata", "name"), preview.String(body, "chart", "metadata", "version")
	method := preview.String(body, "apply_method")
	record.Values, record.ServerSide, record.Helm3 = preview.FileNumbers(preview.Map(body, "config")), method == "ssa", method == ""
	record.manifest = preview.String(body, "manifest")
	if record.Revision, err = strconv.Atoi(fmt.Sprint(body["version"])); err != nil {
		return errors.New("it names no chart or no revision")
	}
	if record.Values == nil {
		record.Values = map[string]any{}
	}
	return nil
}

// unpackHelmRecord decodes the text of a record: JSON in gzip, in Helm's base64.
func unpackHelmRecord(text []byte) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, errors.New("it is not a release as Helm 3 and 4 keep it")
	}
	return unzip(data)
}

// unzip returns data without its gzip, if it has one, up to the most that a record may have.
func unzip(data []byte) ([]byte, error) {
	if len(data) > 1 && data[0] == 0x1f && data[1] == 0x8b {
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(unpacked, maxHelmRelease+1)); err != nil {
			return nil, err
		}
	}
	if len(data) > maxHelmRelease {
		return nil, fmt.Errorf("it unpacks to more than %d MiB", maxHelmRelease>>20)
	}
	return data, nil
}

// Objects returns the objects of the revision, without hooks, as Helm sent them: those
// that name no namespace are in that of the release.
func (record *HelmRecord) Objects(ctx context.Context, cluster Cluster) ([]Earlier, error) {
	values, err := preview.Decode([]byte(record.manifest))
	if err != nil {
		return nil, fmt.Errorf("reading the manifest of revision %d of Helm release %s: %w", record.Revision, record.Release.Name, err)
	}
	return earlierObjects(ctx, cluster, values, record.Release.Namespace)
}

// earlierObjects returns decoded objects with their namespace. The namespace of a kind
// that the cluster does not serve is left as it is written.
func earlierObjects(ctx context.Context, cluster Cluster, values []any, namespace string) ([]Earlier, error) {
	var out []Earlier
	for _, value := range values {
		body, ok := value.(map[string]any)
		if !ok || preview.String(body, "kind") == "" {
			continue
		}
		ref := preview.RefOf(body)
		namespaced, err := cluster.Kind(ctx, ref.APIVersion, ref.Kind)
		if err != nil {
			if !preview.Answered(err) {
				return nil, err
			}
			namespaced = ref.Namespace != ""
		}
		if !namespaced {
			delete(preview.Map(body, "metadata"), "namespace")
		}
		placed := namespaced && ref.Namespace == ""
		if placed {
			preview.Map(body, "metadata")["namespace"] = namespace
		}
		out = append(out, Earlier{preview.RefOf(body), body, placed})
	}
	return out, nil
}
