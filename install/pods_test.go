package install_test

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestClusterBarePodPlansTheSameTwice: the volume with its token has another name at
// each dry run, which is no difference; and it is applied as reviewed.
func TestClusterBarePodPlansTheSameTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "bare-pod")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("settings", "one")))) // the namespace is there: it is dry-run
	until(t, "the namespace has its ServiceAccount", func() bool {
		return w.read(t, "v1", "ServiceAccount", w.release.Namespace, "default") != nil
	})
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: bare}\nspec: {containers: [{name: main, image: registry.example.com/main}]}\n"
	content := w.content(t, "2.0.0", configMap("settings", "one"), pod)
	first, second := w.plan(t, content), w.plan(t, content)
	if o := first.Object("core/Pod/bare-pod/bare"); o == nil || o.ResultBody == nil || len(preview.Maps(o.ResultBody, "spec", "volumes")) != 1 {
		t.Fatalf("the dry run added no volume: %+v", o)
	}
	if first.Digest != second.Digest {
		t.Errorf("planned twice: %s, %s", first.Digest, second.Digest)
	}
	w.apply(t, first)
	if again := w.plan(t, content); again.Summary.Unchanged != len(again.Objects) {
		t.Errorf("after the apply: %+v", again.Summary)
	}
}
