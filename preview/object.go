package preview

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Action is what an apply does with an object. The values are JSON names that must not
// change.
type Action string

// The actions. ActionUnknown is never displayed as unchanged.
const (
	ActionCreate    Action = "create"
	ActionUpdate    Action = "update"
	ActionUnchanged Action = "unchanged"
	ActionDelete    Action = "delete"
	ActionKeep      Action = "keep"    // no longer in the content, but not deleted
	ActionReplace   Action = "replace" // an immutable field changes: delete, then create
	ActionAdopt     Action = "adopt"   // exists and has no other owner
	ActionPatch     Action = "patch"   // has another owner; a few fields are set or removed
	ActionSkip      Action = "skip"
	ActionShared    Action = "shared"
	ActionBlocked   Action = "blocked" // has another owner
	ActionUnknown   Action = "unknown"
)

// Actions returns all actions in the order of summaries.
func Actions() []Action {
	return []Action{
		ActionCreate, ActionUpdate, ActionReplace, ActionDelete, ActionAdopt, ActionPatch,
		ActionBlocked, ActionUnknown, ActionSkip, ActionShared, ActionKeep, ActionUnchanged,
	}
}

// Symbol returns the symbol of an action in displays, one to three ASCII characters. The
// action's word always stands next to it.
func (a Action) Symbol() string {
	switch a {
	case ActionCreate:
		return "+"
	case ActionUpdate, ActionPatch:
		return "~"
	case ActionReplace:
		return "-/+"
	case ActionDelete:
		return "-"
	case ActionAdopt:
		return "^"
	case ActionBlocked:
		return "x"
	case ActionUnknown:
		return "?"
	}
	return "="
}

// Writes reports whether apply sends a write request for an object with this action.
func (a Action) Writes() bool {
	switch a {
	case ActionUnchanged, ActionKeep, ActionSkip, ActionShared, ActionBlocked:
		return false
	}
	return true
}

// Object is one Kubernetes object of a plan.
type Object struct {
	// ID is GROUP/KIND/NAMESPACE/NAME, without a version; see [Ref.ID].
	ID string `json:"id"`
	// Package is the name of the package that the object belongs to.
	Package string `json:"package"`
	// APIVersion that the object is read and written in.
	APIVersion string `json:"apiVersion"`
	// Kind of the Kubernetes object.
	Kind string `json:"kind"`
	// Namespace of the object; empty for cluster-scoped kinds.
	Namespace string `json:"namespace"`
	// Name of the Kubernetes object.
	Name string `json:"name"`

	// Action that apply takes on the object.
	Action Action `json:"action"`
	// Digest is the sha256 of the planned object; empty where none is
	// planned.
	Digest string `json:"digest"`
	// Live identifies the live object that the action was decided on.
	Live Live `json:"live"`
	// Conflicts lists the fields that other field managers own, sorted.
	Conflicts []Conflict `json:"conflicts"`
	// Contested shows each of the conflicts with both values, who set the
	// live one, and what the plan does about it.
	Contested []ContestedField `json:"contested,omitempty"`
	// Result is the hash of what the dry run would change; empty without a dry run.
	// Where the options do not decide about conflicts, the dry run takes the fields
	// over.
	Result string `json:"result"`
	// SecretKeys maps each key of a Secret to equal, changed, new or
	// removed.
	SecretKeys map[string]string `json:"secretKeys"`
	// Changes lists the fields that differ between live object and result. Those of an
	// object to create are what webhooks and policies of the cluster change in it.
	Changes []Change `json:"changes"`
	// Origin is the file and line that the object came from.
	Origin Origin `json:"origin"`
	// Items are lines of what Origin names; only in a plan that was made from its content.
	Items []ItemLine `json:"-"`
	// Hook is set for an object that runs before or after the others.
	Hook *Hook `json:"hook,omitempty"`
	// Manager is the field manager that writes the object: of one that is only patched, see
	// [Object.Patches], and of the tool that applies the plan. Empty for [FieldManager].
	Manager string `json:"manager,omitempty"`
	// Format is the content format of an object whose package is no longer in the plan;
	// empty where the record does not say.
	Format string `json:"format,omitempty"`
	// Left lists field paths, written as in conflicts, that a rollback's revision left to
	// other managers: the release has not set them.
	Left []string `json:"left,omitempty"`
	// Adoption says what the adoption of the object removes from it; absent for other
	// actions.
	Adoption *Adoption `json:"adoption,omitempty"`

	// Applied is true for a live object that the tool which applies the plan has applied
	// before; see [Plan.AppliedBy].
	Applied bool `json:"applied,omitempty"`

	// Planned is the exact request body, nil for objects that are only deleted or kept.
	// LiveBody is the object as read, nil when absent. ResultBody is what the dry run
	// answered, nil when there was none. All three are saved next to the plan, not in it,
	// and must not be modified.
	Planned    map[string]any `json:"-"`
	LiveBody   map[string]any `json:"-"`
	ResultBody map[string]any `json:"-"`

	// Raw is the planned object as it was rendered, with the marks of the tool that applies
	// the plan: with nulls, and with what the API server drops. It is nil if this program
	// applies the plan, and not saved.
	Raw map[string]any `json:"-"`

	// Earlier is the object as the tool which applies the plan sent it last; nil if it did
	// not, or if this program applies the plan. It is not saved.
	Earlier map[string]any `json:"-"`

	// Computed is the object as the API server would store it, where that is known without
	// its own dry run; nil otherwise. Copy is the answer to the copy in [TrialNamespace],
	// nil if there was none. Neither is a Fact, and neither is saved.
	Computed map[string]any `json:"-"`
	Copy     map[string]any `json:"-"`

	// Untried is the refusal of a copy in [TrialNamespace] of an object whose own
	// namespace the plan makes: it is not known whether the API server takes the object. It
	// depends on who plans, is no Fact, and is not saved.
	Untried string `json:"-"`
}

