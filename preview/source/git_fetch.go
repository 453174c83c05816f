package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// gitRefsBytes caps the list of branches and tags; the largest public
// repositories have some 20 MB.
const gitRefsBytes = 64 * mib

// gitRemote is a server that speaks the pack protocol, version 0.
type gitRemote interface {
	// advertise lists the refs and what the server can do.
	advertise(ctx context.Context) (*packp.AdvRefs, error)
	// upload sends a request and returns what follows. It may be called again
	// when that was read.
	upload(ctx context.Context, request []byte) (io.ReadCloser, error)
	io.Closer
}

// gitFetch gets objects by hash from a server.
type gitFetch struct {
	remote  gitRemote
	offered *packp.AdvRefs
	limits  gitLimits
	meter   func(io.Reader) io.Reader
}

// fetchGit resolves a branch, tag or commit at a server and gets what is needed
// to read a directory of it: first what the commit is, then that commit, by its
// hash. Every pack is read through meter.
func fetchGit(ctx context.Context, remote gitRemote, want, subdir string, l gitLimits, meter func(io.Reader) io.Reader) (gitObjects, plumbing.Hash, error) {
	var none plumbing.Hash
	offered, err := remote.advertise(ctx)
	if err != nil {
		return nil, none, err
	}
	head := none
	if offered.Head != nil {
		head = *offered.Head
	}
	name, err := chooseRef(offered.References, head, want)
	if err != nil {
		return nil, none, err
	}
	g := &gitFetch{remote: remote, offered: offered, limits: l, meter: meter}
	objects, err := g.commit(ctx, name, subdir)
	return objects, name, err
}

// commit gets what is needed to read a directory of a commit: where the server
// can, the files of that directory alone, else all files of the commit, and
// where it does not hand out a commit by its name, all that it has.
func (g *gitFetch) commit(ctx context.Context, name plumbing.Hash, subdir string) (gitObjects, error) {
	if subdir != "" && g.can(capability.Filter) && g.canSHA1() {
		objects, err := g.part(ctx, name, subdir)
		if !errors.Is(err, errNoGitObject) {
			return objects, err
		}
	}
	objects, err := g.get(ctx, []plumbing.Hash{name}, fetchCommit)
	if err == nil || g.isTip(name) || ctx.Err() != nil {
		return objects, err
	}
	objects, err = g.get(ctx, g.tips(), fetchAll)
	if err == nil && objects[name].kind == plumbing.InvalidObject {
		err = fmt.Errorf("none of its branches and tags holds commit %s", name)
	}
	return objects, err
}

// part gets a commit with all its directories but no file, then the files
// below one directory. A server that does not take part is errNoGitObject.
func (g *gitFetch) part(ctx context.Context, name plumbing.Hash, subdir string) (gitObjects, error) {
	objects, err := g.get(ctx, []plumbing.Hash{name}, fetchTrees)
	if err != nil {
		return nil, errNoGitObject
	}
	var files []plumbing.Hash
	w := &gitWalk{objects: objects, limits: g.limits, wanted: func(file plumbing.Hash) {
		if objects[file].kind == plumbing.InvalidObject {
			files = append(files, file)
		}
	}}
	if _, err := w.read(ctx, name, subdir); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return objects, nil
	}
	if len(files) > g.limits.files {
		return nil, fmt.Errorf("more than %d files", g.limits.files)
	}
	more, err := g.get(ctx, files, fetchObjects)
	if err != nil {
		return nil, errNoGitObject
	}
	for name, o := range more {
		objects[name] = o
	}
	return objects, nil
}

func (g *gitFetch) can(c capability.Capability) bool { return g.offered.Capabilities.Supports(c) }

// canSHA1 reports whether the server hands out objects that no ref names.
func (g *gitFetch) canSHA1() bool {
	return g.can(capability.AllowReachableSHA1InWant) || g.can(capability.AllowTipSHA1InWant)
}

func (g *gitFetch) isTip(name plumbing.Hash) bool {
	if g.offered.Head != nil && *g.offered.Head == name {
		return true
	}
	for _, tip := range g.offered.References {
		if tip == name {
			return true
		}
	}
	return false
}

// tips are the branches and tags.
func (g *gitFetch) tips() []plumbing.Hash {
	var tips []plumbing.Hash
	for ref, name := range g.offered.References {
		if strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") {
			tips = append(tips, name)
		}
	}
	return tips
}

// fetchMode is how much comes with what is asked for.
type fetchMode int

