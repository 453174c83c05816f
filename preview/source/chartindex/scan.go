package chartindex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// chartEntriesBytes is how many bytes of an index, the entries of one chart, are kept
// in memory.
const chartEntriesBytes = 64 * bounded.MiB

// errUnusual is the error for an index that is broken or not in the form that programs
// write. It is then decoded as a whole, which shows which of the two it is.
var errUnusual = errors.New("it is not written as programs write an index")

// Read returns the versions of one chart in an index, and keeps no more than these in
// memory: an index lists all versions of all charts, and decoded it takes twenty times
// its size.
func Read(r io.Reader, name string) ([]Version, error) {
	start := &indexStart{r: r}
	buffered := bufio.NewReaderSize(start, 64*bounded.KiB)
	scan := scanBlockIndex
	if head, _ := buffered.Peek(1); len(head) == 1 && head[0] == '{' {
		scan = scanJSONIndex
	}
	versions, err := scan(buffered, name)
	if err == nil && start.failed == nil {
		return versions, nil
	}
	if start.failed == nil && errors.Is(err, errUnusual) {
		if _, err = io.Copy(io.Discard, buffered); err == nil && start.cut {
			return nil, fmt.Errorf("%w, and larger than the %s that are read of another", errUnusual, bounded.ByteCount(preview.MaxDocumentBytes))
		}
		if err == nil {
			return parse(bytes.Join(start.pieces, nil), name)
		}
	}
	if start.failed != nil {
		return nil, start.failed
	}
	return nil, err
}

// indexStart keeps the bytes read of an index, in case it has to be decoded as a whole,
// up to the largest size for that.
type indexStart struct {
	r      io.Reader
	pieces [][]byte
	size   int
	cut    bool
	failed error // of r
}

func (s *indexStart) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	if s.size += n; s.size > preview.MaxDocumentBytes {
		s.cut, s.pieces = true, nil
	}
	if !s.cut && n > 0 {
		s.keep(p[:n])
	}
	return n, err
}

func (s *indexStart) keep(data []byte) {
	last := len(s.pieces) - 1
	if last < 0 || cap(s.pieces[last])-len(s.pieces[last]) < len(data) {
		s.pieces = append(s.pieces, make([]byte, 0, max(bounded.MiB, len(data))))
		last++
	}
	s.pieces[last] = append(s.pieces[last], data...)
}

// blockIndex reads an index line by line, in the form that "helm repo index" and similar
// programs write: keys on their own lines, charts' keys indented equally below
// "entries". Any other form is [errUnusual].
type blockIndex struct {
	name string

	key       string // the top-level key that lines belong to
	depth     int    // of the keys of charts, 0 before the first
	chart     string // that lines belong to
	found     bool   // the chart that is wanted
	entries   bool   // the key was there
	itemDepth int    // of the dashes of the wanted chart, -1 before the first
	item      []byte // lines of the current one
	inItem    bool
	held      int
	versions  []Version
}

func scanBlockIndex(r *bufio.Reader, name string) ([]Version, error) {
	b := &blockIndex{name: name, itemDepth: -1}
	for begins := true; ; {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		var bad error
		switch {
		case len(line) == 0:
		case begins:
			bad = b.line(line)
		case b.inItem: // the rest of a long line
			bad = b.hold(line)
		}
		if bad != nil {
			return nil, bad
		}
		if errors.Is(err, io.EOF) {
			return b.end()
		}
		begins = err == nil
	}
}

func (b *blockIndex) end() ([]Version, error) {
	if err := b.endItem(); err != nil {
		return nil, err
	}
	if !b.found { // a decoder says why
		return nil, errUnusual
	}
	return b.versions, nil
}

