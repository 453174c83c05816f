package record

// Acknowledged reports whether an object in this state was written, or is being deleted:
// the API server took the request.
func (s ObjectState) Acknowledged() bool {
	switch s {
	case StateApplied, StateWaiting, StateReady, StateRemoving, StateRemoved, StateDiverged:
		return true
	}
	return false
}

// Written reports whether the API server took the write of the object. One that failed
// may have been written: it is its rollout that failed then.
func (o *ObjectReceipt) Written() bool {
	return o.State.Acknowledged() || o.State == StateFailed && o.UID != ""
}
