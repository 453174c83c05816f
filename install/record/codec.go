package record

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
	maxHeaderParts = 32
	maxHeaderBytes = 64 << 20             // of one record, unpacked
	maxArchive     = 512 << 20            // of one plan, unpacked
	maxArchiveLine = preview.MaxPlanBytes // of the plan without the bodies of its objects
	maxRevisions   = 100_000              // older ones that a record may list
)

// encodeHeader encodes a record as compressed JSON, for its Secrets.
func encodeHeader(r *Record) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the record: %w", err)
	}
	packed, err := compress(data)
	if err != nil {
		return nil, err
	}
	if len(packed) > maxHeaderParts*maxPartBytes || len(data) > maxHeaderBytes {
		return nil, fmt.Errorf("encoding the record: %d objects are more than %d Secrets take", len(r.Objects), maxHeaderParts)
	}
	return packed, nil
}

// split splits data into parts that each fit into a Secret.
func split(data []byte) [][]byte {
	var parts [][]byte
	for len(data) > 0 {
		n := min(len(data), maxPartBytes)
		parts, data = append(parts, data[:n]), data[n:]
	}
	return parts
}

// headerIndex is stored in place of a record that is too large for its Secret.
// The record is then in parts in a slot, one of two sets of further Secrets;
// the index names the slot, the number of parts, and the hash of the whole.
type headerIndex struct {
	Revision int `json:"revision"`
	Slot     int `json:"slot"`
	Archive
}

func decodeIndex(data []byte) (headerIndex, error) {
	var index headerIndex
	if err := json.Unmarshal(data, &index); err != nil {
		return index, fmt.Errorf("not a record: %w", err)
	}
	if index.Slot != 1 && index.Slot != 2 || index.Parts < 1 || index.Parts > maxHeaderParts {
		return index, fmt.Errorf("not a record: %d parts in slot %d", index.Parts, index.Slot)
	}
	return index, nil
}

// decodeHeader decompresses, decodes and checks a record. It must name the release and
// namespace of its Secret.
func decodeHeader(packed []byte, release preview.Release, within bounds) (*Record, error) {
	data, err := decompress(packed, within.bytes)
	if err != nil {
		return nil, err
	}
	if err := measure(data).check(within); err != nil {
		return nil, fmt.Errorf("not a record that this tool wrote: %w", err)
	}
	r := &Record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	_, known := transitions[r.State]
	final := r.State == Applied || r.State == Abandoned || r.State == Uninstalled
	switch {
	case r.Release != release:
		return nil, fmt.Errorf("it is the record of release %q in namespace %q", r.Release.Name, r.Release.Namespace)
	case r.Revision < 1:
		return nil, fmt.Errorf("revision %d is none", r.Revision)
	case r.State == "" || !known && !final:
		return nil, fmt.Errorf("state %q is none", r.State)
	case r.Archive.Parts < 0 || r.Archive.Parts > maxParts:
		return nil, fmt.Errorf("%d parts are more than the %d a record may have", r.Archive.Parts, maxParts)
	case len(r.Older) > maxRevisions:
		return nil, fmt.Errorf("%d older revisions are more than the %d a record may list", len(r.Older), maxRevisions)
	}
	for i, older := range r.Older {
		if older.Revision < 1 || older.Revision >= r.Revision || i > 0 && older.Revision <= r.Older[i-1].Revision {
			return nil, fmt.Errorf("revision %d is not an older one of revision %d", older.Revision, r.Revision)
		}
	}
	for i := range r.Inventory {
		if item := r.Inventory[i]; item.Kind == "" || item.Name == "" || item.APIVersion == "" {
			return nil, errors.New("its inventory has an item without a name")
		}
	}
	r.unpacked = len(data)
	sortItems(r.Inventory)
	return r, nil
}

// archiveLine is one line of a plan archive: the plan, the bodies of one
// object, or a planned read that the tool made up itself. A Secret is kept as
// its shape, the keys without values, and the digest of the whole.
type archiveLine struct {
	Plan   *preview.Plan  `json:"plan,omitempty"`
	Object string         `json:"object,omitempty"`
	Sealed map[string]any `json:"sealed,omitempty"`
	Result map[string]any `json:"result,omitempty"`
	Shape  map[string]any `json:"shape,omitempty"`
	Read   map[string]any `json:"read,omitempty"`
}

