package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// sharersKind is the kind of the reads that record which other releases rely on a CRD
// of this one.
const sharersKind = "Sharers"

// sharedWithRecord lists the other releases that rely on a CRD. Hidden is true if their
// records may not be listed.
type sharedWithRecord struct {
	Hidden  bool     `json:"hidden"`
	Sharers []string `json:"sharers,omitempty"`
}

// sharedDefinitions is the check for other releases that rely on CRDs of this one.
type sharedDefinitions struct{ noCheck }

// read records for each CRD that the plan changes, or whose release it removes, the
// other releases that rely on the CRD. If the user may not list their records, a
// removal deletes no CRD.
func (c sharedDefinitions) read(ctx context.Context, to *recorder) error {
	var at []int
	for i := range to.plan.Objects {
		if o := &to.plan.Objects[i]; isDefinition(o) && to.plan.Member(o) && c.touches(to, o) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil
	}
	secrets, err := to.cluster.List(ctx, "v1", "Secret", "", preview.LabelSetID, "data."+preview.KeyHoldings)
	if err != nil && !preview.Answered(err) {
		return fmt.Errorf("looking for releases that share CRDs: %w", err)
	}
	sharers := map[string][]string{}
	for _, secret := range secrets {
		release, holdings, ok, err := preview.HoldingsOf(secret)
		if err != nil && release != to.plan.Release {
			to.unreadable(secret)
		}
		if !ok || err != nil || holdings.Gone || release == to.plan.Release {
			continue
		}
		for name, held := range holdings.Definitions {
			if held.Shared {
				sharers[name] = append(sharers[name], Owner{Name: release.Name, Namespace: release.Namespace}.String())
			}
		}
	}
	for _, i := range at {
		o := &to.plan.Objects[i]
		found := sharedWithRecord{Hidden: err != nil, Sharers: sharers[o.Name]}
		slices.Sort(found.Sharers)
		if len(found.Sharers) == 0 && (err == nil || o.Action != preview.ActionDelete && len(to.plan.Packages) > 0) {
			continue
		}
		if err := to.Note(sharersKind, o.ID, found); err != nil {
			return err
		}
	}
	return nil
}

// findings returns a finding for each CRD that other releases rely on and the plan
// changes, deletes or leaves without an owner.
func (sharedDefinitions) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	var out []preview.Finding
	for i := range p.Objects {
		o := &p.Objects[i]
		var found sharedWithRecord
		if !of.Record(sharersKind, o.ID, &found) {
			continue
		}
		evidence := strings.Join(found.Sharers, ", ")
		severity, title := preview.Warning, "is shared with "+evidence
		switch {
		case evidence == "" && o.Action != preview.ActionDelete: // it stays, and loses the release that looks after it
			title, evidence = "may be shared with other releases", "the records of other releases may not be listed"
		case evidence == "":
			severity, title, evidence = preview.NotKnown, "may be shared with other releases", "the records of other releases may not be listed"
		case o.Action == preview.ActionDelete && len(p.Packages) == 0:
			severity = preview.Critical
		}
		claim := preview.Claim{Subject: o.Label(), Predicate: title, Clause: true}
		out = append(out, rules.CRDShared.FindingOf(severity, o.ID, claim, preview.Piece{Object: o.ID, What: evidence}))
	}
	return out
}

// touches reports whether the plan changes or deletes a CRD, or removes its release.
func (c sharedDefinitions) touches(to *recorder, o *preview.Object) bool {
	return len(to.plan.Packages) == 0 || o.Action == preview.ActionUpdate || o.Action == preview.ActionDelete
}
