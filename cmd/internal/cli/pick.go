package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/tui"
)

// pick asks a person which package of the catalogs to install, and returns its
// name. Where several catalogs have it, the one meant becomes the only one.
func (p *planner) pick(ctx context.Context) (string, error) {
	r, err := p.resolver(p.app.progress())
	if err != nil {
		return "", err
	}
	catalogs, err := r.catalogsFor(ctx, p.resolve)
	if err != nil {
		return "", err
	}
	all := catalog.Search(catalogs, "")
	q := question{ctx: ctx, in: p.app.streams.In, app: p.app}
	hit, err := q.choose(all)
	if err != nil {
		return "", err
	}
	same := func(h catalog.Hit) bool {
		return h.Package == hit.Package && h.Catalog.Reference != hit.Catalog.Reference
	}
	if slices.ContainsFunc(all, same) {
		p.resolve.catalogs, p.resolve.catalogSource, p.resolve.selector = []string{hit.Catalog.Reference}, "", ref.Selector{}
	}
	return hit.Package, nil
}

// maxListed bounds the packages that are listed at once; a part of a name
// narrows the list.
const maxListed = 40

// question is a list that a person chooses from.
type question struct {
	ctx context.Context
	in  io.Reader
	app *app
}

// choose lists packages and asks until the answer is one of them. No answer
// declines.
func (q *question) choose(all []catalog.Hit) (catalog.Hit, error) {
	var packages []catalog.Hit
	for _, h := range all {
		if h.Package == "" {
			q.app.streams.Printf("catalog %s: %s\n", clipped(h.Catalog.Reference, 80), clipped(h.Problem, 120))
			continue
		}
		packages = append(packages, h)
	}
	if len(packages) == 0 {
		return catalog.Hit{}, fmt.Errorf("the catalogs hold no package to choose from")
	}
	listed := packages
	if err := q.list(listed); err != nil {
		return catalog.Hit{}, err
	}
	prompter := tui.NewPrompter(q.in, q.app.streams.Human())
	for {
		answer, _, err := prompter.Ask(q.ctx, "Which one? A number, a name or a part of one; nothing ends here: ")
		if err != nil {
			return catalog.Hit{}, err
		}
		if answer = strings.TrimSpace(answer); answer == "" {
			q.app.streams.Printf("Nothing was applied.\n")
			return catalog.Hit{}, &silentExit{exitDeclined}
		}
		found := narrowed(listed, packages, answer)
		switch {
		case len(found) == 0:
			q.app.streams.Printf("No package is called that.\n")
		case len(found) == 1 && found[0].Problem != "":
			q.app.streams.Printf("%s cannot be installed: %s\n", clipped(found[0].Package, 80), clipped(found[0].Problem, 120))
		case len(found) == 1:
			return found[0], nil
		default:
			listed = found
			if err := q.list(listed); err != nil {
				return catalog.Hit{}, err
			}
		}
	}
}

// narrowed is what an answer means: one of those listed by its number, else a
// package by its name, else all whose name or description hold it.
func narrowed(listed, all []catalog.Hit, answer string) []catalog.Hit {
	if n, err := strconv.Atoi(answer); err == nil {
		if n >= 1 && n <= min(len(listed), maxListed) {
			return listed[n-1 : n]
		}
		return nil
	}
	answer = strings.ToLower(answer)
	var named, holding []catalog.Hit
	for _, h := range all {
		if h.Package == answer {
			named = append(named, h)
		}
		if strings.Contains(h.Package, answer) || strings.Contains(strings.ToLower(h.Description), answer) {
			holding = append(holding, h)
		}
	}
	if len(named) > 0 {
		return named // several when catalogs share the name: then a number decides
	}
	return holding
}

func (q *question) list(hits []catalog.Hit) error {
	several := slices.ContainsFunc(hits, func(h catalog.Hit) bool { return h.Catalog.Reference != hits[0].Catalog.Reference })
	head := []string{"", "PACKAGE", "VERSION", "CHANNEL", "DESCRIPTION"}
	if several {
		head = slices.Insert(head, 4, "CATALOG")
	}
	rows := [][]string{head}
	for i, h := range hits[:min(len(hits), maxListed)] {
		row := []string{fmt.Sprintf("%3d", i+1), clipped(h.Package, 40), clipped(h.Version, 24), clipped(h.DefaultChannel, 20), clipped(hitNote(h), q.room())}
		if several {
			row = slices.Insert(row, 4, clipped(h.Catalog.Reference, 40))
		}
		rows = append(rows, row)
	}
	if err := table(q.app.streams.Human(), rows); err != nil {
		return err
	}
	if n := len(hits) - maxListed; n > 0 {
		q.app.streams.Printf("and %d more; a part of a name narrows the list\n", n)
	}
	return nil
}

// room is what a line has for a description.
func (q *question) room() int { return max(20, q.app.streams.Width()-60) }
