package install

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Limits on a record. A Secret holds at most 1 MiB; the rest is left for its
// metadata and encoding.
const (
	recordVersion  = "1"
	maxPartBytes   = 900 << 10
	maxParts       = 64
	maxHeaderBytes = 16 << 20  // of one record, unpacked
	maxArchive     = 512 << 20 // of one plan, unpacked
)

// encodeHeader packs a record for its Secret.
func encodeHeader(r *Record) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the record: %w", err)
	}
	packed, err := compress(data)
	if err != nil {
		return nil, err
	}
	if len(packed) > maxPartBytes || len(data) > maxHeaderBytes {
		return nil, fmt.Errorf("encoding the record: %d objects do not fit into one Secret", len(r.Objects))
	}
	return packed, nil
}

// decodeHeader unpacks and checks a record. The name and namespace it claims
// must be those of the Secret it came from.
func decodeHeader(packed []byte, release preview.Release) (*Record, error) {
	data, err := decompress(packed, maxHeaderBytes)
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	_, known := transitions[r.State]
	final := r.State == RecordApplied || r.State == RecordAbandoned || r.State == RecordUninstalled
	switch {
	case r.Release != release:
		return nil, fmt.Errorf("it is the record of release %q in namespace %q", r.Release.Name, r.Release.Namespace)
	case r.Revision < 1:
		return nil, fmt.Errorf("revision %d is none", r.Revision)
	case r.State == "" || !known && !final:
		return nil, fmt.Errorf("state %q is none", r.State)
	case r.Archive.Parts < 0 || r.Archive.Parts > maxParts:
		return nil, fmt.Errorf("%d parts are more than the %d a record may have", r.Archive.Parts, maxParts)
	}
	for i := range r.Inventory {
		if item := r.Inventory[i]; item.Kind == "" || item.Name == "" || item.APIVersion == "" {
			return nil, errors.New("its inventory has an item without a name")
		}
	}
	return r, nil
}

// archiveLine is one line of a plan archive: the plan, or the bodies of one
// object. Bodies of Secrets are never among them; only their digests are, in
// the plan.
type archiveLine struct {
	Plan   *preview.Plan  `json:"plan,omitempty"`
	Object string         `json:"object,omitempty"`
	Sealed map[string]any `json:"sealed,omitempty"`
	Result map[string]any `json:"result,omitempty"`
}

// encodeArchive packs a plan with its bodies, and splits it.
func encodeArchive(plan *preview.Plan) (parts [][]byte, archive Archive, err error) {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	encoder := json.NewEncoder(zip)
	if err := encoder.Encode(archiveLine{Plan: plan}); err != nil {
		return nil, archive, fmt.Errorf("encoding the plan: %w", err)
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Sealed == nil || o.Kind == "Secret" {
			continue
		}
		if err := encoder.Encode(archiveLine{Object: o.ID, Sealed: o.Sealed, Result: o.ResultBody}); err != nil {
			return nil, archive, fmt.Errorf("encoding %s: %w", o.ID, err)
		}
	}
	if err := zip.Close(); err != nil {
		return nil, archive, fmt.Errorf("encoding the plan: %w", err)
	}
	data := b.Bytes()
	archive = Archive{Bytes: len(data), SHA256: preview.HashBytes(data)}
	for len(data) > 0 {
		n := min(len(data), maxPartBytes)
		parts, data = append(parts, data[:n]), data[n:]
	}
	archive.Parts = len(parts)
	if archive.Parts > maxParts {
		return nil, archive, fmt.Errorf("the plan needs %d Secrets, more than the %d a record may have", archive.Parts, maxParts)
	}
	return parts, archive, nil
}

// decodeArchive joins and unpacks a plan. It must hash to what the record
// says, and its facts to the digest.
func decodeArchive(parts [][]byte, want Archive, digest string) (*preview.Plan, error) {
	data := bytes.Join(parts, nil)
	if len(data) != want.Bytes || preview.HashBytes(data) != want.SHA256 {
		return nil, errors.New("the parts of the plan are not those the record was written with")
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking the plan: %w", err)
	}
	lines := bufio.NewScanner(io.LimitReader(unpacked, maxArchive))
	lines.Buffer(nil, preview.MaxDocumentBytes)
	var plan *preview.Plan
	for lines.Scan() {
		if plan == nil {
			var line archiveLine
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Plan == nil {
				return nil, errors.New("unpacking the plan: it does not begin with one")
			}
			plan = line.Plan
			continue
		}
		if err := addBodies(plan, lines.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("unpacking the plan: %w", err)
	}
	if plan == nil {
		return nil, errors.New("unpacking the plan: it is empty")
	}
	if sum, err := plan.Facts().Digest(); err != nil || sum != digest || plan.Digest != digest {
		return nil, errors.New("the recorded plan does not hash to its digest")
	}
	return plan, nil
}

// addBodies puts the bodies of one line back. They are decoded with exact
// integers, unlike the plan, whose numbers are for display.
func addBodies(plan *preview.Plan, line []byte) error {
	v, err := preview.DecodeJSON(line)
	if err != nil {
		return fmt.Errorf("unpacking the plan: %w", err)
	}
	body, _ := v.(map[string]any)
	id := preview.String(body, "object")
	o := plan.Object(id)
	if o == nil {
		return fmt.Errorf("unpacking the plan: %q is not one of its objects", id)
	}
	o.Sealed, o.ResultBody = preview.Map(body, "sealed"), preview.Map(body, "result")
	return nil
}

func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if _, err := zip.Write(data); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func decompress(packed []byte, limit int64) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(zip, limit+1))
	if err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("a record unpacks to more than %d bytes", limit)
	}
	return data, nil
}

// secretValue returns the bytes under a key of a Secret as the API shows it.
func secretValue(secret map[string]any, key string) ([]byte, error) {
	text := preview.String(secret, "data", key)
	if text == "" {
		return nil, fmt.Errorf("it has no %q", key)
	}
	return base64.StdEncoding.DecodeString(text)
}

// partName is the name of a further Secret of a record. Part 0 is a copy of
// the record of a revision that is not the newest; the others hold its plan.
func partName(release string, revision, part int) string {
	return preview.RecordName(release) + ".v" + strconv.Itoa(revision) + "." + strconv.Itoa(part)
}

// releaseOf returns the release name that a record Secret's name stands for.
func releaseOf(secretName string) (string, bool) {
	return strings.CutPrefix(secretName, preview.RecordName(""))
}
