package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Extent says what an account amounts to: what it may do itself, as the accounts
// that it may act as, and with the rights that it may give itself.
type Extent string

// The extents, the highest first.
const (
	ClusterAdmin  Extent = "cluster-admin" // everything, by whatever steps
	EverySecret   Extent = "every-secret"  // reads the Secrets of every namespace
	Nodes         Extent = "nodes"         // controls nodes
	Namespaces    Extent = "namespaces"    // acts as any account of namespaces besides its own, or reads their Secrets
	ClusterWrites Extent = "cluster-writes"
	OwnNamespace  Extent = "own-namespace" // writes in namespaces, and administers none but its own
	Reads         Extent = "reads"
	Nothing       Extent = "nothing"
)

// extents lists all, the highest first.
var extents = [...]Extent{ClusterAdmin, EverySecret, Nodes, Namespaces, ClusterWrites, OwnNamespace, Reads, Nothing}

// Amount is what an account amounts to.
type Amount struct {
	Extent Extent
	// Path is the shortest escalation path to it; its last step says what is
	// reached. It has no steps below [Nodes].
	Path EscalationPath
	// Own: the account's own rights are enough, without acting as another. Held are
	// those rights.
	Own  bool
	Held []HeldRight
	// Namespaces are those where it may act as any account or reads all Secrets,
	// sorted.
	Namespaces []string
	// Unfinished: the search ended at its limit; the account may amount to more.
	Unfinished bool
}

// HeldRight is a grant that an end rests on, and which of its resources do.
type HeldRight struct {
	Grant     preview.Grant
	Resources []string
}

// Severe reports whether an extent leads to control of the cluster: everything,
// every Secret, or the nodes.
func (e Extent) Severe() bool { return e == ClusterAdmin || e == EverySecret || e == Nodes }

// CompareExtents orders extents, the highest first.
func CompareExtents(a, b Extent) int {
	return slices.Index(extents[:], a) - slices.Index(extents[:], b)
}
