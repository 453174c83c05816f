package source

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
	"github.com/kubectl-operator/kubectl-operator/preview/source/git"
)

// gitSource reads a directory of a git commit from the commit's objects; there is never
// a worktree, and no program is run.
//
// A pin has two parts. Its digest is the tree hash of the content, computed as for a
// directory, so that equal files have equal digests wherever they come from. Its
// reference is the one typed with ?ref=COMMIT, the resolved commit of the branch or tag.
// Opening a pin verifies both: the objects hash, by SHA-1 with collision detection, to
// the commit, and the content hashes to the digest.
type gitSource struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache
	web     *web
}

func newGitSource(o Options, l filetree.Limits) *gitSource {
	return &gitSource{options: o, limits: l, cache: diskcache.Cache{Dir: o.CacheDir}, web: newWeb(o)}
}

func (s *gitSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	content, err := s.read(ctx, r)
	if err != nil {
		return Pin{}, fmt.Errorf("git %s: %w", gitName(r), err)
	}
	return Pin{Reference: r, Source: content.Source, content: content}, nil
}

func (s *gitSource) open(ctx context.Context, p Pin) (*Content, error) {
	if p.content != nil {
		return p.content, nil
	}
	r, err := ref.Parse(p.Source.Reference)
	if err != nil || r.Kind != ref.KindGit || !ref.IsCommit(r.GitRef) || r.URL != p.Reference.URL || r.Subdir != p.Reference.Subdir {
		return nil, fmt.Errorf("git %s: the pin does not name a commit of it", gitName(p.Reference))
	}
	again, err := s.pin(ctx, r)
	if err != nil {
		return nil, err
	}
	if again.Source.Digest != p.Source.Digest {
		return nil, fmt.Errorf("git %s: commit %s holds %s there, not %s: %w", gitName(p.Reference), r.GitRef, again.Source.Digest, p.Source.Digest, ErrDigestMismatch)
	}
	return again.content, nil
}

// read resolves a reference and returns the content. A commit that was read before
// comes from the cache even when not offline, because it cannot have changed.
func (s *gitSource) read(ctx context.Context, r ref.Reference) (*Content, error) {
	if strings.HasPrefix(r.URL, "file://") {
		objects, commit, err := git.OpenLocal(strings.TrimPrefix(r.URL, "file://"), r.GitRef)
		if err != nil {
			return nil, err
		}
		content, _, err := s.content(ctx, r, objects, commit)
		return content, err
	}
	if ref.IsCommit(r.GitRef) {
		if objects, ok := s.recall(r); ok {
			content, _, err := s.content(ctx, r, objects, plumbing.NewHash(r.GitRef))
			return content, err
		}
	}
	if s.options.Offline {
		return nil, fmt.Errorf("commit and content were not read before, and --offline forbids to fetch them: %w", ErrNotCached)
	}
	objects, commit, err := s.fetch(ctx, r)
	if err != nil {
		return nil, err
	}
	content, used, err := s.content(ctx, r, objects, commit)
	if err != nil {
		return nil, err
	}
	pinned, err := ref.Parse(content.Source.Reference)
	if err != nil {
		return nil, err
	}
	return content, s.remember(pinned, used)
}

// content returns the directory of a reference, read from a commit, and every git
// object that was read for it.
func (s *gitSource) content(ctx context.Context, r ref.Reference, objects git.ObjectReader, name plumbing.Hash) (*Content, []git.Object, error) {
	files, left := filetree.New(), filetree.Budget{Limits: s.limits.Catalog}
	w := &git.Walk{Objects: objects, Limits: gitLimits(s.limits), Put: func(path string, data []byte, mode fs.FileMode) error {
		if err := left.Take(path, int64(len(data))); err != nil {
			return err
		}
		files.Put(path, data, mode)
		return nil
	}}
	commit, err := w.Read(ctx, name, r.Subdir)
	if err != nil {
		return nil, nil, err
	}
	if err := s.limits.CheckKind(files); err != nil {
		return nil, nil, err
	}
	hash := filetree.NewHash()
	_ = files.Root.Each("", func(name string, data []byte) error {
		hash.Add(name, data)
		return nil
	})
	return &Content{
		FS:     files.Freeze(),
		Source: preview.Source{Kind: "git", Reference: gitReferenceAt(r, commit.String()), Digest: hash.Sum()},
	}, w.Used, nil
}

// gitLimits returns the limits for the objects of a repository.
func gitLimits(l filetree.Limits) git.Limits {
	return git.Limits{
		Bytes: l.Catalog.Bytes, FileBytes: l.Catalog.FileBytes,
		DirectoryBytes: l.ManifestBytes, Files: l.Catalog.Files, Entries: l.Entries, CheckPath: l.CheckPath,
	}
}

// fetch resolves the reference at its server and downloads the objects it needs. It
// returns them and the hash of the commit or tag.
func (s *gitSource) fetch(ctx context.Context, r ref.Reference) (git.ObjectReader, plumbing.Hash, error) {
	remote, err := s.connect(ctx, r)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	defer func() { _ = remote.Close() }()
	return git.Fetch(ctx, remote, r.GitRef, r.Subdir, gitLimits(s.limits), func(body io.Reader) io.Reader {
		return &meteredReader{r: body, now: Progress{Reference: r.Text}, report: s.options.Progress}
	})
}

// connect returns a connection to the server of a reference, over https or ssh.
func (s *gitSource) connect(ctx context.Context, r ref.Reference) (git.Remote, error) {
	if !strings.HasPrefix(r.URL, "ssh://") {
		return newGitHTTP(s.web, r.URL, s.limits.LayerBytes)
	}
	o := git.SSHOptions{Patience: s.options.RequestTimeout, MostBytes: s.limits.LayerBytes, Explain: explainNetwork}
	o.Key, o.KnownHosts = s.options.Credentials.SSHKey()
	return git.DialSSH(ctx, r.URL, o)
}

// gitReferenceAt returns a reference with its branch or tag replaced by a commit.
func gitReferenceAt(r ref.Reference, commit string) string {
	return gitReference(r) + "?ref=" + commit
}

// gitReference returns a reference without its branch, tag or commit.
func gitReference(r ref.Reference) string {
	if r.Subdir == "" {
		return "git+" + r.URL
	}
	return "git+" + r.URL + "//" + r.Subdir
}

// gitName returns the repository and directory of a reference, without scheme, for
// messages.
func gitName(r ref.Reference) string {
	_, name, _ := strings.Cut(gitReference(r), "://")
	return name
}
