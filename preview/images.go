package preview

import (
	"iter"
	"slices"
	"strings"
)

// NamedImages returns every image of the plan's pods and plugins, without
// duplicates.
func (p *Plan) NamedImages() []Image {
	usedBy := map[string][]string{}
	for i := range p.Objects {
		o := &p.Objects[i]
		pod, _ := PodTemplate(o.Planned)
		for image := range PodImages(pod) {
			usedBy[image] = append(usedBy[image], o.ID)
		}
	}
	for _, pkg := range p.Packages {
		for _, e := range pkg.Executors {
			usedBy[e.Image] = append(usedBy[e.Image], e.By)
		}
	}
	out := make([]Image, 0, len(usedBy))
	for reference, users := range usedBy {
		slices.Sort(users)
		image := Image{Reference: reference, UsedBy: slices.Compact(users)}
		if _, digest, ok := strings.Cut(reference, "@"); ok {
			image.Digest, image.Pinned = digest, true
		}
		out = append(out, image)
	}
	slices.SortFunc(out, func(a, b Image) int { return strings.Compare(a.Reference, b.Reference) })
	return out
}

// PodImages iterates over the images that nodes pull for a pod, those mounted as
// volumes included, each with a function that replaces the image in the pod.
func PodImages(pod map[string]any) iter.Seq2[string, func(string)] {
	return func(yield func(string, func(string)) bool) {
		each := func(holder map[string]any, field string) bool {
			image := String(holder, field)
			return image == "" || yield(image, func(other string) { holder[field] = other })
		}
		for _, field := range []string{"initContainers", "containers", "ephemeralContainers"} {
			for _, container := range Maps(pod, field) {
				if !each(container, "image") {
					return
				}
			}
		}
		for _, volume := range Maps(pod, "volumes") {
			if !each(Map(volume, "image"), "reference") {
				return
			}
		}
	}
}
