package catalog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// An index is a catalog in one file, by package:
//
//	magic, then segments, then the directory, then the trailer
//
// A segment is some documents of one package, compressed. The directory lists
// packages by name, each with its segments: where they are, how large, and their
// sha256. The trailer says where the directory is, and seals it: an HMAC over the
// catalog's identity and the directory. So what was cut off, changed, or made for
// another catalog or by another user is no index, whatever its name.
const (
	// indexFormat is the version of the format. It is part of the file name, so that
	// different versions of the program do not overwrite each other's indexes.
	indexFormat  = "catalog-2"
	indexMagic   = "kubectl-operator " + indexFormat + "\n"
	trailerBytes = 8 + 8 + sha256.Size
	// directoryBytes is the largest directory, in bytes, that is read into memory.
	directoryBytes = 256 << 20
	// maxSegment is how many bytes the documents of a segment may have.
	maxSegment = 512 << 20
)

// errNoIndex is the error for a file that is not an intact index of the wanted catalog.
var errNoIndex = errors.New("it is not an index of this catalog")

// index is an open index: the directory of a catalog's packages, and the file with
// their documents.
type index struct {
	r        io.ReaderAt
	entries  []packageEntry // by name
	segments []segment
}

// packageEntry is a package in the directory of an index, with the range of its
// segments.
type packageEntry struct {
	name        string
	first, last int
}

// segment is the position, in the index file, of some compressed documents of one
// package.
type segment struct {
	offset    int64
	size, raw int // compressed, and not
	sum       [sha256.Size]byte
}

// indexName returns the name of the file that has the index of a catalog, in a [Store].
// identity is the digest of the catalog's content.
func indexName(identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:]) + "." + indexFormat
}

// seal returns an HMAC over the identity of a catalog and data about it.
func seal(key []byte, identity string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(appendText([]byte(indexMagic), identity))
	mac.Write(body)
	return mac.Sum(nil)
}

// unseal returns data without the HMAC at its end; false if that is not the one that
// [seal] gives.
func unseal(key []byte, identity string, data []byte) ([]byte, bool) {
	if len(data) < sha256.Size {
		return nil, false
	}
	body := data[:len(data)-sha256.Size]
	return body, hmac.Equal(data[len(body):], seal(key, identity, body))
}

// openIndex reads the directory of an index and verifies its HMAC. A file that is not
// an intact index of the catalog is errNoIndex.
func openIndex(r io.ReaderAt, size int64, key []byte, identity string) (*index, error) {
	if size < int64(len(indexMagic)+trailerBytes) {
		return nil, errNoIndex
	}
	trailer := make([]byte, trailerBytes)
	if _, err := r.ReadAt(trailer, size-trailerBytes); err != nil {
		return nil, err
	}
	at, length := binary.BigEndian.Uint64(trailer), binary.BigEndian.Uint64(trailer[8:])
	if length > directoryBytes || at+length != uint64(size-trailerBytes) {
		return nil, errNoIndex
	}
	directory := make([]byte, length)
	if _, err := r.ReadAt(directory, int64(at)); err != nil {
		return nil, err
	}
	if !hmac.Equal(trailer[16:], seal(key, identity, directory)) {
		return nil, errNoIndex
	}
	x := &index{r: r}
	if err := x.readDirectory(directory); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *index) appendDirectory(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(x.entries)))
	out = binary.AppendUvarint(out, uint64(len(x.segments)))
	for _, e := range x.entries {
		out = appendText(out, e.name)
		out = binary.AppendUvarint(out, uint64(e.last-e.first))
		for _, s := range x.segments[e.first:e.last] {
			out = binary.AppendUvarint(out, uint64(s.offset))
			out = binary.AppendUvarint(out, uint64(s.size))
			out = binary.AppendUvarint(out, uint64(s.raw))
			out = append(out, s.sum[:]...)
		}
	}
	return out
}

func (x *index) readDirectory(data []byte) error {
	f := &fields{text: string(data)}
	x.entries = make([]packageEntry, f.count())
	x.segments = make([]segment, f.count())
	at := 0
	for i := range x.entries {
		e := packageEntry{name: f.string(), first: at}
		if at += f.count(); at > len(x.segments) {
			return errNoIndex
		}
		e.last = at
		for j := range x.segments[e.first:e.last] {
			s := &x.segments[e.first+j]
			s.offset, s.size, s.raw = int64(f.uvarint()), int(f.uvarint()), int(f.uvarint())
			copy(s.sum[:], f.bytes(sha256.Size))
		}
		x.entries[i] = e
	}
	if f.bad || f.text != "" || at != len(x.segments) {
		return errNoIndex
	}
	return nil
}

