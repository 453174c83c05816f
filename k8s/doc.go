// Package k8s is the Kubernetes client of this program, and the only user of
// client-go. It carries out, on one API server and as one user, the few requests
// that a review, an apply and a rollout are made of: discovery, get, list,
// watch, server-side apply (dry run or real), JSON patch and delete.
//
// Objects go over the wire as the canonical JSON of package preview and come
// back through its decoder, so that integers keep their exact digits (client-go
// itself makes doubles of some). Whatever the API server refuses comes back as
// a [preview.Refusal], whose message is the server's own and untrusted.
//
// # 1 Writes
//
// Every write has preconditions, so that it changes the reviewed object or
// nothing:
//
//   - Apply is a PATCH of server-side apply (KEP-555) by field manager
//     kubectl-operator, or by that of the item, with fieldValidation=Strict. Its
//     body is the sealed object plus the preconditions and nothing else.
//   - A create carries resourceVersion "1", which no object has: what was
//     created meanwhile is a 409 instead of a silent merge.
//   - An update carries both uid and resourceVersion of the read that it was
//     decided on. A resourceVersion alone would create a deleted object again.
//   - Delete has uid and resourceVersion as its preconditions; a JSON patch
//     tests its own.
//   - force takes every contested field of a request. The caller compares the
//     conflicts of an unforced dry run with the reviewed ones first.
//
// A write is sent once. After an answer that was lost the caller reads the
// object to learn whether the write happened (see package install).
//
// # 2 Dry runs
//
// [Client.DryRun] sends the same request with dryRun=All, which persists
// nothing. Where dry runs may not be made, [Client.Merge] computes the result
// from the live managedFields and the published OpenAPI schema: without
// defaulting, admission and validation, and so without what those would change
// or refuse. [Schemas] has the structure of the built-in kinds without any
// cluster.
//
// # 3 A client that cannot write
//
// With [Options.ReadOnly] the transport refuses, whatever the code above asks
// for: in mode get everything but GET and HEAD, in mode dry-run also everything
// but patches with dryRun=All and the reviews that a user makes of itself. A GET
// that opens a connection into a pod (exec, attach, portforward) is refused as
// well. The audit log of a preview shows no persisted write.
//
// # 4 Bounded reads
//
// The cluster is not trusted to be small or honest. A response, a watch event, a log and the
// text of an error each have a limit in bytes, requests in flight and watches one in number;
// lists come in pages of about 4 MB, and [Client.List] keeps the fields that its caller
// names, or asks for metadata alone. Such lists of the core and of RBAC come in protobuf, if
// the API server is not newer than the types of this program, so that no field of it is lost;
// the result is the same as of JSON. Redirects are not followed. A request has a timeout of
// 40 s, above the 30 s of an admission webhook. A read is repeated while the server is
// unavailable; one that ran into its timeout is not.
//
// [Client.Read] gets Secrets by name, where it lists other kinds, so that no other
// Secret is read. Events, logs and ready endpoints are read for diagnosis alone.
//
// # 5 Identity and impersonation
//
// The flags are kubectl's own, --as and --as-group among them: requests then run with
// the permissions of that user. [Client.Target] names both the impersonated user and the
// one that logged in, by SelfSubjectReview, and identifies the cluster by the uid of
// namespace kube-system, which approvals are bound to. [Client.May] answers which
// permissions the user has: by one SelfSubjectRulesReview for what holds in every
// namespace, one for each namespace where that is not enough, and by a
// SelfSubjectAccessReview for what no rule covers, because other authorizers may allow
// it.
//
// # 6 The fewest requests
//
// Package preview/reads has the least number of requests and of round trips that a preview
// takes, and a test holds this client to it. [Client.Read] lists from 6 objects of one kind
// and namespace on, and takes the list only if it is one page of at most 64 objects or 8 for
// each object that is read: a list is one request, but returns the bytes of the whole
// collection. Requests share one HTTP/2 connection and take compressed answers, as client-go
// does by default. Package flight decides how many dry runs and gets are in flight, 16 at
// first: more where the server is far away, fewer after it refused some with 429. Then
// nothing of the kind is sent before its Retry-After, at most 5 s, and a read or dry run is
// sent again up to ten times. [Client.PreparePlan] and [Client.PrepareMerge] are for package
// ahead, which reads what a plan needs before it is asked for.
//
// With a [Cache], aggregated discovery and schemas are kept between runs. Each use asks
// for them by the hash that the server gave (ETag), so that what has changed is never used.
package k8s
