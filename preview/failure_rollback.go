package preview

// Reactions of apply to a failure after a write. The set is closed.
const (
	OnFailureStop     = "stop"
	OnFailureRollback = "rollback"
)

// FailureRollback says what an apply does without asking if it fails after a write: it
// restores the revision that the plan starts from or, if there is none, deletes what
// the plan created. It is a fact, so that the plan's approval covers it.
type FailureRollback struct {
	// Revision is the number of the revision that is restored; 0 where
	// nothing is installed.
	Revision int `json:"revision"`
	// ContentDigest is the content digest of the restored objects; empty
	// where nothing is installed.
	ContentDigest string `json:"contentDigest"`
	// Objects lists the objects of the revision and of the plan, by id.
	Objects []RollbackObject `json:"objects"`
	// Findings lists the critical findings about the restored content, judged like a new
	// plan's. The plan's own findings have them too.
	Findings []Finding `json:"findings,omitempty"`
}

// RollbackObject is what the rollback does with one object if the whole plan was
// applied. Objects that the failed apply did not reach stay as they are.
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

// Counts returns the numbers of the rollback's objects by action.
func (u *FailureRollback) Counts() Summary {
	var s Summary
	for _, o := range u.Objects {
		if n := s.slot(o.Action); n != nil {
			*n++
		}
	}
	return s
}

// Ref returns the reference of the object; the zero value if its id is invalid.
func (o RollbackObject) Ref() Ref {
	_, kind, namespace, name, err := ParseID(o.ID)
	if err != nil {
		return Ref{}
	}
	return Ref{APIVersion: o.APIVersion, Kind: kind, Namespace: namespace, Name: name}
}