// OfCopy returns the object as the API server answered to its copy, under its own name.
func (o *Object) OfCopy() map[string]any {
	body := WithoutVolatile(o.Copy, o.Planned)
	meta := Map(body, "metadata")
	meta["name"], meta["namespace"] = o.Name, o.Namespace
	return body
}

// TrialNamespace is the namespace for dry runs of copies of objects whose own
// namespace the plan creates. It exists in every cluster.
const TrialNamespace = "default"

// LacksDryRun reports whether the object is written and has no result of a dry run.
func (o *Object) LacksDryRun() bool {
	return (o.Action == ActionCreate || o.Action == ActionUpdate) && o.Result == ""
}

// HelmKeeps reports whether Helm would keep the object, which is no longer in the
// release, because of the annotation helm.sh/resource-policy. In other formats the
// annotation has no meaning.
func (o *Object) HelmKeeps() bool {
	return o.OfHelm() && MarkValue(o.LiveBody, "helm.sh/resource-policy") == "keep"
}

// OfHelm reports whether the object, which is no longer in the release, was rendered by
// Helm, or its format is not known.
func (o *Object) OfHelm() bool { return o.Format == "" || strings.HasPrefix(o.Format, "helm") }

// GoneWithKind reports whether the object is one of the installed revision whose kind the
// cluster has no more, so that it has no object of that kind either: nothing is sent.
func (o *Object) GoneWithKind() bool {
	return o.Action == ActionSkip && (o.Planned == nil || o.ReleasesOwnership())
}

// Hook makes an object run before or after the other objects of its package. Hooks
// are ordered by weight.
type Hook struct {
	// Phase is pre or post: before or after the package's other objects.
	Phase string `json:"phase"`
	// Weight orders the hooks of one phase, ascending.
	Weight int `json:"weight"`
	// Unnamed is true for a hook that leaves its name to the API server.
	Unnamed bool `json:"unnamed,omitempty"`
}

// The phases of hooks.
const (
	HookPre  = "pre"
	HookPost = "post"
)

// Live identifies the live object that a decision rests on. Both fields are empty if
// there was none.
type Live struct {
	// UID of the live object.
	UID string `json:"uid"`
	// Fingerprint is the hash of the live object's relevant fields.
	Fingerprint string `json:"fingerprint"`
}

// Conflict is a field that another field manager owns with another value.
type Conflict struct {
	// Manager is the name of the other field manager.
	Manager string `json:"manager"`
	// Path of the contested field, such as .spec.replicas.
	Path string `json:"path"`
}

// Change is one field that differs between the result and the live object. Sensitive
// values are masked in from and to.
type Change struct {
	// Path of the field, such as
	// .spec.template.spec.containers[name="x"].image.
	Path string `json:"path"`
	// Op is add, remove or change.
	Op string `json:"op"`
	// From is the present value; absent for an added field.
	From any `json:"from"`
	// To is the resulting value; absent for a removed field.
	To any `json:"to"`
}

// Origin is the place in the content that an object comes from. For a generated object
// it is the source file of the generator.
type Origin struct {
	// File is the path within the content.
	File string `json:"file"`
	// Document is the number of the YAML document in the file, counted from
	// 1.
	Document int `json:"document"`
	// Line is the first line of the object, or of what it was generated from, counted
	// from 1; 0 where that is not known, as for templates.
	Line int `json:"line,omitempty"`
}

