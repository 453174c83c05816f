package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Propagation says whether dependents of a deleted object are deleted or
// orphaned, in the words of the API.
type Propagation string

// The propagations.
const (
	Background Propagation = "Background" // they go after it
	Foreground Propagation = "Foreground" // they go before it
	Orphan     Propagation = "Orphan"     // they stay, and have no owner
)

// Whole reports whether every path of the live object is relevant to the
// decision about this one, and not only those that are sealed or ours: what is
// deleted or taken over goes with all it holds.
func (o *Object) Whole() bool {
	return o.Planned == nil || o.Action == ActionReplace || o.Action == ActionAdopt || o.Action == ActionBlocked
}

// TrialName returns the name of the copy that is dry-run to learn whether an
// object can be created while it still exists. It fits every kind, and nothing
// has it.
func TrialName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return FieldManager + "-" + hex.EncodeToString(sum[:8])
}

// Irreplaceable says why an object whose immutable fields change is not deleted
// and created again; it is empty for one that may be.
func Irreplaceable(o *Object) string {
	if o.Is(KindCustomResourceDefinition, KindNamespace, KindPersistentVolumeClaim, KindPersistentVolume) {
		return "changes a field that cannot change, and a " + o.Kind + " is never deleted to be created again: what it holds would go with it"
	}
	var held []string
	for _, v := range List(o.LiveBody, "metadata", "finalizers") {
		if name := fmt.Sprint(v); !slices.Contains(collectors[:], name) {
			held = append(held, name)
		}
	}
	if len(held) > 0 {
		return "changes a field that cannot change, and its finalizers may hold up the deletion that takes: " + strings.Join(held, ", ")
	}
	return ""
}

// collectors are the finalizers that the garbage collector clears itself.
var collectors = [...]string{"foregroundDeletion", "orphan"}
