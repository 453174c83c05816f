package tui

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// hostile is a text that does most of it at once.
const hostile = "a\x1b[2Jb\x1b]52;c;aGk=\x07c\rd\u202ee\u200bf\x9bg\tx\u0301\u0301\u0301\u0301\u0301\u0301界\nnext"

// hostileTexts are those of testdata/hostile.txt by name, and one that is long.
func hostileTexts(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, quoted, _ := strings.Cut(line, ": ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("testdata/hostile.txt: %s: %v", name, err)
		}
		texts = append(texts, text)
	}
	long := strings.Join(texts, "")
	return append(texts, strings.Repeat(long, 10_000/len(long)+1))
}

// poison puts texts before all texts of a plan. Ids of objects get the same
// everywhere, so that what belongs together still does.
type poison struct {
	id   string
	next func() string
}

func (x poison) plan(p *preview.Plan) { x.value(reflect.ValueOf(p).Elem(), "") }

func (x poison) value(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			x.value(v.Elem(), field)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				x.value(v.Field(i), v.Type().Field(i).Name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			x.value(v.Index(i), field)
		}
	case reflect.Map:
		if body, ok := v.Interface().(map[string]any); ok && body != nil {
			x.body(body)
		}
	case reflect.Interface:
		if s, ok := v.Interface().(string); ok {
			v.Set(reflect.ValueOf(x.next() + s))
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(x.before(field) + v.String())
		}
	}
}

// before is what goes before the text of a field. Closed sets, which no plan
// can hold otherwise and on which views depend, get nothing.
func (x poison) before(field string) string {
	switch field {
	case "Kind", "APIVersion", "Change", "Scope", "Op", "Rules", "Platform":
		return ""
	case "ID", "Object", "Objects":
		return x.id
	}
	return x.next()
}

func (x poison) body(body map[string]any) {
	for key, value := range body {
		switch value := value.(type) {
		case string:
			if key != "kind" && key != "apiVersion" {
				body[key] = x.next() + value
			}
		case map[string]any:
			x.body(value)
		case []any:
			for _, item := range value {
				if m, ok := item.(map[string]any); ok {
					x.body(m)
				}
			}
		}
	}
	body[x.next()] = x.next()
}

// everyView are keys that lead through every view, one after the other.
func everyView() [][]any {
	return [][]any{
		{"1"}, {"end"}, {"2"}, {"enter"}, {"end"}, {"esc", "x"}, {"d"}, {"]"}, {"p"}, {"p", "s"}, {"end"}, {"right", "right"}, {"s", "esc", "e"}, {"end", "right"},
		{"esc", "esc", "3"}, {"F", "enter"}, {"end"}, {"esc", "g"}, {"g", "x"}, {"4"}, {"end", "enter"}, {"end"}, {"d"}, {"esc", "e"}, {"right"},
		{"esc", "esc", "5"}, {"enter"}, {"home", "down", "down", "enter"}, {"s"}, {"s", "p", "end"}, {"p", "esc", "end", "enter"}, {"esc", "6"}, {"enter"}, {"end", "y"}, {"Y"}, {"?"}, {"end"},
		{"esc", "/", "x"}, {"enter"}, {"]"}, {"]", "]"}, {"esc", "1", "end"}, {"3", "down", "enter"}, {"end"}, {"esc", "down", "enter"}, {"esc", "down", "down", "enter"}, {"end"}, {"esc", "end", "enter"}, {"esc", "1"},
	}
}

func TestHostileTextStaysText(t *testing.T) {
	texts := hostileTexts(t)
	step, run := 4, 0
	if testing.Short() {
		step = 12
	}
	for name, plan := range map[string]func(*testing.T) *preview.Plan{
		"fresh": freshPlan, "upgrade": upgradePlan, "set": setPlan, "settings": func(t *testing.T) *preview.Plan { return settingsPlan(t, 40) },
	} {
		for first := 0; first < len(texts); first += step {
			next := first
			p := plan(t)
			poison{texts[first], func() string { next++; return texts[(next-1)%len(texts)] }}.plan(p)
			// Each size comes in turn: together they take a while.
			harmlessEverywhere(t, fmt.Sprintf("%s from %d", name, first), p, texts[first], sizes[run%len(sizes)])
			run++
		}
	}
}

// harmlessEverywhere goes through every view of a plan.
func harmlessEverywhere(t *testing.T, where string, p *preview.Plan, text string, size [2]int) {
	t.Helper()
	m, c := reviewOf(t, p, size[0], size[1])
	m.banner = text
	for i, keys := range everyView() {
		drive(m, c, keys...)
		checkHarmless(t, fmt.Sprintf("%s, %v, view %d, after %v", where, size, i, keys), m, size)
	}
	m.screen = screenConfirm
	m.settle()
	for _, err := range []error{nil, errors.New(text)} {
		m.confirm.err = err
		checkHarmless(t, where+", confirm", m, size)
	}
	m.confirm.full = true
	checkHarmless(t, where+", digests", m, size)
}

// checkHarmless asserts, in every variant, that a frame has the window's size
// and holds no control byte but line breaks and our own attributes, and nothing
// invisible; and that what is divided into columns is aligned.
func checkHarmless(t *testing.T, where string, m tea.Model, size [2]int) {
	t.Helper()
	v := m.View()
	checkFrame(t, m, size[0], size[1])
	if textsafe.Hostile(v.WindowTitle) {
		t.Fatalf("%s: hostile window title %q", where, v.WindowTitle)
	}
	for _, opts := range []theme.Options{{}, {Color: true}, {ASCII: true}} {
		content := contentIn(m, opts)
		for _, line := range strings.Split(ansi.Strip(content), "\n") {
			if textsafe.Hostile(line) || strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 }) {
				t.Fatalf("%s: hostile text on screen: %q", where, line)
			}
			if w := ansi.StringWidth(line); w != size[0] {
				t.Fatalf("%s: a line of %d cells, want %d: %q", where, w, size[0], line)
			}
		}
		for _, sequence := range strings.Split(content, "\x1b")[1:] {
			if end := strings.IndexByte(sequence, 'm'); end < 0 || !strings.HasPrefix(sequence, "[") || strings.Trim(sequence[1:end], "0123456789;") != "" {
				t.Fatalf("%s: an escape sequence that is not ours: %.20q", where, sequence)
			}
		}
	}
}

// FuzzPlanTexts puts any text into every place of a plan and goes through every
// view.
func FuzzPlanTexts(f *testing.F) {
	for i, text := range hostileTexts(f) {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		p := freshPlan(t)
		if which%2 == 1 {
			p = upgradePlan(t)
		}
		poison{text, func() string { return text }}.plan(p)
		harmlessEverywhere(t, "fuzz", p, text, sizes[which/2%3])
	})
}
