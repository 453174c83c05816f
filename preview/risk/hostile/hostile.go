// Package hostile finds text in objects that may deceive who reads it, such as control
// characters.
package hostile

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// maxLines is the most lines of evidence about one object, maxDepth how deeply nested
// values are searched.
const (
	maxLines = 20
	maxDepth = 128
)

type textWalk struct {
	lines []string
}

func (w *textWalk) add(path, text string) {
	if len(w.lines) < maxLines {
		w.lines = append(w.lines, textsafe.Clip(path, 120)+": "+textsafe.Clip(text, 120))
	}
}

func (w *textWalk) walk(path string, v any, depth int) {
	if depth > maxDepth || len(w.lines) >= maxLines {
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

// Search is a search of the objects of a plan for hostile text. It runs beside the
// judging of other things: it reads each text of the plan once and needs nothing else.
type Search struct {
	found map[string][]string // lines of evidence by the id of the object
	wait  func()
}

// Start starts a search. The objects must not change until Wait has returned.
func Start(objects []preview.Object) *Search {
	s := &Search{found: map[string][]string{}}
	done := tasks.Async(func() error {
		for i := range objects {
			if lines := lines(&objects[i]); len(lines) > 0 {
				s.found[objects[i].ID] = lines
			}
		}
		return nil
	})
	s.wait = sync.OnceFunc(func() {
		if err := <-done; err != nil {
			panic(err) // only a panic of the search is an error
		}
	})
	return s
}

// Wait waits until the search is over.
func (s *Search) Wait() { s.wait() }

// Lines returns a line of evidence for each hostile text in the keys and values of an
// object, and in its id. It waits for the search.
func (s *Search) Lines(o *preview.Object) []string {
	s.Wait()
	return s.found[o.ID]
}

// lines does not search the data of Secrets and ConfigMaps, as it is not shown as text.
func lines(o *preview.Object) []string {
	w := textWalk{}
	if textsafe.Hostile(o.ID) {
		w.add("name", o.ID)
	}
	data := o.Is(preview.KindSecret, preview.KindConfigMap)
	for _, key := range wording.Keys(o.Planned) {
		if data && slices.Contains([]string{"data", "binaryData", "stringData"}, key) {
			continue
		}
		if anyHostile(o.Planned[key], 0) {
			w.walk("."+key, o.Planned[key], 0)
		}
	}
	return w.lines
}

// anyHostile reports whether a value has hostile text. It is a fast first pass without
// paths and order: nearly every object has none, and large ones should cost no more
// than to read them once.
func anyHostile(v any, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case string:
		return textsafe.Hostile(v)
	case map[string]any:
		for key, item := range v {
			if textsafe.Hostile(key) {
				return true
			}
			if text, isText := item.(string); isText { // a call less for most of all values
				if depth < maxDepth && textsafe.Hostile(text) {
					return true
				}
			} else if anyHostile(item, depth+1) {
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
