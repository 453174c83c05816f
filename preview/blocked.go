package preview

import (
	"fmt"
	"strings"
)

// WhyBlocked returns why an object with [ActionBlocked] cannot be written, in words
// that follow the object's name: it has another owner, is being deleted, or changes an
// immutable field and must not be deleted and created again. The text holds names from
// the cluster.
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
		return fmt.Sprintf("belongs to %s %s by an owner reference", String(owners[0], "kind"), String(owners[0], "name"))
	}
	if why := Irreplaceable(o); why != "" {
		return why
	}
	return "belongs to another owner"
}
