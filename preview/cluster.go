package preview

// ReadResult is the result of reading one object. Body and Err are both nil if the
// object does not exist. Err is a [Refusal] if the API server answered.
type ReadResult struct {
	Ref  Ref
	Body map[string]any
	Err  error
}

// DryRun is a server-side dry run of applying Body. UID and ResourceVersion are those
// of the live object, and empty if it does not exist. Force takes over fields of other
// managers. An empty Manager means [FieldManager].
type DryRun struct {
	Body                 map[string]any
	UID, ResourceVersion string
	Force                bool
	Manager              string
}

// DryRunResult is the answer to a [DryRun]: the object as it would be stored, or an
// error. Warnings are the API server's Warning headers.
type DryRunResult struct {
	Body     map[string]any
	Warnings []string
	Err      error
}
