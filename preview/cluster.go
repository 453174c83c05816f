package preview

// ReadResult answers the read of one object. Body and Err are both nil when
// the object does not exist. Err is a [Refusal] when the API server answered.
type ReadResult struct {
	Ref  Ref
	Body map[string]any
	Err  error
}

// DryRun asks what applying Body would lead to. UID and ResourceVersion pin
// the object it was decided on; both are empty when it does not exist. Force
// takes fields other managers own. Manager is the field manager; empty means
// [FieldManager].
type DryRun struct {
	Body                 map[string]any
	UID, ResourceVersion string
	Force                bool
	Manager              string
}

// DryRunResult answers one [DryRun]: the would-be object, or why not. Warnings
// are the API server's Warning headers.
type DryRunResult struct {
	Body     map[string]any
	Warnings []string
	Err      error
}
