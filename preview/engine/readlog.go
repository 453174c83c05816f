package engine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// readLog is a Cluster that collects the rights to reads that the API server forbade.
// With these rights the plan would rest on more facts.
type readLog struct {
	Cluster

	mu        sync.Mutex
	forbidden []preview.Right
}

func (l *readLog) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	results := l.Cluster.Read(ctx, refs)
	for i, r := range results {
		l.note(ctx, r.Err, "get", refs[i])
	}
	return results
}

func (l *readLog) List(ctx context.Context, apiVersion, kind, namespace, selector string) ([]map[string]any, error) {
	found, err := l.Cluster.List(ctx, apiVersion, kind, namespace, selector)
	l.note(ctx, err, "list", preview.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace})
	return found, err
}

func (l *readLog) Pages(ctx context.Context, apiVersion, kind string, each func(objects []map[string]any, remaining int) bool) error {
	err := l.Cluster.Pages(ctx, apiVersion, kind, each)
	l.note(ctx, err, "list", preview.Ref{APIVersion: apiVersion, Kind: kind})
	return err
}

func (l *readLog) Target(ctx context.Context) (preview.Target, error) {
	target, err := l.Cluster.Target(ctx)
	l.note(ctx, err, "get", preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: "kube-system"})
	return target, err
}

func (l *readLog) note(ctx context.Context, err error, verb string, ref preview.Ref) {
	if preview.ReasonOf(err) != preview.ReasonForbidden {
		return
	}
	plural, err := l.Plural(ctx, ref.APIVersion, ref.Kind)
	if err != nil || plural == "" {
		plural = strings.ToLower(ref.Kind)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forbidden = append(l.forbidden, preview.Right{Verb: verb, Group: ref.Group(), Resource: plural, Namespace: ref.Namespace, Name: ref.Name})
}

// rights returns the rights that were lacking, sorted and each once.
func (l *readLog) rights() []preview.Right {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.forbidden, func(a, b preview.Right) int {
		return strings.Compare(rightKey(a), rightKey(b))
	})
	return slices.Clone(slices.Compact(l.forbidden))
}

func rightKey(r preview.Right) string {
	return strings.Join([]string{r.Namespace, r.Group, r.Resource, r.Verb, r.Name}, "\x00")
}

// hideRecord records as unknown that the release's record could not be read: whether
// the release is installed, and with which objects.
func (d *builder) hideRecord() {
	release := d.plan.Release
	record := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: release.Namespace, Name: preview.RecordName(release.Name)}
	d.refused(record.ID(), preview.ReasonForbidden, "forbidden: whether the release is installed, and which objects an upgrade would delete, is not known")
}

// leaveDryRuns changes the read mode of a plan that is only shown to ReadGet, if the
// user may write none of its objects: the API server would refuse every dry run, which
// says nothing about the objects.
func (d *builder) leaveDryRuns(ctx context.Context) error {
	if d.plan.ReadMode != preview.ReadDryRun || !d.looksOnly {
		return nil
	}
	var needed []preview.Right
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if plural, err := d.cluster.Plural(ctx, o.APIVersion, o.Kind); err == nil && o.Planned != nil {
			needed = append(needed, preview.Right{Verb: "patch", Group: o.Ref().Group(), Resource: plural, Namespace: o.Namespace, Name: o.Name})
		}
	}
	lacking, err := rights{d.recorder}.filterMissing(ctx, needed)
	if err != nil || len(needed) == 0 || len(lacking) < len(needed) {
		return err
	}
	d.plan.ReadMode = preview.ReadGet
	d.plan.Access.Installer.NoDryRun = true
	return nil
}
