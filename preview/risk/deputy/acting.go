package deputy

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The apiVersion and kind of the reads by which a plan records which account acts on a
// custom kind.
const (
	actingVersion = "kubectl-operator/v1alpha1"
	actingKind    = "Acting"
)

// Acting says which ServiceAccount acts on the objects of a custom kind in a cluster,
// by its rights on them.
type Acting struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
	Kind     string `json:"kind,omitempty"`   // empty if the plan has no object of it, and only rights on it
	Object   string `json:"object,omitempty"` // id of the plan's first object of the kind

	Account preview.Subject `json:"account"` // the one with the most rights
	Extent  string          `json:"extent"`  // how far the rights of the account go, see [preview.Account]
	Others  int             `json:"others"`
}

// Read returns the value as a read, to be recorded in a plan.
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

// ActingOf returns the value that a read of a plan records; ok is false for any other
// read.
func ActingOf(read preview.Read) (a Acting, ok bool) {
	if preview.String(read.Body, "kind") != actingKind || preview.Map(read.Body, "acting") == nil {
		return a, false
	}
	data, err := preview.Canonical(read.Body["acting"])
	return a, err == nil && json.Unmarshal(data, &a) == nil
}
