package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

func pickFrom(ctx context.Context, t *testing.T, in io.Reader, hits []catalog.Hit) (catalog.Hit, string, error) {
	t.Helper()
	o := testOptions(t)
	a := newApp(o)
	hit, err := (&question{ctx: ctx, in: in, app: a}).choose(hits, "")
	if flushed := a.streams.Flush(); flushed != nil {
		t.Fatal(flushed)
	}
	return hit, contents(t, o.Out), err
}

func someHits() []catalog.Hit {
	ours, theirs := catalog.Origin{Reference: "./ours"}, catalog.Origin{Reference: "./theirs"}
	return []catalog.Hit{
		{Package: "", Catalog: theirs, Problem: "it changed"},
		{Package: "keda", Version: "2.1.0", DefaultChannel: "alpha", Description: "Event driven scaling", Catalog: ours},
		{Package: "mongodb", Version: "1.11.0", DefaultChannel: "stable", Description: "A \x1b[2Jdatabase", Catalog: ours},
		{Package: "mongodb-kubernetes", Version: "1.3.0", DefaultChannel: "stable", Deprecated: "use mongodb", Catalog: ours},
		{Package: "odd", Problem: "its default channel does not exist", Catalog: ours},
		{Package: "postgres", Version: "5.0.0", DefaultChannel: "v5", Description: "Another database", Catalog: ours},
		{Package: "postgres", Version: "4.9.0", DefaultChannel: "v4", Description: "Another database", Catalog: theirs},
	}
}

func TestPick(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		want        string // PACKAGE VERSION, empty when declined
		said        string
	}{
		{"a number", "2\n", "mongodb 1.11.0", "DESCRIPTION"},
		{"a name, although another begins with it", "mongodb\n", "mongodb 1.11.0", ""},
		{"a part of one name", "ked\n", "keda 2.1.0", ""},
		{"in any case, with spaces around", "  KEDA \n", "keda 2.1.0", ""},
		{"a word of one description", "scaling\n", "keda 2.1.0", ""},
		{"a part of several, then a number of the new list", "base\n2\n", "postgres 5.0.0", "  2  postgres"},
		{"a name in two catalogs, then a number", "postgres\n2\n", "postgres 4.9.0", "./theirs"},
		{"a number that is not listed", "9\nkeda\n", "keda 2.1.0", "No package is called that."},
		{"a number below one", "0\nkeda\n", "keda 2.1.0", "No package is called that."},
		{"what nobody is called", "nosuch\nkeda\n", "keda 2.1.0", "No package is called that."},
		{"one that cannot be used", "odd\nkeda\n", "keda 2.1.0", "odd cannot be installed: its default channel does not exist"},
		{"without a line's end", "keda", "", "Nothing was applied."},
		{"nothing", "\n", "", "Nothing was applied."},
		{"the end of input", "", "", "Nothing was applied."},
		{"nothing after a question", "base\n", "", "Nothing was applied."},
		{"a line that is too long", strings.Repeat("k", 1000) + "\nkeda\n", "keda 2.1.0", "No package is called that."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hit, out, err := pickFrom(t.Context(), t, strings.NewReader(tt.typed), someHits())
			if tt.want == "" {
				if exitCode(err) != exitDeclined || errorText(err, "x", fmt.Sprint(err)) != "" {
					t.Errorf("err = %v, exit code %d", err, exitCode(err))
				}
			} else if got := hit.Package + " " + hit.Version; err != nil || got != tt.want {
				t.Errorf("chose %q, %v; want %q", got, err, tt.want)
			}
			if !strings.Contains(out, tt.said) {
				t.Errorf("it does not say %q:\n%s", tt.said, out)
			}
			if strings.Contains(out, "\x1b") {
				t.Errorf("a catalog writes to the terminal: %q", out)
			}
		})
	}
}

func TestPickReadsNotBeyondTheLine(t *testing.T) {
	in := strings.NewReader("keda\nq")
	if _, _, err := pickFrom(t.Context(), t, in, someHits()); err != nil || in.Len() != 1 {
		t.Errorf("%d bytes are left, want the one that was typed ahead; %v", in.Len(), err)
	}
}

func TestPickFromALongList(t *testing.T) {
	var hits []catalog.Hit
	for i := range 332 {
		hits = append(hits, catalog.Hit{Package: fmt.Sprintf("package-%03d", i), Version: "1.0.0"})
	}
	hit, out, err := pickFrom(t.Context(), t, strings.NewReader("41\npackage-3\n7\n"), hits)
	if err != nil || hit.Package != "package-306" {
		t.Errorf("chose %s, %v", hit.Package, err)
	}
	for _, want := range []string{"and 292 more; a part of a name narrows the list", "No package is called that.", " 40  package-039"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(out, "package-040") {
		t.Error("it lists more than fits")
	}
}

func TestPickEndsWithTheProgram(t *testing.T) {
	silent, end := io.Pipe()
	defer func() { _ = end.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := pickFrom(ctx, t, silent, someHits())
	if !errors.Is(err, context.Canceled) || exitCode(err) != exitDeclined {
		t.Errorf("err = %v", err)
	}
}

func TestPickFromNothing(t *testing.T) {
	err := checkHits([]catalog.Hit{{Problem: "it changed"}})
	if err == nil || exitCode(err) != exitError {
		t.Errorf("err = %v", err)
	}
}

func TestInstallWithoutANameNeedsATerminal(t *testing.T) {
	for _, args := range [][]string{{"install"}, {"install", "--catalog", t.TempDir()}, {"install", "--yes"}, {"install", "--yes", "-o", "json"}} {
		code, stdout, stderr := runMain(t, args...)
		if code != exitError || strings.Contains(stdout, "Which package?") || stderr == "" {
			t.Errorf("%v: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
