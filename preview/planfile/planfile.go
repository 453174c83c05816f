// Package planfile saves a plan with the bodies behind it, and reads it back.
//
// A plan file is a gzipped tar: plan.json, and the canonical JSON of each
// planned object under objects/, each live body under live/, each dry-run
// result under results/ and each read under reads/, by object id. Nothing in
// it is trusted: engine.Verify recomputes what can be recomputed and refuses
// the rest. With recipients the whole of it is encrypted (age-encryption.org/v1).
package planfile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// MaxBytes is the largest size in bytes of a plan file (256 MiB).
const MaxBytes = 256 << 20

// Caps on what is read back.
const (
	maxTotalBytes = 1 << 30 // unpacked
	maxEntryBytes = preview.MaxPlanBytes
	maxEntries    = 5 * preview.MaxObjects // each object has up to three bodies
	maxRatio      = 200                    // unpacked to compressed, beyond the first MiB
)

// The folders of a plan file.
const (
	planEntry  = "plan.json"
	objectsDir = "objects/"
	liveDir    = "live/"
	resultsDir = "results/"
	readsDir   = "reads/"
)

// Encode writes a plan to w as an unencrypted plan file. The same plan gives the same
// bytes.
func Encode(w io.Writer, p *preview.Plan) error {
	entries, err := entriesOf(p)
	if err != nil {
		return err
	}
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Mode: 0o600, Size: int64(len(e.data)),
			ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

type entry struct {
	name string
	data []byte
}

func entriesOf(p *preview.Plan) ([]entry, error) {
	document, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, err
	}
	if len(document) >= maxEntryBytes {
		return nil, fmt.Errorf("its %d bytes without the objects are more than the %d that can be read again; plan fewer objects at a time", len(document), maxEntryBytes)
	}
	entries := []entry{{planEntry, append(document, '\n')}}
	add := func(dir, id string, body map[string]any) error {
		if body == nil {
			return nil
		}
		data, err := preview.Canonical(body)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		entries = append(entries, entry{dir + id + ".json", data})
		return nil
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		err := errors.Join(add(objectsDir, o.ID, o.Planned), add(liveDir, o.ID, o.LiveBody), add(resultsDir, o.ID, o.ResultBody))
		if err != nil {
			return nil, err
		}
	}
	for _, r := range p.Reads {
		if err := add(readsDir, r.ID, r.Body); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(entries[1:], func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, nil
}

// Decode reads an unencrypted plan file from r. A file that exceeds the size limits or
// contains anything in addition to the plan is an error.
func Decode(r io.Reader) (*preview.Plan, error) {
	entries, err := unpack(r)
	if err != nil {
		return nil, err
	}
	document, ok := entries[planEntry]
	if !ok {
		return nil, errors.New("not a plan file: plan.json is missing")
	}
	delete(entries, planEntry)
	generic, err := preview.DecodeJSONUpTo(document, maxEntryBytes) // duplicate keys, depth
	if err != nil {
		return nil, fmt.Errorf("plan.json: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	var p preview.Plan
	if err := decoder.Decode(&p); err != nil {
		return nil, fmt.Errorf("plan.json: %w", err)
	}
	if p.APIVersion != preview.APIVersion || p.Kind != preview.KindPlan {
		return nil, fmt.Errorf("plan.json is %q %q, not a %s of %s", p.APIVersion, p.Kind, preview.KindPlan, preview.APIVersion)
	}
	if err := checkUnambiguous(generic, &p); err != nil {
		return nil, err
	}
	if err := attachBodies(&p, entries); err != nil {
		return nil, err
	}
	for name := range entries {
		return nil, fmt.Errorf("%s belongs to no object of the plan", name)
	}
	return &p, nil
}

// checkUnambiguous returns an error if plan.json, decoded as document, does not equal
// the plan encoded again: encoding/json matches names in any letter case, so that
// another JSON reader could see another plan.
func checkUnambiguous(document any, p *preview.Plan) error {
	written, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("plan.json: %w", err)
	}
	again, err := preview.DecodeJSONUpTo(written, maxEntryBytes)
	if err != nil {
		return fmt.Errorf("plan.json: %w", err)
	}
	a, errA := preview.Canonical(document)
	b, errB := preview.Canonical(again)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return errors.New("plan.json: its names or values are not written as this tool writes them")
	}
	return nil
}

// attachBodies sets the bodies of the plan's objects and reads from the entries of a
// plan file, by name, and removes those entries.
func attachBodies(p *preview.Plan, entries map[string][]byte) error {
	take := func(dir, id string, into *map[string]any) error {
		name := dir + id + ".json"
		data, ok := entries[name]
		if !ok {
			return nil
		}
		delete(entries, name)
		v, err := preview.DecodeJSON(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		body, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: not an object", name)
		}
		*into = body
		return nil
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		err := errors.Join(take(objectsDir, o.ID, &o.Planned), take(liveDir, o.ID, &o.LiveBody), take(resultsDir, o.ID, &o.ResultBody))
		if err != nil {
			return err
		}
	}
	for i := range p.Reads {
		if err := take(readsDir, p.Reads[i].ID, &p.Reads[i].Body); err != nil {
			return err
		}
	}
	return nil
}

func unpack(r io.Reader) (map[string][]byte, error) {
	counted := &countingReader{from: io.LimitReader(r, MaxBytes+1)}
	zipped, err := gzip.NewReader(counted)
	if err != nil {
		return nil, errors.New("not a plan file: it is not gzipped")
	}
	archive := tar.NewReader(zipped)
	entries := map[string][]byte{}
	var total int64
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the archive is damaged: %w", err)
		}
		if _, twice := entries[header.Name]; twice || header.Typeflag != tar.TypeReg || len(entries) >= maxEntries {
			return nil, fmt.Errorf("the archive holds something that is not a plan's: %.80q", header.Name)
		}
		data, err := io.ReadAll(io.LimitReader(archive, maxEntryBytes+1))
		if err != nil {
			return nil, fmt.Errorf("the archive is damaged: %w", err)
		}
		total += int64(len(data))
		if len(data) > maxEntryBytes || total > maxTotalBytes || counted.n > MaxBytes || total > 1<<20 && total > maxRatio*counted.n {
			return nil, errors.New("the archive unpacks to more than a plan may hold")
		}
		entries[header.Name] = data
	}
}

type countingReader struct {
	from io.Reader
	n    int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}
