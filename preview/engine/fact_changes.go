package engine

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// FactChanges returns the facts that differ between two plans of the same content.
// Where the fingerprint of a live object or of a recorded value differs, it returns the
// changed fields in its place.
func FactChanges(reviewed, now *preview.Plan, typer preview.TypeConverter) []diff.FactChange {
	var out []diff.FactChange
	fieldsOf, named := map[string][]diff.FactChange{}, map[string]bool{}
	objects, reads := now.ObjectsByID(), map[string]*preview.Read{}
	for i := range now.Reads {
		reads[now.Reads[i].ID] = &now.Reads[i]
	}
	for i := range reviewed.Objects {
		before := &reviewed.Objects[i]
		after := objects[before.ID]
		if after == nil || before.Live.Fingerprint == after.Live.Fingerprint {
			continue
		}
		fieldsOf[before.ID] = changedFields(before, after, typer)
	}
	for i := range reviewed.Reads {
		before := &reviewed.Reads[i]
		if preview.String(before.Body, "apiVersion") == preview.APIVersion {
			fieldsOf[before.ID] = describeNoteChange(before, reads[before.ID])
		}
	}
	for _, move := range diff.FactChanges(reviewed.Facts(), now.Facts()) {
		id, ok := fingerprintOf(move.Path)
		switch {
		case !ok || fieldsOf[id] == nil:
			out = append(out, move)
		case !named[id]:
			out, named[id] = append(out, fieldsOf[id]...), true
		}
	}
	return out
}

// fingerprintOf returns the id of the object or read in the path of a fingerprint, such
// as objects[ID].live.fingerprint or reads[ID].fingerprint. ok is false for other
// paths.
func fingerprintOf(path string) (id string, ok bool) {
	for _, form := range []struct{ prefix, suffix string }{
		{"objects[", "].live.fingerprint"}, {"objects[", "].adoption.fingerprint"}, {"reads[", "].fingerprint"},
	} {
		if rest, cut := strings.CutPrefix(path, form.prefix); cut {
			if id, ok = strings.CutSuffix(rest, form.suffix); ok {
				return id, true
			}
		}
	}
	return "", false
}

// describeNoteChange returns the changed fields of a value that this program computed
// and recorded as a read; nil if the new plan has no such read.
func describeNoteChange(before, now *preview.Read) []diff.FactChange {
	if now == nil {
		return nil
	}
	var out []diff.FactChange
	for _, move := range diff.FactChanges(before.Body, now.Body) {
		move.Path = before.ID + " " + move.Path
		out = append(out, move)
	}
	return out
}

func changedFields(before, after *preview.Object, typer preview.TypeConverter) []diff.FactChange {
	cut := func(o *preview.Object) map[string]any {
		body, err := o.Relevant(typer, o.LiveBody)
		if err != nil {
			return preview.WithoutVolatile(o.LiveBody, o.Planned)
		}
		return body
	}
	if before.LiveBody == nil || after.LiveBody == nil {
		return []diff.FactChange{{Path: before.ID, Reviewed: presence(before), Now: presence(after)}}
	}
	var out []diff.FactChange
	for _, c := range diff.Changes(cut(before), cut(after)) {
		out = append(out, diff.FactChange{Path: before.ID + " " + c.Path, Reviewed: diff.Text(c.From), Now: diff.Text(c.To)})
	}
	return out
}

// presence returns in words whether an object exists, and the release that it belongs
// to.
func presence(o *preview.Object) string {
	if o.LiveBody == nil {
		return "absent"
	}
	if release := preview.String(o.LiveBody, "metadata", "labels", preview.LabelRelease); release != "" {
		return "present, of release " + release
	}
	return "present"
}