// find returns the entry of a package in the directory; false if the catalog does not
// have the package.
func (x *index) find(name string) (packageEntry, bool) {
	i, ok := slices.BinarySearchFunc(x.entries, name, func(e packageEntry, name string) int { return strings.Compare(e.name, name) })
	if !ok {
		return packageEntry{}, false
	}
	return x.entries[i], true
}

// documents reads and verifies the documents of a package.
func (x *index) documents(e packageEntry) (*documents, error) {
	docs := &documents{}
	for _, s := range x.segments[e.first:e.last] {
		raw, err := x.segment(s)
		if err != nil {
			return nil, err
		}
		if err := docs.read(raw); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// segment reads a segment, verifies its hash, and decompresses it.
func (x *index) segment(s segment) ([]byte, error) {
	packed := make([]byte, s.size) // sealed, so honest
	if _, err := x.r.ReadAt(packed, s.offset); err != nil {
		return nil, errors.Join(errNoIndex, err)
	}
	if sha256.Sum256(packed) != s.sum {
		return nil, errNoIndex
	}
	z, err := unpacker()
	if err != nil {
		return nil, err
	}
	raw, err := z.DecodeAll(packed, make([]byte, 0, s.raw))
	if err != nil || len(raw) != s.raw {
		return nil, errNoIndex
	}
	return raw, nil
}

// unpacker returns the decompressor for segments, which all indexes share.
var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxSegment), zstd.WithDecoderLowmem(true))
})

// The documents in a segment: each a letter for its schema, the package field,
// the name, the file and the bytes.

func schemaOf(letter byte) string {
	for _, schema := range [...]string{schemaPackage, schemaChannel, schemaBundle, schemaDeprecations} {
		if letterOf(schema) == letter {
			return schema
		}
	}
	return ""
}

// letterOf returns the letter that stands for a schema in the index, 0 for a schema
// that indexes do not contain.
func letterOf(schema string) byte {
	switch schema {
	case schemaPackage:
		return 'p'
	case schemaChannel:
		return 'c'
	case schemaBundle:
		return 'b'
	case schemaDeprecations:
		return 'd'
	}
	return 0
}

func appendDocument(out []byte, file string, d document) []byte {
	out = append(out, letterOf(d.schema))
	out = appendText(appendText(appendText(out, d.pkg), d.name), file)
	out = binary.AppendUvarint(out, uint64(len(d.raw)))
	return append(out, d.raw...)
}

func (docs *documents) read(data []byte) error {
	for at := 0; at < len(data); {
		d := document{schema: schemaOf(data[at])}
		at++
		for _, to := range []*string{&d.pkg, &d.name, &d.file} {
			value, n := cutBytes(data[at:])
			if n == 0 {
				return errNoIndex
			}
			*to = string(value)
			at += n
		}
		raw, n := cutBytes(data[at:])
		if n == 0 {
			return errNoIndex
		}
		d.raw = raw
		at += n
		docs.add(d)
	}
	return nil
}

// cutBytes reads bytes that are preceded by their number. It returns them and how many
// bytes of data were used, 0 if data is too short.
func cutBytes(data []byte) ([]byte, int) {
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		return nil, 0
	}
	end := n + int(size)
	return data[n:end:end], end
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// fields decodes the numbers and texts of a directory one by one. After an error, bad
// is set and all values are zero.
type fields struct {
	text string
	bad  bool
}

func (f *fields) uvarint() uint64 {
	value, shift := uint64(0), 0
	for i := range len(f.text) {
		c := f.text[i]
		if shift > 63 {
			break
		}
		value |= uint64(c&0x7f) << shift
		if shift += 7; c < 0x80 {
			f.text = f.text[i+1:]
			return value
		}
	}
	f.text, f.bad = "", true
	return 0
}

// count reads the number of elements that follow. Each has at least one byte, so that a
// larger number than the remaining bytes is an error.
func (f *fields) count() int {
	n := f.uvarint()
	if n > uint64(len(f.text)) {
		f.text, f.bad = "", true
		return 0
	}
	return int(n)
}

func (f *fields) bytes(n int) string {
	if n > len(f.text) {
		f.text, f.bad = "", true
		return ""
	}
	out := f.text[:n]
	f.text = f.text[n:]
	return out
}

func (f *fields) string() string { return f.bytes(f.count()) }
