package engine

import (
	"fmt"
	"reflect"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// checkPatch returns an error for an object that is only patched, unless the patch is
// the restart of a Deployment for the plan's content, or is empty, which releases the
// object.
func checkPatch(p *preview.Plan, o *preview.Object) error {
	if o.Manager != preview.PatchManager(p.Release.Name) {
		return tamperedError("object " + o.ID + " is patched by a manager that is not the release's")
	}
	if o.ReleasesOwnership() {
		return nil
	}
	for _, pkg := range p.Packages {
		if p.Platform != "" && pkg.Name == o.Package && o.APIVersion == "apps/v1" && o.Is(preview.KindDeployment) &&
			reflect.DeepEqual(o.Planned, preview.Restart(o.Ref(), pkg.ContentDigest)) {
			return nil
		}
	}
	return tamperedError("object " + o.ID + " is patched, and not with the content of the plan")
}

// decidePatch sets the action of an object of another owner that is only patched. It
// returns a [RefusedError] if the object does not exist, except where the patch
// releases it.
func decidePatch(o *preview.Object) error {
	leaving := preview.String(o.LiveBody, "metadata", "deletionTimestamp") != ""
	switch {
	case o.ReleasesOwnership() && (o.LiveBody == nil || leaving):
		o.Action = ""
	case o.LiveBody == nil:
		return &RefusedError{
			What: fmt.Sprintf("the host, %s %s in namespace %s, is not there", o.Kind, o.Name, o.Namespace),
			Next: "install it first, or name the one that loads the plugins under spec.host",
		}
	case leaving:
		o.Action = preview.ActionBlocked
	default:
		o.Action = preview.ActionPatch
	}
	return nil
}
