package ref

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// NotesBeside returns notes about objects of the file that the request does not refer
// to, because they are not applied. A Namespace called namespace, the release's if it is
// known, is noted only for labels and annotations: the plan creates it itself.
func (r *Request) NotesBeside(namespace string) []RequestNote {
	var notes []RequestNote
	var others []*document
	for i := range r.objects {
		switch d := &r.objects[i]; {
		case d.used:
		case d.Kind != "Namespace" || d.Group() != "" || namespace == "" || d.Name != namespace:
			others = append(others, d)
		default:
			if lost := namespaceMetadata(d); len(lost) > 0 {
				notes = append(notes, RequestNote{rules.RequestObjectsNotApplied, d.String() + " of the file is the release's own, and of it are not applied: " + strings.Join(lost, ", ")})
			}
		}
	}
	if len(others) > 0 {
		notes = append(notes, RequestNote{rules.RequestObjectsNotApplied, "the file holds objects that the request does not refer to, and they are not applied: " + listed(others, (*document).String)})
	}
	if len(r.others) > 0 {
		notes = append(notes, RequestNote{rules.RequestObjectsNotApplied, "the file holds other requests, and this plan does not apply them: " + listed(r.others, func(s string) string { return s })})
	}
	return notes
}

// namespaceMetadata returns the labels and annotations of a Namespace as text, without
// those that every Namespace has.
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

// renameRelease replaces dots in the release name, which the request's object gives:
// object names may contain dots, release names may not.
func (r *reader) renameRelease() {
	name := strings.ReplaceAll(r.Release, ".", "-")
	if name == r.Release || !isLabel(name) {
		return
	}
	r.note(rules.ReleaseRenamed, name, r.Release)
	r.Release = name
}
