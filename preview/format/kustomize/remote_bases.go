package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/format/remotebase"
)

// maxRemote is the most directories of git repositories that one build reads.
const maxRemote = 32

// errMany is returned for a build that reads more than maxRemote directories.
var errMany = fmt.Errorf("more than %d directories of git repositories", maxRemote)

// remoteDir is the directory of a build that has the directories of git repositories,
// each below HOST/REPO/COMMIT. kustomize sees them as neighbours.
const remoteDir = "remote"

// repository is a git repository at a commit, with the directories to read.
type repository struct {
	base remotebase.Base
	dir  string // in the build
	// from refers to it, by name.
	from fieldLocation
	name string
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
		return "", nil, at.errorf("%q is remote: %v; %s", name, err, p.byHand(at.k))
	case !base.Pinned():
		return "", nil, at.errorf("%q is remote and names no commit, so that it may move; %s", name, p.pin(at, name, base))
	}
	repo := &repository{base: base, dir: path.Join(remoteDir, base.Name(), base.Ref), from: at, name: name}
	target := path.Join(repo.dir, base.Subdir)
	if err := p.reach(repo, target); err != nil {
		return "", nil, at.errorf("%q is remote, and cannot be read: %w; %s", name, err, p.unread(at, repo, err))
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
		return errMany
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

// relative returns the path to a directory of the build from the one of a kustomization.
func relative(k *kustomization, target string) (string, error) {
	to, err := filepath.Rel(filepath.FromSlash(k.dir), filepath.FromSlash(target))
	return filepath.ToSlash(to), err
}
