package catalog

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// splitAll returns the documents of a file as text, and what was broken.
func splitAll(s *splitter, r io.Reader) (docs []string, broken, err error) {
	broken, err = s.split(r, func(d document) error {
		docs = append(docs, fmt.Sprintf("%s/%s/%s %d", d.schema, d.pkg, d.name, len(strings.TrimSpace(string(d.raw)))))
		return nil
	})
	return docs, broken, err
}

func TestDocumentsAreToldApartHoweverTheFileIsCut(t *testing.T) {
	object := `{"schema":"olm.package","name":"a"}`
	tests := []struct {
		name, text string
		docs       int
		broken     string
	}{
		{"nothing", "", 0, ""},
		{"blanks", " \n\n", 0, ""},
		{"objects", object + object + "\n" + object, 3, ""},
		{"objects between markers", object + "\n---\n" + object, 2, ""},
		{"objects, a comment, a marker", object + "\n# c\n---\n" + object, 2, ""},
		{"an object and a comment", object + "\n# c", 1, ""},
		{"an object and half of one", object + `{"schema":"olm`, 1, "line 1: after 35 bytes: unexpected EOF"},
		{"two glued together", object + "}" + object, 1, "after 35 bytes: something else than a JSON object"},
		{"two glued in YAML", "schema: a\nname: b\nschema: c\nname: d\n---\nschema: e\nname: f\n", 1, "key \"schema\" is set twice"},
		{"an object and text", object + "text", 1, "something else"},
		{"objects and nothing", object + "\nnull\n" + object + " null", 2, ""},
		{"documents that say nothing", "null\n---\n~\n---\nschema: a\nname: b\n---\nnull", 1, ""},
		{"a word that begins as nothing", object + "nullable", 1, "line 1: after 35 bytes: something else than a JSON object"},
		{"an error far down", object + "\n\n" + object + "\n{x", 2, "line 4: "},
		{"a channel of which JSON cannot be read", object + "\n" + `{"schema":"olm.channel","package":"a","name":"b","entries":[,]}`, 1, "line 2: after 36 bytes: something else"},
		{"a channel that cannot be read", "schema: a\nname: b\n---\n# c\nschema: olm.channel\npackage: a\nname: c\nentries: [\n", 1, "line 8: "},
		{"text", "text", 0, "no mapping"},
		{"binary", "\x00\x01\x02\xff", 0, "control characters"},
		{"a list", "- a\n- b\n", 0, "no mapping"},
		{"flow mappings", "{schema: a, name: b}\n---\n{schema: a, name: c}", 2, ""},
		{"a mark at the beginning", "\ufeff" + object, 1, ""},
		{"markers only", "---\n---\n---", 0, ""},
		{"a marker in a scalar's line", "schema: a\nname: b\nx: |\n  ---\n  y\n", 1, ""},
		{"more dashes than a marker", "schema: a\nname: b\n----\n", 1, ""},
		{"a broken one among others", "schema: a\nname: b\n---\nfoo: [\n---\nschema: a\nname: c\n", 2, "line 4: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			docs, broken, err := splitAll(newSplitter(), strings.NewReader(test.text))
			if err != nil || len(docs) != test.docs {
				t.Errorf("got %q, %v", docs, err)
			}
			if test.broken == "" && broken != nil || test.broken != "" && (broken == nil || !strings.Contains(broken.Error(), test.broken)) {
				t.Errorf("got %v, want %q", broken, test.broken)
			}
			small := newSplitter()
			small.buf = make([]byte, 1)
			again, brokenAgain, err := splitAll(small, iotest.OneByteReader(strings.NewReader(test.text)))
			if fmt.Sprint(again, brokenAgain, err) != fmt.Sprint(docs, broken, nil) {
				t.Errorf("byte by byte: %q, %v, %v", again, brokenAgain, err)
			}
		})
	}
}

func TestADocumentBeyondTheCapIsBrokenAndNotHeld(t *testing.T) {
	huge := strings.Repeat("y: abcdefgh\n", 1<<15)
	after := "---\nschema: a\nname: c\n"
	s := newSplitter()
	s.most = 64 << 10
	s.buf = make([]byte, 1<<10)
	docs, broken, err := splitAll(s, strings.NewReader("schema: a\nname: b\n---\n"+huge+after))
	if err != nil || len(docs) != 2 || broken == nil || !strings.Contains(broken.Error(), "a document of more than") {
		t.Errorf("got %q, %v, %v", docs, broken, err)
	}
	if len(s.buf) > 4*s.most {
		t.Errorf("held %d bytes", len(s.buf))
	}
	docs, broken, err = splitAll(s, strings.NewReader(`{"schema":"a","name":"b"}{"x":"`+huge+`"}`))
	if err != nil || len(docs) != 1 || broken == nil || !strings.Contains(broken.Error(), "after 25 bytes: a document of more than") {
		t.Errorf("got %q, %v, %v", docs, broken, err)
	}
}

func TestAnErrorOfReadingIsNoBrokenDocument(t *testing.T) {
	lost := errors.New("connection lost")
	for _, text := range []string{"", "schema: a\nname: b\n", "schema: a\n---\nname: b\n---\n", `{"schema":"a","name":"b"}`, `{"schema":`} {
		_, broken, err := splitAll(newSplitter(), io.MultiReader(strings.NewReader(text), iotest.ErrReader(lost)))
		if !errors.Is(err, lost) {
			t.Errorf("%q: got %v, %v", text, broken, err)
		}
	}
	stop := errors.New("stop")
	_, err := newSplitter().split(strings.NewReader(mongodbCatalog()), func(document) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(mongodbCatalog()), uint8(3))
	f.Add([]byte(`{"schema":"olm.package","name":"a\"}"}{"a":[{}]}`+"\n---\nx: y"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		docs, broken, err := splitAll(newSplitter(), strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		small := newSplitter()
		small.buf = make([]byte, 1+int(size))
		again, brokenAgain, err := splitAll(small, iotest.HalfReader(strings.NewReader(string(data))))
		if fmt.Sprint(docs, broken) != fmt.Sprint(again, brokenAgain) || err != nil {
			t.Errorf("whole: %q %v\nin parts: %q %v %v", docs, broken, again, brokenAgain, err)
		}
	})
}
