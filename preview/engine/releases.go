package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// What the records of other releases say is recorded as reads of this tool's
// own kinds: of whom an object is, and who else relies on one of this release.
const (
	ownerKind   = "Owner"
	sharersKind = "Sharers"
	// unreadableKind lists the records that say nothing which can be read.
	unreadableKind = "Unreadable"
)

// RuleRecordUnreadable finds records of other releases that cannot be read.
const RuleRecordUnreadable = "record-unreadable"

// How the release stands whose mark an object carries.
const (
	ownerThere  = "installed"
	ownerGone   = "gone"   // uninstalled, or without a record
	ownerHidden = "hidden" // its record may not be read
)

// Owner is another release that an object carries the mark of.
type Owner struct {
	Name, Namespace string // Namespace is empty where the record may not be read
	Hidden          bool   // whether its record may not be read
	// Same is set for a CustomResourceDefinition that the release has sealed
	// exactly as this plan does: where it is blocked all the same, somebody
	// changed the live one.
	Same bool
}

func (o Owner) String() string {
	if o.Namespace == "" {
		return "release " + o.Name
	}
	return "release " + o.Name + " in namespace " + o.Namespace
}

// OwnerOf returns the release that an object of a plan belongs to, as it was
// read at review; ok is false where it belongs to none, or to one that is gone.
func OwnerOf(p *preview.Plan, id string) (o Owner, ok bool) {
	body := ownBody(p, ownerKind, id)
	if state := preview.String(body, "state"); state != ownerThere && state != ownerHidden {
		return Owner{}, false
	}
	return Owner{
		Name: preview.String(body, "release", "name"), Namespace: preview.String(body, "release", "namespace"),
		Hidden: preview.String(body, "state") == ownerHidden, Same: preview.Value(body, "same") == true,
	}, true
}

// Left returns the release that left an object behind when it went.
func Left(p *preview.Plan, id string) (release string, ok bool) {
	body := ownBody(p, ownerKind, id)
	return preview.String(body, "release", "name"), preview.String(body, "state") == ownerGone
}

// Sharers returns the releases that rely on a CustomResourceDefinition of this
// one, as words, sorted.
func Sharers(p *preview.Plan, id string) []string {
	return preview.Texts(ownBody(p, sharersKind, id)["sharers"])
}

// other is another release, as its record tells it.
type other struct {
	state    string
	release  preview.Release
	holdings preview.Holdings
}

// releaseOf finds the release by whose ApplySet id an object is marked. name is
// what the object says that it is called.
func (d *decider) releaseOf(ctx context.Context, setID, name string) (*other, error) {
	if known := d.releases[setID]; known != nil {
		return known, nil
	}
	found := &other{state: ownerGone, release: preview.Release{Name: name}}
	secrets, err := d.cluster.List(ctx, "v1", "Secret", "", preview.LabelSetID+"="+setID)
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		found.state = ownerHidden
		secrets, err = d.guessRecord(ctx, setID, name)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the record of release %s: %w", name, err)
	}
	for _, secret := range secrets {
		release, holdings, ok, err := preview.HoldingsOf(secret)
		if !ok {
			continue // labelled so, and not the record that the id is made of
		}
		if err != nil {
			d.unreadable(secret) // and what has its marks is its own
		}
		found.state, found.release, found.holdings = ownerThere, release, holdings
		if holdings.Gone {
			found.state = ownerGone
		}
	}
	if d.releases == nil {
		d.releases = map[string]*other{}
	}
	d.releases[setID] = found
	return found, nil
}

// guessRecord reads the record where it most likely is, for users who may not
// list the Secrets of all namespaces.
func (d *decider) guessRecord(ctx context.Context, setID, name string) ([]map[string]any, error) {
	for _, namespace := range []string{name, d.plan.Release.Namespace} {
		if preview.SetID(preview.Release{Name: name, Namespace: namespace}) != setID {
			continue
		}
		r := d.cluster.Read(ctx, []preview.Ref{{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: preview.RecordName(name)}})[0]
		if preview.ReasonOf(r.Err) == preview.ReasonForbidden || r.Err == nil && r.Body == nil {
			return nil, nil
		}
		return []map[string]any{r.Body}, r.Err
	}
	return nil, nil
}

