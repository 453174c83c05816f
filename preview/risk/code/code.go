package code

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Family says what a sign is about. Each rule about code takes the signs of certain
// families.
type Family int

// The families of signs.
const (
	Fetches  Family = iota + 1 // downloads code and runs it
	Attacks                    // does what attackers do: shells for other hosts, credentials, access to the node
	Hides                      // hides from a reader what it does
	Unchecks                   // switches off authentication or TLS checks
)

// Sign is one suspicious pattern that was found in a text.
type Sign struct {
	Family Family
	// What says what the text does, such as "downloads into a shell".
	What string
	// Excerpt is the text that matched, on one line of limited length.
	Excerpt string
	// Strong: the sign counts even in a text that may never be run.
	Strong bool
	// Outside: the text names a host outside of the cluster.
	Outside bool
}

// String returns What and Excerpt on one line.
func (s Sign) String() string {
	if s.Excerpt == "" {
		return s.What
	}
	return s.What + ": " + s.Excerpt
}

const (
	// maxText is the most bytes of a text that are read, maxSigns the most signs that
	// are returned of one text, and maxDepth how often encoded text in encoded text is
	// decoded.
	maxText  = 4 << 20
	maxSigns = 12
	maxDepth = 3
)

// Reader searches the texts of one plan for signs, up to a limit on the work.
type Reader struct {
	left  int                // bytes that may still be compared with patterns
	texts map[string]outcome // of texts and commands, as many objects of a package have the same
}

// outcome is what was found in a text, and the work that it took.
type outcome struct {
	signs []Sign
	work  int
}

// maxWork is the most bytes of a plan's texts that are compared with patterns: hostile
// texts could otherwise take minutes.
const maxWork = 3 << 20

// NewReader returns a reader for the texts of one plan.
func NewReader() *Reader { return &Reader{left: maxWork, texts: map[string]outcome{}} }

// Exhausted reports whether the limit on the work was reached, so that not all texts
// were searched.
func (r *Reader) Exhausted() bool { return r.left <= 0 }

// Command returns the signs in a command of a container, a probe or a hook. variables
// are the container's environment, whose values are put in for $(NAME).
func (r *Reader) Command(words []string, variables map[string]string) []Sign {
	text := strings.Join(words, " ")
	read := func() []Sign {
		in := reading{Reader: r, variables: variables}
		in.read(expand(text, variables), 0)
		in.words(words)
		return in.result()
	}
	if strings.Contains(text, "$") {
		return read() // it may name variables
	}
	return r.once("command\x00"+strings.Join(words, "\x00"), read)
}

// Text returns the signs in a script, or in a text that may be one. Callers must not
// modify them.
func (r *Reader) Text(text string) []Sign {
	return r.once(text, func() []Sign {
		in := reading{Reader: r}
		in.read(text, 0)
		return in.result()
	})
}

// once returns what read returns, which is called for the first of equal texts only. A
// text that was read before counts as work again, so that the limit is reached at the
// same text whether or not it was.
func (r *Reader) once(text string, read func() []Sign) []Sign {
	if known, ok := r.texts[text]; ok && known.work < r.left {
		r.left -= known.work
		return known.signs
	}
	before := r.left
	signs := read()
	if r.left > 0 { // else it was not read to its end
		r.texts[text] = outcome{signs, before - r.left}
	}
	return signs
}

// Script reports whether a text is a script: by its file name, its first line, or lines
// in the syntax of a shell.
func Script(name, text string) bool {
	for _, suffix := range []string{".sh", ".bash", ".zsh", ".ksh", ".py", ".pl", ".rb", ".js", ".mjs", ".php", ".lua", ".ps1", ".psm1", ".bat", ".cmd", ".awk", ".groovy"} {
		if strings.HasSuffix(strings.ToLower(name), suffix) {
			return true
		}
	}
	head := strings.TrimLeft(text, "\ufeff \t\r\n")
	return strings.HasPrefix(head, "#!") || shellLines.MatchString(head)
}

var shellLines = lazyregexp.New(`(?m)^\s*(?:set -[a-zA-Z]*[euxo]|export [A-Za-z_]+=|if \[\[? |while (?:true|:|\[)|for [A-Za-z_]+ in |exec ["$/\w]|(?:apt-get|apk|pip3?|curl|wget|kubectl|chmod|mkdir -p) .*(?:&&|\\|\||;)?$)`)

// reading collects the signs of one text.
type reading struct {
	*Reader
	variables map[string]string
	signs     []Sign
	seen      map[string]bool
}

func (r *reading) result() []Sign {
	slices.SortStableFunc(r.signs, func(a, b Sign) int { return int(a.Family) - int(b.Family) })
	if len(r.signs) > maxSigns {
		return r.signs[:maxSigns]
	}
	return r.signs
}

func (r *reading) add(s Sign) {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	if r.seen[s.What] || len(r.signs) > 4*maxSigns {
		return
	}
	r.seen[s.What] = true
	r.signs = append(r.signs, s)
}

