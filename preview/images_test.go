package preview

import (
	"slices"
	"testing"
)

// TestNamedImages names every image that nodes pull: of all containers, and those
// that are mounted.
func TestNamedImages(t *testing.T) {
	container := func(image string) []any { return []any{map[string]any{"name": "c", "image": image}} }
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{
		"initContainers": container("a:1"), "containers": container("b:1"), "ephemeralContainers": container("c:1"),
		"volumes": []any{map[string]any{"name": "v", "image": map[string]any{"reference": "d:1"}}, map[string]any{"name": "w"}},
	}}
	var got []string
	for _, image := range (&Plan{Objects: []Object{{ID: "core/Pod/app/p", Planned: pod}}}).NamedImages() {
		got = append(got, image.Reference)
	}
	if want := []string{"a:1", "b:1", "c:1", "d:1"}; !slices.Equal(got, want) {
		t.Errorf("images %v, want %v", got, want)
	}
	for image, replace := range PodImages(Map(pod, "spec")) {
		replace(image + "@sha256:00")
	}
	if got := String(Maps(pod, "spec", "volumes")[0], "image", "reference"); got != "d:1@sha256:00" {
		t.Errorf("the volume has image %s", got)
	}
}