// decideOfRelease decides on an object that carries the mark of another
// release. What that left behind when it went can be taken over; of what it
// has, only a CustomResourceDefinition that is the same can be shared.
func (d *decider) decideOfRelease(ctx context.Context, o *preview.Object) error {
	setID := preview.String(o.LiveBody, "metadata", "labels", preview.LabelPartOf)
	owner, err := d.releaseOf(ctx, setID, preview.String(o.LiveBody, "metadata", "labels", preview.LabelRelease))
	if err != nil {
		return err
	}
	same := false
	if held, has := owner.holdings.Definitions[o.Name]; has && !held.Shared && isDefinition(o) {
		digest, err := preview.HashObject(d.markedFor(o, owner.release), "")
		if err != nil {
			return err
		}
		same = digest == held.Digest
	}
	note := map[string]any{
		"state": owner.state, "same": same,
		"release": map[string]any{"name": owner.release.Name, "namespace": owner.release.Namespace},
	}
	switch {
	case owner.state == ownerGone:
		found, err := d.standsBehind(ctx, o.LiveBody)
		if err != nil {
			return err
		}
		found.note(note)
		if o.Action = preview.ActionAdopt; !found.nothing() {
			o.Action = preview.ActionBlocked
		}
	case owner.state == ownerThere && same:
		o.Action = preview.ActionShared // if the live one is still so
	}
	return d.Note(ownerKind, o.ID, note)
}

// unreadable notes a record of another release that cannot be read: what that
// shares is not known, and it stops no other release.
func (d *decider) unreadable(secret map[string]any) {
	if id := preview.RefOf(secret).ID(); !slices.Contains(d.broken, id) {
		d.broken = append(d.broken, id)
	}
}

// noteUnreadable records which records could not be read.
func (d *decider) noteUnreadable() error {
	if len(d.broken) == 0 {
		return nil
	}
	slices.Sort(d.broken)
	return d.Note(unreadableKind, unreadableName, map[string]any{"records": anyList(d.broken)})
}

const unreadableName = "records"

// unreadableFindings name the records that could not be read, one finding each.
func unreadableFindings(p *preview.Plan) []preview.Finding {
	var out []preview.Finding
	for _, id := range preview.Texts(ownBody(p, unreadableKind, unreadableName)["records"]) {
		ref := preview.Ref{}
		if _, kind, namespace, name, err := preview.ParseID(id); err == nil {
			ref = preview.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
		}
		out = append(out, preview.NewFinding(RuleRecordUnreadable, preview.Warning, id, "Secret "+ref.Namespace+"/"+ref.Name+" is marked as the record of a release and cannot be read",
			"Whether that release relies on what this plan changes is not known. Look at it: kubectl get "+argument(ref)+" -o yaml", id+": what it holds cannot be read"))
	}
	return out
}

func isDefinition(o *preview.Object) bool {
	return o.Is(preview.KindCustomResourceDefinition)
}

// markedFor is a sealed object as another release would seal it.
func (d *decider) markedFor(o *preview.Object, release preview.Release) map[string]any {
	body := preview.CloneBody(o.Sealed)
	preview.Mark(body, release)
	return body
}

