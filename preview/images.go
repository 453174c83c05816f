package preview

import (
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
		for _, field := range []string{"initContainers", "containers"} {
			for _, container := range Maps(pod, field) {
				if image := String(container, "image"); image != "" {
					usedBy[image] = append(usedBy[image], o.ID)
				}
			}
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
