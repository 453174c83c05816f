package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Propagation says what happens to the dependents of a deleted object, in the words of
// the API (propagationPolicy).
type Propagation string

// The propagations.
const (
	Background Propagation = "Background" // dependents are deleted after it
	Foreground Propagation = "Foreground" // dependents are deleted before it
	Orphan     Propagation = "Orphan"     // dependents stay without owner
)

// Whole reports whether every path of the live object is in its fingerprint, and not
// only planned and owned ones. That is so for objects that are deleted, kept, replaced,
// adopted or blocked.
func (o *Object) Whole() bool {
	return o.Planned == nil || o.Action == ActionReplace || o.Action == ActionAdopt || o.Action == ActionBlocked
}

// TrialName returns the name for a dry run of creating a copy of an existing object. It
// is valid for every kind, and no object has it.
func TrialName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return FieldManager + "-" + hex.EncodeToString(sum[:8])
}

// Irreplaceable returns why an object whose immutable fields change must not be deleted
// and created again, in words that follow its name; empty if it may be.
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

// collectors are the finalizers that the garbage collector removes by itself.
var collectors = [...]string{"foregroundDeletion", "orphan"}
