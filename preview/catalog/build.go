package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Limits on one catalog, which is read as a stream. The largest public indexes have about
// 300 MB and some ten thousand bundles.
const (
	maxFiles     = 100_000
	maxBytes     = 4 << 30
	maxDocuments = 1_000_000
	maxPackages  = 100_000
)

// arenaBytes is how many bytes of documents the builder keeps in memory (2 MiB) before
// it sorts them by package, compresses them and writes them to the index.
const arenaBytes = 2 << 20

// Walk calls visit once with every file of a catalog, in any order. It can be called
// again, for a second pass.
type Walk func(visit func(path string, r io.Reader) error) error

// builder writes the index of a catalog while it reads the files. It keeps only a few
// megabytes of documents in memory, so the catalog may have any size.
type builder struct {
	out    io.Writer
	offset int64
	split  *splitter
	pack   *zstd.Encoder

	packages map[string]*builtPackage
	arena    []byte
	filed    []arenaDocument
	scratch  []byte
	packed   []byte
	broken   []brokenFile // that belong to the catalog
	other    []brokenFile // that nothing says it of

	ignored          ignoreRules
	ignores          []ignoreSource
	files, documents int
	bytes            int64
}

// builtPackage is a package of the catalog, with the segments of the index that have
// its documents.
type builtPackage struct {
	name     string
	segments []segment
}

// arenaDocument is the position of a document in the builder's arena, the buffer of
// documents that are not yet written to the index.
type arenaDocument struct {
	owner      *builtPackage
	start, end int
}

// build writes the index of a catalog to out. A file that cannot be read or split into
// documents, and a limit that is exceeded, are errors, as they are to opm: a missing
// part may hide versions and deprecations. A package that breaks the rules of catalogs
// is not an error here; it is one when that package is asked for.
//
// Ignore files are found among the others. If there are any, files that they exclude
// may have been read before, so the catalog is walked again; the bytes of the first
// pass stay in the file, but the index does not refer to them.
func build(walk Walk, key []byte, identity string, out io.Writer) error {
	b, err := newBuilder(out)
	if err != nil {
		return err
	}
	if err := walk(b.visit); err != nil {
		return err
	}
	if len(b.ignores) > 0 {
		rules, err := parseIgnores(b.ignores)
		if err != nil {
			return err
		}
		b.restart(append(ignoreRules{}, rules...))
		if err := walk(b.visit); err != nil {
			return err
		}
	}
	return b.finish(key, identity)
}

// restart discards what was read, for another pass that obeys the ignore rules.
func (b *builder) restart(ignored ignoreRules) {
	b.packages, b.broken, b.other, b.ignored = map[string]*builtPackage{}, nil, nil, ignored
	b.arena, b.filed = b.arena[:0], b.filed[:0]
	b.files, b.documents, b.bytes = 0, 0, 0
}

func newBuilder(out io.Writer) (*builder, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	b := &builder{out: out, split: newSplitter(), pack: pack, packages: map[string]*builtPackage{}, arena: newArena()}
	return b, b.write([]byte(indexMagic))
}

func newArena() []byte { return make([]byte, 0, arenaBytes+arenaBytes/4) }

func (b *builder) write(data []byte) error {
	b.offset += int64(len(data))
	_, err := b.out.Write(data)
	return err
}

// visit reads one file.
func (b *builder) visit(name string, r io.Reader) error {
	counted := &countedReader{r: r, left: maxBytes - b.bytes}
	defer func() { b.bytes += counted.n }()
	if path.Base(name) == ignoreFile {
		return b.visitIgnore(name, counted)
	}
	if b.ignored.ignores(name) {
		return nil
	}
	if b.files++; b.files > maxFiles {
		return fmt.Errorf("more than %d files", maxFiles)
	}
	belongs := isCatalogFile(name)
	broken, err := b.split.split(counted, func(d document) error {
		belongs = belongs || letterOf(d.schema) != 0
		return b.add(name, d)
	})
	if err != nil {
		return err
	}
	if broken != nil && belongs {
		b.broken = append(b.broken, brokenFile{name, clipped(broken.Error())})
	} else if broken != nil {
		b.other = append(b.other, brokenFile{name, clipped(broken.Error())})
	}
	return nil
}

// isCatalogFile reports whether a file is part of the catalog by its name. Others, such
// as a README, may be unreadable, and count only if they contain documents of a
// catalog.
func isCatalogFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json", ".jsonl", ".ndjson":
		return true
	}
	return false
}

// brokenFile is a file that could not be split into documents, with the first problem.
type brokenFile struct{ path, problem string }

// brokenError returns text about the first of the broken files, by path, and the number
// of the others.
func brokenError(files []brokenFile) string {
	first := slices.MinFunc(files, func(p, q brokenFile) int { return cmp.Compare(p.path, q.path) })
	text := fmt.Sprintf("%s: %s", first.path, first.problem)
	if more := len(files) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more files)", more)
	}
	return text
}

