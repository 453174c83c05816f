package planning

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// maxPinned bounds the images of one package that are looked up.
const maxPinned = 200

// pinImages resolves the tags of the images that a package's pods name, and
// writes the digests behind them: what runs is then part of the content digest.
// An image that is named by digest already stays as it is.
func (r *Resolver) pinImages(ctx context.Context, pkg string, output *format.Output) error {
	pinned := map[string]string{} // by the reference that the content has
	for _, o := range output.Objects {
		if pod, _ := preview.PodTemplate(o.Body); pod != nil {
			eachImage(pod, func(container map[string]any, image string) {
				if !strings.Contains(image, "@") {
					pinned[image] = ""
				}
			})
		}
	}
	if len(pinned) > maxPinned {
		return fmt.Errorf("--pin-images: the pods of %s name %d images by tag; at most %d are looked up", pkg, len(pinned), maxPinned)
	}
	for _, image := range slices.Sorted(maps.Keys(pinned)) {
		full, platforms, err := r.pinImage(ctx, image)
		if err != nil {
			return fmt.Errorf("--pin-images: %w", err)
		}
		pinned[image] = full
		output.Notes = append(output.Notes, risk.PinnedNote(pkg, full, platforms))
		if slices.Contains(output.RelatedImages, image) {
			output.RelatedImages = append(output.RelatedImages, full)
		}
	}
	for i := range output.Objects {
		if pod, _ := preview.PodTemplate(output.Objects[i].Body); pod == nil {
			continue
		}
		body := preview.CloneBody(output.Objects[i].Body)
		pod, _ := preview.PodTemplate(body)
		eachImage(pod, func(container map[string]any, image string) {
			if full := pinned[image]; full != "" {
				container["image"] = full
			}
		})
		output.Objects[i].Body = body
	}
	return nil
}

// pinImage returns an image with the digest of its tag behind it, and the
// platforms that it runs on.
func (r *Resolver) pinImage(ctx context.Context, image string) (string, []string, error) {
	reference, err := source.PodImage(image)
	if err != nil {
		return "", nil, err
	}
	r.progress("resolving " + image)
	var platforms []string
	pin, err := cacheFirst(r, func(from *source.Fetcher) (source.Pin, error) {
		pin, err := from.Pin(ctx, reference)
		if err != nil {
			return pin, err
		}
		if platforms, err = from.Platforms(ctx, pin); err != nil {
			return pin, err
		}
		return pin, from.Remember(pin)
	})
	if err != nil {
		return "", nil, err
	}
	return image + "@" + pin.Source.Digest, platforms, nil
}

// eachImage visits the containers of a pod that name an image.
func eachImage(pod map[string]any, visit func(container map[string]any, image string)) {
	for _, field := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range preview.Maps(pod, field) {
			if image := preview.String(container, "image"); image != "" {
				visit(container, image)
			}
		}
	}
}
