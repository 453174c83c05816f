package deputy

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The kind of the reads that hold who acts on a custom kind.
const (
	actingVersion = "kubectl-operator/v1alpha1"
	actingKind    = "Acting"
)

// Acting is who acts on the objects of a custom kind in a cluster.
type Acting struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
	Kind     string `json:"kind,omitempty"`   // empty for one that is only written
	Object   string `json:"object,omitempty"` // id of the plan's first object of the kind

	Account preview.Subject `json:"account"` // of several the one that comes to most
	Extent  string          `json:"extent"`  // what it comes to, as [preview.Account] has it
	Others  int             `json:"others"`
}

// Read returns it as a recorded read of a plan.
func (a Acting) Read() (preview.Read, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return preview.Read{}, fmt.Errorf("recording who acts on %s: %w", a.Resource, err)
	}
	of, err := preview.DecodeJSON(data)
	if err != nil {
		return preview.Read{}, fmt.Errorf("recording who acts on %s: %w", a.Resource, err)
	}
	name := a.Resource + "." + a.Group
	body := map[string]any{"apiVersion": actingVersion, "kind": actingKind, "metadata": map[string]any{"name": name}, "acting": of}
	fingerprint, err := preview.Hash(body)
	if err != nil {
		return preview.Read{}, fmt.Errorf("recording who acts on %s: %w", a.Resource, err)
	}
	return preview.Read{ID: preview.Ref{APIVersion: actingVersion, Kind: actingKind, Name: name}.ID(), Fingerprint: fingerprint, Body: body}, nil
}

// ActingOf returns what a recorded read holds; false for any other read.
func ActingOf(read preview.Read) (a Acting, ok bool) {
	if preview.String(read.Body, "kind") != actingKind || preview.Map(read.Body, "acting") == nil {
		return a, false
	}
	data, err := preview.Canonical(read.Body["acting"])
	return a, err == nil && json.Unmarshal(data, &a) == nil
}