const (
	fetchCommit  fetchMode = iota // a commit with its files
	fetchTrees                    // a commit with its directories
	fetchObjects                  // files
	fetchAll                      // commits with all their ancestors
)

// get sends one request and reads its pack.
func (g *gitFetch) get(ctx context.Context, names []plumbing.Hash, mode fetchMode) (packedObjects, error) {
	if len(names) == 0 {
		return nil, errors.New("it has neither branches nor tags")
	}
	request := g.request(names, mode)
	var text strings.Builder
	if err := request.UploadRequest.Encode(&text); err != nil {
		return nil, err
	}
	text.WriteString("0009done\n")
	body, err := g.remote.upload(ctx, []byte(text.String()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	reader := &errorKeeper{r: g.meter(cancelReader{ctx, body})}
	objects, err := readUpload(request, reader, g.limits)
	if reader.err != nil {
		return nil, reader.err
	}
	return objects, err
}

func (g *gitFetch) request(names []plumbing.Hash, mode fetchMode) *packp.UploadPackRequest {
	transport.FilterUnsupportedCapabilities(g.offered.Capabilities)
	request := packp.NewUploadPackRequestFromCapabilities(g.offered.Capabilities)
	set := func(c capability.Capability) bool { return g.can(c) && request.Capabilities.Set(c) == nil }
	set(capability.NoProgress)
	request.Wants = slices.Clone(names)
	if mode != fetchAll && set(capability.Shallow) {
		request.Depth = packp.DepthCommits(1)
	}
	if mode == fetchTrees && set(capability.Filter) {
		request.Filter = packp.FilterBlobNone()
	}
	return request
}

// readUpload reads the answer to a request: what is shallow, an
// acknowledgement, and the pack, beside which messages may come.
func readUpload(request *packp.UploadPackRequest, r io.Reader, l gitLimits) (packedObjects, error) {
	response := packp.NewUploadPackResponse(request)
	if err := response.Decode(io.NopCloser(r)); err != nil {
		return nil, fmt.Errorf("the server refuses: %s", clip(firstLine(err)))
	}
	var pack io.Reader = response
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, response)
	case request.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, response)
	}
	return readPack(pack, l)
}

// readRefs reads the first answer of a server. An answer cut short because ctx
// ended says nothing about the server.
func readRefs(ctx context.Context, r io.Reader) (*packp.AdvRefs, error) {
	offered := packp.NewAdvRefs()
	var start firstBytes
	reader := &errorKeeper{r: io.TeeReader(r, &start)}
	err := offered.Decode(reader)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case reader.err != nil:
		return nil, reader.err
	case bytes.Contains(start.kept.Bytes(), []byte("object-format=sha256")):
		return nil, errGitSHA256
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return nil, errors.New("the repository is empty")
	case err != nil:
		return nil, errNoGit
	case offered.IsEmpty():
		return nil, errors.New("the repository is empty")
	}
	return offered, nil
}

// errGitSHA256 is a repository in git's other object format
// (hash-function-transition(7)).
var errGitSHA256 = errors.New("its objects are named by sha256 (object-format=sha256), which is not supported; a repository of the sha1 object format is read")

var errNoGit = errors.New("what answers there is not a git server")

// chooseRef finds what a reference means among the names of a repository. A
// name that is both a branch and a tag means neither.
func chooseRef(refs map[string]plumbing.Hash, head plumbing.Hash, want string) (plumbing.Hash, error) {
	branch, isBranch := refs["refs/heads/"+want]
	tag, isTag := refs["refs/tags/"+want]
	full, isFull := refs[want]
	switch {
	case want == "" && head.IsZero():
		return head, fmt.Errorf("it has no default branch; add ?ref=BRANCH")
	case want == "":
		return head, nil
	case isBranch && isTag:
		return branch, fmt.Errorf("%q is a branch (%s) and a tag (%s); say which: ?ref=refs/heads/%[1]s or ?ref=refs/tags/%[1]s", want, branch, tag)
	case (isBranch || isTag) && ref.IsCommit(want):
		return branch, fmt.Errorf("%q has the form of a commit but is a branch or a tag; say which: ?ref=refs/heads/%[1]s or ?ref=refs/tags/%[1]s", want)
	case isBranch:
		return branch, nil
	case isTag:
		return tag, nil
	case ref.IsCommit(want):
		return plumbing.NewHash(want), nil
	case strings.HasPrefix(want, "refs/") && isFull:
		return full, nil
	}
	return full, fmt.Errorf("it has neither a branch nor a tag %q; a commit is given by all its 40 digits", want)
}
