package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Extent says how far the rights of an account go: its own, the rights of accounts that
// it can act as, and rights that it can give itself.
type Extent string

// The extents, the highest first.
const (
	ClusterAdmin  Extent = "cluster-admin" // can do everything, by whatever steps
	EverySecret   Extent = "every-secret"  // reads the Secrets of all namespaces
	Nodes         Extent = "nodes"         // controls nodes
	Namespaces    Extent = "namespaces"    // acts as any account of namespaces besides its own, or reads their Secrets
	ClusterWrites Extent = "cluster-writes"
	OwnNamespace  Extent = "own-namespace" // writes in namespaces, acts as any account in its own at most
	Reads         Extent = "reads"
	Nothing       Extent = "nothing"
)

// extents are all extents, the highest first.
var extents = [...]Extent{ClusterAdmin, EverySecret, Nodes, Namespaces, ClusterWrites, OwnNamespace, Reads, Nothing}

// Amount is how far the rights of an account go, and why.
type Amount struct {
	Extent Extent
	// Path is the shortest escalation path to Extent; its last step says what is
	// reached. It is empty for extents below [Nodes].
	Path EscalationPath
	// Own: the account's own rights are enough, without acting as another account. Held
	// are those rights.
	Own  bool
	Held []HeldRight
	// Namespaces are those where the account may act as every account or reads all
	// Secrets, sorted.
	Namespaces []string
	// Unfinished: the search ended at maxVisits; the extent may be higher.
	Unfinished bool
}

// HeldRight is a grant that leads an account to an extent, with the resources that
// matter for it.
type HeldRight struct {
	Grant     preview.Grant
	Resources []string
}

// Severe reports whether an extent is control of the cluster: everything, every Secret,
// or the nodes.
func (e Extent) Severe() bool { return e == ClusterAdmin || e == EverySecret || e == Nodes }

// CompareExtents compares two extents for sorting, with the highest first.
func CompareExtents(a, b Extent) int {
	return slices.Index(extents[:], a) - slices.Index(extents[:], b)
}
