// Package flyte checks that what Flyte's plugins for Kubernetes need is in the plan
// or the cluster: an operator, the engine's configuration, the engine's permissions,
// and the objects in every project's namespace.
//
// It is knowledge of one host of plugins, behind the seam that every such package
// has, so that another host (Optimus, PipeCD) is another package and one more row
// in the engine's list of checks:
//
//   - [Read] looks in the cluster for what the plan does not bring, once the
//     actions of all objects are decided, and notes it through a [Recorder]. What
//     is noted is a Fact: typed here, JSON in the plan.
//   - [Findings] judges a plan and what was noted, and nothing else, so that a
//     saved plan is judged the same again without a cluster.
//   - [StaleReads] looks again and names what is not as it was noted, but for what the
//     plan's own writes change.
//
// The engine imports such a package and hands it its recorder. The package never imports
// the engine, and declares the interfaces that it uses itself: they use package
// preview's types alone, so one recorder serves all of them.
package flyte
