package textsafe

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestWriterEscapesWhateverTheChunks(t *testing.T) {
	in := "name\tvalue\r\n日\tx\x1b[31m red \x1b[8mhidden\x1b[0m \u202E end \xff\xe6"
	for _, tt := range []struct {
		name   string
		create func(*strings.Builder) *Writer
		want   string
	}{
		{"without colour no sequence passes",
			func(b *strings.Builder) *Writer { return NewWriter(b) },
			"name    value\n日      x\\x1b[31m red \\x1b[8mhidden\\x1b[0m <U+202E> end \\xff\\xe6"},
		{"with colour only our own sequences pass",
			func(b *strings.Builder) *Writer { return NewColorWriter(b) },
			"name    value\n日      x\x1b[31m red \\x1b[8mhidden\x1b[0m <U+202E> end \\xff\\xe6"},
	} {
		for size := 1; size <= len(in); size++ {
			t.Run(fmt.Sprintf("%s/%d", tt.name, size), func(t *testing.T) {
				var out strings.Builder
				w := tt.create(&out)
				for rest := in; rest != ""; {
					n := min(size, len(rest))
					if got, err := w.Write([]byte(rest[:n])); got != n || err != nil {
						t.Fatalf("Write = %d, %v", got, err)
					}
					rest = rest[n:]
				}
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				if out.String() != tt.want {
					t.Errorf("wrote %q, want %q", out.String(), tt.want)
				}
			})
		}
	}
}

func TestASCIIWriterWritesNothingElse(t *testing.T) {
	var out strings.Builder
	if _, err := NewWriter(&out).ASCII().Write([]byte("cut… größe a␤b\n")); err != nil {
		t.Fatal(err)
	}
	if want := "cut... gr<U+00F6><U+00DF>e a\\nb\n"; out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

type brokenPipe struct{}

var errPipe = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func TestWriterReportsWhatTheTerminalReports(t *testing.T) {
	if _, err := NewWriter(brokenPipe{}).Write([]byte("x")); !errors.Is(err, errPipe) {
		t.Errorf("err = %v, want %v", err, errPipe)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[31m\r", "\nb\xe6", true)
	f.Fuzz(func(t *testing.T, a, b string, colour bool) {
		var parts, whole strings.Builder
		create := NewWriter
		if colour {
			create = NewColorWriter
		}
		w, v := create(&parts), create(&whole)
		for _, s := range []string{a, b} {
			if _, err := w.Write([]byte(s)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := v.Write([]byte(a + b)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Flush(), v.Flush()); err != nil {
			t.Fatal(err)
		}
		if parts.String() != whole.String() {
			t.Errorf("chunks matter: %q and %q", parts.String(), whole.String())
		}
		if got := strings.ReplaceAll(stripSGR(parts.String()), "\n", ""); strings.ContainsFunc(got, notPrintable) {
			t.Errorf("wrote %q", got)
		}
	})
}
