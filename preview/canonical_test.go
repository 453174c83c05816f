package preview

import (
	"math"
	"strings"
	"testing"
)

func TestCanonicalForm(t *testing.T) {
	for name, c := range map[string]struct {
		in   any
		want string
	}{
		"keys are sorted by UTF-16 code units":          {map[string]any{"€": int64(1), "\r": int64(2), "\ufb33": int64(3), "1": int64(4), "😀": int64(5), "\u0080": int64(6), "ö": int64(7)}, "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"},
		"only what JSON requires is escaped":            {"\u20ac$\u000f\nA'B\"\\\"/<&>", `"€$\u000f\nA'B\"\\\"/<&>"`},
		"integers beyond a double stay exact":           {[]any{int64(9007199254740993), int64(9007199254740992), uint64(math.MaxUint64)}, "[9007199254740993,9007199254740992,18446744073709551615]"},
		"floats follow ECMAScript":                      {[]any{333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001, 1e21, 1e-7}, "[333333333.3333333,1e+30,4.5,0.002,1e-27,1e+21,1e-7]"},
		"negative zero is zero":                         {math.Copysign(0, -1), "0"},
		"literals and nesting":                          {map[string]any{"a": []any{nil, true, false, map[string]any{}}, "b": []any{}}, `{"a":[null,true,false,{}],"b":[]}`},
		"U+2028 needs no escape":                        {"\u2028", "\"\u2028\""},
		"a key that is a prefix of another comes first": {map[string]any{"ab": int64(1), "a": int64(2)}, `{"a":2,"ab":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Canonical(c.in)
			if err != nil || string(got) != c.want {
				t.Fatalf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	for name, in := range map[string]any{
		"not a number":        math.NaN(),
		"infinity":            math.Inf(1),
		"text not in UTF-8":   "\xff",
		"a type without form": struct{}{},
	} {
		t.Run(name+" has no canonical form", func(t *testing.T) {
			if got, err := Canonical(map[string]any{"x": in}); err == nil {
				t.Fatalf("got %s", got)
			}
		})
	}
}

func FuzzDecodeAndCanonical(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n---\nb: [yes, 0x10, 1e3, ~]\n", `{"a":9007199254740993,"b":"\u2028"}`,
		"a: &x [1]\nb: [*x, *x]\n", "<<: {a: 1}\n", "? [1]\n: 2\n", "a: 2020-01-01\n", "!!binary aGk=", "{a: 1, a: 2}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := Decode(data)
		if err != nil {
			return
		}
		for _, doc := range docs {
			canonical, err := Canonical(doc)
			if err != nil {
				if strings.Contains(err.Error(), "UTF-8") {
					continue
				}
				t.Fatalf("decoded but not canonical: %v", err)
			}
			again, err := DecodeJSON(canonical)
			if err != nil {
				t.Fatalf("canonical form does not decode: %v\n%s", err, canonical)
			}
			second, err := Canonical(again)
			if err != nil || string(second) != string(canonical) {
				t.Fatalf("canonical form is not stable: %s / %s (%v)", canonical, second, err)
			}
		}
	})
}
