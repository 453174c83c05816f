package k8s

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Merge computes the result of a server-side apply (KEP-555) on a live object here, from
// the object's managedFields and the schema of its kind. The result is like
// [Client.DryRun]'s, with conflicts unless force is set, but without defaulting,
// admission and validation.
func (c *Client) Merge(ctx context.Context, live map[string]any, item preview.DryRun) preview.DryRunResult {
	if item.Refused != nil {
		return preview.DryRunResult{Err: item.Refused}
	}
	result, err := c.mergeObject(ctx, live, item)
	var conflicts merge.Conflicts
	if errors.As(err, &conflicts) {
		return preview.DryRunResult{Err: conflictRefusal(conflicts)}
	}
	if err != nil && preview.ReasonOf(err) == "" {
		err = &preview.Refusal{Reason: preview.ReasonOther, Message: truncateMessage("the merge cannot be computed without a dry run: " + err.Error()), Err: err}
	}
	if err == nil && item.Then != nil {
		item.Then(result)
	}
	return preview.DryRunResult{Body: result, Err: err}
}

func (c *Client) mergeObject(ctx context.Context, live map[string]any, item preview.DryRun) (map[string]any, error) {
	ref := preview.RefOf(item.Body)
	if item.Method != "" && item.Method != preview.MethodApply {
		return patchHere(live, item)
	}
	if took, changed, err := takeFields(item); err != nil {
		return nil, err
	} else if changed {
		live = took
	}
	live, err := migrate(live, item)
	if err != nil {
		return nil, err
	}
	managers, err := managersOf(live, ref.APIVersion, managerOf(item))
	if err != nil {
		return nil, err
	}
	from, err := c.typeConverter(ctx, ref)
	if err != nil {
		return nil, err
	}
	stripped := preview.CloneBody(live)
	delete(preview.Map(stripped, "metadata"), "managedFields")
	before, err := toTyped(from, stripped)
	if err != nil {
		return nil, errors.New("the live object does not fit its schema: " + misfitText(stripped, err))
	}
	body := normalizeScalars(item.Body)
	if item.Takes != nil && item.Takes.Typed {
		body = asTyped(body)
	}
	wanted, err := toTyped(from, body)
	if err != nil {
		return nil, &preview.Refusal{Reason: preview.ReasonNotAppliable, Message: truncateMessage("it does not fit its schema: " + misfitText(body, err)), Err: err}
	}
	if len(managers) == 0 {
		// The API server takes the one who wrote an object before it tracked
		// its fields for the owner of all of them.
		all, err := before.ToFieldSet()
		if err != nil {
			return nil, err
		}
		managers["before-first-apply"] = fieldpath.NewVersionedSet(all.Difference(untrackedFields()), fieldpath.APIVersion(ref.APIVersion), false)
	}
	updater := (&merge.UpdaterBuilder{Converter: sameVersionConverter{}, ReturnInputOnNoop: true}).BuildUpdater()
	after, _, err := updater.Apply(before, wanted, fieldpath.APIVersion(ref.APIVersion), managers, applyManager, item.Force)
	if err != nil {
		return nil, err
	}
	merged, ok := after.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, errors.New("the merge is not an object")
	}
	// The schemas' numbers are not ours: through JSON they are.
	data, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	if body, err = decodeBody(data); err != nil {
		return nil, err
	}
	return asStored(live, body, item)
}

// asStored returns the result of a server-side apply as the API server stores it.
func asStored(live, body map[string]any, item preview.DryRun) (map[string]any, error) {
	if err := preview.MergeStringData(body); err != nil {
		return nil, err
	}
	if isBuiltIn(preview.RefOf(item.Body)) {
		keepDefaults(live, body, "")
		dropOmitted(live, body)
	}
	return body, keepLastApplied(live, body, item)
}

// keepLastApplied sets the annotation of client-side apply as it is kept with an apply: as
// it was, or, for the manager of kubectl, as the API server writes it anew.
func keepLastApplied(live, body map[string]any, item preview.DryRun) error {
	annotations := preview.Map(live, "metadata", "annotations")
	text, ok := annotations[preview.LastApplied].(string)
	if !ok || item.Takes == nil || !item.Takes.KeepsLastApplied {
		return nil
	}
	if managerOf(item) == "kubectl" {
		var err error
		if text, err = preview.LastAppliedText(item.Body, false); err != nil {
			return err
		}
	}
	preview.SetMetadata(body, "annotations", preview.LastApplied, text)
	return nil
}

// patchHere computes the result of the write of another tool on a live object.
func patchHere(live map[string]any, item preview.DryRun) (map[string]any, error) {
	if item.Method == preview.MethodNone {
		return live, nil
	}
	body, err := writtenHere(live, item)
	if err == nil {
		err = preview.MergeStringData(body)
	}
	if err == nil && isBuiltIn(preview.RefOf(item.Body)) {
		body = normalizeScalars(body)
		keepDefaults(live, body, "")
		dropOmitted(live, body)
	}
	return body, err
}

// writtenHere returns what another tool writes of a live object. A PUT is the whole object,
// except for fields that the API server sets, which are known for built-in kinds alone: in
// a custom resource a merge has them.
func writtenHere(live map[string]any, item preview.DryRun) (map[string]any, error) {
	data, err := preview.Canonical(live)
	if item.Method == preview.MethodCreate || item.Method == preview.MethodUpdate && (item.ThreeWay == nil || isBuiltIn(preview.RefOf(item.Body))) {
		data, err = preview.Canonical(item.Body)
	} else if made, patchErr := threeWayPatch(item); patchErr != nil {
		return nil, patchErr
	} else if made != nil && err == nil {
		data, err = made.apply(data)
	}
	if err != nil {
		return nil, err
	}
	return decodeBody(data)
}

