package git

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// PackedObjects has the objects of a pack in memory, by their hash.
type PackedObjects map[plumbing.Hash]Object

func (p PackedObjects) object(name plumbing.Hash, most int64) (Object, error) {
	o, ok := p[name]
	switch {
	case !ok:
		return o, errNoObject
	case int64(len(o.data)) > most:
		return Object{}, fmt.Errorf("%w of %s", bounded.ErrTooLarge, bounded.ByteCount(most))
	}
	return o, nil
}

// packReader reads a pack (gitformat-pack(5)) as it arrives. It checks the number of
// objects, and the size of each and of all, before it decompresses them. An object is
// stored under the hash of its bytes, so that what is found by a hash is verified.
type packReader struct {
	limits  Limits
	left    int64 // bytes that may still be inflated
	objects PackedObjects

	names   map[int64]plumbing.Hash // by offset
	waiting map[any][]packDelta     // by plumbing.Hash or offset of the base
}

// packDelta is an object that is stored as its difference from another.
type packDelta struct {
	offset int64
	data   []byte
}

// ReadPack returns the objects of a pack (gitformat-pack) by the hash of their bytes,
// with deltas resolved. A pack that exceeds the limits is an error.
func ReadPack(r io.Reader, l Limits) (PackedObjects, error) {
	p := &packReader{
		limits: l, left: l.Bytes, objects: PackedObjects{},
		names: map[int64]plumbing.Hash{}, waiting: map[any][]packDelta{},
	}
	// Hidden, so that the scanner never seeks.
	scanner := packfile.NewScanner(struct{ io.Reader }{r})
	_, count, err := scanner.Header()
	if err != nil {
		return nil, packError(err)
	}
	if int64(count) > int64(l.Entries) {
		return nil, fmt.Errorf("the pack has %d objects; at most %d are read", count, l.Entries)
	}
	for range count {
		if err := p.next(scanner); err != nil {
			return nil, packError(err)
		}
	}
	if len(p.waiting) > 0 {
		return nil, errors.New("the pack holds differences to objects that it does not hold")
	}
	return p.objects, nil
}

// next reads one entry.
func (p *packReader) next(scanner *packfile.Scanner) error {
	header, err := scanner.NextObjectHeader()
	if err != nil {
		return err
	}
	if err := p.take(header.Length); err != nil {
		return err
	}
	var data bytes.Buffer
	if n, _, err := scanner.NextObject(&data); err != nil {
		return err
	} else if n != header.Length {
		return packfile.ErrMalformedPackFile
	}
	var base any
	switch header.Type {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		return p.add(header.Offset, Object{header.Type, data.Bytes()})
	case plumbing.OFSDeltaObject:
		base = header.OffsetReference
		if name, known := p.names[header.OffsetReference]; known {
			base = name
		}
	case plumbing.REFDeltaObject:
		base = header.Reference
	default:
		return packfile.ErrMalformedPackFile
	}
	delta := packDelta{header.Offset, data.Bytes()}
	if name, known := base.(plumbing.Hash); known {
		if on, here := p.objects[name]; here {
			o, err := p.patch(on, delta)
			if err != nil {
				return err
			}
			return p.add(delta.offset, o)
		}
	}
	p.waiting[base] = append(p.waiting[base], delta)
	return nil
}

// add stores an object, and those that waited for it because they are stored as
// differences from it.
func (p *packReader) add(offset int64, o Object) error {
	type ready struct {
		offset int64
		object Object
	}
	for todo := []ready{{offset, o}}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		name := plumbing.ComputeHash(next.object.kind, next.object.data)
		p.objects[name], p.names[next.offset] = next.object, name
		for _, base := range []any{next.offset, name} {
			deltas := p.waiting[base]
			delete(p.waiting, base)
			for _, delta := range deltas {
				patched, err := p.patch(next.object, delta)
				if err != nil {
					return err
				}
				todo = append(todo, ready{delta.offset, patched})
			}
		}
	}
	return nil
}

func (p *packReader) patch(base Object, delta packDelta) (Object, error) {
	// The sizes that a delta begins with: of its base, then of its result.
	_, n := binary.Uvarint(delta.data)
	if n <= 0 {
		return Object{}, packfile.ErrInvalidDelta
	}
	size, m := binary.Uvarint(delta.data[n:])
	if m <= 0 || size > uint64(p.limits.FileBytes) {
		return Object{}, packfile.ErrInvalidDelta
	}
	if err := p.take(int64(size)); err != nil {
		return Object{}, err
	}
	data, err := packfile.PatchDelta(base.data, delta.data)
	return Object{base.kind, data}, err
}

// take counts n bytes against the limits, before they are decompressed.
func (p *packReader) take(n int64) error {
	if n < 0 || n > p.limits.FileBytes {
		return fmt.Errorf("an object claims %d bytes; at most %s are read", n, bounded.ByteCount(p.limits.FileBytes))
	}
	if p.left -= n; p.left < 0 {
		return fmt.Errorf("the repository's files have more than %s; //SUBDIR reads less where the server can send a part", bounded.ByteCount(p.limits.Bytes))
	}
	return nil
}

// zlibReset begins the error of go-git for data that does not begin as zlib's do. It has
// no type.
const zlibReset = "zlib reset error: "

// packError returns the errors of a pack that is cut off or damaged in our words.
func packError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, packfile.ErrEmptyPackfile):
		return errors.New("the pack ends too early")
	case errors.Is(err, packfile.ErrMalformedPackFile), errors.Is(err, packfile.ErrBadSignature), errors.Is(err, packfile.ErrUnsupportedVersion),
		errors.Is(err, packfile.ErrInvalidDelta), errors.Is(err, packfile.ErrDeltaCmd), errors.Is(err, packfile.ErrInflatedSizeMismatch),
		errors.Is(err, zlib.ErrChecksum), errors.As(err, &corrupt), strings.HasPrefix(err.Error(), zlibReset):
		return errors.New("the pack is damaged")
	}
	return err
}

// WritePack writes objects as a pack, each as a whole and none as a difference.
func WritePack(w io.Writer, objects []Object) error {
	store := memory.NewStorage()
	var names []plumbing.Hash
	for _, o := range objects {
		m := &plumbing.MemoryObject{}
		m.SetType(o.kind)
		if _, err := m.Write(o.data); err != nil {
			return err
		}
		if store.HasEncodedObject(m.Hash()) == nil {
			continue
		}
		name, err := store.SetEncodedObject(m)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	_, err := packfile.NewEncoder(w, store, false).Encode(names, 0)
	return err
}
