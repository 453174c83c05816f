package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// notes are what one stage leaves for the next about one deploy target. piped keeps them
// with the deployment, also while no plugin runs.
type notes struct {
	Release  preview.Release `json:"release"`
	Digest   string          `json:"digest"`
	Ruleset  int             `json:"ruleset"`
	Base     int             `json:"base"`               // the revision that was planned on; 0 for none
	Kept     string          `json:"kept,omitempty"`     // the file of the plan on this machine
	Saved    string          `json:"saved,omitempty"`    // where the plan is to be signed
	Approved string          `json:"approved,omitempty"` // the digest that was approved
	By       string          `json:"by,omitempty"`       // and who did
	Undo     string          `json:"undo,omitempty"`     // the digest of the plan that takes it back
}

// metadata keeps values with a deployment, as piped does.
type metadata interface {
	GetDeploymentPluginMetadata(ctx context.Context, key string) (string, bool, error)
	PutDeploymentPluginMetadata(ctx context.Context, key, value string) error
}

func notesOf(plan *preview.Plan) notes {
	return notes{Release: plan.Release, Digest: plan.Digest, Ruleset: plan.Ruleset, Base: plan.Base.Revision}
}

// readNotes returns what was noted about a deploy target; nothing is no error.
func readNotes(ctx context.Context, from metadata, target string) (notes, error) {
	var n notes
	text, found, err := from.GetDeploymentPluginMetadata(ctx, "target-"+target)
	if err != nil || !found {
		return n, err
	}
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return n, fmt.Errorf("what an earlier stage noted cannot be read: %w", err)
	}
	return n, nil
}

// put notes it for the stages that follow.
func (n notes) put(ctx context.Context, to metadata, target string) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := to.PutDeploymentPluginMetadata(ctx, "target-"+target, string(text)); err != nil {
		return fmt.Errorf("noting the plan for the next stage: %w", err)
	}
	return nil
}
