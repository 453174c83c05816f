package reads

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Limit is a preview of objects that exist and are updated, as far as it decides how many
// requests the API needs for it.
type Limit struct {
	Mode     preview.ReadMode
	Objects  int
	Versions int // API versions of the objects, and v1 for the release's record
	// Collections are the kinds and namespaces of the objects that lists read, Single
	// the objects that gets read.
	Collections, Single int
	Namespaces          int  // of the objects, the release's own among them
	PodNamespaces       int  // that pods go into
	RBAC                bool // the plan has accounts, roles or bindings
	ObjectBytes         int  // of all objects as they are stored
	InFlight            int  // dry runs at a time
}

// connectionTrips are the round trips of a new connection, by TCP and TLS 1.3.
const connectionTrips = 2

// Extra is how many requests a preview by this program takes at most beyond
// [Limit.Requests]: the server's version, the Roles of the cluster, which only some paths
// to more rights need, discovery of Leases, whose rights are asked about, a review of
// rights in the namespace, for users without them in all, and a schema to merge bindings
// of the plan's own roles.
const Extra = 5

// Requests returns the fewest requests.
func (l Limit) Requests() int {
	const record, cluster = 1, 1
	n := l.Versions + l.Collections + l.Single + l.Namespaces + 2*l.PodNamespaces + record + cluster
	if l.RBAC {
		n += 3
	}
	if l.Mode == preview.ReadGet {
		return n + l.Versions
	}
	const user, rights = 1, 1
	return n + user + rights + l.Objects
}

// RoundTrips returns how often the distance counts at least.
func (l Limit) RoundTrips() int {
	const discovery, reading = 1, 1
	n := connectionTrips + discovery + reading
	if l.Mode == preview.ReadGet {
		return n // schemas are read next to the objects
	}
	return n + (l.Objects+l.InFlight-1)/l.InFlight
}

// Bytes returns the fewest bytes of bodies, before they are compressed.
func (l Limit) Bytes() int {
	if l.Mode == preview.ReadGet {
		return l.ObjectBytes
	}
	return 3 * l.ObjectBytes
}

// Longer returns how much longer a preview takes at least whose server is a round trip of
// distance away.
func (l Limit) Longer(distance time.Duration) time.Duration {
	return distance * time.Duration(l.RoundTrips())
}
