package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// Part is content that becomes a directory of composed content.
type Part struct {
	Name        string // for messages: the reference
	FS          fs.FS
	Files       map[string]string // in place of FS: files by their paths
	Subdir      string            // what is taken of it; empty is all
	Destination string            // where it goes to; empty is the root
	Over        bool              // its files replace files of the parts before it
}

// Compose returns content with each part at its destination. A file in two parts, or a
// file in place of a directory, is an error, because the result would depend on the
// order.
func Compose(parts ...Part) (fs.FS, error) {
	l := filetree.DefaultLimits()
	left := filetree.Budget{Limits: l.Catalog}
	t := filetree.New()
	from := map[*filetree.Node]string{}
	for _, p := range parts {
		at, err := l.CleanPath(p.Destination)
		if err != nil {
			return nil, fmt.Errorf("%s: its destination: %w", p.Name, err)
		}
		files := p.FS
		if p.Files != nil {
			files = filesOf(p.Files)
		}
		if p.Subdir != "" {
			if info, err := fs.Stat(p.FS, p.Subdir); err != nil || !info.IsDir() {
				return nil, fmt.Errorf("%s: it has no directory %s", p.Name, bounded.Quote(p.Subdir))
			}
			if files, err = fs.Sub(p.FS, p.Subdir); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
		err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			to := path.Join(at, name)
			if err := errors.Join(l.CheckPath(to), left.Take(to, int64(len(data)))); err != nil {
				return err
			}
			if other := from[t.InTheWay(to)]; other != "" && !p.Over {
				return fmt.Errorf("%s exists already, from %s; give each source a different destination", bounded.Quote(to), other)
			}
			t.Put(to, data, 0)
			from[t.Find(to)] = p.Name
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return t.Freeze(), nil
}

func filesOf(files map[string]string) fs.FS {
	t := filetree.New()
	for name, text := range files {
		t.Put(name, []byte(text), 0)
	}
	return t.Freeze()
}
