// Package git reads the files of one directory of one commit, from a server over
// https or ssh or from a repository on this machine. No program is run, there is no
// worktree, and neither hooks nor configuration of a repository play a part.
//
// [Fetch] resolves a branch, tag or commit against the refs that a [Remote] advertises,
// and asks for that commit by its hash: with the files of the directory alone where the
// server filters (a partial clone, git 2.19), else with all files of the commit (a
// shallow clone), else with its whole history. [OpenLocal] resolves in a repository on
// disk. Both return an [ObjectReader]; [Walk] reads the directory from it.
//
// # Identity
//
// An object is known by the hash of the bytes that were read, computed here: an object
// found under a name has that name, whichever server or cache it came from. So the hash
// of a commit covers its trees and files. It is SHA-1 with detection of collisions;
// repositories of the sha256 object format are refused with a message. A name that is
// both a branch and a tag, or that looks like a commit, is refused, so that no push can
// change the meaning of a reference.
//
// # Limits
//
// A pack is read as it arrives. The number of its objects, and the size of each and of
// all, are checked before anything is inflated, deltas included ([Limits]). A directory
// that occurs many times in a tree is counted each time. Submodules and symbolic links
// are refused, since they lead out of what the commit's hash covers.
//
// # Credentials
//
// A server over ssh is authenticated by known_hosts and refused when it is not listed
// there; the user by the key given, else by the ssh agent. ssh_config is not read: it
// can run programs. The https transport is a [Remote] of the caller, who adds what
// guards every other request.
package git

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
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// RefsBytes is the largest size in bytes of a server's list of branches and tags; lists
// of the largest public repositories have some 20 MB.
const RefsBytes = 64 * bounded.MiB

// Remote is a server that speaks git's pack protocol, version 0.
type Remote interface {
	// Advertise lists the refs and what the server can do.
	Advertise(ctx context.Context) (*packp.AdvRefs, error)
	// Upload sends a request and returns what follows. It may be called again
	// when that was read.
	Upload(ctx context.Context, request []byte) (io.ReadCloser, error)
	io.Closer
}

// fetcher gets objects from a server by their hashes.
type fetcher struct {
	remote  Remote
	offered *packp.AdvRefs
	limits  Limits
	meter   func(io.Reader) io.Reader
}

// Fetch resolves a branch, tag or commit at a server, and gets the objects needed to
// read a directory of that commit. It returns them and the hash that want resolved to.
// Every pack is read through meter.
func Fetch(ctx context.Context, remote Remote, want, subdir string, l Limits, meter func(io.Reader) io.Reader) (ObjectReader, plumbing.Hash, error) {
	var none plumbing.Hash
	offered, err := remote.Advertise(ctx)
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
	g := &fetcher{remote: remote, offered: offered, limits: l, meter: meter}
	objects, err := g.commit(ctx, name, subdir)
	return objects, name, err
}