func (b *builder) visitIgnore(name string, r io.Reader) error {
	const most = 64 << 10
	if b.ignored != nil {
		return nil // known
	}
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s: more than %d KiB", name, most>>10)
	}
	if len(b.ignores) >= maxIgnoreRules {
		return fmt.Errorf("%s: more than %d such files", name, maxIgnoreRules)
	}
	b.ignores = append(b.ignores, ignoreSource{name, string(data)})
	return err
}

// countedReader counts the bytes read, and fails beyond a limit.
type countedReader struct {
	r       io.Reader
	n, left int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n += int64(n); c.n > c.left {
		return 0, fmt.Errorf("more than %d MiB", int64(maxBytes)>>20)
	}
	return n, err
}

// clipped shortens the text of an error, which may quote the catalog, to 500 bytes.
func clipped(s string) string {
	const most = 500
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// add adds a document to its package. Documents of unknown schemas, and of
// packages whose name is invalid, are left out.
func (b *builder) add(file string, d document) error {
	if b.documents++; b.documents > maxDocuments {
		return fmt.Errorf("more than %d documents", maxDocuments)
	}
	owner := d.pkg
	if d.schema == schemaPackage {
		owner = d.name
	}
	if letterOf(d.schema) == 0 {
		return nil
	}
	p := b.packages[owner]
	if p == nil {
		if !ref.IsName(owner) {
			return nil
		}
		if len(b.packages) >= maxPackages {
			return fmt.Errorf("more than %d packages", maxPackages)
		}
		p = &builtPackage{name: owner}
		b.packages[owner] = p
	}
	start := len(b.arena)
	b.arena = appendDocument(b.arena, file, d)
	b.filed = append(b.filed, arenaDocument{p, start, len(b.arena)})
	if len(b.arena) < arenaBytes {
		return nil
	}
	return b.flush()
}

// flush compresses the documents in memory and writes them to the index, as one segment
// for each package.
func (b *builder) flush() error {
	slices.SortStableFunc(b.filed, func(x, y arenaDocument) int { return strings.Compare(x.owner.name, y.owner.name) })
	for rest := b.filed; len(rest) > 0; {
		owner, n := rest[0].owner, 1
		for n < len(rest) && rest[n].owner == owner {
			n++
		}
		raw := b.gather(rest[:n])
		b.packed = b.pack.EncodeAll(raw, b.packed[:0])
		owner.segments = append(owner.segments, segment{
			offset: b.offset, size: len(b.packed), raw: len(raw), sum: sha256.Sum256(b.packed),
		})
		if err := b.write(b.packed); err != nil {
			return err
		}
		rest = rest[n:]
	}
	b.arena, b.filed = b.arena[:0], b.filed[:0]
	if cap(b.arena) > 2*arenaBytes { // after a large document
		b.arena, b.scratch, b.packed = newArena(), nil, nil
	}
	return nil
}

// gather returns the bytes of several documents in the arena, without a copy if they
// are adjacent.
func (b *builder) gather(list []arenaDocument) []byte {
	first, last := list[0], list[len(list)-1]
	size := 0
	for _, f := range list {
		size += f.end - f.start
	}
	if last.end-first.start == size {
		return b.arena[first.start:last.end]
	}
	b.scratch = b.scratch[:0]
	for _, f := range list {
		b.scratch = append(b.scratch, b.arena[f.start:f.end]...)
	}
	return b.scratch
}

// finish writes the directory of the index and its HMAC. Broken files, and a catalog
// without packages, are errors.
func (b *builder) finish(key []byte, identity string) error {
	if err := b.flush(); err != nil {
		return err
	}
	if len(b.broken) > 0 {
		return fmt.Errorf("%s; what a catalog lacks may hide versions and deprecations, so none of it is used: have the file mended, or name it in %s", brokenError(b.broken), ignoreFile)
	}
	x := &index{}
	for _, p := range b.packages {
		x.entries = append(x.entries, packageEntry{name: p.name})
	}
	if len(x.entries) == 0 {
		return &emptyError{b.other}
	}
	slices.SortFunc(x.entries, func(p, q packageEntry) int { return cmp.Compare(p.name, q.name) })
	for i := range x.entries {
		e := &x.entries[i]
		e.first = len(x.segments)
		x.segments = append(x.segments, b.packages[e.name].segments...)
		e.last = len(x.segments)
	}
	directory := x.appendDirectory(nil)
	if len(directory) > directoryBytes {
		return fmt.Errorf("its index would need more than %d MiB", directoryBytes>>20)
	}
	trailer := binary.BigEndian.AppendUint64(nil, uint64(b.offset))
	trailer = binary.BigEndian.AppendUint64(trailer, uint64(len(directory)))
	trailer = append(trailer, seal(key, identity, directory)...)
	if err := b.write(directory); err != nil {
		return err
	}
	return b.write(trailer)
}

// emptyError is the error for a catalog without packages; other are unreadable files
// that may be the reason.
type emptyError struct{ other []brokenFile }

func (e *emptyError) Error() string {
	if len(e.other) == 0 {
		return "it holds no packages"
	}
	return "it holds no packages; what could not be read: " + brokenError(e.other)
}
