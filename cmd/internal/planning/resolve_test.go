package planning

import (
	"errors"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// A channel may have moved back: going down with it must be asked for.
func TestAnOlderVersionMustBeAskedFor(t *testing.T) {
	older := func() *Resolution {
		return &Resolution{info: format.Info{Package: "mongodb", Version: "1.9.0"}, choice: &catalog.Choice{Channel: "stable"}}
	}
	out := older()
	if _, ok := errors.AsType[*catalog.DowngradeError](out.withoutEdgesFrom("1.10.0")); !ok {
		t.Error("the head of the channel led down")
	}
	out = older()
	out.request.Version = "1.9.0"
	if err := out.withoutEdgesFrom("1.10.0"); err != nil || len(out.packageNotes()) != 2 {
		t.Errorf("asked for: %v, with notes %v", err, out.packageNotes())
	}
	out = older()
	if err := out.withoutEdgesFrom("1.9.0"); err != nil || len(out.packageNotes()) != 0 {
		t.Errorf("the same version: %v, with notes %v", err, out.packageNotes())
	}
}
