package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// contentsKind is the kind of the reads that record the contents of a deleted
// Namespace. No cluster serves it: it is this program's own.
const contentsKind = "Residents"

// maxContents is the most objects of one namespace that a finding names; the others are
// counted.
const maxContents = 50

func deletesNamespace(o *preview.Object) bool {
	return o.Is(preview.KindNamespace) && o.Action == preview.ActionDelete
}

// removesNamespaces reports whether the plan removes the release together with the
// Namespaces that it created (--include-namespaces).
func removesNamespaces(p *preview.Plan) bool {
	return p.Options.IncludeNamespaces && len(p.Packages) == 0
}

// readCreatedNamespaces reads from the release's record which Namespaces the release
// created. It does not take this from the plan, which may come from an attacker.
func (d *builder) readCreatedNamespaces(ctx context.Context) error {
	if !removesNamespaces(d.plan) {
		return nil
	}
	release := d.plan.Release
	ref := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: release.Namespace, Name: preview.RecordName(release.Name)}
	r := d.cluster.Read(ctx, []preview.Ref{ref})[0]
	if r.Err != nil {
		return fmt.Errorf("reading which namespaces release %s made: %w", release.Name, r.Err)
	}
	if r.Body == nil {
		return nil
	}
	if _, holdings, _, err := preview.HoldingsOf(r.Body); err == nil { // else no Namespace goes
		d.createdNamespaces = holdings.Namespaces
	}
	return nil
}

// removesNamespace reports whether the plan deletes a live Namespace. Both the
// release's record and the Namespace's annotation must say that the release created it:
// users who can write Secrets in one namespace could enter any other into the record,
// but cannot annotate it.
func (d *builder) removesNamespace(live map[string]any) bool {
	uid := preview.String(live, "metadata", "uid")
	return removesNamespaces(d.plan) && uid != "" && d.createdNamespaces[preview.String(live, "metadata", "name")] == uid && preview.CreatedBy(live, d.plan.Release)
}

// contentsRecord is the recorded content of a namespace: the ids of objects that do not
// belong to the release.
type contentsRecord struct {
	Objects []string `json:"objects"`
}

// namespaceContents is the check for objects outside the release that are deleted along
// with Namespaces.
type namespaceContents struct{ noCheck }

// read records the objects outside the release in each Namespace that the plan deletes.
// They are facts: if one is added after the review, the plan is not applied. If they
// cannot be listed, planning fails.
func (namespaceContents) read(ctx context.Context, to *recorder) error {
	for i := range to.plan.Objects {
		o := &to.plan.Objects[i]
		if !deletesNamespace(o) {
			continue
		}
		to.Report("counting what namespace %s holds", o.Name)
		found, err := listContents(ctx, to.plan, to.cluster, o.Name)
		if err != nil {
			return err
		}
		if err := to.Note(contentsKind, o.Name, contentsRecord{Objects: append([]string{}, found...)}); err != nil {
			return err
		}
	}
	return nil
}

// NewNamespaceContents returns the ids of objects in a Namespace to be deleted that
// were not recorded at review.
func NewNamespaceContents(ctx context.Context, p *preview.Plan, cluster Cluster, namespace string) ([]string, error) {
	found, err := listContents(ctx, p, cluster, namespace)
	was := map[string]bool{}
	for _, id := range recordedContents(recordSearch{p}, namespace) {
		was[id] = true
	}
	return slices.DeleteFunc(found, func(id string) bool { return was[id] }), err
}

// listContents returns the ids of objects in a namespace that do not belong to the
// release.
func listContents(ctx context.Context, p *preview.Plan, cluster Cluster, namespace string) ([]string, error) {
	found, err := cluster.Residents(ctx, namespace)
	if err != nil && !preview.Answered(err) {
		return nil, fmt.Errorf("counting what would be deleted with namespace %s: %w", namespace, err)
	}
	if err != nil {
		return nil, &RefusedError{
			What: fmt.Sprintf("what would be deleted with namespace %s cannot be counted: %v", namespace, err),
			Next: "get the right to list *.* in namespace " + namespace + ", or leave out --include-namespaces",
		}
	}
	gone, planned := deletedKinds(p), p.ObjectsByID()
	var out []string
	for _, body := range found {
		ref := preview.RefOf(body)
		switch o := planned[ref.ID()]; {
		case o != nil && o.Action == preview.ActionDelete, gone[ref.Kind+"."+ref.Group()], isIncidental(body), isRecordObject(body, p.Release):
		case preview.String(body, "metadata", "labels", preview.LabelSetID) != "":
			if err := refuseOtherRelease(ctx, cluster, ref, namespace); err != nil {
				return nil, err
			}
			out = append(out, ref.ID())
		default:
			out = append(out, ref.ID())
		}
	}
	slices.Sort(out)
	return out, nil
}

// refuseOtherRelease returns a RefusedError if the Secret ref is the record of another
// release that is still installed: without its record it could not be managed.
func refuseOtherRelease(ctx context.Context, cluster Cluster, ref preview.Ref, namespace string) error {
	r := cluster.Read(ctx, []preview.Ref{ref})[0]
	if r.Err != nil || r.Body == nil {
		return r.Err
	}
	other, holdings, ok, err := preview.HoldingsOf(r.Body)
	if err != nil || !ok || holdings.Gone { // one that cannot be read is counted as any Secret
		return nil
	}
	return &RefusedError{
		What: fmt.Sprintf("release %s lives in namespace %s too", other.Name, namespace),
		Next: "uninstall that one first, or leave out --include-namespaces",
	}
}

