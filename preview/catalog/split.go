package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// splitter splits files into documents while it reads them: JSON objects one after
// another, or YAML documents. It keeps little more than one document in memory, and is
// used for one file after the other.
type splitter struct {
	most int // bytes of one document

	r          io.Reader
	buf        []byte
	start, end int // of what was read and not yet used
	used       int64
	line       int // first line of the window, from one
	eof        bool
	failed     error // of r
}

const splitBuffer = 1 << 20

func newSplitter() *splitter {
	return &splitter{most: preview.MaxDocumentBytes, buf: make([]byte, splitBuffer)}
}

// errMore is the error for a document that does not end in the bytes read so far.
var errMore = errors.New("the document does not end")

// split calls emit with each document of a file; the document's bytes are valid until
// emit returns. broken is the first error about text that is no document, with its
// line; err is an error of reading or of emit.
func (s *splitter) split(r io.Reader, emit func(document) error) (broken, err error) {
	s.r, s.start, s.end, s.used, s.line, s.eof, s.failed = r, 0, 0, 0, 1, false, nil
	if len(s.buf) > splitBuffer { // one large document is no reason to keep the room
		s.buf = make([]byte, splitBuffer)
	}
	var after int // of the marks and blanks that a file may begin with
	for {
		after = s.end - s.start - len(bytes.TrimLeft(s.window(), " \t\r\n\ufeff"))
		if s.end-s.start-after >= utf8.UTFMax || s.eof { // no half of a mark
			break
		}
		if err := s.more(); err != nil {
			return err, s.failed
		}
	}
	if s.start+after < s.end && s.buf[s.start+after] == '{' {
		broken, err = s.splitJSON(after, emit)
	} else {
		broken, err = s.splitYAML(emit)
	}
	if s.failed != nil {
		return nil, s.failed
	}
	return broken, err
}

// at returns an error with the line of the file, for a document that begins after so
// many bytes of the window. A decoder's error counts lines from the beginning of the
// document.
func (s *splitter) at(after int, err error) error {
	line := s.line + bytes.Count(s.buf[s.start:min(s.start+after, s.end)], []byte("\n"))
	if match := ownLine.FindStringSubmatch(err.Error()); match != nil {
		if n, bad := strconv.Atoi(match[1]); bad == nil {
			return fmt.Errorf("line %d: %s", line+n-1, match[2])
		}
	}
	return fmt.Errorf("line %d: %w", line, err)
}

var ownLine = lazyregexp.New(`(?s)^line ([0-9]+): (.*)$`)

func (s *splitter) window() []byte { return s.buf[s.start:s.end] }

// use drops the first n bytes of the window, which is what was read and not yet used.
func (s *splitter) use(n int) {
	s.line += bytes.Count(s.buf[s.start:s.start+n], []byte("\n"))
	s.start += n
	s.used += int64(n)
}

// more reads further bytes into the window. A document beyond the size limit is an
// error.
func (s *splitter) more() error {
	if s.end-s.start > s.most {
		return fmt.Errorf("after %d bytes: a document of more than %d MiB", s.used, s.most>>20)
	}
	if s.start > 0 {
		s.end = copy(s.buf, s.window())
		s.start = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for s.end < len(s.buf) {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = true
			if !errors.Is(err, io.EOF) {
				s.failed = err
				return err
			}
			break
		}
	}
	return nil
}

// splitJSON splits JSON objects. A file whose first value is no JSON object is split as
// YAML, whose flow mappings look like JSON, as is everything after a YAML document
// marker.
func (s *splitter) splitJSON(after int, emit func(document) error) (broken, err error) {
	for count := 0; ; count++ {
		d, size, err := s.nextJSON(after)
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil && s.end-s.start <= s.most && (count == 0 || s.atMarker()):
			return s.splitYAML(emit)
		case err != nil:
			return err, nil
		}
		if d.raw != nil {
			if err := emit(d); err != nil {
				return nil, err
			}
		}
		s.use(size)
		after = 0
	}
}