// shapeOf returns a Secret with its keys, but every value empty.
func shapeOf(secret map[string]any) map[string]any {
	shape := preview.CloneBody(secret)
	for key := range preview.Map(shape, "data") {
		preview.Map(shape, "data")[key] = ""
	}
	return shape
}

// encodeArchive encodes a plan with the bodies of its objects as compressed
// JSON lines, and splits them into parts.
func encodeArchive(plan *preview.Plan) (parts [][]byte, archive Archive, err error) {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	encoder := json.NewEncoder(zip)
	if err := encodePlan(zip, plan); err != nil {
		return nil, archive, fmt.Errorf("encoding the plan: %w", err)
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		line := archiveLine{Object: o.ID, Sealed: o.Planned, Result: o.ResultBody}
		switch {
		case o.Planned == nil:
			continue
		case o.Kind == "Secret":
			line = archiveLine{Object: o.ID, Shape: shapeOf(o.Planned)}
		}
		if err := encoder.Encode(line); err != nil {
			return nil, archive, fmt.Errorf("encoding %s: %w", o.ID, err)
		}
	}
	for _, read := range plan.Reads {
		if preview.String(read.Body, "apiVersion") != preview.APIVersion {
			continue
		}
		if err := encoder.Encode(archiveLine{Read: read.Body}); err != nil {
			return nil, archive, fmt.Errorf("encoding %s: %w", read.ID, err)
		}
	}
	if err := zip.Close(); err != nil {
		return nil, archive, fmt.Errorf("encoding the plan: %w", err)
	}
	data := b.Bytes()
	parts = split(data)
	archive = archiveOf(data, parts)
	if archive.Parts > maxParts {
		return nil, archive, fmt.Errorf("the plan needs %d Secrets, more than the %d a record may have", archive.Parts, maxParts)
	}
	return parts, archive, nil
}