// read adds the signs of a text as written, as a shell would read it without quotes and
// with variables put in, and of the text that is encoded in it.
func (r *reading) read(text string, depth int) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	r.hidden(text)
	lines := withoutComments(text)
	r.match(lines)
	r.left -= len(text) / 64
	if spelled := spell(lines, r.variables); spelled != lines {
		before := len(r.signs)
		r.match(spelled)
		for _, s := range r.signs[before:] {
			if s.Strong && s.Family != Unchecks {
				r.add(Sign{Family: Hides, What: "is spelled so that it is not recognized", Excerpt: s.Excerpt, Strong: true})
				break
			}
		}
	}
	if depth < maxDepth {
		for _, part := range decoded(lines) {
			r.encoded(part, depth)
		}
	}
}

// encoded adds the signs of text that was decoded from base64 or hexadecimal digits.
// Only strong signs are added, as the text may be anything.
func (r *reading) encoded(part blob, depth int) {
	if part.program != "" {
		r.add(Sign{Family: Hides, What: "holds a program (" + part.program + ") as text", Excerpt: Excerpt(part.source), Strong: true})
		return
	}
	inner := reading{Reader: r.Reader, variables: r.variables}
	inner.read(part.text, depth+1)
	for _, s := range inner.signs {
		if s.Strong {
			r.add(s)
			r.add(Sign{Family: Hides, What: "encodes what it does", Excerpt: Excerpt(part.source), Strong: true})
		}
	}
}

// withoutComments returns a text with its lines of shell comments left empty.
func withoutComments(text string) string {
	if !strings.Contains(text, "#") {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, "#") && !strings.HasPrefix(trimmed, "#!") {
			out.WriteByte('\n')
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}

// match adds a sign for each pattern that matches a text. Only lines with one of a
// pattern's anchors are compared with its expression, which is slower.
func (r *reading) match(text string) {
	lower := lowered(text)
	for i := range patterns {
		if p := &patterns[i]; p.anchored(lower) {
			r.matchPattern(p, text, lower)
		}
	}
	r.metadata(text, lower)
}

// lowered returns a text in lower case, with every tab and similar blank as a space.
// Offsets are those of the text.
func lowered(text string) string {
	out := []byte(text)
	for i, c := range out {
		switch {
		case c >= 'A' && c <= 'Z':
			out[i] = c + 'a' - 'A'
		case c == '\t' || c == '\r' || c == '\v' || c == '\f':
			out[i] = ' '
		}
	}
	return string(out)
}

func (p *pattern) anchored(lower string) bool {
	return slices.ContainsFunc(p.anchors, func(a string) bool { return strings.Contains(lower, a) })
}

func (r *reading) matchPattern(p *pattern, text, lower string) {
	last := len(text)
	if p.then != nil {
		r.left -= len(text) / 8
		if last = lastLine(p.then, text); last < 0 {
			return
		}
	}
	for from := 0; from <= last && from < len(text) && r.left > 0; {
		end := lineEnd(text, from)
		if p.anchored(lower[from:end]) {
			r.left -= end - from
			for _, at := range p.re.FindAllStringIndex(text[from:end], -1) {
				at[0], at[1] = at[0]+from, at[1]+from
				if p.then != nil && from == last && !p.then.MatchString(text[at[1]:end]) {
					continue
				}
				s := Sign{Family: p.family, What: p.what, Strong: p.strong}
				if p.check == nil || p.check(text, at, &s) {
					s.Excerpt = excerptAt(text, at[0], at[1])
					r.add(s)
					return
				}
			}
		}
		from = end + 1
	}
}

// lineEnd returns the offset of the end of the line that begins at from.
func lineEnd(text string, from int) int {
	if end := strings.IndexByte(text[from:], '\n'); end >= 0 {
		return from + end
	}
	return len(text)
}

// lastLine returns the offset of the last line that an expression matches, -1 for none.
func lastLine(re *lazyregexp.Regexp, text string) int {
	for end := len(text); end >= 0; {
		from := strings.LastIndexByte(text[:end], '\n') + 1
		if re.MatchString(text[from:end]) {
			return from
		}
		end = from - 1
	}
	return -1
}

// maxSecretText is how many bytes before and after an excerpt are read for a secret that is
// partly in it.
const maxSecretText = 4096

// excerptAt returns an excerpt of the line with a match, beginning at most 24 bytes
// before the match.
func excerptAt(text string, from, to int) string {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	start = max(start, from-24)
	end := strings.IndexByte(text[to:], '\n')
	if end < 0 {
		end = len(text)
	} else {
		end += to
	}
	around := max(0, start-maxSecretText) // a secret may begin before the excerpt
	last := min(end, start+4*maxExcerpt)
	excerpt := preview.MaskExcerpt(text[around:min(end, last+maxSecretText)], start-around, last-around)
	return Excerpt(strings.ToValidUTF8(excerpt, ""))
}