// At returns a copy of the origin with another line. If line is 0, the line does not change.
func (o Origin) At(line int) Origin {
	o.Line = cmp.Or(line, o.Line)
	return o
}

// Place returns file and line as "manifests/x.yaml:22". If the line is not known, it
// returns the file, with the number of the document unless that is 1. It is empty
// without a file.
func (o Origin) Place() string {
	switch {
	case o.File == "":
		return ""
	case o.Line > 0:
		return o.File + ":" + strconv.Itoa(o.Line)
	case o.Document > 1:
		return o.File + "  document " + strconv.Itoa(o.Document)
	}
	return o.File
}

// Ref names one Kubernetes object, with the API version for reading it.
type Ref struct {
	APIVersion, Kind, Namespace, Name string
}

// PlannedBodies returns the Planned bodies of the objects, without those that are nil.
func PlannedBodies(objects []Object) []map[string]any {
	var out []map[string]any
	for i := range objects {
		if objects[i].Planned != nil {
			out = append(out, objects[i].Planned)
		}
	}
	return out
}

// RefOf returns the reference of a decoded object.
func RefOf(body map[string]any) Ref {
	return Ref{
		APIVersion: String(body, "apiVersion"),
		Kind:       String(body, "kind"),
		Namespace:  String(body, "metadata", "namespace"),
		Name:       String(body, "metadata", "name"),
	}
}

// Group returns the API group, empty for the core group.
func (r Ref) Group() string {
	group, _, ok := strings.Cut(r.APIVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// ID returns GROUP/KIND/NAMESPACE/NAME with "core" for the empty group and "-"
// for no namespace; it carries no version.
func (r Ref) ID() string {
	group, namespace := r.Group(), r.Namespace
	if group == "" {
		group = "core"
	}
	if namespace == "" {
		namespace = "-"
	}
	return group + "/" + r.Kind + "/" + namespace + "/" + r.Name
}

// Ref returns the object's reference.
func (o *Object) Ref() Ref {
	return Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Label returns kind and name.
func (o *Object) Label() string { return o.Kind + " " + o.Name }

// IDLabel returns "KIND NAME" for an object's id, and the text itself if it is no id.
func IDLabel(id string) string {
	_, kind, _, name, err := ParseID(id)
	if err != nil {
		return id
	}
	return kind + " " + name
}

// IDPlace returns "KIND NAMESPACE/NAME" for an object's id, as people read it, and the
// text itself if it is no id.
func IDPlace(id string) string {
	_, kind, namespace, name, err := ParseID(id)
	switch {
	case err != nil:
		return id
	case namespace == "":
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

// ParseID splits an object id into its parts; group and namespace are empty for "core"
// and "-". It errs if id is no object id.
func ParseID(id string) (group, kind, namespace, name string, err error) {
	parts := strings.SplitN(id, "/", 4)
	if len(parts) != 4 || parts[0] == "" || parts[1] == "" || parts[2] == "" || parts[3] == "" {
		return "", "", "", "", fmt.Errorf("object id %q: want GROUP/KIND/NAMESPACE/NAME", id)
	}
	if parts[0] == "core" {
		parts[0] = ""
	}
	if parts[2] == "-" {
		parts[2] = ""
	}
	return parts[0], parts[1], parts[2], parts[3], nil
}

// Value returns the value at a path of map keys, nil if there is none.
func Value(body map[string]any, path ...string) any {
	var at any = body
	for _, key := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[key]
	}
	return at
}

// String returns the string at a path of map keys, empty when there is none.
func String(body map[string]any, path ...string) string {
	s, _ := Value(body, path...).(string)
	return s
}

// Map returns the map at a path of map keys, nil when there is none.
func Map(body map[string]any, path ...string) map[string]any {
	m, _ := Value(body, path...).(map[string]any)
	return m
}

// List returns the list at a path of map keys, nil when there is none.
func List(body map[string]any, path ...string) []any {
	l, _ := Value(body, path...).([]any)
	return l
}

// Texts returns the strings of a decoded list in order, without items of other types;
// nil if the value is no list.
func Texts(list any) []string {
	items, _ := list.([]any)
	var out []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Clone returns a deep copy of a decoded value.
func Clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = Clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Clone(item)
		}
		return out
	}
	return v
}

// CloneBody returns a deep copy of an object; nil stays nil.
func CloneBody(body map[string]any) map[string]any {
	if body == nil {
		return nil
	}
	return Clone(body).(map[string]any)
}

// Untouched reports whether the object exists in the cluster and apply sends no request
// for it.
func (o *Object) Untouched() bool {
	return o.Action == ActionUnchanged || o.Action == ActionShared || o.Action == ActionKeep
}
