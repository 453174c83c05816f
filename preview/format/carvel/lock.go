package carvel

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// The kind of the image lock, and the annotation with the reference that an
// image has in the manifests (carvel.dev/kbld).
const (
	lockAPIVersion = "imgpkg.carvel.dev/v1alpha1"
	lockKind       = "ImagesLock"
	idKey          = "kbld.carvel.dev/id"
)

// lock is a decoded image lock (images.yml): which image each reference in the
// manifests stands for.
type lock struct {
	images   []string          // in the order of the file
	byID     map[string]string // the reference in the manifests → the image
	rewrites int
}

// digested matches an image reference with a digest, of characters that are safe on a
// terminal.
var digested = lazyregexp.New(`^[a-z0-9][A-Za-z0-9._:/-]{0,400}@sha256:[0-9a-f]{64}$`)

func readLock(content fs.FS) (*lock, error) {
	f, err := content.Open(lockFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLock+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", lockFile, err)
	}
	if len(data) > maxLock {
		return nil, fmt.Errorf("%s is larger than %d MiB", lockFile, maxLock>>20)
	}
	return parseLock(data)
}

func parseLock(data []byte) (*lock, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", lockFile, err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s: it has %d documents, not one", lockFile, len(docs))
	}
	doc, _ := docs[0].(map[string]any)
	if got := preview.RefOf(doc); got.APIVersion != lockAPIVersion || got.Kind != lockKind {
		return nil, fmt.Errorf("%s: it is of kind %q of %q, not %s of %s", lockFile, got.Kind, got.APIVersion, lockKind, lockAPIVersion)
	}
	images, isList := doc["images"].([]any)
	if doc["images"] != nil && !isList {
		return nil, fmt.Errorf("%s: images is not a list", lockFile)
	}
	if len(images) > maxImages {
		return nil, fmt.Errorf("%s: %d images are more than %d", lockFile, len(images), maxImages)
	}
	l := &lock{byID: map[string]string{}}
	for i, item := range images {
		if err := l.add(i, item); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *lock) add(i int, item any) error {
	entry, _ := item.(map[string]any)
	image := preview.String(entry, "image")
	if !digested.MatchString(image) {
		return fmt.Errorf("%s: images[%d]: %.200q is not an image with its digest", lockFile, i, image)
	}
	l.images = append(l.images, image)
	id, ok := preview.Value(entry, "annotations", idKey).(string)
	if !ok || id == "" {
		id = image
	}
	if other, taken := l.byID[id]; taken && other != image {
		return fmt.Errorf("%s: images[%d]: %.200q is locked to two images", lockFile, i, id)
	}
	l.byID[id] = image
	return nil
}
