package preview

import (
	"fmt"
	"strings"
)

// WhyBlocked returns why an object with [ActionBlocked] cannot be written, in
// words that follow the object's name: another owner, its deletion, or a changed
// field that is immutable in an object that is not deleted and created again.
// Names in it come from the cluster.
func WhyBlocked(o *Object, release Release) string {
	if owner, ok := ForeignOwner(o.LiveBody, release); ok {
		return "belongs to " + owner.String()
	}
	meta := Map(o.LiveBody, "metadata")
	if String(meta, "deletionTimestamp") != "" {
		if names := Texts(meta["finalizers"]); len(names) > 0 {
			return "is being deleted, and waits for its finalizers " + strings.Join(names, ", ")
		}
		return "is being deleted"
	}
	if owners := Maps(meta, "ownerReferences"); len(owners) > 0 && !IsMember(o.LiveBody, release) {
		kind, name := String(owners[0], "kind"), String(owners[0], "name")
		return fmt.Sprintf("belongs to %s %s by an owner reference; delete that with kubectl delete %s %s --cascade=orphan, then plan with --adopt", kind, name, strings.ToLower(kind), name)
	}
	if why := Irreplaceable(o); why != "" {
		return why
	}
	return "belongs to another owner"
}
