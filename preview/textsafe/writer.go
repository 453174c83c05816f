package textsafe

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// sgr are the terminal escape sequences that this program writes itself: reset, bold,
// reverse, and foreground colours that are legible on any background. None of them can
// hide text.
var sgr = [...]string{
	"\x1b[0m", "\x1b[1m", "\x1b[7m", "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[36m",
}

// Writer escapes text like [Block] and writes it to a terminal or log. A character may
// be split between two writes. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	to     io.Writer
	colour bool
	held   []byte // an incomplete character or sequence
	state  escaper
}

// NewWriter returns a writer that escapes all control characters but line breaks.
func NewWriter(to io.Writer) *Writer {
	return &Writer{to: to, state: escaper{newline: "\n", afterEscape: true}}
}

// NewColorWriter returns a writer that does not escape the colour sequences that this
// program itself writes. Untrusted text that contains one can change its own colour,
// which means nothing by itself, but cannot hide.
func NewColorWriter(to io.Writer) *Writer {
	w := NewWriter(to)
	w.colour = true
	return w
}

// ASCII makes the writer spell out everything that is not ASCII, for terminals that
// show nothing else. It returns w, so that it can follow [NewWriter] in one expression.
func (w *Writer) ASCII() *Writer {
	w.state.ascii = true
	return w
}

// Write escapes and writes p. If p ends in the middle of a character, that character
// waits for the next Write or for Flush.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := p
	if len(w.held) > 0 {
		text = append(bytes.Clone(w.held), p...)
	}
	keep := w.incomplete(text)
	held := bytes.Clone(text[len(text)-keep:])
	if err := w.emit(string(text[:len(text)-keep])); err != nil {
		return 0, err
	}
	w.held = held
	return len(p), nil
}

// Flush writes the incomplete character that Write held back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := string(w.held)
	w.held = nil
	return w.emit(held)
}

func (w *Writer) emit(s string) error {
	if s == "" {
		return nil
	}
	e := &w.state
	for s != "" {
		if n := w.sequence(s); n > 0 {
			e.out.WriteString(s[:n])
			s = s[n:]
			continue
		}
		s = s[e.next(s):]
	}
	text := e.out.String()
	// The next chunk goes on in the same column.
	e.column = (e.column + Width(stripSGR(text[e.segment:]))) % tabStop
	e.out.Reset()
	e.segment = 0
	_, err := io.WriteString(w.to, text)
	return err
}

func (w *Writer) sequence(s string) int {
	if !w.colour || s[0] != 0x1b {
		return 0
	}
	for _, seq := range sgr {
		if strings.HasPrefix(s, seq) {
			return len(seq)
		}
	}
	return 0
}

// incomplete returns how many bytes at the end of text may be the beginning of a
// character, of \r\n, or of one of the colour sequences.
func (w *Writer) incomplete(text []byte) int {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		c := text[len(text)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			break
		}
	}
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	if !w.colour {
		return 0
	}
	for n := 1; n <= min(len(text), 4); n++ {
		tail := string(text[len(text)-n:])
		for _, seq := range sgr {
			if len(seq) > n && strings.HasPrefix(seq, tail) {
				return n
			}
		}
	}
	return 0
}

func stripSGR(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	for _, seq := range sgr {
		s = strings.ReplaceAll(s, seq, "")
	}
	return s
}