// commit fetches what is needed to read a directory of a commit: only that
// directory's files if the server supports it, else all files of the commit, else
// everything on its branches and tags.
func (g *fetcher) commit(ctx context.Context, name plumbing.Hash, subdir string) (ObjectReader, error) {
	if subdir != "" && g.can(capability.Filter) && g.canSHA1() {
		objects, err := g.part(ctx, name, subdir)
		if !errors.Is(err, errNoObject) {
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

// part fetches a commit with all its directories but no files, then the files below one
// directory. It returns errNoObject if the server does not support that.
func (g *fetcher) part(ctx context.Context, name plumbing.Hash, subdir string) (ObjectReader, error) {
	objects, err := g.get(ctx, []plumbing.Hash{name}, fetchTrees)
	if err != nil {
		return nil, errNoObject
	}
	var files []plumbing.Hash
	w := &Walk{Objects: objects, Limits: g.limits, wanted: func(file plumbing.Hash) {
		if objects[file].kind == plumbing.InvalidObject {
			files = append(files, file)
		}
	}}
	if _, err := w.Read(ctx, name, subdir); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return objects, nil
	}
	if len(files) > g.limits.Files {
		return nil, fmt.Errorf("more than %d files", g.limits.Files)
	}
	more, err := g.get(ctx, files, fetchObjects)
	if err != nil {
		return nil, errNoObject
	}
	for name, o := range more {
		objects[name] = o
	}
	return objects, nil
}

func (g *fetcher) can(c capability.Capability) bool { return g.offered.Capabilities.Supports(c) }

// canSHA1 reports whether the server sends objects that are no branch or tag.
func (g *fetcher) canSHA1() bool {
	return g.can(capability.AllowReachableSHA1InWant) || g.can(capability.AllowTipSHA1InWant)
}

func (g *fetcher) isTip(name plumbing.Hash) bool {
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

// tips returns the hashes of the server's branches and tags.
func (g *fetcher) tips() []plumbing.Hash {
	var tips []plumbing.Hash
	for ref, name := range g.offered.References {
		if strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") {
			tips = append(tips, name)
		}
	}
	return tips
}

// fetchMode says which objects a server is asked to send in addition to the requested
// ones.
type fetchMode int

const (
	fetchCommit  fetchMode = iota // a commit with its files
	fetchTrees                    // a commit with its directories
	fetchObjects                  // files
	fetchAll                      // commits with all their ancestors
)

// get requests objects by their hashes and reads the pack that the server sends.
func (g *fetcher) get(ctx context.Context, names []plumbing.Hash, mode fetchMode) (PackedObjects, error) {
	if len(names) == 0 {
		return nil, errors.New("it has neither branches nor tags")
	}
	request := g.request(names, mode)
	var text strings.Builder
	if err := request.UploadRequest.Encode(&text); err != nil {
		return nil, err
	}
	text.WriteString("0009done\n")
	body, err := g.remote.Upload(ctx, []byte(text.String()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	reader := &bounded.ReadErrors{Reader: g.meter(bounded.ContextReader{Context: ctx, Reader: body})}
	objects, err := readUpload(request, reader, g.limits)
	if reader.Err != nil {
		return nil, reader.Err
	}
	return objects, err
}

func (g *fetcher) request(names []plumbing.Hash, mode fetchMode) *packp.UploadPackRequest {
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

// readUpload reads the answer to a request: shallow commits, an acknowledgement, and the
// pack, with messages in between.
func readUpload(request *packp.UploadPackRequest, r io.Reader, l Limits) (PackedObjects, error) {
	response := packp.NewUploadPackResponse(request)
	if err := response.Decode(io.NopCloser(r)); err != nil {
		return nil, fmt.Errorf("the server refuses: %s", bounded.Quote(bounded.FirstLine(err)))
	}
	var pack io.Reader = response
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, response)
	case request.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, response)
	}
	return ReadPack(pack, l)
}

// ReadRefs reads the first answer of a server: its branches and tags. If ctx ended
// meanwhile, its error is returned, because the answer may be cut short.
func ReadRefs(ctx context.Context, r io.Reader) (*packp.AdvRefs, error) {
	offered := packp.NewAdvRefs()
	var start firstBytes
	reader := &bounded.ReadErrors{Reader: io.TeeReader(r, &start)}
	err := offered.Decode(reader)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case reader.Err != nil:
		return nil, reader.Err
	case bytes.Contains(start.kept.Bytes(), []byte("object-format=sha256")):
		return nil, errSHA256
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return nil, errors.New("the repository is empty")
	case err != nil:
		return nil, errNoServer
	case offered.IsEmpty():
		return nil, errors.New("the repository is empty")
	}
	return offered, nil
}

// errSHA256 is the error for a repository in git's sha256 object format
// (hash-function-transition(7)).
var errSHA256 = errors.New("its objects are named by sha256 (object-format=sha256), which is not supported; a repository of the sha1 object format is read")

var errNoServer = errors.New("what answers there is not a git server")

// chooseRef returns the hash for a branch, tag or commit; for an empty name the default
// branch's. A name that is both a branch and a tag is an error.
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
