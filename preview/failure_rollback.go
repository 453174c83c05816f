package preview

// What apply does when it fails after a write. The set is closed.
const (
	OnFailureStop     = "stop"
	OnFailureRollback = "rollback"
)

// FailureRollback says what apply does by itself when it fails after a write: it
// restores the revision that the plan starts from, or removes what the plan
// created where there is none. It is a Fact, so that the approval of the plan
// covers it too; apply carries out nothing else.
type FailureRollback struct {
	// Revision is the number of the revision that is restored; 0 where
	// nothing is installed.
	Revision int `json:"revision"`
	// ContentDigest is the content digest of the restored objects; empty
	// where nothing is installed.
	ContentDigest string `json:"contentDigest"`
	// Objects lists the objects of the revision and of the plan, by id.
	Objects []RollbackObject `json:"objects"`
	// Findings lists the critical findings of the restored state, judged as
	// a plan to go there would be. A plan has them too.
	Findings []Finding `json:"findings,omitempty"`
}

// RollbackObject is the action of the rollback on one object, after the whole
// plan was applied. After a part of it, what the plan did not come to stays as
// it is.
type RollbackObject struct {
	// ID of the object, see [Ref.ID].
	ID string `json:"id"`
	// APIVersion that the object is written in.
	APIVersion string `json:"apiVersion"`
	// Action is create, update, patch, unchanged, delete, keep, skip or shared.
	Action Action `json:"action"`
	// Digest is the sha256 of the restored object; empty where none is
	// restored.
	Digest string `json:"digest"`
}

// Counts counts the objects of the rollback by action.
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
