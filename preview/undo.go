package preview

// What apply does when it fails after a write. The set is closed.
const (
	OnFailureStop     = "stop"
	OnFailureRollback = "rollback"
)

// FailureRollback is what apply does by itself when it fails after a write: it goes back
// to the revision that the plan stands on, or removes what the plan made where
// there is none. It is a Fact, so that the approval of the plan covers it
// too; apply carries out nothing else.
type FailureRollback struct {
	// Revision is the one to go back to; 0 where nothing is installed.
	Revision int `json:"revision"`
	// ContentDigest is that of the revision's objects as they come back; empty
	// where nothing is installed.
	ContentDigest string `json:"contentDigest"`
	// Objects are those of the revision and those of the plan, by id.
	Objects []RollbackObject `json:"objects"`
	// Findings are the critical ones of the state that the undo leads to, judged
	// as a plan to go there would be. A plan has them too.
	Findings []Finding `json:"findings,omitempty"`
}

// RollbackObject is what the undo does with one object after the whole plan was
// applied. After a part of it, what the plan did not come to stays as it is.
type RollbackObject struct {
	ID         string `json:"id"`
	APIVersion string `json:"apiVersion"`
	// Action is create, update, patch, unchanged, delete, keep, skip or shared.
	Action Action `json:"action"`
	// Digest is that of the object which comes back; empty where none does.
	Digest string `json:"digest"`
}

// Counts counts the objects of the undo by action.
func (u *FailureRollback) Counts() Summary {
	var s Summary
	for _, o := range u.Objects {
		if n := s.slot(o.Action); n != nil {
			*n++
		}
	}
	return s
}

// Ref returns the object's reference; the zero value where its id is none.
func (o RollbackObject) Ref() Ref {
	_, kind, namespace, name, err := ParseID(o.ID)
	if err != nil {
		return Ref{}
	}
	return Ref{APIVersion: o.APIVersion, Kind: kind, Namespace: namespace, Name: name}
}
