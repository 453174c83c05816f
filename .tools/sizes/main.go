// The program sizes prints what a program is linked with, as two Markdown tables: the code
// of each module, and what each module that is imported directly brings along by itself.
//
//	sizes PROGRAM PACKAGE
//
// PROGRAM is one that was built from PACKAGE with its symbols.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// pkg is a package as "go list" describes it.
type pkg struct {
	ImportPath string
	Imports    []string
	Module     *struct {
		Path string
		Main bool
	}
}

// module returns the module of a package: "std" for the standard library.
func (p *pkg) module() string {
	if p == nil || p.Module == nil {
		return "std"
	}
	return p.Module.Path
}

func (p *pkg) own() bool { return p != nil && p.Module != nil && p.Module.Main }

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sizes PROGRAM PACKAGE")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, program, root string) error {
	list, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Module", root).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	packages, err := decode(bytes.NewReader(list))
	if err != nil {
		return err
	}
	symbols, err := exec.Command("go", "tool", "nm", "-size", program).Output()
	if err != nil {
		return fmt.Errorf("go tool nm: %w", err)
	}
	code := codeOf(bytes.NewReader(symbols))
	if len(code) == 0 {
		return errors.New(program + " has no symbols; build it without -ldflags=-s")
	}
	g := &graph{packages: packages, code: code}
	g.modules(w)
	g.direct(w)
	return nil
}

func decode(r io.Reader) (map[string]*pkg, error) {
	packages := map[string]*pkg{}
	for d := json.NewDecoder(r); ; {
		p := &pkg{}
		switch err := d.Decode(p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, err
		}
		packages[p.ImportPath] = p
	}
}

// codeOf adds up the code of each package, by the lines of "go tool nm -size".
func codeOf(r io.Reader) map[string]int {
	code := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20) // names of generic functions are long
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || f[2] != "T" && f[2] != "t" {
			continue
		}
		if size, err := strconv.Atoi(f[1]); err == nil {
			code[packageOf(f[3])] += size
		}
	}
	return code
}

// packageOf returns the package of a symbol.
func packageOf(symbol string) string {
	for _, prefix := range []string{"type:.eq.", "type:.hash."} {
		symbol = strings.TrimPrefix(symbol, prefix)
	}
	symbol, _, _ = strings.Cut(symbol, "[")
	dir, last := "", symbol
	if i := strings.LastIndex(symbol, "/"); i >= 0 {
		dir, last = symbol[:i+1], symbol[i+1:]
	}
	last, _, _ = strings.Cut(last, ".")
	return strings.ReplaceAll(dir+last, "%2e", ".")
}

// graph is the packages of a program, with the code of each.
type graph struct {
	packages map[string]*pkg
	code     map[string]int
}

// modules prints the code of each module of more than a hundredth, and of the rest.
func (g *graph) modules(w io.Writer) {
	sums, all := map[string]int{}, 0
	for name, size := range g.code {
		sums[g.packages[name].module()] += size
		all += size
	}
	fmt.Fprintf(w, "| module | code, MB | %% |\n| --- | ---: | ---: |\n")
	rest, few := all, 0
	for _, name := range bySize(sums) {
		if sums[name]*100 < all {
			break
		}
		fmt.Fprintf(w, "| %s | %.2f | %.1f |\n", name, mb(sums[name]), percent(sums[name], all))
		rest, few = rest-sums[name], few+1
	}
	fmt.Fprintf(w, "| %d others | %.2f | %.1f |\n| all | %.2f | 100 |\n\n", len(sums)-few, mb(rest), percent(rest, all), mb(all))
}

// direct prints, for each module that packages of our own import, the code that would go
// without it: packages that nothing else imports.
func (g *graph) direct(w io.Writer) {
	whole, users := g.reached(""), map[string][]string{}
	for name := range whole {
		if p := g.packages[name]; p.own() {
			for _, to := range p.Imports {
				if m := g.packages[to].module(); m != "std" && !g.packages[to].own() && !slices.Contains(users[m], name) {
					users[m] = append(users[m], name)
				}
			}
		}
	}
	alone := map[string]int{}
	for m := range users {
		left := g.reached(m)
		for name := range whole {
			if !left[name] {
				alone[m] += g.code[name]
			}
		}
	}
	fmt.Fprintf(w, "| module | code that it alone leads to, MB | imported by |\n| --- | ---: | --- |\n")
	for _, m := range bySize(alone) {
		if alone[m] < 100_000 {
			break
		}
		slices.Sort(users[m])
		shown := users[m][:min(3, len(users[m]))]
		for i := range shown {
			shown[i] = strings.TrimPrefix(shown[i], "github.com/kubectl-operator/kubectl-operator/")
		}
		more := ""
		if n := len(users[m]) - len(shown); n > 0 {
			more = fmt.Sprintf(" and %d others", n)
		}
		fmt.Fprintf(w, "| %s | %.2f | %s%s |\n", m, mb(alone[m]), strings.Join(shown, ", "), more)
	}
}

// reached returns the packages that our own lead to where they import nothing of a module.
func (g *graph) reached(without string) map[string]bool {
	seen := map[string]bool{}
	var todo []string
	for name, p := range g.packages {
		if p.own() {
			todo = append(todo, name)
		}
	}
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, to := range g.packages[name].Imports {
			if p := g.packages[to]; p != nil && (!g.packages[name].own() || p.module() != without) {
				todo = append(todo, to)
			}
		}
	}
	return seen
}

func bySize(sums map[string]int) []string {
	return slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b))
	})
}

func mb(size int) float64 { return float64(size) / 1e6 }

func percent(size, of int) float64 { return 100 * float64(size) / float64(of) }
