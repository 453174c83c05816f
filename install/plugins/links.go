package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// hostLinks are the links outside a location, below a directory, that lead a host to
// files it looks for elsewhere. They lead through the location, so that a switch needs no
// other ones unless what they lead to has another name.
type hostLinks struct {
	dir   string
	links []plugins.Link
}

// linksOf returns the links that a plan needs outside its location: a krew plugin's, and
// the link to the archive that an Optimus server sends to its clients.
func (r *applier) linksOf() hostLinks {
	at := r.plan.Location.Path
	base := filepath.Base(at)
	switch {
	case plugins.IsKrew(r.plan):
		return hostLinks{filepath.Dir(filepath.Dir(at)), plugins.KrewLinks(at, r.o.Files, r.plan.Platform)}
	case r.o.Beside[plugins.YAMLArchive] != nil && plugins.ServesArchive(base):
		return hostLinks{filepath.Dir(at), []plugins.Link{{Path: plugins.YAMLArchive, Target: base + "/../" + plugins.YAMLArchive}}}
	}
	return hostLinks{}
}

// missing returns the links that are not there as they are due. One that leads to
// another place than the plugin, or a file in its place, is an error.
func (k hostLinks) missing() ([]plugins.Link, error) {
	var out []plugins.Link
	for _, link := range k.links {
		name := filepath.Join(k.dir, filepath.FromSlash(link.Path))
		target, err := os.Readlink(name)
		target = filepath.ToSlash(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, link)
		case err != nil || !isOfPlugin(target, link.Target):
			return nil, fmt.Errorf("%s was not installed by this program; remove it first, with kubectl krew uninstall if krew installed it", name)
		case target != link.Target:
			out = append(out, link)
		}
	}
	return out, nil
}

// isOfPlugin reports whether two targets of links are the same, or are of one plugin of
// krew: ../store/NAME/….
func isOfPlugin(a, b string) bool { return a == b || pluginIn(a) != "" && pluginIn(a) == pluginIn(b) }

// pluginIn returns the first three elements of a path; empty for a shorter one.
func pluginIn(target string) string {
	depth := 0
	for i, r := range target {
		if r == '/' {
			if depth++; depth == 3 {
				return target[:i]
			}
		}
	}
	return ""
}

// make creates the links that are missing, each by one rename.
func (k hostLinks) make(step func(string)) error {
	missing, err := k.missing()
	if err != nil || len(missing) == 0 {
		return err
	}
	root, err := os.OpenRoot(k.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, link := range missing {
		if err := makeLink(root, link, step); err != nil {
			return fmt.Errorf("linking %s: %w", filepath.Join(k.dir, filepath.FromSlash(link.Path)), err)
		}
	}
	return nil
}

func makeLink(root *os.Root, link plugins.Link, step func(string)) error {
	dir, temp := path.Dir(link.Path), link.Path+tempFile
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := root.RemoveAll(temp); err != nil {
		return err
	}
	step("link " + link.Path + " to " + link.Target)
	if err := root.Symlink(filepath.FromSlash(link.Target), temp); err != nil {
		return err
	}
	return root.Rename(temp, link.Path)
}
