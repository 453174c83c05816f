package preview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Adoption says what the first of the two writes of an adoption removes from an object:
// marks and owner references of the former owner, whose fields move to this program's
// field manager. Of a former owner that is deleted, it only lists the objects that it
// owned.
type Adoption struct {
	// OwnerReferences to remove, as KIND/NAME, sorted.
	OwnerReferences []string `json:"ownerReferences,omitempty"`
	Marks           []string `json:"marks,omitempty"` // keys of labels and annotations, sorted
	// Managers are the field managers whose fields are taken over, sorted.
	Managers []string `json:"managers,omitempty"`
	// Fingerprint is the hash of the object between the two writes.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Releases are the ids of the objects that a former owner no longer
	// owns, sorted.
	Releases []string `json:"releases,omitempty"`
}

// FormerOwner reports whether the plan deletes the object because it is the former
// owner of objects that are adopted. It is not a member of the release.
func (o *Object) FormerOwner() bool { return o.Action == ActionDelete && o.Adoption != nil }

// Lines returns what the first write of an adoption removes, or which objects a deleted
// owner gives up, one line each.
func (a *Adoption) Lines() []string {
	if a == nil {
		return nil
	}
	var out []string
	for _, list := range []struct {
		what  string
		items []string
	}{
		{"takes off the owner reference to", a.OwnerReferences}, {"takes off the mark", a.Marks},
		{"takes the fields of", a.Managers}, {"lets go of", a.Releases},
	} {
		for _, item := range list.items {
			out = append(out, list.what+" "+item)
		}
	}
	return out
}

// OrphansDependents reports whether a former owner must be deleted with its dependents
// orphaned. Otherwise the garbage collector would delete the adopted objects.
func OrphansDependents(o *Object) bool { return o.FormerOwner() && o.Is(KindClusterServiceVersion) }

// companions are further labels and annotations that a tool sets next to the one that
// names the owner.
var companions = [...]string{
	"meta.helm.sh/release-namespace", "olm.owner.namespace", "olm.owner.kind", "olm.operatorframework.io/owner-kind",
	"kustomize.toolkit.fluxcd.io/namespace", "helm.toolkit.fluxcd.io/namespace", LastApplied,
}

// formers are the field managers of the tools that objects are adopted from.
var formers = [...]string{
	"kubectl-client-side-apply", "kubectl-create", "kubectl", "helm", "Helm", "olm", "catalog", "operator-controller",
	"kustomize-controller", "helm-controller", "argocd-controller", "argocd-application-controller", "kapp", "kapp-controller",
}

// WithoutFormerOwner returns a live object without the marks of its former owner, as
// the first write of an adoption leaves it, and what is removed. Labels and annotations
// that the planned object, sealed, has too are kept.
func WithoutFormerOwner(t TypeConverter, live, sealed map[string]any) (map[string]any, *Adoption, error) {
	out, a := CloneBody(live), &Adoption{}
	meta := Map(out, "metadata")
	for _, item := range Maps(meta, "ownerReferences") {
		a.OwnerReferences = append(a.OwnerReferences, String(item, "kind")+"/"+String(item, "name"))
	}
	delete(meta, "ownerReferences")
	keys := slices.Clone(companions[:])
	for _, mark := range ownerMarks {
		keys = append(keys, mark.key)
	}
	for _, field := range []string{"labels", "annotations"} {
		from, wanted := Map(meta, field), Map(sealed, "metadata", field)
		for _, key := range keys {
			a.strip(from, wanted, key)
		}
		if from["app.kubernetes.io/managed-by"] == "Helm" {
			a.strip(from, wanted, "app.kubernetes.io/managed-by")
		}
		if from != nil && len(from) == 0 {
			delete(meta, field)
		}
	}
	if err := a.migrate(meta, String(sealed, "apiVersion")); err != nil {
		return nil, nil, err
	}
	for _, list := range []*[]string{&a.OwnerReferences, &a.Marks, &a.Managers} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	var err error
	a.Fingerprint, err = Fingerprint(t, out, sealed, true)
	return out, a, err
}

func (a *Adoption) strip(from, wanted map[string]any, key string) {
	if _, has := from[key]; !has {
		return
	}
	if _, keeps := wanted[key]; keeps {
		return
	}
	delete(from, key)
	a.Marks = append(a.Marks, key)
}

// migrate moves the fields of former managers in managedFields to our field manager, so
// that the next apply removes fields that the new content omits. It works as csaupgrade
// of client-go does for kubectl (KEP-555, "upgrading from client-side apply").
func (a *Adoption) migrate(meta map[string]any, apiVersion string) error {
	var kept []any
	ours := fieldpath.NewSet()
	for _, item := range List(meta, "managedFields") {
		entry, ok := item.(map[string]any)
		if !ok {
			return errors.New("managedFields cannot be read")
		}
		manager := String(entry, "manager")
		own := manager == FieldManager && String(entry, "operation") == "Apply"
		if !own && !slices.Contains(formers[:], manager) || String(entry, "subresource") != "" || String(entry, "apiVersion") != apiVersion {
			kept = append(kept, item)
			continue
		}
		data, err := json.Marshal(entry["fieldsV1"])
		if err != nil {
			return errors.New("managedFields cannot be read")
		}
		var set fieldpath.Set
		if err := set.FromJSON(bytes.NewReader(data)); err != nil {
			return fmt.Errorf("managedFields cannot be read: %w", err)
		}
		ours = ours.Union(&set)
		if !own {
			a.Managers = append(a.Managers, manager)
		}
	}
	if len(a.Managers) == 0 {
		return nil
	}
	for _, mark := range a.Marks {
		for _, field := range []string{"labels", "annotations"} {
			ours = ours.Difference(fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", field, mark)))
		}
	}
	data, err := ours.ToJSON()
	if err != nil {
		return err
	}
	fields, err := DecodeJSON(data)
	if err != nil {
		return err
	}
	meta["managedFields"] = append(kept, map[string]any{
		"manager": FieldManager, "operation": "Apply", "apiVersion": apiVersion, "fieldsType": "FieldsV1", "fieldsV1": fields,
	})
	return nil
}

// PatchOp is one operation of a JSON patch (RFC 6902).
type PatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// ReleasePatch returns the JSON patch that turns a live object into the result of
// [WithoutFormerOwner], nil if there is nothing to remove. The patch fails unless uid
// and resourceVersion match the live object.
func ReleasePatch(live, released map[string]any, a *Adoption) []PatchOp {
	if len(a.OwnerReferences)+len(a.Marks)+len(a.Managers) == 0 {
		return nil
	}
	ops := []PatchOp{
		{Op: "test", Path: "/metadata/uid", Value: String(live, "metadata", "uid")},
		{Op: "test", Path: "/metadata/resourceVersion", Value: String(live, "metadata", "resourceVersion")},
	}
	was, is := Map(live, "metadata"), Map(released, "metadata")
	for _, field := range []string{"ownerReferences", "labels", "annotations", "managedFields"} {
		switch before, after := was[field], is[field]; {
		case after != nil:
			ops = append(ops, PatchOp{Op: "add", Path: "/metadata/" + field, Value: after})
		case before != nil:
			ops = append(ops, PatchOp{Op: "remove", Path: "/metadata/" + field})
		}
	}
	return ops
}
