package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

// StaleReads makes the reads of a plan's checks again, without changing the plan, and
// returns a line for each that differs: roles, bindings and namespaces, quotas, node
// platforms, references of pods, template lookups, and Flyte plugins. It is for a plan
// that was applied in part, so differences by the plan's own writes are left out.
func StaleReads(ctx context.Context, p *preview.Plan, cluster Cluster) ([]string, error) {
	again := &rereader{plan: p, cluster: cluster, namespaces: existedBefore(p), was: fingerprints(p.Reads), own: selfAffectedLookups(p)}
	var moved []string
	for _, c := range checks() {
		found, err := c.staleReads(ctx, again)
		if err != nil {
			return nil, err
		}
		moved = append(moved, found...)
	}
	return moved, nil
}

// rereader makes the reads of a plan's checks again and compares them with the recorded
// ones.
type rereader struct {
	plan       *preview.Plan
	cluster    Cluster
	namespaces map[string]bool   // that existed at the review
	was        map[string]string // fingerprints of the recorded reads, by id
	own        map[string]bool   // ids of reads whose results the plan itself changes
}

// recorder returns a recorder on a copy of the plan, which is discarded.
func (a *rereader) recorder() *recorder {
	now := *a.plan
	to := newRecorder(&now, a.cluster, nil)
	to.namespaces = a.namespaces
	return to
}

// currentReads returns the reads that a check's read method would record now.
func (a *rereader) currentReads(ctx context.Context, read func(context.Context, *recorder) error) ([]preview.Read, error) {
	to := a.recorder()
	to.plan.Reads = nil
	err := read(ctx, to)
	return to.plan.Reads, err
}

// matchesRecordedRead reports whether a live object has the fingerprint of a recorded
// read. A binding was recorded with some of its subjects only: the plan's own accounts and
// those that have a role of it, one on an escalation path, or both. Which ones is not recorded, so each combination
// is tried.
func matchesRecordedRead(p *preview.Plan, live map[string]any, fingerprint string) (bool, error) {
	forms := []map[string]any{live}
	if subjects := access.Subjects(live); len(subjects) > 0 {
		ours := access.OwnSubjects(preview.PlannedBodies(p.Objects), p.ReadBodies(), subjects)
		forms = append(forms, access.OnlySubjects(live, ours))
		for _, s := range subjects[:min(len(subjects), maxHeld)] {
			forms = append(forms, access.OnlySubjects(live, []preview.Subject{s}), access.OnlySubjects(live, append(slices.Clone(ours), s)))
		}
	}
	for _, form := range forms {
		hash, err := preview.Hash(readBody(form))
		if err != nil || hash == fingerprint {
			return err == nil, err
		}
	}
	return false, nil
}

// changedReads returns a line for each read that differs from the recorded one. An
// object that was absent at the review and exists now is left out, as the plan may have
// created it.
func (a *rereader) changedReads(now []preview.Read) []string {
	var moved []string
	for _, r := range now {
		before, known := a.was[r.ID]
		_, unread := a.was[listUnread(r.ID)]
		switch {
		case a.own[r.ID], known && (before == "" || before == r.Fingerprint):
		case known && r.Fingerprint == "":
			moved = append(moved, r.ID+" is gone since the review")
		case known:
			moved = append(moved, strings.TrimPrefix(r.ID, "render/")+" is not what it was at the review")
		case strings.HasPrefix(r.ID, "unread/"):
			moved = append(moved, strings.TrimPrefix(r.ID, "unread/")+" could be read at the review, and may not be read now")
		case listUnread(r.ID) != "" && !unread:
			moved = append(moved, r.ID+" is new since the review")
		}
	}
	return moved
}

// unlistedReads returns a line for each quota, limit range or node platform that was
// listed at the review and is not now.
func (a *rereader) unlistedReads(list []preview.Read) []string {
	now := fingerprints(list)
	var moved []string
	for _, r := range a.plan.Reads {
		_, there := now[r.ID]
		_, unread := now[listUnread(r.ID)]
		if listUnread(r.ID) != "" && !there && !unread {
			moved = append(moved, r.ID+" is gone since the review")
		}
	}
	return moved
}