// line reads a line, or the beginning of one that is longer than the buffer.
func (b *blockIndex) line(line []byte) error {
	text := bytes.TrimLeft(line, " ")
	depth := len(line) - len(text)
	text = bytes.TrimRight(text, " \r\n")
	switch {
	case len(text) == 0 || text[0] == '#':
		if b.inItem { // it may be part of a text
			return b.hold(line)
		}
		return nil
	case depth == 0:
		return b.top(text)
	case b.key == "":
		return errUnusual
	case b.key != "entries":
		return nil
	}
	if b.depth == 0 {
		b.depth = depth
	}
	dash := text[0] == '-' && (len(text) == 1 || text[1] == ' ')
	switch {
	case depth < b.depth, depth == b.depth && dash && b.chart == "":
		return errUnusual
	case depth == b.depth && !dash:
		return b.startChart(text)
	case b.chart != b.name:
		return nil
	case dash && (b.itemDepth < 0 || depth == b.itemDepth):
		b.itemDepth = depth
		return b.startItem(line, depth)
	case !b.inItem || depth <= b.itemDepth:
		return errUnusual
	}
	return b.hold(line)
}

var indexKey = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*:( |$)`)

// top reads a line that is not indented: a top-level key.
func (b *blockIndex) top(text []byte) error {
	if string(text) == "---" && b.key == "" {
		return nil
	}
	if text[0] == '-' && b.key != "" && b.key != "entries" && (len(text) == 1 || text[1] == ' ') {
		return nil
	}
	if err := b.endItem(); err != nil {
		return err
	}
	if !indexKey.Match(text) {
		return errUnusual
	}
	key, value, _ := bytes.Cut(text, []byte(":"))
	if b.key = string(key); b.key == "entries" {
		if b.entries || len(bytes.TrimSpace(value)) > 0 {
			return errUnusual
		}
		b.entries = true
	}
	b.chart = ""
	return nil
}

var chartKey = lazyregexp.New(`^(?:([A-Za-z0-9._-]+)|"([A-Za-z0-9._-]+)"|'([A-Za-z0-9._-]+)'):(?: (\[\]|\{\}|null))?$`)

// startChart reads the key of a chart.
func (b *blockIndex) startChart(text []byte) error {
	if err := b.endItem(); err != nil {
		return err
	}
	match := chartKey.FindSubmatch(text)
	if match == nil {
		return errUnusual
	}
	b.chart = string(match[1]) + string(match[2]) + string(match[3])
	if b.chart == b.name {
		if b.found || len(match[4]) > 0 {
			return errUnusual
		}
		b.found = true
	}
	return nil
}

func (b *blockIndex) startItem(line []byte, depth int) error {
	if err := b.endItem(); err != nil {
		return err
	}
	b.inItem = true
	if err := b.hold(line); err != nil {
		return err
	}
	b.item[depth] = ' ' // what follows the dash is the first line of a mapping
	return nil
}

func (b *blockIndex) hold(line []byte) error {
	if b.held += len(line); b.held > chartEntriesBytes {
		return fmt.Errorf("it lists more than %s for the chart", bounded.ByteCount(chartEntriesBytes))
	}
	b.item = append(b.item, line...)
	return nil
}

func (b *blockIndex) endItem() error {
	if !b.inItem {
		return nil
	}
	v, err := chartVersionOf(b.item)
	if err != nil {
		return err
	}
	if v != nil {
		b.versions = append(b.versions, *v)
	}
	b.item, b.inItem = b.item[:0], false
	return nil
}

// chartVersionOf reads an entry of a chart, only as far as its version if that is on its
// own line: most entries are used no further. It is nil for an entry to be left out.
func chartVersionOf(item []byte) (*Version, error) {
	if text, ok := peekChartVersion(item); ok {
		v := NewVersion(text)
		if v != nil {
			v.raw = bytes.Clone(item)
		}
		return v, nil
	}
	return decodeVersion(item)
}

// decodeVersion decodes an entry of a chart. One that cannot be decoded by itself,
// since it may refer to an anchor elsewhere in the index, is [errUnusual].
func decodeVersion(item []byte) (*Version, error) {
	docs, err := preview.Decode(item)
	if err != nil || len(docs) > 1 {
		return nil, errUnusual
	}
	var entry map[string]any
	if len(docs) == 1 {
		entry, _ = docs[0].(map[string]any)
	}
	return parseVersion(entry)
}

// plainChartVersion matches versions, whose two dots keep YAML from taking them for a
// number.
var plainChartVersion = lazyregexp.New(`^v?[0-9]+\.[0-9]+\.[0-9]+[-+.0-9A-Za-z]*$`)

// peekChartVersion returns the version in an entry that is a block mapping of plain
// keys; false for another form, and for an entry with the key removed.
func peekChartVersion(item []byte) (string, bool) {
	version, depth := "", -1
	for line := range bytes.Lines(item) {
		text := bytes.TrimLeft(line, " ")
		at := len(line) - len(text)
		text = bytes.TrimRight(text, " \r\n")
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if depth < 0 {
			depth = at
		}
		if at > depth || at == depth && text[0] == '-' {
			continue // below a key
		}
		if at < depth || !indexKey.Match(text) {
			return "", false
		}
		key, value, _ := bytes.Cut(text, []byte(":"))
		switch string(key) {
		case "removed":
			return "", false
		case "version":
			quoted := strings.TrimSpace(string(value))
			if unquoted := strings.Trim(quoted, `"'`); version != "" || !plainChartVersion.MatchString(unquoted) {
				return "", false
			} else if version = unquoted; quoted != version && quoted != `"`+version+`"` && quoted != "'"+version+"'" {
				return "", false
			}
		}
	}
	return version, version != ""
}

