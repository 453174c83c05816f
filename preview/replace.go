package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Propagation is whether dependents of a deleted object are deleted or orphaned,
// in the API's words.
type Propagation string

// The propagations.
const (
	Background Propagation = "Background" // they go after it
	Foreground Propagation = "Foreground" // they go before it
	Orphan     Propagation = "Orphan"     // they stay, and have no owner
)

// Whole reports whether the decision about this object depends on every path of
// the live object, and not only on planned and owned ones. That is so for an
// object that is deleted or adopted.
func (o *Object) Whole() bool {
	return o.Planned == nil || o.Action == ActionReplace || o.Action == ActionAdopt || o.Action == ActionBlocked
}

// TrialName returns a name for a dry run that checks whether an object can be
// created while it still exists. It is valid for every kind, and no object has it.
func TrialName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return FieldManager + "-" + hex.EncodeToString(sum[:8])
}

// Irreplaceable returns why an object with changed immutable fields must not be
// deleted and created again, empty if it may be.
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
