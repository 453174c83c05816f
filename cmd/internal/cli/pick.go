package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/pick"
)

// pick asks the user to choose a package from the catalogs, and returns its
// name. Its channel and version are set as if flags had given them. unknown is the name
// that was asked for and that no catalog has; nil where none was.
func (p *session) pick(ctx context.Context, unknown *catalog.UnknownPackageError) (string, error) {
	picks := picker{session: p}
	if unknown != nil {
		picks.unknown = *unknown
	}
	choose := picks.onScreen
	if p.app.streams.Lines() {
		choose = picks.byLines
	}
	picked, err := choose(ctx)
	if err != nil {
		return "", err
	}
	if picked.Hit == nil {
		p.app.streams.Printf("Nothing was applied.\n")
		return "", &silentExit{exitDeclined}
	}
	if picks.several(picked.Hit.Package) {
		p.Selection.Catalogs, p.Selection.CatalogSource, p.Selection.Selector = []string{picked.Hit.Catalog.Reference}, "", ref.Selector{}
	}
	if picked.Version != "" {
		p.Selection.Version, p.Selection.Channel = picked.Version, picked.Channel
	}
	return picked.Hit.Package, nil
}

// picker reads the catalogs, and holds the packages that the user chooses from.
type picker struct {
	session  *session
	catalogs []*catalog.Catalog
	hits     []catalog.Hit
	unknown  catalog.UnknownPackageError // the zero value where no name was asked for
}

func (p *picker) load(ctx context.Context, progress func(string)) ([]catalog.Hit, error) {
	p.session.waiting = progress
	r, err := p.session.Resolver(progress)
	if err != nil {
		return nil, err
	}
	if p.catalogs, err = r.CatalogsFor(ctx, p.session.Selection); err != nil {
		return nil, err
	}
	progress("listing the packages")
	p.hits = catalog.Search(p.catalogs, "")
	return p.hits, checkHits(p.hits)
}

// checkHits returns an error that says why, if there is no package to choose.
func checkHits(hits []catalog.Hit) error {
	why := ""
	for _, h := range hits {
		if h.Package != "" {
			return nil
		}
		why += "\ncatalog " + textsafe.Clip(h.Catalog.Reference, 80) + ": " + textsafe.Clip(h.Problem, 120)
	}
	return errors.New("the catalogs hold no package to choose from" + why)
}

// several reports whether more than one catalog has the package with that name.
func (p *picker) several(name string) bool {
	n := 0
	for _, h := range p.hits {
		if h.Package == name {
			n++
		}
	}
	return n > 1
}

func (p *picker) byLines(ctx context.Context) (pick.Choice, error) {
	hits, err := p.load(ctx, p.session.app.progress())
	if err != nil {
		return pick.Choice{}, err
	}
	q := question{ctx: ctx, in: p.session.app.streams.In, app: p.session.app}
	if p.unknown.Package != "" {
		p.session.app.streams.Printf("%s\n", textsafe.Block(p.unknown.Error()))
	}
	hit, err := q.choose(hits, p.unknown.Package)
	return pick.Choice{Hit: &hit}, err
}

func (p *picker) onScreen(ctx context.Context) (pick.Choice, error) {
	var asked []string
	for _, flag := range [][2]string{{"--version", p.session.Selection.Version}, {"--channel", p.session.Selection.Channel}} {
		if flag[1] != "" {
			asked = append(asked, flag[0]+" "+flag[1])
		}
	}
	return tui.Pick(ctx, pick.Options{
		Terminal: p.session.app.terminal(), Title: "install", Asked: strings.Join(asked, " "),
		Unknown: p.unknown.Package, Nearest: p.unknown.Nearest,
		Load: p.load,
		Package: func(_ context.Context, hit catalog.Hit) (*catalog.Package, error) {
			for _, c := range p.catalogs {
				if o := c.Origin(); o.Reference == hit.Catalog.Reference && o.Digest == hit.Catalog.Digest {
					return c.Package(hit.Package)
				}
			}
			return nil, fmt.Errorf("catalog %s is not open any more", hit.Catalog.Reference)
		},
	})
}

// maxListed is how many packages are listed at once; the user types a part of a
// name to see fewer.
const maxListed = 40

// question prints a list of packages, and asks for one of them in lines.
type question struct {
	ctx context.Context
	in  io.Reader
	app *app
}

// choose prints packages and asks until the user has chosen one of them. An
// empty answer cancels. The list begins with what the word finds, if that is anything.
func (q *question) choose(all []catalog.Hit, word string) (catalog.Hit, error) {
	var packages []catalog.Hit
	for _, h := range all {
		if h.Package == "" {
			q.app.streams.Printf("catalog %s: %s\n", textsafe.Clip(h.Catalog.Reference, 80), textsafe.Clip(h.Problem, 120))
			continue
		}
		packages = append(packages, h)
	}
	listed := packages
	if found := matchAnswer(nil, packages, word); word != "" && len(found) > 0 {
		listed = found
	}
	if err := q.list(listed); err != nil {
		return catalog.Hit{}, err
	}
	prompter := frame.NewPrompter(q.in, q.app.streams.Human())
	for {
		answer, _, err := prompter.Ask(q.ctx, "Which package? A number, a name or a part of one; an empty line quits: ")
		if err != nil {
			return catalog.Hit{}, err
		}
		if answer = strings.TrimSpace(answer); answer == "" {
			q.app.streams.Printf("Nothing was applied.\n")
			return catalog.Hit{}, &silentExit{exitDeclined}
		}
		found := matchAnswer(listed, packages, answer)
		switch {
		case len(found) == 0:
			q.app.streams.Printf("No package is called that.\n")
		case len(found) == 1 && found[0].Problem != "":
			q.app.streams.Printf("%s cannot be installed: %s\n", textsafe.Clip(found[0].Package, 80), textsafe.Clip(found[0].Problem, 120))
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

// matchAnswer returns the packages that an answer selects: the one with that number in
// the list, else the one with that name, else all whose name or description contains it.
func matchAnswer(listed, all []catalog.Hit, answer string) []catalog.Hit {
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
		row := []string{fmt.Sprintf("%3d", i+1), textsafe.Clip(h.Package, 40), textsafe.Clip(h.Version, 24), textsafe.Clip(h.DefaultChannel, 20), textsafe.Clip(h.Remark(), q.descriptionWidth())}
		if several {
			row = slices.Insert(row, 4, textsafe.Clip(h.Catalog.Reference, 40))
		}
		rows = append(rows, row)
	}
	if err := streams.Table(q.app.streams.Human(), rows); err != nil {
		return err
	}
	if n := len(hits) - maxListed; n > 0 {
		q.app.streams.Printf("and %d more; a part of a name narrows the list\n", n)
	}
	return nil
}

// descriptionWidth returns the columns of a line that are left for a description.
func (q *question) descriptionWidth() int { return max(20, q.app.streams.Width()-60) }
