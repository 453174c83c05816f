package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/format/remotebase"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// unbuiltError is the error for what is built by another program.
type unbuiltError struct {
	error
	by []string // the program and its flags
}

// The programs that build what is not built here. Functions are run by kustomize alone.
var (
	byKubectl      = []string{"kubectl", "kustomize"}
	byKubectlHelm  = []string{"kubectl", "kustomize", "--enable-helm"}
	byKustomizeRun = []string{"kustomize", "build", "--enable-alpha-plugins", "--enable-exec"}
)

// maxListed is the most files that a command puts into a new kustomization.
const maxListed = 20

// advised returns the error of the kustomization in a directory so that it ends with the
// command that would work. Where the cause has none itself, that opens the file in an
// editor, or lets kustomize build what is not built here.
func (p *planner) advised(k *kustomization, err error) error {
	if _, done := errors.AsType[*commandline.Advised](err); err == nil || done || p.advice.In(err) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if unbuilt, ok := errors.AsType[unbuiltError](err); ok {
		return fmt.Errorf("%w; %s", err, p.built(unbuilt.by))
	}
	return fmt.Errorf("%w; %s", err, p.byHand(k))
}

// loaded reads the kustomization in a directory, which repo has; nil if there is none.
func (p *planner) loaded(repo *repository, dir string) (*kustomization, error) {
	k, err := load(p.content, dir)
	if err == nil {
		if k != nil {
			k.repo = repo
		}
		return k, nil
	}
	file := path.Join(dir, konfig.DefaultKustomizationFileName())
	if twice, ok := errors.AsType[*twoFilesError](err); ok {
		k = &kustomization{file: twice.files[1], dir: dir, repo: repo}
		return nil, fmt.Errorf("%w; %s", err, p.changed(k, func(file string) string { return commandline.Join("rm", file) }))
	}
	if found, findErr := find(p.content, dir); findErr == nil && found != "" {
		file = found
	}
	return nil, p.advised(&kustomization{file: file, dir: dir, repo: repo}, err)
}

// changed returns the command that changes the file of a kustomization by another
// command, which is given its path, and previews the content then.
func (p *planner) changed(k *kustomization, change func(file string) string) string {
	file, before := p.local(k)
	command := before + change(p.advice.Path(file)) + " && " + p.advice.Preview()
	if p.advice.InCopy() {
		return "in a copy of it: " + command
	}
	return command
}

// byHand returns the command that opens a kustomization in an editor.
func (p *planner) byHand(k *kustomization) string {
	return p.changed(k, func(file string) string { return "${EDITOR:-vi} " + commandline.Join(file) })
}

// edited returns the command that changes a reference in the kustomization; before is
// given the directory of its file, and runs first.
func (p *planner) edited(at fieldLocation, from, to string, before func(dir string) string) string {
	if strings.ContainsFunc(from+to+at.k.file, unicode.IsControl) {
		return p.byHand(at.k) // its own line would be a command of sed
	}
	return p.changed(at.k, func(file string) string {
		command := commandline.Join("sed", "-i", substitution(from, to), file)
		if before != nil {
			command = before(path.Dir(file)) + " && " + command
		}
		return command
	})
}

