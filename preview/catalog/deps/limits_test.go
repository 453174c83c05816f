package deps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// pigeons is a catalog where n+1 packages, all required, have n APIs to choose from:
// each version of a package provides another one. It has no solution, and no short way
// to find that out is known to solvers of this kind.
func pigeons(t testing.TB, n int) Problem {
	t.Helper()
	var list []bundle
	var required []catalog.Property
	for i := range n + 1 {
		name := fmt.Sprintf("pigeon%d", i)
		required = append(required, needsPackage(name, ">0.0.0"))
		for hole := range n {
			list = append(list, bundle{pkg: name, version: fmt.Sprintf("1.%d.0", hole), properties: []catalog.Property{provides(fmt.Sprintf("Hole%d", hole))}})
		}
	}
	return Problem{Root: root(required...), Sources: sources(published(t, "cat", list...))}
}

func TestAHardProblemEndsInOneSentence(t *testing.T) {
	encoded := func(t *testing.T) *formula {
		t.Helper()
		u, err := explore(context.Background(), pigeons(t, 14))
		if err != nil {
			t.Fatal(err)
		}
		f, err := encode(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	t.Run("when its time is over", func(t *testing.T) {
		f := encoded(t)
		f.deadline = time.Now()
		if _, err := f.prefer(context.Background()); !errors.Is(err, errBudget) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("when it is cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if _, err := encoded(t).prefer(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestASmallOneOfThatKindIsExplained(t *testing.T) {
	mustFail(t, pigeons(t, 4), "API x.example/v1/Hole3 can have one provider only")
}

func TestALongChainIsNotTooDeep(t *testing.T) {
	const length = 1000
	var list []bundle
	for i := range length {
		b := bundle{pkg: fmt.Sprintf("p%04d", i), version: "1.0.0"}
		if i+1 < length {
			b.properties = []catalog.Property{needsPackage(fmt.Sprintf("p%04d", i+1), "1.0.0")}
		}
		list = append(list, b)
	}
	s := mustSolve(t, Problem{Root: root(needsPackage("p0000", "1.0.0")), Sources: sources(published(t, "cat", list...))})
	if len(s.Packages) != length+1 || s.Packages[0].Package != "p0999" {
		t.Errorf("%d packages, the first is %s", len(s.Packages), s.Packages[0].Package)
	}
}

// Every version of one package conflicts with something that every version of
// another needs: stepping back one choice at a time would never end.
func TestManyVersionsThatAllFailAreNotTriedOneByOne(t *testing.T) {
	var list []bundle
	var required []catalog.Property
	for p := range 20 {
		name := fmt.Sprintf("p%02d", p)
		required = append(required, needsPackage(name, ">0.0.0"))
		for v := range 30 {
			b := bundle{pkg: name, version: fmt.Sprintf("1.%d.0", v)}
			switch p {
			case 0:
				b.properties = []catalog.Property{needsPackage("shared", "1.0.0")}
			case 19:
				b.properties = []catalog.Property{needsPackage("shared", "2.0.0")}
			}
			list = append(list, b)
		}
	}
	list = append(list, bundle{pkg: "shared", version: "1.0.0"}, bundle{pkg: "shared", version: "2.0.0"})
	_, err := Solve(context.Background(), Problem{Root: root(required...), Sources: sources(published(t, "cat", list...))})
	var unsatisfiable *Unsatisfiable
	if !errors.As(err, &unsatisfiable) || len(unsatisfiable.Constraints) != 5 {
		t.Fatalf("got %v", err)
	}
	if want := "p00 1.29.0, 1.28.0, 1.27.0, 1.26.0, 1.25.0 and 25 more require package shared 1.0.0"; !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
