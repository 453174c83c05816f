package risk

import (
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// maxHostile is the most lines of evidence about hostile text in one object,
// maxTextDepth how deeply nested values are searched.
const (
	maxHostile   = 20
	maxTextDepth = 128
)

type textWalk struct {
	lines []string
}

func (w *textWalk) add(path, text string) {
	if len(w.lines) < maxHostile {
		w.lines = append(w.lines, textsafe.Truncate(textsafe.Line(path), 120)+": "+textsafe.Truncate(textsafe.Line(text), 120))
	}
}

func (w *textWalk) walk(path string, v any, depth int) {
	if depth > maxTextDepth || len(w.lines) >= maxHostile {
		return
	}
	switch v := v.(type) {
	case string:
		if textsafe.Hostile(v) {
			w.add(path, excerpt(v))
		}
	case map[string]any:
		for _, key := range wording.Keys(v) {
			if textsafe.Hostile(key) {
				w.add(path, key)
			}
			w.walk(path+"."+key, v[key], depth+1)
		}
	case []any:
		for i, item := range v {
			w.walk(path+"["+strconv.Itoa(i)+"]", item, depth+1)
		}
	}
}

// anyHostile reports whether a value has hostile text. It is a fast first pass without
// paths and order: nearly every object has none, and large ones should cost no more
// than to read them once.
func anyHostile(v any, depth int) bool {
	if depth > maxTextDepth {
		return false
	}
	switch v := v.(type) {
	case string:
		return textsafe.Hostile(v)
	case map[string]any:
		for key, item := range v {
			if textsafe.Hostile(key) || anyHostile(item, depth+1) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if anyHostile(item, depth+1) {
				return true
			}
		}
	}
	return false
}

// excerpt returns the first line of a text that has a hostile character, or the whole
// text if none has.
func excerpt(text string) string {
	for line := range strings.Lines(text) {
		if textsafe.Hostile(line) {
			return strings.TrimRight(line, "\n")
		}
	}
	return text
}
