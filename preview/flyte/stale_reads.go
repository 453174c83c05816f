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

// StaleReads names what changed since the review in the cluster's Flyte plugins.
// What the plan itself writes was never among it; objects of a plugin that the
// plan writes or deletes too are counted with the others, and left out here.
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

// rereader repeats the reads and keeps them beside what was recorded.
type rereader struct {
	Recorder
	noted map[string]record // by name
}

func (a rereader) Note(_, name string, found any) error {
	a.noted[name], _ = found.(record)
	return nil
}

// withoutOwn leaves out the number of objects of plugins of which the plan
// writes or deletes some itself.
func withoutOwn(p *preview.Plan, seen record) record {
	seen.Left = maps.Clone(seen.Left)
	for _, plugin := range taskPlugins() {
		if slices.ContainsFunc(p.Objects, func(o preview.Object) bool { return o.Action.Writes() && o.Ref().Group() == plugin.group }) {
			delete(seen.Left, plugin.id)
		}
	}
	return seen
}

// isGain reports whether what is new at a path may be the work of what the plan
// has installed so far: the engine makes what templates say in each project, and
// a ClusterRole that collects others is given their rules. A project is not.
func isGain(path string) bool {
	parts := strings.SplitN(path, ".", 3)
	return len(parts) == 3 && (parts[0] == "projects" || parts[0] == "rights" || parts[0] == "misnamed") || parts[0] == "wide" || parts[0] == "templates"
}
