package engine

import (
	"maps"
	"reflect"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Drift compares a live object with the state that a plan was made on, one object at a
// time, while the plan is reviewed. It checks less than [Recheck], which also sends dry
// runs: a difference makes the plan stale, but no difference proves nothing.
type Drift struct {
	plan    *preview.Plan
	objects map[string]*preview.Object // by id
	typer   preview.TypeConverter
	refs    []preview.Ref
	reads   map[string]preview.Read
}

// NewDrift returns a Drift that compares live objects with the plan's.
func NewDrift(p *preview.Plan, typer preview.TypeConverter) *Drift {
	d := &Drift{plan: p, objects: p.ObjectsByID(), typer: typer, reads: map[string]preview.Read{}}
	brought := plannedKinds(p)
	for i := range p.Objects {
		o := &p.Objects[i]
		_, group := brought[o.Ref().Group()+"/"+o.Kind]
		if group && o.LiveBody == nil || o.Action == preview.ActionUnknown || o.Action == preview.ActionSkip {
			continue // its kind is not served, or it may not be read
		}
		d.refs = append(d.refs, o.Ref())
	}
	external := map[string]preview.Ref{}
	for _, ref := range externalReferences(p) {
		external[ref.ID()] = ref
	}
	for _, r := range p.Reads {
		ref, ok := external[r.ID]
		if r.Body != nil && r.UID != "" {
			ref, ok = preview.RefOf(r.Body), true
		}
		if ok && ref.ID() == r.ID && d.objects[r.ID] == nil {
			d.refs = append(d.refs, ref)
			d.reads[r.ID] = r
		}
	}
	return d
}

// plannedKinds returns the kinds, as GROUP/KIND, whose CRD is in the plan.
func plannedKinds(p *preview.Plan) map[string]struct{} {
	out := map[string]struct{}{}
	for i := range p.Objects {
		if body := p.Objects[i].Planned; preview.IsKind(body, preview.KindCustomResourceDefinition) {
			out[preview.String(body, "spec", "group")+"/"+preview.String(body, "spec", "names", "kind")] = struct{}{}
		}
	}
	return out
}

// Refs returns the objects to watch: the plan's objects and its dependencies. Objects
// whose kind is not served, or that may not be read, are left out.
func (d *Drift) Refs() []preview.Ref { return d.refs }

// Describe returns how a live object differs from the state that the plan was made on;
// empty if no fact about it changed. body is nil if the object does not exist.
func (d *Drift) Describe(ref preview.Ref, body map[string]any) string {
	if o := d.objects[ref.ID()]; o != nil {
		return d.describeObject(o, body)
	}
	if r, ok := d.reads[ref.ID()]; ok {
		return d.describeRead(r, body)
	}
	return ""
}

func (d *Drift) describeObject(o *preview.Object, body map[string]any) string {
	if text, decided := presenceChange(o.LiveBody != nil, o.Live.UID, body); decided {
		return text
	}
	// Nothing at all was written since: no fingerprint needs to be compared.
	if version := preview.String(body, "metadata", "resourceVersion"); version != "" && version == preview.String(o.LiveBody, "metadata", "resourceVersion") {
		return ""
	}
	now := *o
	now.LiveBody = body
	live, err := liveFact(d.typer, &now)
	if err != nil {
		return "cannot be compared any more"
	}
	if live == o.Live && !d.secretChanged(o, body) {
		return ""
	}
	if moves := changedFields(o, &now, d.typer); len(moves) > 0 {
		return "changed: " + strings.TrimPrefix(moves[0].Path, o.ID+" ")
	}
	return "changed"
}

// secretChanged reports whether a key of a Secret was changed since the review. It
// includes the keys that the plan does not set, which no fingerprint covers.
func (d *Drift) secretChanged(o *preview.Object, body map[string]any) bool {
	if o.Planned == nil || !o.Is(preview.KindSecret) {
		return false
	}
	after := o.ResultBody
	if after == nil {
		after = o.Planned
	}
	return !reflect.DeepEqual(preview.SecretKeys(body, after), o.SecretKeys)
}

func (d *Drift) describeRead(r preview.Read, body map[string]any) string {
	if text, decided := presenceChange(r.Fingerprint != "", r.UID, body); decided {
		return text
	}
	if r.Body == nil {
		return "" // all that was asked is whether it exists
	}
	forms := []map[string]any{body}
	if spec := preview.Map(r.Body, "spec"); spec != nil {
		cut := preview.CloneBody(preview.Map(body, "spec"))
		maps.DeleteFunc(cut, func(key string, _ any) bool { _, kept := spec[key]; return !kept })
		forms = []map[string]any{preview.Map(body, "spec"), cut}
	}
	for _, form := range forms {
		if same, err := d.matchesRead(r, body, form); err != nil || same {
			return ""
		}
	}
	return "changed"
}

// matchesRead reports whether a live object has the fingerprint of a recorded read.
// form is the part of the object that was recorded: all of it, or its spec.
func (d *Drift) matchesRead(r preview.Read, body, form map[string]any) (bool, error) {
	if preview.Map(r.Body, "spec") == nil {
		return matchesRecordedRead(d.plan, form, r.Fingerprint)
	}
	kept := readBody(body)
	kept["spec"] = form
	hash, err := preview.Hash(kept)
	return hash == r.Fingerprint, err
}

// presenceChange returns in words how existence or uid of an object changed. decided is
// false for an object that exists as before, whose content is then to be compared.
func presenceChange(was bool, uid string, body map[string]any) (text string, decided bool) {
	switch {
	case body == nil && was:
		return "is gone", true
	case body == nil:
		return "", true
	case !was:
		return "exists now", true
	case uid != "" && uid != preview.String(body, "metadata", "uid"):
		return "is another object of that name", true
	}
	return "", false
}
