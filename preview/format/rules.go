package format

// The rules of notes about a package that a program of the user's own made.
const (
	RuleExternal        = "external-format"         // which program ran
	RuleExternalWarning = "external-format-warning" // what it warns of
	RuleExternalSays    = "external-format-says"    // what else it says
)

// The rules of notes about what rendering depends on, and about what it leaves
// out.
const (
	RuleNondeterministic = "nondeterministic"           // a field that another rendering gives another value
	RuleClusterDependent = "content-depends-on-cluster" // what templates asked of it
	RuleHookNotRun       = "hook-not-run"               // a Helm hook of a moment there is not
	RuleHookKept         = "hook-kept"                  // one that Helm would delete
	RuleDeprecated       = "deprecated"                 // by the content itself
)
