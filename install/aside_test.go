package install_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// aroundWrite is a cluster where another client does something right before or after one
// object is written.
type aroundWrite struct {
	install.Cluster
	kind, name    string
	before, after func()
	once          sync.Once
}

func (a *aroundWrite) Apply(ctx context.Context, item preview.DryRun) (live map[string]any, err error) {
	hit := false
	if ref := preview.RefOf(item.Body); ref.Kind == a.kind && ref.Name == a.name {
		a.once.Do(func() { hit = true })
	}
	if hit && a.before != nil {
		a.before()
	}
	live, err = a.Cluster.Apply(ctx, item)
	if hit && a.after != nil {
		a.after()
	}
	return live, err
}

// TestClusterWhatOthersAddBeforeAWriteIsNoDivergence: a write is compared with what it
// was made on, which is not what the last check saw.
func TestClusterWhatOthersAddBeforeAWriteIsNoDivergence(t *testing.T) {
	for i, edit := range [][]string{
		{"annotate", "deployment", "operator", "autoscaler.example.com/status=seen"},
		{"label", "deployment", "operator", "team=a"},
	} {
		t.Run(edit[0], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fmt.Sprint("aside-", i))
			w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", w.operator("one"))))
			plan := w.undoable(t, w.content(t, "2.0.0", strings.Replace(w.operator("two"), "1000m", "500m", 1)))
			cluster := &aroundWrite{Cluster: w.Client, kind: "Deployment", name: "operator", before: func() {
				w.edit(t, append(edit, "-n", w.release.Namespace)...)
			}}
			opts := w.options(t)
			opts.NoWait = true
			receipt, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range receipt.Objects {
				if o.State == record.StateDiverged {
					t.Errorf("%s is %s: %s", o.ID, o.State, o.Message)
				}
			}
		})
	}
}
