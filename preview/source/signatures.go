package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Signature is a signature of an image as it is stored, not verified.
type Signature struct {
	MediaType   string            // of Payload
	Annotations map[string]string // of the layer that holds Payload
	Payload     []byte
}

// UnreadableSignature is the error for a signature manifest of an unsupported form or
// size. A retry gives the same result.
type UnreadableSignature struct{ error }

func (e *UnreadableSignature) Unwrap() error { return e.error }

const (
	maxReferrers      = 1000
	maxSignatures     = 256             // manifests, and payloads in all of them
	signatureBytes    = 4 * bounded.MiB // one payload
	allSignatureBytes = 32 * bounded.MiB
	maxArtifactType   = 255 // as RFC 6838 has it for media types
	// listTimeout is how long a listing is waited for that is only for information.
	listTimeout = 5 * time.Second
)

// The artifact types of the manifests that cosign tags by the digest of an image
// (github.com/sigstore/cosign, specs/SIGNATURE_SPEC.md), by suffix, and the beginning of the
// artifact type of Sigstore bundles.
const (
	cosignType = "application/vnd.dev.cosign.artifact.%s.v1+json"
	bundleType = "application/vnd.dev.sigstore.bundle"
)

// predicateAnnotation is the annotation with the predicate type of a bundle of cosign,
// which distinguishes an SBOM from a signature.
const predicateAnnotation = "dev.sigstore.bundle.predicateType"

var cosignSuffixes = [...]string{"sig", "att", "sbom"}

// referrerLister lists the OCI referrers of an image, and reads manifests under the
// tags that cosign derives from its digest.
type referrerLister interface {
	blobReader
	// tagged reads the manifest of a tag. It returns nil and no error where there is
	// no such tag.
	tagged(ctx context.Context, tag string) ([]byte, error)
	// referrers lists the manifests whose subject is the digest.
	referrers(ctx context.Context, digest string) ([]v1.Descriptor, error)
}

// referrerSource is a source whose images can have referrers: a registry or a layout.
type referrerSource interface {
	// eachLister calls visit for each repository or layout that may hold them, until
	// visit returns false.
	eachLister(ctx context.Context, p Pin, visit func(referrerLister) bool) error
}

// referrerListing has the referrers of one image, and the digests of those that are
// signatures.
type referrerListing struct {
	Referrers  []preview.Referrer `json:"referrers"`
	Signatures []string           `json:"signatures"` // manifests that hold some, by digest
}

// Signed reports whether content of a kind can have signatures: images and layouts can.
func Signed(kind ref.Kind) bool { return kind == ref.KindImage || kind == ref.KindLayout }

// Signatures returns the signatures of a pinned image, and its other referrers. The
// registry is always asked; offline, the last listing is used. With an error it still
// returns those that could be read. Content of other kinds has none.
func (f *Fetcher) Signatures(ctx context.Context, p Pin) ([]Signature, []preview.Referrer, error) {
	s, ok := f.referrerSourceOf(p)
	if !ok {
		return nil, nil, nil
	}
	if f.options.Offline && p.Reference.Kind == ref.KindImage {
		l, ok := f.recallListing(p)
		if !ok {
			return nil, nil, fmt.Errorf("signatures of %s: %w, and --offline forbids to fetch them", p.Source.Digest, ErrNotCached)
		}
		signatures, err := f.image.signatures(ctx, offlineReader{}, l)
		return signatures, l.Referrers, err
	}
	var signatures []Signature
	var l referrerListing
	var failed error
	err := s.eachLister(ctx, p, func(from referrerLister) bool {
		found, err := f.image.list(ctx, from, p.Source.Digest)
		if len(found.Referrers) > 0 {
			l = found
			more, readErr := f.image.signatures(ctx, from, l)
			signatures, err = more, also(err, readErr)
			failed = err // what other places did not say is said here
			return false
		}
		if failed == nil {
			failed = err
		}
		return ctx.Err() == nil
	})
	if err = also(failed, err); err != nil {
		return signatures, l.Referrers, fmt.Errorf("signatures of %s: %w", p.Source.Digest, err)
	}
	return signatures, l.Referrers, f.rememberListing(p, l)
}

