package preview

// The subjects of a [RecordChange] ([RecordChange.What]). The set is closed.
const (
	RecordVersion    = "version"    // of a package
	RecordOptions    = "options"    // [Plan.OptionChanges] has them
	RecordAPIVersion = "apiVersion" // of an object
	RecordVia        = "via"        // the catalog and channel, or repository, of a package
	RecordContent    = "content"    // the digest of the content, where nothing else says what differs
	RecordGone       = "gone"       // an object whose kind is gone, see [Object.GoneWithKind]
)

// RecordChange is one thing that the record of the release keeps and the plan changes,
// although it writes no object: the next upgrade, rollback and uninstall start from it.
type RecordChange struct {
	// What is the subject: version, options, apiVersion, via, content or gone.
	What string `json:"what"`
	// Of is the package, or for apiVersion and gone the id of the object; else empty.
	Of string `json:"of,omitempty"`
	// From is what the installed revision has.
	From string `json:"from,omitempty"`
	// To is what the next revision has.
	To string `json:"to,omitempty"`
}

// Text returns the change in words.
func (c RecordChange) Text() string {
	text := func(side string) string {
		if side == "" {
			return "(none)"
		}
		return side
	}
	switch c.What {
	case RecordOptions:
		return "the options of the release"
	case RecordContent:
		return "content " + text(c.From) + " -> " + text(c.To)
	case RecordGone:
		return IDPlace(c.Of) + " is forgotten"
	case RecordAPIVersion:
		return IDPlace(c.Of) + " " + text(c.From) + " -> " + text(c.To)
	}
	return c.Of + " " + text(c.From) + " -> " + text(c.To)
}

// Changes reports whether an apply writes an object, or a revision of the release whose
// record says something else than the installed one.
func (p *Plan) Changes() bool { return p.Summary.Changes() || len(p.RecordChanges) > 0 }
