// Package source turns a reference into pinned, verified content.
//
// It works in two steps. [Fetcher.Pin] resolves what the user typed, which may
// float, to an immutable identity; [Fetcher.Open] reads exactly the bytes
// behind that identity and verifies them while reading. Nothing here trusts a
// registry, a cache entry or a directory: every byte is hashed, every read is
// capped, and content is handed out as an in-memory, read-only [fs.FS], so
// what was hashed is what is rendered.
//
// The kinds of sources are a closed set: one file each, and one row in
// [Fetcher.sourceOf]; the table of package ref has the properties of every kind.
//
// # 1 Identity
//
// The digest in a [Pin] covers every byte of the content:
//
//   - an image or OCI layout: the digest of its manifest. A tag is looked up once; of
//     an index the platform in Options selects the manifest, never that of the machine.
//   - an archive, an object of a bucket and a chart of a repository: the sha256 of the
//     file, as sha256sum prints it. Object versions and ETags are not used: they do not
//     hash content.
//   - a directory, a ConfigMap, a commit and what a program fetched: the hash of the
//     tree, over the path and the sha256 of each file in order. Owners, times and empty
//     directories are not in it, so equal files have equal digests in all of them. A
//     commit's SHA-1 is verified too, and is part of the pinned reference.
//
// Content that does not hash to its digest is an [ErrDigestMismatch]. Content is held
// in memory once it was hashed, so a file that changes later is not read again.
//
// # 2 Limits
//
// Every read has a limit, checked before memory is spent: the size of manifests,
// layers and files, the number of entries, the depth and length of paths, the bytes
// after decompression and their ratio to those before. They are far above the largest
// known bundle and catalog and far below what exhausts a laptop; see [filetree.Limits]. Links,
// devices, absolute paths and paths with ".." are refused where they would be content. A body slower than 4 KiB/s is given up, so that no server can hold a run.
//
// # 3 Addresses
//
// All requests go through one transport (guard). TLS is required unless Options allow
// a host without it. A redirect, or a token server that a registry names, may not lead
// to a private, loopback or link-local address (server-side request forgery): only the
// host that the reference itself names may have one, and those in
// Options.PrivateAddresses. The check is of addresses in URLs; host names are not
// resolved for it, so it does not protect from a name that resolves to such an address.
//
// # 4 Credentials
//
// Credentials are sent to the host that the reference names, and not after a redirect
// to another. They come from a Secret named with the reference, from the pull secrets
// given, and from the user's own files: Docker and Podman configuration with credential
// helpers, netrc, the ssh agent, the environment of the AWS and Google SDKs. They are
// never part of a reference, an error or a plan; a reference that holds some is refused
// without being repeated.
//
// # 5 Cache
//
// A cache entry is named by its digest and verified when it is read, so the cache is
// not trusted; a damaged entry is fetched again. Files that cannot be verified by their
// name, such as indexes of catalogs, are sealed with an HMAC whose key is outside the
// cache ([diskcache.Store], [diskcache.StateDir]). Resolved tags and branches are remembered for offline
// use alone. Entries are removed by last use beyond Options.CacheBytes.
package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// ErrDigestMismatch is wrapped by every error about bytes that do not have the requested
// digest.
var ErrDigestMismatch = bounded.ErrDigestMismatch

// ErrNotCached is wrapped by every error of an offline Fetcher about content that it
// could fetch if it were not offline.
var ErrNotCached = errors.New("it is not in the cache")

// Options configure a Fetcher. The zero value reads public registries over
// https with the user's own Docker or Podman credentials.
type Options struct {
	// CacheDir holds blobs by digest. Empty means
	// ${XDG_CACHE_HOME:-~/.cache}/kubectl-operator.
	CacheDir string
	// RegistryConfig is a Docker config file with credentials. Empty means
	// the user's own ones, Docker's and Podman's.
	RegistryConfig string
	// CAFile is a PEM file of roots trusted in addition to the system's.
	CAFile string
	// PlainHTTP allows registries without TLS. Nothing else does: not a
	// loopback address, not a redirect.
	PlainHTTP bool
	// InsecureRegistries are hosts, HOST or HOST:PORT, whose certificates are
	// not verified. Nothing else is relaxed, and for no other host.
	InsecureRegistries []string
	// PrivateAddresses are addresses in a private network that a server may lead to by a
	// redirect, or name as the place of its tokens; port 0 means every port. An address in
	// the reference itself is always allowed.
	PrivateAddresses []netip.AddrPort
	// PullSecrets are Secrets of the target cluster, as NAMESPACE/NAME, with
	// registry credentials. They come before the user's own.
	PullSecrets []string
	// Credentials, when set, belong to one reference: they take the place of the user's own.
	Credentials *auth.Credentials
	// Mirrors say where content of a registry or repository may be read from
	// instead, by digest.
	Mirrors []Mirror
	// CacheBytes limits the size of the cache; the least recently used entries
	// are removed first. Zero means 4 GiB.
	CacheBytes int64
	// Artifacts reads what host programs load. An archive is content as it is, whatever lies
	// at its top; any other file is content of one file, [filetree.PlainFile]; and files
	// have the mode that their source has for them, see [filetree.ShippedMode].
	Artifacts bool
	// Offline contacts nothing: references answer as they were resolved before, from the
	// cache alone. A missing entry is an ErrNotCached.
	Offline bool
	// Platform picks from a multi-platform index, as OS/ARCH[/VARIANT]. Empty
	// means linux/amd64 on every machine, so that content never depends on
	// where it was previewed.
	Platform string
	// RequestTimeout bounds the wait for one answer of a server, any pause
	// within a body, and the run of a credential helper. Zero means 30 seconds.
	RequestTimeout time.Duration
	// Programs returns the program of the user's own that fetches the references of a
	// source. Nil means that no program may run.
	Programs func(name string) (*program.Program, error)
	// Cluster answers for what lies in the target cluster: ConfigMap sources
	// and pull secrets. Nil means that no cluster may be asked.
	Cluster auth.Getter
	// Progress, when set, is called while blobs are downloaded. Calls do not
	// overlap.
	Progress func(Progress)
}