func fingerprints(reads []preview.Read) map[string]string {
	out := make(map[string]string, len(reads))
	for _, r := range reads {
		out[r.ID] = r.Fingerprint
	}
	return out
}

// listUnread returns the id of the read that records, in place of a read with this id,
// that its kind could not be listed. It is empty for ids other than of quotas, limit
// ranges and node platforms.
func listUnread(id string) string {
	if strings.HasPrefix(id, risk.NodesID("")) {
		return risk.UnreadID("Node", "")
	}
	group, kind, namespace, _, err := preview.ParseID(id)
	if err != nil || group != "" || kind != "ResourceQuota" && kind != "LimitRange" {
		return ""
	}
	return risk.UnreadID(kind, namespace)
}

// existedBefore returns the names of the namespaces that existed at the review.
func existedBefore(p *preview.Plan) map[string]bool {
	out := map[string]bool{}
	add := func(id string) {
		if group, kind, _, name, err := preview.ParseID(id); err == nil && group == "" && kind == "Namespace" {
			out[name] = true
		}
	}
	for _, r := range p.Reads {
		if r.Fingerprint != "" {
			add(r.ID)
		}
	}
	for _, u := range p.Unknowns {
		add(u.Object)
	}
	for i := range p.Objects {
		if p.Objects[i].Action != preview.ActionCreate {
			add(p.Objects[i].ID)
		}
	}
	return out
}

// selfAffectedLookups returns the ids of template reads whose results change by the
// plan's own writes: they find its objects or its record, or the APIs of its CRDs.
func selfAffectedLookups(p *preview.Plan) map[string]bool {
	out := map[string]bool{}
	for _, pkg := range p.Packages {
		for _, read := range pkg.Parameters.ClusterReads {
			switch read.Kind {
			case preview.ReadLookup:
				ref, err := preview.ParseLookup(read.Name)
				out[read.ID()] = err == nil && (lookupFindsRecords(ref, p.Release) || slices.ContainsFunc(writtenObjects(p.Objects), func(o preview.Object) bool {
					return lookupFinds(ref, o.Ref())
				}))
			case preview.ReadAPIVersion:
				out[read.ID()] = slices.ContainsFunc(writtenObjects(p.Objects), func(o preview.Object) bool { return decidesAPI(&o, read.Name) })
			}
		}
	}
	return out
}

// lookupFinds reports whether a template's lookup, asked, finds the object ref. A
// lookup without a name finds all objects of a kind.
func lookupFinds(asked, ref preview.Ref) bool {
	return asked.Group() == ref.Group() && asked.Kind == ref.Kind &&
		(asked.Namespace == "" || asked.Namespace == ref.Namespace) && (asked.Name == "" || asked.Name == ref.Name)
}

// lookupFindsRecords reports whether a lookup finds the Secrets or the Lease of
// the release itself.
func lookupFindsRecords(asked preview.Ref, release preview.Release) bool {
	for _, ref := range []preview.Ref{
		{APIVersion: "v1", Kind: "Secret", Namespace: release.Namespace, Name: preview.RecordName(release.Name)},
		{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: release.Namespace, Name: preview.RecordName(release.Name)},
	} {
		if lookupFinds(asked, ref) {
			return true
		}
	}
	return false
}

// decidesAPI reports whether an object, a CRD or an APIService, decides if the cluster
// serves an API version, named as in Helm's .Capabilities.APIVersions.
func decidesAPI(o *preview.Object, name string) bool {
	if !o.Is(preview.KindCustomResourceDefinition, preview.KindAPIService) {
		return false
	}
	_, group, _ := strings.Cut(o.Name, ".") // PLURAL.GROUP and VERSION.GROUP
	return name == preview.AllAPIVersions || strings.HasPrefix(name, group+"/")
}
