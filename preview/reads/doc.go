// Package reads is what planning asks of a cluster, and the least that this takes.
//
// # The limit
//
// The API of Kubernetes has no request for several objects of several kinds, and none for
// several dry runs. So the preview of a release with n objects takes at least these
// requests ([Limit.Requests]):
//
//   - discovery: one document for each API version, or two for all of them, the core and
//     the groups (aggregated discovery), whose size is that of everything that is served;
//   - the objects: one list for each kind and namespace that has many of them, else one
//     get for each; one get for each namespace, and one for the record of the release;
//   - who asks whom: a get of kube-system and, as they are no reads, in mode dry-run a
//     review of the user and one of the user's rights;
//   - what else decides: where the plan touches RBAC, a list of ClusterRoles,
//     ClusterRoleBindings and RoleBindings; the quotas and limit ranges of each namespace
//     that pods go into;
//   - in mode dry-run n dry runs, in mode get a schema document for each API version.
//
// Their order decides how often the distance counts ([Limit.RoundTrips]): a connection
// takes one for TCP and one for TLS. Then discovery, reads and dry runs wait for each
// other, for a path needs the name of the resource, and a dry run carries the uid and the
// version of what was read. Package ahead sends all that does not wait for another answer
// at the same time. Dry runs take n/s round trips of s in flight; package flight finds how
// many fill the way to the server and no more. More than that takes the seats of others:
// users share a priority level, and what is over gets 429 with Retry-After. Whether a plan is stale is known by its reads alone, made again: each write
// carries the uid and version that it was decided on.
//
// A preview d away then takes at least d·RoundTrips longer than one nearby. Bytes
// ([Limit.Bytes]) are the bytes of the objects: once as they are, as lists or gets, and
// in mode dry-run twice more, there and back. Answers come compressed from 128 KB on,
// which the API server decides.
//
// # What this program adds
//
// TestClusterAPreviewTakesFewRequests counts the requests of a preview of 50 and of 500
// objects and holds them to the limit: [Extra] requests more, the same for both.
package reads
