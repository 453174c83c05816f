package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format/remotebase"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// maxRemote is the most directories of git repositories that one build reads.
const maxRemote = 32

// remoteDir is the directory of a build that has the directories of git repositories,
// each below HOST/REPO/COMMIT. kustomize sees them as neighbours.
const remoteDir = "remote"

// repository is a git repository at a commit, of which some directories are read.
type repository struct {
	base remotebase.Base
	dir  string // in the build
}

// mounted is the content, and below it directories of git repositories.
type mounted struct {
	fs.FS
	at map[string]fs.FS
}

// Open implements [fs.FS].
func (m mounted) Open(name string) (fs.File, error) {
	for dir, files := range m.at {
		if name == dir {
			return files.Open(".")
		}
		if below, ok := strings.CutPrefix(name, dir+"/"); ok {
			return files.Open(below)
		}
	}
	return m.FS.Open(name)
}

// holds reports whether a directory was read from a repository.
func (m mounted) holds(name string) bool {
	for dir := range m.at {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// remoteBase reads a directory of a git repository that a kustomization refers to, by
// a commit, and returns where it is in the build.
func (p *planner) remoteBase(at fieldLocation, name string) (string, *repository, error) {
	base, err := remotebase.Parse(name)
	switch {
	case errors.Is(err, remotebase.ErrFile):
		return "", nil, at.errorf("%q is remote: %v; %s", name, err, p.vendored(at, name))
	case err != nil:
		return "", nil, at.errorf("%q is remote: %v; vendor it", name, err)
	case !base.Pinned():
		return "", nil, at.errorf("%q is remote and names no commit, so that it may move; %s", name, p.pin(at, name, base))
	}
	repo := &repository{base: base, dir: path.Join(remoteDir, base.Name(), base.Ref)}
	target := path.Join(repo.dir, base.Subdir)
	if err := p.reach(repo, target); err != nil {
		moved := base
		moved.Ref = ""
		return "", nil, at.errorf("%q is remote, and cannot be read: %v; at its present commit: %s", name, err, p.pin(at, name, moved))
	}
	return target, repo, nil
}

// reach makes a directory of a repository part of the build.
func (p *planner) reach(repo *repository, target string) error {
	if p.content.holds(target) {
		return nil
	}
	if p.in.Peers == nil {
		return errors.New("nothing is fetched here")
	}
	if len(p.content.at) == maxRemote {
		return fmt.Errorf("more than %d directories of git repositories", maxRemote)
	}
	subdir := strings.TrimPrefix(strings.TrimPrefix(target, repo.dir), "/")
	files, source, err := p.in.Peers.Open(p.ctx, repo.base.Reference(subdir))
	if err != nil {
		return err
	}
	p.content.at[target] = files
	p.build.sources = append(p.build.sources, source)
	return nil
}

// pin returns the command that pins a reference of a kustomization to the commit which
// it means now.
func (p *planner) pin(at fieldLocation, name string, base remotebase.Base) string {
	if p.in.Peers != nil {
		if _, source, err := p.in.Peers.Open(p.ctx, base.Reference(base.Subdir)); err == nil {
			if r, err := ref.Parse(source.Reference); err == nil && ref.IsCommit(r.GitRef) {
				return p.edited(at, name, base.At(r.GitRef), "")
			}
		}
	}
	revision := base.Ref
	if revision == "" {
		revision = "HEAD"
	}
	return fmt.Sprintf("give it as ?ref=COMMIT, which this prints: git ls-remote %s %s", preview.ShellWord(base.Repository), preview.ShellWord(revision))
}

// edited returns the command that changes a reference in the kustomization and previews
// it then; before runs first.
func (p *planner) edited(at fieldLocation, from, to, before string) string {
	if strings.ContainsFunc(from+to+at.k.file, unicode.IsControl) {
		return "vendor it" // a line of its own would be a command of sed
	}
	script := "s|" + strings.NewReplacer(`\`, `\\`, "|", `\|`, ".", `\.`, "*", `\*`, "[", `\[`, "^", `\^`, "$", `\$`).Replace(from) +
		"|" + strings.NewReplacer(`\`, `\\`, "|", `\|`, "&", `\&`).Replace(to) + "|"
	command := before + "sed -i " + preview.ShellWord(script) + " " + preview.ShellWord(p.advice.Path(at.k.file)) + " && " + p.advice.Preview()
	if p.advice.InCopy() || at.k.repo != nil {
		return "in a copy of it: " + command
	}
	return command
}

// relative returns the path to a directory of the build from the one of a kustomization.
func relative(k *kustomization, target string) (string, error) {
	to, err := filepath.Rel(filepath.FromSlash(k.dir), filepath.FromSlash(target))
	return filepath.ToSlash(to), err
}

// vendored returns the command that makes a file of a web server one of the content.
func (p *planner) vendored(at fieldLocation, name string) string {
	address, _, _ := strings.Cut(name, "?")
	file := path.Base(address)
	return p.edited(at, name, file, "curl -fsSLo "+preview.ShellWord(p.advice.Path(path.Join(at.k.dir, file)))+" "+preview.ShellWord(name)+" && ")
}