// substitution returns the script of sed that puts one text in the place of another.
func substitution(from, to string) string {
	return "s|" + strings.NewReplacer(`\`, `\\`, "|", `\|`, ".", `\.`, "*", `\*`, "[", `\[`, "^", `\^`, "$", `\$`).Replace(from) +
		"|" + strings.NewReplacer(`\`, `\\`, "|", `\|`, "&", `\&`).Replace(to) + "|"
}

// local returns the path in the content of the file of a kustomization, and the commands
// that bring the file there if a git repository has it.
func (p *planner) local(k *kustomization) (file, before string) {
	if k.repo == nil {
		return k.file, ""
	}
	dir, before := p.cloned(k.repo)
	return path.Join(dir, strings.TrimPrefix(strings.TrimPrefix(k.file, k.repo.dir), "/")), before
}

// cloned returns the path in the content of a clone of a repository, next to the
// kustomization that refers to it, and the commands that make it and let that one refer
// to it.
func (p *planner) cloned(repo *repository) (dir, commands string) {
	file, before := p.local(repo.from.k)
	name := strings.TrimSuffix(path.Base(repo.base.Name()), ".git") + "-" + repo.base.Ref[:min(7, len(repo.base.Ref))]
	dir = path.Join(path.Dir(file), name)
	return dir, before + strings.Join([]string{
		commandline.Join("git", "clone", "-q", repo.base.Repository, p.advice.Path(dir)),
		commandline.Join("git", "-C", p.advice.Path(dir), "checkout", "-q", repo.base.Ref),
		commandline.Join("sed", "-i", substitution(repo.name, path.Join(name, repo.base.Subdir)), p.advice.Path(file)), "",
	}, " && ")
}

// vendored returns the command that makes a file of a web server one of the content.
func (p *planner) vendored(at fieldLocation, name string) string {
	address, _, _ := strings.Cut(name, "?")
	file := path.Base(address)
	return p.edited(at, name, file, func(dir string) string {
		return commandline.Join("curl", "-fsSLo", commandline.Path(path.Join(dir, file)), name)
	})
}

// pin returns the command that pins a reference of a kustomization to the commit which
// it means now.
func (p *planner) pin(at fieldLocation, name string, base remotebase.Base) string {
	if commit, known := p.commit(base); known {
		return p.edited(at, name, base.At(commit), nil)
	}
	names := []string{"HEAD"}
	if base.Ref != "" { // a tag before a branch, and the commit of a tag before the tag
		names = []string{"refs/heads/" + base.Ref, "refs/tags/" + base.Ref, "refs/tags/" + base.Ref + "^{}"}
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return p.byHand(at.k)
	}
	asked := commandline.Join(append([]string{"git", "ls-remote", base.Repository}, names...)...)
	return p.changed(at.k, func(file string) string {
		before, after, _ := strings.Cut(substitution(name, base.At("COMMIT")), "COMMIT|")
		return commandline.Join("sed", "-i", before) + `"$(` + asked + ` | tail -n 1 | cut -f 1)"` + commandline.Join("|"+after, file)
	})
}

// commit returns the commit that a base means now, as far as that can be asked.
func (p *planner) commit(base remotebase.Base) (string, bool) {
	if p.in.Peers == nil {
		return "", false
	}
	_, source, err := p.in.Peers.Open(p.ctx, base.Reference(base.Subdir))
	if err != nil {
		return "", false
	}
	r, err := ref.Parse(source.Reference)
	return r.GitRef, err == nil && ref.IsCommit(r.GitRef)
}

// unread returns the command for a base that could not be read: at its present commit, if
// it is there; by hand, if only its directory is not in the repository; else from a clone,
// which git makes with the credentials and the time that it has.
func (p *planner) unread(at fieldLocation, repo *repository, why error) string {
	moved, whole := repo.base, repo.base
	moved.Ref, whole.Subdir = "", ""
	if errors.Is(why, errMany) {
		return p.built(byKubectl)
	}
	if commit, known := p.commit(moved); known && commit != repo.base.Ref {
		return "at its present commit: " + p.edited(at, repo.name, moved.At(commit), nil)
	}
	if _, known := p.commit(whole); known {
		return p.byHand(at.k)
	}
	_, commands := p.cloned(repo)
	command := commands + p.advice.Preview()
	if p.advice.InCopy() {
		return "in a copy of it: " + command
	}
	return command
}

// listing returns the command that makes a kustomization of the manifests in a directory.
func (p *planner) listing(at *kustomization, repo *repository, dir string) string {
	entries, err := fs.ReadDir(p.content, dir)
	words := []string{"printf", `%s\n`, "resources:"}
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(entry.Name())) {
			words = append(words, fmt.Sprintf("- %q", entry.Name()))
		}
	}
	made := &kustomization{file: path.Join(dir, konfig.DefaultKustomizationFileName()), dir: dir, repo: repo}
	if files := len(words) - 3; err != nil || files == 0 || files > maxListed {
		return p.byHand(at)
	}
	return p.changed(made, func(file string) string { return commandline.Join(words...) + " > " + commandline.Join(file) })
}

// built returns the command that lets another program build the content into its own
// directory, and previews that.
func (p *planner) built(by []string) string {
	dir := p.advice.Path(p.build.Root)
	built := dir + "-built"
	if base := path.Base(dir); base == "." || base == ".." {
		built = path.Join(dir, "built")
	}
	built = commandline.Path(built)
	build := commandline.Join(append(slices.Clone(by), dir)...)
	command := commandline.Join("mkdir", "-p", built) + " && " + build + " > " + commandline.Join(path.Join(built, "all.yaml")) +
		" && " + p.advice.PreviewMade(built)
	if p.advice.InCopy() {
		return "in a copy of it: " + command
	}
	return command
}

// twoFilesError is the error for a directory with two kustomizations.
type twoFilesError struct{ files [2]string }

func (e *twoFilesError) Error() string {
	return fmt.Sprintf("%s and %s are both kustomizations of one directory; keep one", e.files[0], e.files[1])
}
