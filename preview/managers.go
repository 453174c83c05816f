package preview

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// FieldOwner is a field manager of a live object with the fields that it set, as in
// metadata.managedFields. Time is when it last wrote, in RFC 3339.
type FieldOwner struct {
	Manager string
	Time    string
	fields  *fieldpath.Set
}

// FieldOwners returns the field managers of a live object except its status's, in their
// order. Invalid entries are left out, because the result is only displayed.
func FieldOwners(live map[string]any) []FieldOwner {
	var out []FieldOwner
	for _, item := range List(live, "metadata", "managedFields") {
		entry, ok := item.(map[string]any)
		if !ok || String(entry, "subresource") == "status" {
			continue
		}
		data, err := json.Marshal(entry["fieldsV1"])
		if err != nil {
			continue
		}
		var set fieldpath.Set
		if set.FromJSON(bytes.NewReader(data)) == nil {
			out = append(out, FieldOwner{String(entry, "manager"), String(entry, "time"), &set})
		}
	}
	return out
}

// Cut returns a copy of an object with only the fields that the manager set, and the
// keys of list items. Values are shared with the object.
func (o FieldOwner) Cut(body map[string]any) map[string]any {
	cut, _ := extract(body, nil, o.fields).(map[string]any)
	return cut
}
