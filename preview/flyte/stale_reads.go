package flyte

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// StaleReads reads again what [Read] recorded, and returns a text for each change since
// the review. Changes by the plan itself are left out, including the count of objects
// that it writes or deletes.
func StaleReads(ctx context.Context, to Recorder) ([]string, error) {
	names := to.Names(recordKind)
	if len(names) == 0 {
		return nil, nil
	}
	fresh := rereader{Recorder: to, noted: map[string]record{}}
	if err := Read(ctx, fresh); err != nil {
		return nil, err
	}
	var moved []string
	for _, name := range names {
		was, is := recordOf(to, name), fresh.noted[name]
		for _, move := range diff.FactChanges(withoutOwn(to.Plan(), was), withoutOwn(to.Plan(), is)) {
			if move.Reviewed == "" && isGain(move.Path) {
				continue
			}
			moved = append(moved, fmt.Sprintf("what the cluster has of the plugins of %s: %s", name, move))
		}
	}
	return moved, nil
}

// rereader keeps what a repeated [Read] notes, to be compared with what was recorded.
type rereader struct {
	Recorder
	noted map[string]record // by name
}

func (a rereader) Note(_, name string, found any) error {
	a.noted[name], _ = found.(record)
	return nil
}

// withoutOwn returns a record without the counts of custom resources that the plan
// itself writes or deletes some of.
func withoutOwn(p *preview.Plan, seen record) record {
	seen.Left = maps.Clone(seen.Left)
	for _, plugin := range append(pluginsOf(p), seen.leaving()...) {
		if slices.ContainsFunc(p.Objects, func(o preview.Object) bool { return o.Action.Writes() && o.Ref().Group() == plugin.group }) {
			delete(seen.Left, plugin.id)
		}
	}
	return seen
}

// isGain reports whether a value added at a path of the record may result from applying
// the plan: the engine creates templated objects in each project, and aggregated
// ClusterRoles get new rules. A new project is no such value.
func isGain(path string) bool {
	parts := strings.SplitN(path, ".", 3)
	return len(parts) == 3 && (parts[0] == "projects" || parts[0] == "rights" || parts[0] == "misnamed") || parts[0] == "wide" || parts[0] == "templates"
}