// scanJSONIndex returns the versions of one chart in an index in JSON.
func scanJSONIndex(r *bufio.Reader, name string) ([]Version, error) {
	j := &jsonIndex{decoder: json.NewDecoder(r), name: name}
	err := j.members(j.top)
	if err == nil && j.decoder.More() || err == nil && !j.found {
		err = errUnusual
	}
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errUnusual
	}
	return j.versions, err
}

type jsonIndex struct {
	decoder        *json.Decoder
	name           string
	entries, found bool
	raw            json.RawMessage
	versions       []Version
}

func (j *jsonIndex) top(key string) error {
	if key != "entries" {
		return j.skip()
	}
	if j.entries {
		return errUnusual
	}
	j.entries = true
	return j.members(j.chart)
}

func (j *jsonIndex) chart(key string) error {
	if key != j.name {
		return j.skip()
	}
	if j.found {
		return errUnusual
	}
	j.found = true
	return j.list(j.entry)
}

func (j *jsonIndex) entry() error {
	if err := j.decoder.Decode(&j.raw); err != nil {
		return err
	}
	value, err := preview.DecodeJSON(j.raw)
	if err != nil {
		return errUnusual
	}
	entry, _ := value.(map[string]any)
	v, err := parseVersion(entry)
	if v != nil {
		j.versions = append(j.versions, *v)
	}
	return err
}

// members reads a JSON object: it calls value for each key, which has to read the key's
// value.
func (j *jsonIndex) members(value func(key string) error) error {
	if err := j.delim('{'); err != nil {
		return err
	}
	for j.decoder.More() {
		token, err := j.decoder.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return errUnusual
		}
		if err := value(key); err != nil {
			return err
		}
	}
	return j.delim('}')
}

func (j *jsonIndex) list(item func() error) error {
	if err := j.delim('['); err != nil {
		return err
	}
	for j.decoder.More() {
		if err := item(); err != nil {
			return err
		}
	}
	return j.delim(']')
}

func (j *jsonIndex) delim(want json.Delim) error {
	token, err := j.decoder.Token()
	if err == nil && token != want {
		err = errUnusual
	}
	return err
}

// skip reads over a JSON value. A list is skipped item by item, because one chart's can
// be most of the index.
func (j *jsonIndex) skip() error {
	pass := func() error { return j.decoder.Decode(&j.raw) }
	token, err := j.decoder.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		for j.decoder.More() {
			if err := pass(); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		for j.decoder.More() {
			if _, err := j.decoder.Token(); err != nil {
				return err
			}
			if err := pass(); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = j.decoder.Token()
	return err
}