// deletedKinds returns the kinds, as KIND.GROUP, whose CRDs the plan deletes. The check
// operands counts their objects.
func deletedKinds(p *preview.Plan) map[string]bool {
	out := map[string]bool{}
	for i := range p.Objects {
		if o := &p.Objects[i]; isDeletedDefinition(o) {
			out[preview.String(o.LiveBody, "spec", "names", "kind")+"."+preview.String(o.LiveBody, "spec", "group")] = true
		}
	}
	return out
}

// isIncidental reports whether an object need not be listed among the contents of a
// namespace: every namespace has it, a controller created it for another object, or it
// is already being deleted.
func isIncidental(body map[string]any) bool {
	ref := preview.RefOf(body)
	switch {
	case ref.Is("Event", "events.k8s.io/Event", "Endpoints"):
		return true
	case ref.Group() == "" && (ref.Is(preview.KindConfigMap) && ref.Name == "kube-root-ca.crt" || ref.Is(preview.KindServiceAccount) && ref.Name == "default"):
		return true
	case preview.String(body, "metadata", "deletionTimestamp") != "":
		return true
	}
	for _, owner := range preview.Maps(preview.Map(body, "metadata"), "ownerReferences") {
		if owner["controller"] == true {
			return true
		}
	}
	return false
}

// isRecordObject reports whether an object is one of the release's records, its lock, or
// the Role that vouches for them.
func isRecordObject(body map[string]any, release preview.Release) bool {
	ref, name := preview.RefOf(body), preview.RecordName(release.Name)
	switch {
	case ref.Namespace != release.Namespace:
	case ref.Is("coordination.k8s.io/Lease"), ref.Is("rbac.authorization.k8s.io/Role"):
		return ref.Name == name
	case ref.Is(preview.KindSecret) && preview.String(body, "metadata", "labels", preview.LabelRelease) == release.Name:
		return ref.Name == name || strings.HasPrefix(ref.Name, name+".v")
	}
	return false
}

// recordedContents returns the ids that were recorded as the contents of a Namespace.
func recordedContents(seen recordReader, namespace string) []string {
	var found contentsRecord
	seen.Record(contentsKind, namespace, &found)
	return found.Objects
}

// findings returns a finding for each Namespace that a removal deletes, with its
// contents, and for each that it keeps although it was asked to delete it.
func (namespaceContents) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	if !removesNamespaces(p) {
		return nil
	}
	var out []preview.Finding
	goes := false
	for i := range p.Objects {
		o := &p.Objects[i]
		goes = goes || deletesNamespace(o) && o.Name == p.Release.Namespace
		switch {
		case deletesNamespace(o):
			out = append(out, deletedNamespace(of, o))
		case o.Is(preview.KindNamespace):
			out = append(out, keptNamespace(p, o.Name, o.LiveBody))
		}
	}
	if id := releaseNamespaceID(p); !goes && p.Object(id) == nil {
		out = append(out, keptNamespace(p, p.Release.Namespace, bodyRead(p, id)))
	}
	return out
}

func deletedNamespace(seen recordReader, o *preview.Object) preview.Finding {
	ids := recordedContents(seen, o.Name)
	also, evidence := "", rules.Said("it holds nothing of others")
	if len(ids) > 0 {
		also, evidence = countByKind(ids)+" of others", rules.Said(nameOrCount(ids)...)
	}
	evidence[0].Object = o.ID
	claim := preview.Claim{Subject: o.Label(), Predicate: "is deleted, and with it " + cmp.Or(also, "nothing of others"), Clause: true}
	f := rules.NamespaceDeleted.Finding(o.ID, claim, evidence...)
	f.AlsoDeleted = also
	return f
}

func keptNamespace(p *preview.Plan, name string, live map[string]any) preview.Finding {
	id := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}.ID()
	evidence := "was there before, or no record says who made it"
	if !preview.CreatedBy(live, p.Release) {
		evidence = "carries no mark of this release (annotation " + preview.AnnotationMadeBy + "), which it gets when the release makes it; versions before this one set none"
	}
	return rules.NamespaceKept.WithReason(name).Finding(id, rules.NamespaceKept.Of("Namespace "+name), preview.Piece{What: id + " " + evidence})
}

// countByKind counts ids by kind: "2 ConfigMap, 1 PersistentVolumeClaim".
func countByKind(ids []string) string {
	count := map[string]int{}
	var kinds []string
	for _, id := range ids {
		_, kind, _, _, _ := preview.ParseID(id)
		if count[kind]++; count[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	parts := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", count[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// nameOrCount returns at most maxContents of some ids. If it omits some, a hash of all ids
// follows, so that an acceptance of the finding covers exactly this list.
func nameOrCount(ids []string) []string {
	named := slices.Clone(ids[:min(len(ids), maxContents)])
	if n := len(ids) - maxContents; n > 0 {
		named = append(named, fmt.Sprintf("and %d more (%s)", n, preview.HashBytes([]byte(strings.Join(ids, "\n")))[:19]))
	}
	return named
}