// encodePlan writes the first line of an archive. A plan that could not be read again is
// an error: it is recorded before anything is applied.
func encodePlan(w io.Writer, plan *preview.Plan) error {
	line, err := json.Marshal(archiveLine{Plan: plan})
	if err != nil {
		return err
	}
	if len(line) >= maxArchiveLine {
		return fmt.Errorf("its %d bytes without the objects are more than the %d that a record may have", len(line), maxArchiveLine)
	}
	if err := measure(line).check(archiveBounds()); err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

func archiveOf(data []byte, parts [][]byte) Archive {
	return Archive{Parts: len(parts), Bytes: len(data), SHA256: preview.HashBytes(data)}
}

// join concatenates the parts of a record or plan and verifies their hash,
// because parts may be left by an interrupted write or changed by others.
func join(parts [][]byte, want Archive) ([]byte, error) {
	data := bytes.Join(parts, nil)
	if len(data) != want.Bytes || preview.HashBytes(data) != want.SHA256 {
		return nil, errors.New("its parts are not those the record was written with")
	}
	return data, nil
}

// ArchivedPlan is a recorded plan. It lacks the bodies of Secrets; their
// shapes, keys without values, are in it by object id.
type ArchivedPlan struct {
	*preview.Plan
	Shapes map[string]map[string]any
	byID   map[string]*preview.Object
}

// Object returns an object of the plan, nil if the plan has no such object.
func (plan *ArchivedPlan) Object(id string) *preview.Object { return plan.byID[id] }

// decodeArchive joins and decodes the parts of a plan. The plan must have the
// hash that the record has for it, and its facts must hash to the digest.
func decodeArchive(parts [][]byte, want Archive, digest string) (*ArchivedPlan, error) {
	data, err := join(parts, want)
	if err != nil {
		return nil, fmt.Errorf("unpacking the plan: %w", err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking the plan: %w", err)
	}
	lines := bufio.NewScanner(io.LimitReader(unpacked, maxArchive))
	lines.Buffer(nil, maxArchiveLine)
	lines.Split(splitLines())
	var plan *ArchivedPlan
	var bodies size
	for lines.Scan() {
		counted := measure(lines.Bytes())
		if plan == nil {
			if err := counted.check(archiveBounds()); err != nil {
				return nil, fmt.Errorf("unpacking the plan: %w", err)
			}
			var line archiveLine
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Plan == nil {
				return nil, errors.New("unpacking the plan: it does not begin with one")
			}
			plan = &ArchivedPlan{Plan: line.Plan, Shapes: map[string]map[string]any{}, byID: line.Plan.ObjectsByID()}
			continue
		}
		bodies.add(counted)
		if err := bodies.check(bodyBounds()); err != nil {
			return nil, fmt.Errorf("unpacking the plan: the bodies of its objects: %w", err)
		}
		if err := plan.addBodies(lines.Bytes()); err != nil {
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

// splitLines returns a function for [bufio.Scanner] that looks at each byte once. That of
// the library looks again at all of a line that is not complete whenever more of it was
// read. The line of a plan of 20,000 objects has tens of megabytes, which gzip gives 32 KB
// at a time: that took longer than to decode it.
func splitLines() bufio.SplitFunc {
	looked := 0
	return func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		if i := bytes.IndexByte(data[looked:], '\n'); i >= 0 {
			end := looked + i
			looked = 0
			return end + 1, data[:end], nil
		}
		if atEOF && len(data) > 0 {
			looked = 0
			return len(data), data, nil
		}
		looked = len(data)
		return 0, nil, nil
	}
}

// addBodies adds the bodies in one line of an archive to the plan. They are
// decoded with exact integers; numbers in the plan itself are only for display.
func (plan *ArchivedPlan) addBodies(line []byte) error {
	v, err := preview.DecodeJSON(line)
	if err != nil {
		return fmt.Errorf("unpacking the plan: %w", err)
	}
	body, _ := v.(map[string]any)
	if read := preview.Map(body, "read"); read != nil {
		return plan.addRead(read)
	}
	id := preview.String(body, "object")
	o := plan.Object(id)
	if o == nil {
		return fmt.Errorf("unpacking the plan: %q is not one of its objects", id)
	}
	o.Planned, o.ResultBody = preview.Map(body, "sealed"), preview.Map(body, "result")
	if shape := preview.Map(body, "shape"); shape != nil {
		plan.Shapes[id] = shape
	}
	return nil
}

func (plan *ArchivedPlan) addRead(body map[string]any) error {
	id := preview.RefOf(body).ID()
	for i := range plan.Reads {
		if plan.Reads[i].ID != id {
			continue
		}
		if hash, err := preview.Hash(body); err != nil || hash != plan.Reads[i].Fingerprint {
			return fmt.Errorf("unpacking the plan: the read %s does not match its fingerprint", id)
		}
		plan.Reads[i].Body = body
		return nil
	}
	return fmt.Errorf("unpacking the plan: %q is not one of its reads", id)
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

// secretValue returns the decoded value of a key of a Secret. A missing key is
// an error.
func secretValue(secret map[string]any, key string) ([]byte, error) {
	text := preview.String(secret, "data", key)
	if text == "" {
		return nil, fmt.Errorf("it has no %q", key)
	}
	return base64.StdEncoding.DecodeString(text)
}

// partName returns the name of a further Secret of a release. Part 0 is a copy of an
// older revision's record; the parts from 1 on contain the revision's plan, and the
// [slotPart] ones a record that is too large for one Secret.
func partName(release string, revision, part int) string {
	return preview.RecordName(release) + ".v" + strconv.Itoa(revision) + "." + strconv.Itoa(part)
}

// CopyOf returns the revision of a release whose record a Secret is the copy of, 0 if the
// Secret is none.
func CopyOf(secret map[string]any, release string) int {
	ref := preview.RefOf(secret)
	number, ok := strings.CutPrefix(ref.Name, preview.RecordName(release)+".v")
	number, part, _ := strings.Cut(number, ".")
	revision, err := strconv.Atoi(number)
	if !ok || err != nil || part != "0" || preview.String(secret, "type") != secretType {
		return 0
	}
	return revision
}

// slotPart returns the part number of the i-th Secret, from 1, of slot 1 or 2.
func slotPart(slot, i int) int { return 100*slot + i }

// releaseOf returns the release name in the name of a record's Secret, and
// whether it is such a name.
func releaseOf(secretName string) (string, bool) {
	return strings.CutPrefix(secretName, preview.RecordName(""))
}

// Pin returns the digest of a package's first source, empty if it has none. It is the
// salt for the hashes of the package's sensitive values.
func (plan *ArchivedPlan) Pin(name string) string {
	for _, pkg := range plan.Packages {
		if pkg.Name == name && len(pkg.Sources) > 0 {
			return pkg.Sources[0].Digest
		}
	}
	return ""
}
