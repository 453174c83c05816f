package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// movedFlyte names what moved of what the cluster has of Flyte's plugins. What
// the plan itself writes was never among it; objects of a plugin that the plan
// writes or deletes too are counted with the others, and left out here.
func movedFlyte(ctx context.Context, p *preview.Plan, cluster Cluster) ([]string, error) {
	now := *p
	now.Reads = slices.DeleteFunc(slices.Clone(p.Reads), func(r preview.Read) bool { return !strings.HasPrefix(r.ID, ownRef(flyteKind, "").ID()) })
	recorded := len(now.Reads)
	if recorded == 0 {
		return nil, nil
	}
	d := &decider{plan: &now, cluster: cluster, namespaces: existedBefore(p)}
	if err := d.readFlyte(ctx); err != nil {
		return nil, err
	}
	fresh := map[string]preview.Read{}
	for _, r := range now.Reads[recorded:] {
		fresh[r.ID] = r
	}
	var moved []string
	for _, was := range now.Reads[:recorded] {
		is := fresh[was.ID]
		if is.Fingerprint == was.Fingerprint {
			continue
		}
		name := preview.String(was.Body, "metadata", "name")
		for _, move := range diff.FactChanges(withoutOwn(p, was.Body), withoutOwn(p, is.Body)) {
			if move.Reviewed == "" && gainedOf(move.Path) {
				continue
			}
			moved = append(moved, fmt.Sprintf("what the cluster has of the plugins of %s: %s", name, move))
		}
	}
	return moved, nil
}

// withoutOwn leaves out the number of objects of plugins of which the plan
// writes or deletes some itself.
func withoutOwn(p *preview.Plan, seen map[string]any) map[string]any {
	out := maps.Clone(seen)
	left := maps.Clone(preview.Map(seen, "left"))
	for _, plugin := range flytePlugins() {
		if slices.ContainsFunc(written(p.Objects), func(o preview.Object) bool { return o.Ref().Group() == plugin.group }) {
			delete(left, plugin.id)
		}
	}
	if left != nil {
		out["left"] = left
	}
	return out
}

// gainedOf reports whether what is new at a path may be the work of what the plan
// has installed so far: the engine makes what templates say in each project, and
// a ClusterRole that collects others is given their rules. A project is not.
func gainedOf(path string) bool {
	parts := strings.SplitN(path, ".", 3)
	return len(parts) == 3 && (parts[0] == "projects" || parts[0] == "rights" || parts[0] == "misnamed") || parts[0] == "wide" || parts[0] == "templates"
}
