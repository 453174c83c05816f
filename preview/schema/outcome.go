package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	// MaxChecked is the most objects of one CRD that are checked.
	MaxChecked = 20_000
	// maxNamed is the most objects that an outcome names, maxFields the most problems of
	// each.
	maxNamed  = 20
	maxFields = 5

	outcomeVersion = "kubectl-operator/v1alpha1"
	outcomeKind    = "StoredObjects"
)

// Outcome is the result of checking the stored objects of one CRD, as a plan records
// it. Counts are only set if some objects have problems or were not checked, so that an
// added object does not make a plan stale.
type Outcome struct {
	// StoredVersions is status.storedVersions of the live CRD.
	StoredVersions []string `json:"storedVersions"`
	Checked        int      `json:"checked,omitempty"`
	Total          int      `json:"total,omitempty"`
	Refused        Group    `json:"refused"`
	Dropped        Group    `json:"dropped"`
	// Unchecked lists reasons why versions or objects could not be checked, sorted.
	Unchecked []string `json:"unchecked,omitempty"`
}

// Group is the number of objects with problems, and the first of them by name.
type Group struct {
	Count int           `json:"count"`
	First []NamedObject `json:"first,omitempty"`
}

// NamedObject is an object with its problems; More is the number of problems that are
// not listed.
type NamedObject struct {
	Name     string   `json:"name"` // NAMESPACE/NAME, or NAME
	Problems []string `json:"problems"`
	More     int      `json:"more,omitempty"`
}

// Add counts an object if it has problems.
func (g *Group) Add(object map[string]any, problems []string) {
	if len(problems) == 0 {
		return
	}
	g.Count++
	ref := preview.RefOf(object)
	name := strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
	at, _ := slices.BinarySearchFunc(g.First, name, func(n NamedObject, name string) int { return strings.Compare(n.Name, name) })
	if at >= maxNamed {
		return
	}
	shown := problems[:min(len(problems), maxFields)]
	g.First = slices.Insert(g.First, at, NamedObject{Name: name, Problems: slices.Clone(shown), More: len(problems) - len(shown)})
	g.First = g.First[:min(len(g.First), maxNamed)]
}

// Evidence returns the group as evidence: how many of how many objects have problems,
// and which.
func (g Group) Evidence(o *Outcome) []string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d objects", g.Count, o.Checked)
	if o.Total > o.Checked {
		fmt.Fprintf(&b, " checked, of %d in all", o.Total)
	}
	var out []string
	for _, named := range g.First {
		text := named.Name + " (" + strings.Join(named.Problems, ", ")
		if named.More > 0 {
			text += fmt.Sprintf(", and %d more", named.More)
		}
		out = append(out, text+")")
	}
	if more := g.Count - len(g.First); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	if len(out) == 0 {
		return []string{b.String()}
	}
	out[0] = b.String() + ": " + out[0]
	return out
}

// Finish sorts the outcome, and clears the counts if no object has problems and all
// were checked.
func (o *Outcome) Finish() {
	slices.Sort(o.Unchecked)
	o.Unchecked = slices.Compact(o.Unchecked)
	if o.Refused.Count == 0 && o.Dropped.Count == 0 && o.Total <= o.Checked {
		o.Checked, o.Total = 0, 0
	}
}

// OutcomeID returns the id of the read that records the outcome for a CRD.
func OutcomeID(definition string) string {
	return preview.Ref{APIVersion: outcomeVersion, Kind: outcomeKind, Name: definition}.ID()
}

// Body returns the outcome as the body of the read that records it.
func (o *Outcome) Body(definition string) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("recording the objects of %s: %w", definition, err)
	}
	outcome, err := preview.DecodeJSON(data)
	if err != nil {
		return nil, fmt.Errorf("recording the objects of %s: %w", definition, err)
	}
	return map[string]any{
		"apiVersion": outcomeVersion, "kind": outcomeKind,
		"metadata": map[string]any{"name": definition}, "outcome": outcome,
	}, nil
}

// OutcomeOf returns the outcome in the body of a read; nil if it holds none.
func OutcomeOf(body map[string]any) *Outcome {
	data, err := preview.Canonical(body["outcome"])
	if err != nil || preview.String(body, "kind") != outcomeKind || preview.Map(body, "outcome") == nil {
		return nil
	}
	var o Outcome
	if err := json.Unmarshal(data, &o); err != nil {
		return nil
	}
	return &o
}
