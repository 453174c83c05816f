// Package install applies an approved plan: by one function, [Apply], in one order, and
// exactly what was reviewed. It reaches the cluster through small interfaces that it
// declares itself.
//
// # 1 The order
//
//  1. The digests are computed again; the gate; the cluster's identity; the base
//     revision. A refusal is exit code 5.
//  2. The Facts are computed again from the plan's content and fresh reads, and must
//     have the approved digest. Nothing is persisted: access reviews and dry runs are
//     reads.
//  3. The lock: a Lease of the release's name, created with resourceVersion "1", so that
//     one of two gets 201 and the other 409. Where the plan creates the release's own
//     namespace, that is the first write, and the Lease follows.
//  4. The Facts are computed once more, under the lock. The record is written, pending.
//  5. The stages in order. Before a stage the record names its objects, and what became
//     of those of the stage before; so it does before the run waits for anything.
//  6. The last look at all objects, the receipt, and the state applied.
//
// # 2 The gate
//
// It judges with today's rules and policy. Each critical finding must be in the approved
// plan file or signed statement with the same fingerprint, or be named by its
// fingerprint. A bare digest approves them only for the same ruleset. The approval of a
// content digest covers objects that are created, updated or unchanged, and findings
// that follow from the content alone; anything else is named and refused.
//
// # 3 Writes
//
// A create is an apply with resourceVersion "1", which is a 409 where the object was
// made meanwhile; without it server-side apply would merge. An update is an apply with
// the uid and the resourceVersion of the read just made; resourceVersion alone would
// create a deleted object again. A delete has both as preconditions. For what is
// unchanged nothing is sent. The field manager is kubectl-operator, unknown fields are
// refused.
//
// A 409 without causes is read again and compared, at most five times. A conflict of
// field managers is never retried. Force is per request, so a forced write is preceded
// by an unforced dry run whose conflicts must be among the reviewed ones. After any
// other 5xx or 429 a write is read again to learn whether it happened.
//
// Objects of one kind in one stage are written in parallel: first one, then one more for
// each that the API server took, up to 16. A kind begins when the one before it is done.
// The first failure stops the writes that are not sent yet; writes in flight end, and
// are recorded. Hooks, replacements, adoptions, former owners and Namespaces to delete
// are written one by one.
//
// An unknown outcome, a refusal and a change by others are three things. A write without an
// answer may still arrive: the run is interrupted then (exit code 4) whatever else failed in
// its batch, and nothing is undone on its word. The objects that an earlier run was creating
// are in its inventory, and awaited for as long as the API server works on a request (60 s,
// by its own clock) before anything is rolled back, and at the end of a plan that does not
// have it.
//
// # 4 What was written is compared
//
// No write is compared with less than a result. Where the plan makes the namespace or the CRD
// of an object, the review had none: once that is there, and before the first object of it is
// written, all of them are tried as dry runs. Fields of the answer that are not planned, not
// defaults of the API server (package defaulted) or of the CRD's schema, and what the review
// showed, refuses them all; the Namespace stays, on record, so that the next review sees what
// happens in it. A binding or a Pod, which the API server judges by other objects of the
// plan, is tried once more right before its write.
//
// After a write the object is compared with that result: every planned path has the
// planned value with its defaults, and no path of the result is missing or different,
// generated fields aside. Paths that admission added and the review did not show diverge. A
// diverged RBAC object, account, Service, network policy, webhook or pod template stops
// before the next stage; others are warnings. See [Compare].
//
// # 5 Stages
//
// A stage begins when those before it are ready: a Namespace is active; a
// CustomResourceDefinition is established and served; a certificate is ready where
// cert-manager was there before; the Service of a webhook has an endpoint; a Job is
// complete. A claim never holds a stage back, as it may wait for its first pod. A stage
// that takes longer than it may ends the run with exit code 4, and it can be resumed.
//
// # 6 Resuming
//
// A record is pending, applying, applied, failed or abandoned. The approval of the same
// digest resumes one that is applying or failed: each object must be as it was reviewed
// before the write, or after it; one that is replaced may also be absent. The objects
// that a killed run left are found by reading the cluster: its record may err only
// towards objects being in flight.
//
// An object is as a write left it if its uid and resourceVersion are the recorded ones, or
// if it has the values that were sent and our field manager owns exactly those fields. Where
// the schema of a kind is not known a dry run decides. Admission may refuse that for its own
// reasons, such as a change freeze: then it is not decided, and the error says so. To delete
// what the plan created its uid suffices.
//
// # 7 Ownership
//
// An object of another release or tool is never written. A CustomResourceDefinition with
// the same digest is shared: not written, not labelled, never deleted. Objects that left
// the release are deleted as reviewed, by id; CustomResourceDefinitions and Namespaces
// are kept. A replacement is a foreground delete with preconditions and a create. An
// adoption is two reviewed writes: a JSON patch, with tests of uid and resourceVersion,
// that takes the former owner's marks off, and the apply.
//
// # 8 History
//
// A record names the digest (sha256) of each older record that is kept, as it is kept. So
// what is done to records by something else than this program shows as follows. History
// marks it and exits with 1, status says it, a rollback to a record that does not hold is
// refused, and any other plan has the critical finding record-chain-broken. Later revisions
// are not signed, and list the lost revision with its number ([record.Lost]).
//
//	what is done                             shows by
//	one older record is changed              its digest is not the one that later records name
//	a record is exchanged for another one    its revision, or its digest
//	a record in the middle is removed        later records list it, or the list has a gap
//	newer records are removed, or an old     the copy of a newer revision, if any is left;
//	one is put back as the newest            else the objects: this program wrote to them
//	                                         later than the revision that is now the newest;
//	                                         and the Role of the release, which names it
//	the newest record is removed alone       older ones that are left without it
//	the newest record is changed             its signature, and of its options the Role
//	one record and all later ones are        their signatures
//	written anew
//	signed approvals in a record are         the signature of the record, and where the
//	changed, or are of another plan          approvers are named theirs
//
// The oldest records are forgotten by design, so that one may be missing there is not
// seen. Nor is the loss of the newest one if its run changed no object, or wrote in the
// second when the one before it ended: the API server notes no finer time. The objects
// are compared only with a revision whose run read all of them at its end. A signature
// says that a record was written with the key for this cluster and release, and not that
// it is the newest. Records of versions that named no digests are said to be not
// chained.
//
// # 9 The fewest requests
//
// To apply n objects takes n writes. Each object also takes:
//
//   - two dry runs, of the checks before and under the lock: the first so that a refusal
//     persists nothing, not even a lock; the second because another run may have held the
//     lock in between. The API has no dry run of several objects;
//   - one more if its namespace or CRD comes with the plan: those two were of a copy, or
//     could not be sent;
//   - none to find out whether it is ready, nor to compare it at the end: objects are listed
//     and watched by kind and namespace. A Secret is read by its name instead, three times,
//     so that no other Secret is read;
//   - in a resumed run, one dry run at each of its two looks for a written object of which
//     neither the record nor its values and managed fields show that it is as written.
//
// Reads are of fewer than six objects of a kind one each, else one list (see package k8s).
// The record takes a write for each stage that writes, one before each wait, and one at the
// end; each is as many Secrets as its size needs, of 900 KiB, and one for its index if they
// are several. The plan and the record before are stored once.
package install
