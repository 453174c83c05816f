package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Query asks for a bundle of a package, by channel and version range.
type Query struct {
	Package string
	Version string // Masterminds range; empty means the channel's head
	// Channels to look in; empty means the default channel. [EveryChannel] in it
	// means all of them, as a ClusterExtension without channels does.
	Channels []string
	// Installed, when set, makes it an upgrade.
	Installed *Installed
	Policy    Policy
}

// EveryChannel stands for all channels of the package, among the channels of a query.
const EveryChannel = "*"

// Policy says which versions an upgrade may lead to (OLM v1, upgradeConstraintPolicy).
// It applies only if a bundle is installed.
type Policy string

// The policies. The empty one is CatalogProvided.
const (
	CatalogProvided Policy = "CatalogProvided" // along the upgrade edges only
	SelfCertified   Policy = "SelfCertified"   // any version; the user vouches for it
)

// Installed is the bundle to upgrade.
type Installed struct {
	Bundle  string // bundle name, such as "mongodb-kubernetes.v1.9.0"
	Version string
}

// Choice is the bundle that a query led to, and why.
type Choice struct {
	Package string
	Bundle  string
	Version string
	Channel string
	// DefaultChannel is the package's default channel, empty if it has none.
	DefaultChannel string

	Image   string
	Catalog Origin
	// Why says in a few words what made it the choice.
	Why string
	// Rejected are the candidates of other catalogs, highest priority first.
	Rejected []preview.RejectedCandidate
	// Next are the versions to go on to, in order, when the one asked for is
	// more than one upgrade edge away and this is the first step.
	Next []string
	// Deprecated are the messages of bundle, channel and package, in this
	// order, those that have one. Hostile text.
	Deprecated []string
	// Current is set when the installed bundle is already the best there is.
	Current bool

	bundle   *Bundle
	versions int // of the package, in its catalog
}

// Properties returns the properties of the chosen bundle.
func (c *Choice) Properties() ([]Property, error) { return c.bundle.Properties() }

// Via returns the choice as the step of the resolution that a plan records.
func (c *Choice) Via() preview.ResolutionStep {
	return preview.ResolutionStep{
		Kind: "catalog", Reference: c.Catalog.Reference, Digest: c.Catalog.Digest, Channel: c.Channel,
		Why: c.Why, Rejected: c.Rejected, Verification: c.Catalog.Verification,
	}
}

// candidate is the answer of one catalog to a query: a choice, or the error that says
// why there is none.
type candidate struct {
	catalog *Catalog
	pkg     *Package // nil when it cannot be read
	choice  *Choice
	err     error
}

func (c *candidate) priority() int { return c.catalog.origin.Priority }

// deprecated reports whether the chosen bundle is deprecated. Deprecation of its
// package or channel does not count: as in OLM, it is only reported.
func (c *candidate) deprecated() bool { return c.choice.bundle.Deprecated != "" }

// Resolve returns the bundle that a query asks for. If several catalogs have the
// package, a bundle that is not deprecated is preferred, then the catalog with the
// highest priority (OLM v1). A package in two catalogs of equal priority is an error. A
// catalog that is given twice counts once.
func Resolve(cats []*Catalog, q Query) (*Choice, error) {
	all := candidates(cats, q)
	if len(all) == 0 {
		return nil, notFound(cats, q.Package)
	}
	winner := best(all)
	top := all[0].priority()
	if winner != nil {
		top = winner.priority()
	}
	var equals []*Catalog
	for _, c := range all {
		if c.priority() == top {
			equals = append(equals, c.catalog)
		}
	}
	switch {
	case len(equals) > 1:
		return nil, fmt.Errorf("package %q is in %d catalogs: %s; choose one with --catalog, or give one of them a higher priority",
			q.Package, len(equals), references(equals))
	case winner == nil:
		return nil, noneHas(all)
	}
	for _, c := range all {
		// The unreadable part may be the one that the user meant.
		if c.pkg == nil && c.priority() > top {
			return nil, c.err
		}
		if c != winner {
			winner.choice.Rejected = append(winner.choice.Rejected, c.rejected(winner))
		}
	}
	return winner.choice, nil
}

// candidates returns the answers of all catalogs that have the package, highest
// priority first.
func candidates(cats []*Catalog, q Query) []*candidate {
	var out []*candidate
	for _, c := range cats {
		twice := slices.ContainsFunc(out, func(h *candidate) bool {
			return c.origin.Digest != "" && h.catalog.origin.Digest == c.origin.Digest
		})
		if twice || !c.Has(q.Package) {
			continue
		}
		found := &candidate{catalog: c}
		if found.pkg, found.err = c.Package(q.Package); found.err == nil {
			if found.choice, found.err = found.pkg.resolve(q); found.err == nil {
				found.choice.Catalog = c.origin
			}
		}
		out = append(out, found)
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(b.priority(), a.priority()) })
	return out
}

// best returns the first candidate whose bundle is not deprecated, else the first with
// a bundle; nil if there is none.
func best(all []*candidate) *candidate {
	var deprecated *candidate
	for _, c := range all {
		switch {
		case c.choice == nil:
		case !c.deprecated():
			return c
		case deprecated == nil:
			deprecated = c
		}
	}
	return deprecated
}

func (c *candidate) rejected(winner *candidate) preview.RejectedCandidate {
	out := preview.RejectedCandidate{Catalog: c.catalog.origin.Reference}
	switch {
	case c.choice == nil:
		out.Why = c.err.Error()
	case c.deprecated() && !winner.deprecated():
		out.Version, out.Why = c.choice.Version, "deprecated, and "+winner.choice.Version+" is not"
	default:
		out.Version = c.choice.Version
		out.Why = fmt.Sprintf("priority %d is below %d", c.priority(), winner.priority())
	}
	return out
}

// noneHas returns the error for a query that no catalog with the package has a bundle
// for.
func noneHas(all []*candidate) error {
	if len(all) == 1 {
		return all[0].err
	}
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("in catalog %s: %v", c.catalog.origin.Reference, c.err))
	}
	return fmt.Errorf("%s", strings.Join(parts, "; "))
}
