package preview

import (
	"slices"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ContestedField is a field conflict as it is displayed: both values, which manager set
// the live one and when, and what the plan does about it. All but the time follows from
// the facts.
type ContestedField struct {
	// Path of the field, such as .spec.replicas.
	Path string `json:"path"`
	// Manager is the name of the field manager that set the live value.
	Manager string `json:"manager"`
	// Since is when that manager last wrote its fields of the object, as RFC 3339; empty if
	// it is not recorded, and in a plan that was saved.
	Since string `json:"since,omitempty"`
	// Live is the value in the cluster; masked if it is sensitive.
	Live any `json:"live"`
	// Planned is the value in the plan; masked if it is sensitive.
	Planned any `json:"planned"`
	// Settled is take or leave, as the options decide; empty where they decide nothing,
	// and the plan cannot be applied.
	Settled string `json:"settled,omitempty"`
}

// SetContested sets [Object.Contested] of every object. Planned and live bodies,
// conflicts and options must be set before.
func (p *Plan) SetContested() {
	for i := range p.Objects {
		o := &p.Objects[i]
		o.Contested = p.contestedFields(o)
	}
}

func (p *Plan) contestedFields(o *Object) []ContestedField {
	if len(o.Conflicts) == 0 {
		return nil
	}
	unsettled, times := p.Unsettled(o), managerTimes(o.LiveBody)
	live, planned := MaskObject(o.LiveBody), MaskObject(o.Planned)
	out := make([]ContestedField, 0, len(o.Conflicts))
	for _, c := range o.Conflicts {
		f := ContestedField{Path: c.Path, Manager: c.Manager, Since: times[c], Live: valueAt(live, c.Path), Planned: valueAt(planned, c.Path), Settled: ConflictsLeave}
		switch {
		case slices.Contains(unsettled, c):
			f.Settled = ""
		case p.Takes(o):
			f.Settled = ConflictsTake
		}
		out = append(out, f)
	}
	return out
}

// managerTimes returns when each manager last wrote its fields, by manager and path.
// Managed fields have one time for all fields of a manager.
func managerTimes(live map[string]any) map[Conflict]string {
	out := map[Conflict]string{}
	for _, owner := range FieldOwners(live) {
		owner.fields.Iterate(func(path fieldpath.Path) {
			key := Conflict{Manager: owner.Manager, Path: path.String()}
			out[key] = max(out[key], owner.Time)
		})
	}
	return out
}

// When returns the time Since in the format of the display, empty if it is not known.
func (f ContestedField) When() string {
	t, err := time.Parse(time.RFC3339, f.Since)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// Contested returns a line for each contested field of an object: the manager with the
// time of its last write, both values, and what the plan does.
func (p *Plan) Contested(o *Object) []string { return p.contestedLines(o, o.Contested) }

// ContestedEvidence is [Plan.Contested] without times, for the evidence of findings. A
// time changes when the manager writes any other field, and an acceptance would then no
// longer match.
func (p *Plan) ContestedEvidence(o *Object) []string {
	fields := p.contestedFields(o)
	for i := range fields {
		fields[i].Since = ""
	}
	return p.contestedLines(o, fields)
}

func (p *Plan) contestedLines(o *Object, fields []ContestedField) []string {
	var out []string
	for _, f := range fields {
		manager := f.Manager
		if when := f.When(); when != "" {
			manager += " (" + when + ")"
		}
		out = append(out, p.contestedLine(o, f, manager))
	}
	return out
}

func (p *Plan) contestedLine(o *Object, f ContestedField, manager string) string {
	switch {
	case f.Settled == "":
		return f.Path + " is managed by " + manager + ": " + valuesText(f, "if taken over")
	case f.Settled == ConflictsLeave:
		return f.Path + " is not sent: it is left to " + manager + ": " + valuesText(f, "in the package")
	case p.ConflictsOf(o) == ConflictsOwn:
		return f.Path + " is taken back from " + manager + ": " + valuesText(f, "after")
	}
	return f.Path + " is taken over from " + manager + ": " + valuesText(f, "after")
}

// valuesText returns the live and the planned value of a contested field as text.
// planned is the word for the latter.
func valuesText(f ContestedField, planned string) string {
	c := Change{Path: f.Path, From: f.Live, To: f.Planned}.Readable()
	now, after := valueText(c.From), valueText(c.To)
	if now == after { // both masked
		return "now and " + planned + " " + now
	}
	return "now " + now + ", " + planned + " " + after
}