// Progress reports the download of one reference, in bytes.
type Progress struct {
	Reference   string
	Done, Total int64
}

// Pin is the immutable identity of a resolved reference.
type Pin struct {
	Source    preview.Source // kind, reference as typed, digest
	Reference ref.Reference
	// Version is the one of a range that was chosen, by what lists it: the index
	// of a chart repository, or the tags of an OCI one. The content may deny it.
	Version string
	// Remembered holds when the reference was resolved, if an offline Fetcher took it from
	// the cache; else it is zero.
	Remembered time.Time
	lookedUp   bool // by this Fetcher

	// content is set where resolving already read everything: a directory is
	// read once, and what was hashed is what opens.
	content *Content
}

// Content is the verified content that a pin identifies.
type Content struct {
	FS     fs.FS // read-only, in memory
	Source preview.Source
	Labels map[string]string // of the image's config; nil for a directory
	Plain  bool              // it is one file that is no archive, under the name PlainFile
	// Program is the program of the user's own that fetched it; nil for other kinds.
	Program *preview.Source
}

// source reads references of one kind.
type source interface {
	pin(ctx context.Context, r ref.Reference) (Pin, error)
	open(ctx context.Context, p Pin) (*Content, error)
}

// Fetcher resolves references to pins and opens their content. It is safe for
// concurrent use.
type Fetcher struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache
	store   diskcache.Store
	trimmed sync.Once
	image   *imageSource
	archive *archiveSource
	git     *gitSource
	bucket  *bucketSource
	chart   *chartSource
}

// With returns a Fetcher with the same options that uses these credentials for one
// reference.
func (f *Fetcher) With(c *auth.Credentials) *Fetcher {
	o := f.options
	o.Credentials = c
	return New(o)
}

// WithPrograms returns a Fetcher with the same options that runs programs of the user's
// own, for a reference that the user typed.
func (f *Fetcher) WithPrograms(find func(name string) (*program.Program, error)) *Fetcher {
	o := f.options
	o.Programs = find
	return New(o)
}

// New returns a Fetcher. Neither disk nor network is used yet.
func New(o Options) *Fetcher {
	o, l := o.withDefaults(), filetree.DefaultLimits()
	l.Artifacts = o.Artifacts
	reader := imageReader{options: o, limits: l, cache: diskcache.Cache{Dir: o.CacheDir}}
	return &Fetcher{
		options: o, limits: l, cache: reader.cache, store: diskcache.NewStore(reader.cache), image: newImageSource(reader),
		archive: newArchiveSource(o, l), git: newGitSource(o, l),
		bucket: newBucketSource(o, l), chart: newChartSource(o, l),
	}
}

func (o Options) withDefaults() Options {
	if o.Platform == "" {
		o.Platform = "linux/amd64"
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = 30 * time.Second
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 4 * bounded.GiB
	}
	return o
}

// sourceOf returns the source that reads references of a kind.
func (f *Fetcher) sourceOf(kind ref.Kind) (source, error) {
	switch kind {
	case ref.KindImage:
		return f.image, nil
	case ref.KindLayout:
		return layoutSource{f.image.imageReader}, nil
	case ref.KindDirectory:
		return directorySource{f.limits}, nil
	case ref.KindArchive:
		return f.archive, nil
	case ref.KindGit:
		return f.git, nil
	case ref.KindConfigMap:
		return &configMapSource{f.options, f.limits, f.cache}, nil
	case ref.KindBucket:
		return f.bucket, nil
	case ref.KindChart:
		return f.chart, nil
	case ref.KindProgram:
		return &programSource{f.options, f.limits, f.cache}, nil
	case ref.KindPackage:
		return nil, errors.New("a package name is resolved in a catalog before it has a source")
	}
	return nil, fmt.Errorf("kind %q has no source", kind)
}

// Pin resolves a reference. A tag or branch is looked up once, here; everything later
// uses the digest.
func (f *Fetcher) Pin(ctx context.Context, r ref.Reference) (Pin, error) {
	s, err := f.sourceOf(r.Kind)
	if err != nil {
		return Pin{}, fmt.Errorf("reference %q: %w", r.Text, err)
	}
	if f.options.Offline {
		if p, ok := f.recall(r); ok {
			return p, nil
		}
	}
	p, err := s.pin(ctx, r)
	p.lookedUp = err == nil
	return p, err
}

// Open returns the content of a pin. Bytes with another digest are an
// [ErrDigestMismatch] and are never returned. The pin is stored for offline use.
func (f *Fetcher) Open(ctx context.Context, p Pin) (*Content, error) {
	s, err := f.sourceOf(p.Reference.Kind)
	if err != nil {
		return nil, fmt.Errorf("reference %q: %w", p.Reference.Text, err)
	}
	content, err := s.open(ctx, p)
	if err == nil {
		err = f.Remember(p)
	}
	if err != nil {
		return nil, err
	}
	if !f.options.Offline {
		f.trimmed.Do(func() { f.cache.Trim(f.options.CacheBytes, time.Now()) })
	}
	return content, nil
}

// Store returns the store for computed files in the Fetcher's cache.
func (f *Fetcher) Store() diskcache.Store { return f.store }
