package review

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

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

// before returns the prefix of a field's text. Closed sets, which no plan
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

func TestSlowHostileTextStaysText(t *testing.T) {
	texts := tuitest.HostileTexts(t)
	step, run := 4, 0
	if slowtest.Short(t) {
		step = 50
	}
	for name, plan := range map[string]func(*testing.T) *preview.Plan{
		"fresh": tuitest.FreshPlan, "upgrade": tuitest.UpgradePlan, "set": setPlan, "settings": func(t *testing.T) *preview.Plan { return settingsPlan(t, 40) },
	} {
		for first := 0; first < len(texts); first += step {
			next := first
			p := plan(t)
			poison{texts[first], func() string { next++; return texts[(next-1)%len(texts)] }}.plan(p)
			// Each size comes in turn: together they take a while.
			harmlessEverywhere(t, fmt.Sprintf("%s from %d", name, first), p, texts[first], tuitest.Sizes[run%len(tuitest.Sizes)])
			run++
		}
	}
}

// harmlessEverywhere goes through every view of a plan.
func harmlessEverywhere(t *testing.T, where string, p *preview.Plan, text string, size [2]int) {
	t.Helper()
	m, c := reviewOf(t, p, size[0], size[1])
	m.Banner = text
	for i, keys := range everyView() {
		tuitest.Drive(m, c, keys...)
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

// FuzzPlanTexts puts any text into every place of a plan and goes through every
// view. Each of the texts it begins with is in TestSlowHostileTextStaysText too.
func FuzzPlanTexts(f *testing.F) {
	for i, text := range tuitest.HostileTexts(f) {
		if slowtest.InSample(i, 5) {
			f.Add(text, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		p := tuitest.FreshPlan(t)
		if which%2 == 1 {
			p = tuitest.UpgradePlan(t)
		}
		poison{text, func() string { return text }}.plan(p)
		harmlessEverywhere(t, "fuzz", p, text, tuitest.Sizes[which/2%3])
	})
}
