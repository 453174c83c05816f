package reads

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Log is a [Cluster] that collects the rights to reads that the API server forbade.
// With these rights the plan would rest on more facts.
type Log struct {
	Cluster

	mu        sync.Mutex
	forbidden []preview.Right
}

// Read reads objects and returns them in the order of refs.
func (l *Log) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	results := l.Cluster.Read(ctx, refs)
	for i, r := range results {
		l.note(ctx, r.Err, "get", refs[i])
	}
	return results
}

// List returns the objects of a kind in a namespace, or in all.
func (l *Log) List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error) {
	found, err := l.Cluster.List(ctx, apiVersion, kind, namespace, selector, fields...)
	l.note(ctx, err, "list", preview.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace})
	return found, err
}

// Pages calls each with the objects of a kind, page by page.
func (l *Log) Pages(ctx context.Context, apiVersion, kind string, each func(objects []map[string]any, remaining int) bool) error {
	err := l.Cluster.Pages(ctx, apiVersion, kind, each)
	l.note(ctx, err, "list", preview.Ref{APIVersion: apiVersion, Kind: kind})
	return err
}

// Target identifies the cluster and the user.
func (l *Log) Target(ctx context.Context) (preview.Target, error) {
	target, err := l.Cluster.Target(ctx)
	l.note(ctx, err, "get", preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: "kube-system"})
	return target, err
}

// Forbid adds a right that was found lacking elsewhere.
func (l *Log) Forbid(right preview.Right) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forbidden = append(l.forbidden, right)
}

func (l *Log) note(ctx context.Context, err error, verb string, ref preview.Ref) {
	if preview.ReasonOf(err) != preview.ReasonForbidden {
		return
	}
	plural, err := l.Plural(ctx, ref.APIVersion, ref.Kind)
	if err != nil || plural == "" {
		plural = strings.ToLower(ref.Kind)
	}
	l.Forbid(preview.Right{Verb: verb, Group: ref.Group(), Resource: plural, Namespace: ref.Namespace, Name: ref.Name})
}

// Rights returns the rights that were lacking, sorted and each once.
func (l *Log) Rights() []preview.Right {
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