// nextJSON finds the next object behind the first bytes of the window (after) and white
// space. size is the bytes up to its end; io.EOF means that there is none.
func (s *splitter) nextJSON(after int) (d document, size int, err error) {
	for {
		at := after
		for s.start+at < s.end && strings.IndexByte(" \t\r\n", s.buf[s.start+at]) >= 0 {
			at++
		}
		err := errMore
		switch {
		case s.start+at < s.end && isNull(s.buf[s.start+at:s.end], s.eof):
			return document{}, at + len("null"), nil
		case s.start+at < s.end:
			if d, err = peekJSON(s.buf[s.start+at : s.end]); err == nil {
				err = d.checkJSON()
			}
		case s.eof:
			return d, 0, io.EOF
		}
		switch {
		case err == nil:
			return d, at + len(d.raw), nil
		case !errors.Is(err, errMore):
			return d, 0, s.at(at, fmt.Errorf("after %d bytes: %w", s.used+int64(at), err))
		case s.eof:
			return d, 0, s.at(at, fmt.Errorf("after %d bytes: %w", s.used+int64(at), io.ErrUnexpectedEOF))
		}
		if err := s.more(); err != nil {
			return d, 0, err
		}
	}
}

// isNull reports whether data begins with the JSON value null.
func isNull(data []byte, eof bool) bool {
	rest, ok := bytes.CutPrefix(data, []byte("null"))
	return ok && (len(rest) > 0 && strings.IndexByte(" \t\r\n{", rest[0]) >= 0 || len(rest) == 0 && eof)
}

// checkJSON returns an error for a document that is not valid JSON, if that matters
// already when the catalog is read: it lacks schema, package or name, or it steers
// others.
func (d document) checkJSON() error {
	if (d.schema == "" || d.pkg+d.name == "" || d.steers()) && !json.Valid(d.raw) {
		return errors.New("something else than a JSON object")
	}
	return nil
}

// atMarker reports whether the file goes on with a YAML document marker, or ends after
// only comments.
func (s *splitter) atMarker() bool {
	if !s.eof && s.end-s.start < splitBuffer/2 && s.more() != nil {
		return false
	}
	for line := range bytes.Lines(s.window()) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return bytes.HasPrefix(line, []byte("---"))
		}
	}
	return s.eof
}

// splitYAML splits at document markers. A line that begins with "---" is always
// one, because YAML forbids it within scalars (1.2.2, section 9.1.2).
func (s *splitter) splitYAML(emit func(document) error) (broken, err error) {
	for {
		size, err := s.nextYAML()
		if errors.Is(err, io.EOF) {
			return broken, nil
		}
		if err == nil && !isBlank(s.buf[s.start:s.start+size]) {
			var d document
			if d, err = metaYAML(s.buf[s.start : s.start+size]); err == nil {
				if err := emit(d); err != nil {
					return broken, err
				}
			}
		}
		if errors.Is(err, errNoDocument) {
			err = nil
		}
		if broken == nil && err != nil {
			broken = s.at(0, err)
		}
		if s.failed != nil {
			return broken, s.failed
		}
		s.use(size)
	}
}

func metaYAML(chunk []byte) (document, error) {
	if d, ok := peekYAML(chunk); ok && !d.steers() {
		return d, nil
	}
	return decodeMeta(chunk)
}

// steers reports whether a document changes the meaning of others, as package, channel
// and deprecations do: an unreadable one is an error for the whole catalog. Bundles,
// which are most documents, are checked only when their package is read.
func (d document) steers() bool {
	return d.schema == schemaPackage || d.schema == schemaChannel || d.schema == schemaDeprecations
}

// errNoDocument is the error for a YAML document without content.
var errNoDocument = errors.New("an empty document")

// nextYAML returns the size in bytes of the next document, io.EOF at the end. A
// document beyond the size limit is skipped, with an error.
func (s *splitter) nextYAML() (int, error) {
	var tooLarge error
	for from := 0; ; {
		at, found := marker(s.window(), from)
		if found && (s.eof || s.start+at+4 <= s.end) {
			return at, tooLarge
		}
		if s.eof {
			if s.start == s.end && tooLarge == nil {
				return 0, io.EOF
			}
			return s.end - s.start, tooLarge
		}
		if tooLarge != nil {
			s.use(max(0, s.end-s.start-4))
		}
		from = max(0, s.end-s.start-4)
		if err := s.more(); err != nil {
			if s.failed != nil {
				return 0, err
			}
			tooLarge, from = err, 0
		}
	}
}

// marker returns the position of the first line after from that is a document marker;
// false if there is none. The first line of data is never one.
func marker(data []byte, from int) (int, bool) {
	for at := from; ; {
		i := bytes.Index(data[at:], []byte("\n---"))
		if i < 0 {
			return 0, false
		}
		at += i + 1
		if end := at + 3; end == len(data) || strings.IndexByte(" \t\r\n", data[end]) >= 0 {
			return at, true
		}
	}
}
