// Package preview defines the [Plan]: the objects that an install would write, the live
// state that it was decided on, the findings, and the digest that users approve.
//
// It decodes objects, puts them in canonical form, hashes and compares them. It
// performs no I/O and knows no client. The packages below it read content, render
// it and judge it; package engine puts a plan together. The JSON names of these
// types are contract, and so are the sections below: other packages cite their
// numbers.
//
// # 1 Canonical form
//
// YAML and JSON are decoded once. Duplicate keys, keys that are no strings, NaN,
// documents without a kind, and more aliases than a cap are errors. List kinds are
// flattened, nested ones too. Status, null values, the metadata that a server sets
// (creationTimestamp, resourceVersion, uid, generation, selfLink, managedFields) and
// the namespace of cluster-scoped kinds are removed before hashing, and reported
// where they were not empty. The stringData of a Secret becomes data.
//
// Canonical JSON is RFC 8785 with one deviation: integers are exact decimal digits of
// int64 or uint64, or an error. 9007199254740993 and ...992 are two values in the API
// and one as a double.
//
// Labels and annotations of this program are part of the object before it is hashed. A
// write sends the planned object and at most metadata.uid and metadata.resourceVersion.
//
// # 2 Identity
//
// The id of an object is GROUP/KIND/NAMESPACE/NAME, with core for the empty group and
// - for no namespace, and without a version. Two objects of one package with the same
// id are an error unless they are equal. generateName is refused, except of hook Jobs,
// which are named by their digest.
//
// # 3 Secret values
//
// Values of Secrets, and values of other objects whose name says that they are
// sensitive, enter a hash only through scrypt (N 2^15, r 8, p 1; the salt is the
// object's id and the first pin), once for each object. They are shown neither as
// value nor length nor hash: only whether a key is equal, changed, new or removed.
//
// # 4 Facts, View and the two digests
//
// The content digest of a package is the hash of its release, name, version, pins,
// resolved parameters, objects and files. It has nothing that was read from the cluster,
// no tag, host or path, and not this program's version: the same flags give the same
// content digest offline, on any machine. The parameters include a chart's reads of the
// cluster.
//
// The Facts of a [Plan] are everything that apply will do, and every live fact that
// was decided on: content digest, release, base revision, read mode, options, identity
// of the cluster, objects with action, digest, live fingerprint, conflicts and
// reviewed result, files, stages, grants, cloud permissions, what else was read, and
// what could not be. Lists are sorted by key. [Plan.Seal] hashes the Facts into the
// digest, which a person approves. Not in it are status, resourceVersion, the clock,
// the user, the URL and the version of the server.
//
// The hash of a result covers the fields that differ between the dry run and the live
// object, or all of a new object, without generated ones and those volatile ones that
// neither the plan nor the write decides ([Object.Compared]): drift of other fields does
// not change it. A plan made with read mode get has no dry runs, and so another digest
// than one with read mode dry-run; apply plans again in the mode of the approved plan,
// and also dry-runs.
//
// The reads of a plan are the live objects that a Fact rests on without being changed:
// roles and bindings that exist only in the cluster, labels of namespaces, answers of
// template lookups, quotas, platforms of nodes, and what checks counted. Apply reads
// all of it again and refuses the plan as stale where a Fact differs. A plan that was
// applied in part is compared without what its own writes change.
//
// Approving a content digest covers creations, updates, unchanged objects and findings
// that follow from content alone. Deletions, replacements, adoptions, blocked objects,
// conflicts, unknowns and grants that a role of the cluster widens need an approval of
// the digest. An offline plan is never applied from a file.
//
// The View is everything else, such as changes and findings. It follows from the
// Facts and the objects and is derived again when a plan is loaded: where what is
// stored differs, the plan is refused. Findings are outside the digest; [Ruleset],
// raised with any change of the built-in rules, is in each approval, so that a
// changed rule is noticed.
//
// # 5 Fingerprints of live objects
//
// Objects are read in the API version of the plan. The fingerprint of a live object is the
// hash of its uid, deletionTimestamp, owners, finalizers, marks of tools, and the values at
// every path that matters: paths of the planned object, paths that our field manager owns,
// and reviewed conflicts; atomic lists are taken whole. For an object that is deleted,
// replaced or adopted every path matters, but for a table of volatile ones that controllers
// change by themselves, each with a reason and a test. They count where the plan sets them,
// or our field manager did: object by object, path by path. A new default in a
// CustomResourceDefinition changes how its objects read while their resourceVersion stays,
// so just before a write an object is not compared again if its resourceVersion is
// unchanged since the check. Other changes of an object that is updated, such as the
// replicas of an autoscaler, do not make a plan stale.
//
// # 6 Findings
//
// The id of a finding is RULE/OBJECT-ID, its fingerprint the hash of the rule and the
// evidence. The evidence of a rule about access is the grant - subject, scope, groups,
// resources, names, verbs - and never the name of a role or a file. An unreadable object
// is the finding unknown/OBJECT-ID and never "unchanged".
//
// # 7 Plugin sets
//
// A plan of plugins has files, a generation and a platform. Its content digest covers
// name, platform, path, mode and sha256 of each file, configuration and objects, and not
// their location or source address. A restart of the host is an annotation of its pod
// template that holds the content digest.
//
// # 8 Plans of other tools
//
// A plan with an [Applier] is of what another tool does with the content. Objects have that
// tool's marks in place of this program's labels, so that the content digest differs by
// tool; the objects that it applied before decide which live objects are members. It is
// approved by nothing and never applied.
package preview