// applyManager is the name, in a merge, of the field manager that applies. The
// names of the others have a number.
const applyManager = "apply"

// managersOf returns the fields that each field manager of a live object owns;
// own is the manager that applies. Fields that were set in another API version
// are an error, because only the API server can convert them.
func managersOf(live map[string]any, apiVersion, own string) (fieldpath.ManagedFields, error) {
	managers := fieldpath.ManagedFields{}
	for i, item := range preview.List(live, "metadata", "managedFields") {
		entry, ok := item.(map[string]any)
		if !ok {
			return nil, errors.New("managedFields cannot be read")
		}
		manager, version := preview.String(entry, "manager"), preview.String(entry, "apiVersion")
		if version != apiVersion {
			return nil, fmt.Errorf("%q set fields in %s, which only the API server can convert to %s", manager, version, apiVersion)
		}
		data, err := json.Marshal(entry["fieldsV1"])
		if err != nil {
			return nil, errors.New("managedFields cannot be read")
		}
		set := fieldpath.NewSet()
		if err := set.FromJSON(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("managedFields cannot be read: %w", err)
		}
		applied := preview.String(entry, "operation") == "Apply"
		name := strconv.Itoa(i) + " " + manager
		if applied && manager == own && preview.String(entry, "subresource") == "" {
			name = applyManager
		}
		managers[name] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(version), applied)
	}
	return managers, nil
}

func conflictRefusal(conflicts merge.Conflicts) error {
	refusal := &preview.Refusal{Reason: preview.ReasonConflict, Message: "field conflict: other field managers own some of the fields", Err: conflicts}
	for i, c := range conflicts {
		if i == maxConflicts {
			break
		}
		_, manager, numbered := strings.Cut(c.Manager, " ")
		if !numbered {
			manager = c.Manager
		}
		refusal.Conflicts = append(refusal.Conflicts, preview.Conflict{Manager: manager, Path: c.Path.String()})
	}
	preview.SortConflicts(refusal.Conflicts)
	return refusal
}

// untrackedFields returns the fields that the API server never lists in managedFields.
func untrackedFields() *fieldpath.Set {
	return fieldpath.NewSet(
		fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata"),
		fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"),
		fieldpath.MakePathOrDie("metadata", "creationTimestamp"), fieldpath.MakePathOrDie("metadata", "selfLink"),
		fieldpath.MakePathOrDie("metadata", "uid"), fieldpath.MakePathOrDie("metadata", "generation"),
		fieldpath.MakePathOrDie("metadata", "managedFields"), fieldpath.MakePathOrDie("metadata", "resourceVersion"),
	)
}

// sameVersionConverter converts nothing: [managersOf] refuses all but one API version.
type sameVersionConverter struct{}

func (sameVersionConverter) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}
func (sameVersionConverter) IsMissingVersionError(error) bool { return false }

func toTyped(from managedfields.TypeConverter, body map[string]any) (*typed.TypedValue, error) {
	return from.ObjectToTyped(&unstructured.Unstructured{Object: body}, typed.AllowDuplicates)
}

// openAPICache caches the schemas that the server publishes, by API version. Documents
// of several API versions are read at the same time, and each once.
type openAPICache struct {
	mu      sync.Mutex
	schemas map[string]*publishedSchemas // by API version
}

// publishedSchemas are the schemas of one API version, nil until they could be read.
type publishedSchemas struct {
	mu        sync.Mutex
	converter managedfields.TypeConverter
}

func (o *openAPICache) of(apiVersion string) *publishedSchemas {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.schemas == nil {
		o.schemas = map[string]*publishedSchemas{}
	}
	if o.schemas[apiVersion] == nil {
		o.schemas[apiVersion] = &publishedSchemas{}
	}
	return o.schemas[apiVersion]
}

// typeConverter returns the merge schema of a kind as the cluster publishes it
// (OpenAPI v3, KEP-2896), for built-in kinds and custom ones alike.
func (c *Client) typeConverter(ctx context.Context, ref preview.Ref) (managedfields.TypeConverter, error) {
	known := c.openapi.of(ref.APIVersion)
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.converter != nil {
		return known.converter, nil
	}
	loaded, err := c.loadTypeConverter(ctx, ref.APIVersion)
	if err != nil {
		return nil, err
	}
	known.converter = loaded
	return loaded, nil
}

func (c *Client) loadTypeConverter(ctx context.Context, apiVersion string) (managedfields.TypeConverter, error) {
	path, err := groupVersionPath(apiVersion)
	if err != nil {
		return nil, err
	}
	data, err := c.readRaw(ctx, c.rest.Get().AbsPath("/openapi/v3"+path))
	if err != nil {
		return nil, fmt.Errorf("reading the schemas of %s: %w", apiVersion, err)
	}
	var doc struct { // of an OpenAPI document all but the paths, which are most of it
		Components *struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.Components == nil {
		return nil, fmt.Errorf("the schemas of %s cannot be read", apiVersion)
	}
	return managedfields.NewTypeConverter(doc.Components.Schemas, false)
}