// Referrers returns the referrers of a pinned image, such as SBOMs and provenance. They
// are for information: an earlier listing is used if there is one, and a slow registry
// is not waited for.
func (f *Fetcher) Referrers(ctx context.Context, p Pin) ([]preview.Referrer, error) {
	s, ok := f.referrerSourceOf(p)
	if !ok {
		return nil, nil
	}
	if l, ok := f.recallListing(p); f.options.Offline || ok && len(l.Referrers) > 0 {
		return l.Referrers, nil
	}
	short, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	var l referrerListing
	var failed error
	err := s.eachLister(short, p, func(from referrerLister) bool {
		var err error
		if l, err = f.image.list(short, from, p.Source.Digest); err != nil && failed == nil {
			failed = err
		}
		return len(l.Referrers) == 0 && short.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil || err != nil:
		return l.Referrers, also(failed, err)
	}
	return l.Referrers, f.rememberListing(p, l)
}

func (f *Fetcher) referrerSourceOf(p Pin) (referrerSource, bool) {
	s, err := f.sourceOf(p.Reference.Kind)
	if err != nil {
		return nil, false
	}
	n, ok := s.(referrerSource)
	return n, ok && ref.IsDigest(p.Source.Digest)
}

// list returns the referrers of a digest; with an error, those that were found.
func (s imageReader) list(ctx context.Context, from referrerLister, digest string) (referrerListing, error) {
	tagged := make([]string, len(cosignSuffixes)) // digests
	var referrers []v1.Descriptor
	errs := make([]error, len(cosignSuffixes)+1)
	var group tasks.Group
	for i, suffix := range cosignSuffixes {
		group.Go(func() error {
			data, err := from.tagged(ctx, strings.Replace(digest, ":", "-", 1)+"."+suffix)
			if err == nil && data != nil {
				tagged[i], err = s.keep(data)
			}
			errs[i] = err
			return nil
		})
	}
	group.Go(func() error {
		referrers, errs[len(errs)-1] = from.referrers(ctx, digest)
		return nil
	})
	_ = group.Wait() // every error is in errs
	var l referrerListing
	for i, suffix := range cosignSuffixes {
		if tagged[i] != "" {
			l.add(preview.Referrer{ArtifactType: fmt.Sprintf(cosignType, suffix), Digest: tagged[i]})
		}
	}
	if len(referrers) > maxReferrers {
		return l, &UnreadableSignature{fmt.Errorf("%d manifests refer to it; at most %d are read", len(referrers), maxReferrers)}
	}
	if err := s.nameTypes(ctx, from, referrers); err != nil {
		errs = append(errs, err)
	}
	for _, d := range referrers {
		if ref.IsDigest(d.Digest.String()) && len(d.ArtifactType) <= maxArtifactType {
			r := preview.Referrer{ArtifactType: d.ArtifactType, Digest: d.Digest.String()}
			if predicate := d.Annotations[predicateAnnotation]; len(predicate) <= maxArtifactType {
				r.PredicateType = predicate
			}
			l.add(r)
		}
	}
	l.sort()
	return l, firstOf(errs)
}

// nameTypes reads the manifests of referrers that are listed without their type, and sets
// it and their annotations: one of them may be a signature. A referrer without a manifest
// of a known form is none, and stays as it is.
func (s imageReader) nameTypes(ctx context.Context, from blobReader, referrers []v1.Descriptor) error {
	var unnamed []*v1.Descriptor
	for i := range referrers {
		if d := &referrers[i]; listedWithoutType(*d) && ref.IsDigest(d.Digest.String()) {
			unnamed = append(unnamed, d)
		}
	}
	if len(unnamed) > maxSignatures {
		return &UnreadableSignature{fmt.Errorf("more than %d manifests are listed without their type", maxSignatures)}
	}
	var group tasks.Group
	group.SetLimit(parallelDownloads)
	for _, d := range unnamed {
		group.Go(func() error {
			m, err := s.oneManifest(ctx, from, d.Digest.String())
			switch {
			case isUnreadable(err):
			case err != nil:
				return err
			case m.ArtifactType != "":
				d.ArtifactType, d.Annotations = m.ArtifactType, m.Annotations
			}
			return nil
		})
	}
	return group.Wait()
}

// isUnreadable reports whether an error means a manifest with a form or size that is not
// read, which a retry does not change.
func isUnreadable(err error) bool {
	_, odd := errors.AsType[*formError](err)
	return odd || errors.Is(err, bounded.ErrTooLarge)
}

func (l *referrerListing) add(r preview.Referrer) {
	l.Referrers = append(l.Referrers, r)
	// The kind of attestation is a bundle's own claim: each is read.
	if r.ArtifactType == fmt.Sprintf(cosignType, "sig") || strings.HasPrefix(r.ArtifactType, bundleType) {
		l.Signatures = append(l.Signatures, r.Digest)
	}
}

func (l *referrerListing) sort() {
	slices.SortFunc(l.Referrers, preview.CompareReferrers)
	l.Referrers = slices.Compact(l.Referrers)
	slices.Sort(l.Signatures)
	l.Signatures = slices.Compact(l.Signatures)
}

// also returns both errors as one, on one line; either may be nil.
func also(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}

func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// signatures returns the payloads of the signatures in a listing, by digest and through
// the cache. With an error it still returns those that could be read.
func (s imageReader) signatures(ctx context.Context, from blobReader, l referrerListing) ([]Signature, error) {
	var out []Signature
	var failed error
	left := int64(allSignatureBytes)
	for i, digest := range l.Signatures {
		if i >= maxSignatures || len(out) >= maxSignatures || left <= 0 || ctx.Err() != nil {
			return out, also(ctx.Err(), &UnreadableSignature{fmt.Errorf("more signatures than are read: at most %d, with %s in all", maxSignatures, bounded.ByteCount(allSignatureBytes))})
		}
		m, err := s.oneManifest(ctx, from, digest)
		if err == nil && m.Manifests != nil {
			err = &formError{errors.New("an index holds no signature")}
		}
		if isUnreadable(err) {
			err = &UnreadableSignature{fmt.Errorf("signature %s: %w", digest, err)}
		}
		if err != nil {
			failed = also(failed, err)
			continue
		}
		for _, layer := range m.Layers {
			if left -= layer.Size; layer.Size > signatureBytes || left < 0 {
				failed = also(failed, &UnreadableSignature{fmt.Errorf("signature %s: %w of %s", layer.Digest, bounded.ErrTooLarge, bounded.ByteCount(signatureBytes))})
				continue
			}
			payload, err := s.whole(ctx, from, layer)
			if err != nil {
				failed = also(failed, err)
				continue
			}
			out = append(out, Signature{MediaType: string(layer.MediaType), Annotations: layer.Annotations, Payload: payload})
		}
	}
	return out, failed
}

// whole returns a small blob, from the cache or else downloaded into it.
func (s imageReader) whole(ctx context.Context, from blobReader, d v1.Descriptor) ([]byte, error) {
	digest := d.Digest.String()
	data, err := s.cache.Bytes(digest, d.Size)
	if err == nil {
		return data, nil
	}
	if err := s.missing(digest, err); err != nil {
		return nil, err
	}
	if err := s.fetch(ctx, from, d, nil); err != nil {
		return nil, err
	}
	return s.cache.Bytes(digest, d.Size)
}

// listingName returns the cache file with the referrers of an image.
func (f *Fetcher) listingName(p Pin) (string, error) {
	dir, err := f.cache.SubDir("resolved")
	if err != nil {
		return "", err
	}
	repo, _, _ := strings.Cut(p.Reference.Image, "@")
	sum := sha256.Sum256([]byte("beside v1\n" + repo + "\n" + p.Source.Digest))
	return filepath.Join(dir, hex.EncodeToString(sum[:])), nil
}

// rememberListing stores the referrers of an image for offline use. Those of a layout,
// which is on this machine, are not stored.
func (f *Fetcher) rememberListing(p Pin, l referrerListing) error {
	if p.Reference.Kind != ref.KindImage {
		return nil
	}
	name, err := f.listingName(p)
	if err != nil {
		return err
	}
	data, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("%w: %w", diskcache.ErrWrite, err)
	}
	return diskcache.WriteFile(name, data)
}

// recallListing returns the stored referrers of an image; false if there are none, or
// they cannot be read.
func (f *Fetcher) recallListing(p Pin) (referrerListing, bool) {
	var l referrerListing
	name, err := f.listingName(p)
	if err != nil || p.Reference.Kind != ref.KindImage {
		return l, false
	}
	data, err := bounded.ReadFile(name, bounded.MiB)
	if err != nil || json.Unmarshal(data, &l) != nil || len(l.Referrers) > 2*maxReferrers {
		return referrerListing{}, false
	}
	for _, r := range l.Referrers {
		if !ref.IsDigest(r.Digest) || len(r.ArtifactType) > maxArtifactType || len(r.PredicateType) > maxArtifactType {
			return referrerListing{}, false
		}
	}
	diskcache.Touch(name)
	return l, true
}
