package ref

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// NotesBeside are about the objects of the file that the request does not refer
// to: they are what others apply, and a plan is one release. namespace is where
// that goes, empty while it is not known; a Namespace of that name is the plan's
// own, which creates it where it is missing.
func (r *Request) NotesBeside(namespace string) []RequestNote {
	var notes []RequestNote
	var others []string
	for i := range r.objects {
		switch d := &r.objects[i]; {
		case d.used:
		case d.Kind != "Namespace" || d.Group() != "" || namespace == "" || d.Name != namespace:
			others = append(others, d.String())
		default:
			if lost := namespaceMetadata(d); len(lost) > 0 {
				notes = append(notes, RequestNote{rules.RequestObjectsNotApplied, d.String() + " of the file is the release's own, and of it are not applied: " + strings.Join(lost, ", ")})
			}
		}
	}
	if len(others) > 0 {
		notes = append(notes, RequestNote{rules.RequestObjectsNotApplied, "the file holds objects that the request does not refer to, and they are not applied: " + strings.Join(others, ", ")})
	}
	return notes
}

// namespaceMetadata lists the labels and annotations of a Namespace but those
// that every Namespace has.
func namespaceMetadata(d *document) []string {
	var out []string
	labels := preview.Map(d.body, "metadata", "labels")
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, _ := labels[key].(string); key != "kubernetes.io/metadata.name" || value != d.Name {
			out = append(out, "label "+key+"="+value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(preview.Map(d.body, "metadata", "annotations"))) {
		if key != "kubectl.kubernetes.io/last-applied-configuration" {
			out = append(out, "annotation "+key)
		}
	}
	return out
}

// renameRelease calls the release what a release can be called: objects have dots in
// their names, and the labels and Secrets of a release do not.
func (r *reader) renameRelease() {
	name := strings.ReplaceAll(r.Release, ".", "-")
	if name == r.Release || !isLabel(name) {
		return
	}
	r.note(rules.ReleaseRenamed, name, r.Release)
	r.Release = name
}
