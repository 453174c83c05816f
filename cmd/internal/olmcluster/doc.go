// Package olmcluster has the OLM of a cluster do what was reviewed here: it writes the
// objects that request something from OLM, and nothing that OLM makes itself. It reads
// them as they are, and needs no library of OLM.
//
// An installation by OLM v0 is approved through its InstallPlan, after a comparison with
// the review. OLM keeps only that it was approved: the digest of the reviewed plan is in
// an annotation of both, see [installplan.Approved].
//
// Each object is shown and asked about before it is written, and is written exactly like
// that: created where none has its name, or changed at the version that was read. For the
// InstallPlan of an upgrade, the review of its bundles is that question.
package olmcluster