// decideShared holds the live form of each definition that another release has
// sealed alike against what was sealed: applying it in that release's name must
// change nothing. Nothing is ever sent.
func (d *decider) decideShared(ctx context.Context) error {
	pending := d.withAction(preview.ActionShared)
	for round := 1; len(pending) > 0; round++ {
		results := d.tryShared(ctx, pending)
		var moved []int
		for n, i := range pending {
			o := &d.plan.Objects[i]
			switch reason := preview.ReasonOf(results[n].Err); {
			case reason == preview.ReasonChanged && round < maxRounds: // a status, most likely
				moved = append(moved, i)
			case results[n].Err != nil && !preview.Answered(results[n].Err):
				return fmt.Errorf("dry run of %s: %w", o.ID, results[n].Err)
			case results[n].Err != nil, len(diff.Changes(o.LiveBody, results[n].Body)) > 0:
				o.Action = preview.ActionBlocked
			}
		}
		if pending = moved; len(moved) > 0 {
			if err := d.readShared(ctx, moved); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryShared asks what applying each in its owner's name leads to. Who may not
// write the owner's definitions gets the answer from a merge.
func (d *decider) tryShared(ctx context.Context, pending []int) []preview.DryRunResult {
	items := make([]preview.DryRun, 0, len(pending))
	for _, i := range pending {
		o := &d.plan.Objects[i]
		owner := d.releases[preview.String(o.LiveBody, "metadata", "labels", preview.LabelPartOf)]
		items = append(items, preview.DryRun{
			Body: d.markedFor(o, owner.release),
			UID:  preview.String(o.LiveBody, "metadata", "uid"), ResourceVersion: preview.String(o.LiveBody, "metadata", "resourceVersion"),
		})
	}
	results := make([]preview.DryRunResult, len(items))
	for n := range results {
		results[n].Err = &preview.Refusal{Reason: preview.ReasonForbidden}
	}
	if d.plan.ReadMode == preview.ReadDryRun {
		results = d.cluster.DryRun(ctx, items)
	}
	for n, i := range pending {
		if preview.ReasonOf(results[n].Err) == preview.ReasonForbidden {
			results[n] = d.cluster.Merge(ctx, d.plan.Objects[i].LiveBody, preview.DryRun{Body: items[n].Body})
		}
	}
	return results
}

// readShared reads definitions again that changed between their read and their
// dry run.
func (d *decider) readShared(ctx context.Context, at []int) error {
	refs := make([]preview.Ref, 0, len(at))
	for _, i := range at {
		refs = append(refs, d.plan.Objects[i].Ref())
	}
	for n, r := range d.cluster.Read(ctx, refs) {
		o := &d.plan.Objects[at[n]]
		if r.Err == nil && r.Body == nil || preview.String(r.Body, "metadata", "labels", preview.LabelPartOf) != preview.String(o.LiveBody, "metadata", "labels", preview.LabelPartOf) {
			r.Err = errors.New("it changed hands while it was read; run the command again")
		}
		if r.Err != nil {
			return fmt.Errorf("reading %s again: %w", o.ID, r.Err)
		}
		o.LiveBody = r.Body
	}
	return nil
}

func (d *decider) withAction(action preview.Action) []int {
	var at []int
	for i := range d.plan.Objects {
		if d.plan.Objects[i].Action == action {
			at = append(at, i)
		}
	}
	return at
}

// readSharers finds out which other releases rely on the definitions that the
// plan changes, or whose release it removes. Who may not list the records gets
// no answer: a removal says so, and deletes no definition without one.
func (d *decider) readSharers(ctx context.Context) error {
	var at []int
	for i := range d.plan.Objects {
		if o := &d.plan.Objects[i]; isDefinition(o) && o.LiveBody != nil && preview.Ours(o.LiveBody, d.plan.Release) && d.touches(o) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil
	}
	secrets, err := d.cluster.List(ctx, "v1", "Secret", "", preview.LabelSetID)
	if err != nil && !preview.Answered(err) {
		return fmt.Errorf("looking for releases that share definitions: %w", err)
	}
	sharers := map[string][]string{}
	for _, secret := range secrets {
		release, holdings, ok, err := preview.HoldingsOf(secret)
		if err != nil && release != d.plan.Release {
			d.unreadable(secret)
		}
		if !ok || err != nil || holdings.Gone || release == d.plan.Release {
			continue
		}
		for name, held := range holdings.Definitions {
			if held.Shared {
				sharers[name] = append(sharers[name], Owner{Name: release.Name, Namespace: release.Namespace}.String())
			}
		}
	}
	for _, i := range at {
		o := &d.plan.Objects[i]
		fields := map[string]any{"hidden": err != nil}
		if list := sharers[o.Name]; len(list) > 0 {
			slices.Sort(list)
			fields["sharers"] = anyList(list)
		}
		if fields["sharers"] == nil && (err == nil || o.Action != preview.ActionDelete && len(d.plan.Packages) > 0) {
			continue
		}
		if err := d.Note(sharersKind, o.ID, fields); err != nil {
			return err
		}
	}
	return nil
}

func anyList(texts []string) []any {
	out := make([]any, 0, len(texts))
	for _, text := range texts {
		out = append(out, text)
	}
	return out
}

// sharedFindings say who relies on a definition that the plan changes, or whose
// release it removes.
func sharedFindings(p *preview.Plan) []preview.Finding {
	why := ""
	for _, rule := range schema.Rules() {
		if rule.Name == schema.RuleShared {
			why = rule.Why
		}
	}
	var out []preview.Finding
	for i := range p.Objects {
		o := &p.Objects[i]
		body := ownBody(p, sharersKind, o.ID)
		if body == nil {
			continue
		}
		severity, title, evidence := preview.Warning, "is shared with "+strings.Join(Sharers(p, o.ID), ", "), strings.Join(Sharers(p, o.ID), ", ")
		switch {
		case evidence == "" && o.Action != preview.ActionDelete: // it stays, and loses the release that looks after it
			title, evidence = "may be shared with other releases", "the records of other releases may not be listed"
		case evidence == "":
			severity, title, evidence = preview.NotKnown, "may be shared with other releases", "the records of other releases may not be listed"
		case len(p.Packages) == 0:
			severity = preview.Critical
		}
		out = append(out, preview.NewFinding(schema.RuleShared, severity, o.ID, o.Kind+" "+o.Name+" "+title, why, o.ID+": "+evidence))
	}
	return out
}

// touches reports whether a plan changes what a sharer relies on.
func (d *decider) touches(o *preview.Object) bool {
	return len(d.plan.Packages) == 0 || o.Action == preview.ActionUpdate || o.Action == preview.ActionDelete
}
