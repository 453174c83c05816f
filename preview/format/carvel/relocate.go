package carvel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// "imgpkg copy" also pushes, with a bundle that it moves: an image, tagged by the digest
// of the bundle, with a file that lists the images it moved into the bundle's repository.
const (
	locationsFile   = "image-locations.yml"
	locationsKind   = "ImageLocations"
	locationsSuffix = ".image-locations.imgpkg"
)

// relocate lets the lock lead to the repository of the bundle for each image that "imgpkg
// copy" moved there, by its locations image. As with "imgpkg pull", all images of the lock
// have moved or none has. If the registry cannot be asked, or its answer is no list of
// images, a note says so and the lock's images stay.
func (l *lock) relocate(ctx context.Context, in format.Input, out *format.Output) error {
	repository, tag, ok := l.locations(in.Source)
	if !ok || in.Peers == nil {
		return nil
	}
	content, source, err := in.Peers.Open(ctx, "oci://"+repository+":"+tag)
	switch {
	case errors.Is(err, format.ErrNoPeer):
		return nil // it was pushed there, not copied
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		out.Notes = append(out.Notes, notLocated(in, err))
		return nil
	}
	moved, err := readLocations(content)
	if err != nil {
		out.Notes = append(out.Notes, notLocated(in, fmt.Errorf("image %s:%s: %w", repository, tag, err)))
		return nil
	}
	for _, image := range l.images {
		if !moved[image] && !strings.HasPrefix(image, repository+"@") {
			return nil
		}
	}
	l.move(repository)
	out.Sources = append(out.Sources, source)
	return nil
}

// notLocated returns the note for locations that are not known.
func notLocated(in format.Input, err error) preview.Note {
	return rules.ImagesNotLocated.Note("package/"+in.Info.Package, fmt.Sprintf(
		"cannot tell whether \"imgpkg copy\" moved its images, so the images of its lock are used: %s", err))
}

// locations returns where the locations of a bundle's images are; false if the bundle
// is no image of a registry, or all its images are in its repository anyway.
func (l *lock) locations(source preview.Source) (repository, tag string, ok bool) {
	r, err := ref.Parse(source.Reference)
	if err != nil || r.Kind != ref.KindImage || !ref.IsDigest(source.Digest) {
		return "", "", false
	}
	repository = r.Repository()
	for _, image := range l.images {
		ok = ok || !strings.HasPrefix(image, repository+"@")
	}
	return repository, strings.Replace(source.Digest, ":", "-", 1) + locationsSuffix, ok
}

// move replaces the repository of every image.
func (l *lock) move(repository string) {
	moved := func(image string) string {
		_, digest, _ := strings.Cut(image, "@")
		return repository + "@" + digest
	}
	for i, image := range l.images {
		l.images[i] = moved(image)
	}
	for id, image := range l.byID {
		l.byID[id] = moved(image)
	}
}

// readLocations returns the images that a locations image lists.
func readLocations(content fs.FS) (map[string]bool, error) {
	data, err := format.ReadFile(content, locationsFile, maxLock)
	if err != nil {
		return nil, err
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", locationsFile, err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s: it has %d documents, not one", locationsFile, len(docs))
	}
	doc, _ := docs[0].(map[string]any)
	if got := preview.RefOf(doc); got.APIVersion != lockAPIVersion || got.Kind != locationsKind {
		return nil, fmt.Errorf("%s: it is of kind %q of %q, not %s of %s", locationsFile, got.Kind, got.APIVersion, locationsKind, lockAPIVersion)
	}
	list := preview.List(doc, "images")
	if len(list) > maxImages {
		return nil, fmt.Errorf("%s: %d images are more than %d", locationsFile, len(list), maxImages)
	}
	images := map[string]bool{}
	for i, item := range list {
		entry, _ := item.(map[string]any)
		image := preview.String(entry, "image")
		if !digested.MatchString(image) {
			return nil, fmt.Errorf("%s: images[%d]: %.200q is not an image with its digest", locationsFile, i, image)
		}
		images[image] = true
	}
	return images, nil
}
