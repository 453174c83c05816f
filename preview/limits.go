package preview

import (
	"bytes"
	"fmt"
)

// Limits on decoded content, each with its reason. The largest manifests of real
// packages stay far below them.
const (
	// MaxDocumentBytes is the most bytes of one file. The largest files that are read as a
	// whole are catalogs; public ones stay below it.
	MaxDocumentBytes = 32 << 20
	// MaxPlanBytes is the most bytes of a plan without its bodies: MaxObjects have 60 MB.
	MaxPlanBytes = 128 << 20
	// MaxObjects is the most objects of a file and of a package: ten times as many as in the
	// largest installs. Time and memory grow with the number, to a gigabyte.
	MaxObjects = 40_000
	// MaxObjectBytes is the most bytes of one object as JSON. An API server accepts no
	// larger request (apiserver MaxRequestBodyBytes, no flag changes it), and etcd by
	// default stores half as much (--max-request-bytes 1.5 MiB, which clusters may
	// raise).
	MaxObjectBytes = 3 << 20
	// maxManifestBytes is the most bytes of one object as written in a file: indentation
	// and comments may double its size.
	maxManifestBytes = 2 * MaxObjectBytes
	// maxNodes is the most values of one file, with YAML aliases expanded, which
	// protects against alias bombs.
	maxNodes = 4 << 20
	// maxDepth is how deep values may be nested. The API server's own decoder stops at
	// 10,000, and manifests reach some 30.
	maxDepth = 128
	// maxAliases is the most YAML aliases of a file. Manifests hardly ever have any.
	maxAliases = 1000
)

func tooManyObjects() error {
	return fmt.Errorf("more than %d objects, which is as many as one package may have", MaxObjects)
}

func tooLargeFile(size, most int) error {
	return fmt.Errorf("%d bytes are more than the %d that one file may have", size, most)
}

func tooLargeObject(where string, size int) error {
	return fmt.Errorf("%sone object of %.1f MiB or more; the API server takes no request larger than %d MiB, and etcd by default no object larger than 1.5 MiB",
		where, float64(size)/(1<<20), MaxObjectBytes>>20)
}

// CheckManifests returns an error for a file of manifests with more or larger objects
// than [DecodeDocuments] allows. It does not decode the file, which takes thirty times
// its size in memory. JSON is not checked here but while it is decoded.
func CheckManifests(data []byte) error {
	if beginsAsJSON(data) {
		return nil
	}
	return checkShape(data)
}

func beginsAsJSON(data []byte) bool {
	trimmed := bytes.TrimLeft(data, " \t\r\n\ufeff")
	return len(trimmed) > 0 && trimmed[0] == '{'
}

func checkShape(data []byte) error {
	s := shape{line: 1}
	for line := range bytes.Lines(data) {
		if err := s.next(line); err != nil {
			return err
		}
	}
	return s.end()
}

// shape is a scan of a YAML stream without decoding, which finds ends and sizes of
// documents and of the items of block lists. A line that begins with three hyphens
// always ends a document.
type shape struct {
	objects, line, size int
	begin               int  // first line of the document or list item
	filled              bool // the document has more than comments
	list                bool // the document has a line "items:"
	indent              int  // of the items under "items:", -1 before the first
}

func (s *shape) next(line []byte) error {
	text := bytes.TrimRight(line, " \t\r\n")
	if rest, marker := bytes.CutPrefix(text, []byte("---")); marker && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
		if err := s.end(); err != nil {
			return err
		}
		text = bytes.TrimLeft(rest, " \t")
	}
	if s.begin == 0 {
		s.begin = s.line
	}
	s.line++
	trimmed := bytes.TrimLeft(text, " \t")
	if len(trimmed) == 0 || trimmed[0] == '#' {
		return nil
	}
	s.filled = true
	if s.size += len(line); s.size > maxManifestBytes {
		return tooLargeObject(fmt.Sprintf("line %d: ", s.begin), s.size)
	}
	switch indent := len(text) - len(trimmed); {
	case !s.list && indent == 0 && bytes.HasPrefix(text, []byte("items:")):
		s.list, s.indent = true, -1
	case s.list && trimmed[0] == '-' && (s.indent < 0 || s.indent == indent):
		s.indent, s.begin, s.size = indent, s.line-1, len(line)
		if s.objects++; s.objects > MaxObjects {
			return tooManyObjects()
		}
	}
	return nil
}

// end ends a document, and errs if there are too many objects.
func (s *shape) end() error {
	if s.filled && !s.list {
		s.objects++
	}
	if s.objects > MaxObjects {
		return tooManyObjects()
	}
	s.begin, s.size, s.filled, s.list = 0, 0, false, false
	return nil
}

// CheckSize returns an error for an object larger than an API server accepts.
func CheckSize(body map[string]any) error {
	if size := minSize(body); size > MaxObjectBytes {
		return tooLargeObject("it is ", size)
	}
	return nil
}

// minSize returns a lower bound of the number of bytes of a value's JSON.
func minSize(v any) int {
	switch v := v.(type) {
	case map[string]any:
		size := 1 + len(v)
		for key, item := range v {
			size += len(key) + 3 + minSize(item)
		}
		return size
	case []any:
		size := 1 + len(v)
		for _, item := range v {
			size += minSize(item)
		}
		return size
	case string:
		return len(v) + 2
	}
	return 1
}
