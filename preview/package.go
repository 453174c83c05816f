package preview

import (
	"cmp"
	"slices"
	"strings"
)

// Package is one resolved and rendered package of a plan.
type Package struct {
	// Name of the package, as its content gives it.
	Name string `json:"name"`
	// Version of the package, as its content gives it.
	Version string `json:"version"`
	// Bundle is the bundle's own name, such as its ClusterServiceVersion's.
	Bundle string `json:"bundle"`
	// Format names the content format, such as helm, kustomize or
	// registry+v1.
	Format string `json:"format"`
	// ContentDigest is the sha256 of this package's content, see
	// [ContentDigest].
	ContentDigest string `json:"contentDigest"`
	// Parameters are the resolved inputs that the package was rendered with.
	Parameters Parameters `json:"parameters"`
	// Sources lists the pinned artifacts that the content came from.
	Sources []Source `json:"sources"`
	// Via lists the steps that led from the reference to the sources, such
	// as a catalog.
	Via []ResolutionStep `json:"via"`
	// Verification is the outcome of verifying the package's signatures.
	Verification Verification `json:"verification"`
	// Referrers lists the artifacts that refer to the source by its digest,
	// such as SBOMs and provenance, sorted. They were not checked.
	Referrers []Referrer `json:"referrers,omitempty"`
	// Dependencies lists the packages that this one requires, and what
	// satisfies each.
	Dependencies []Dependency `json:"dependencies,omitempty"`
	// Isolation says how the rendering process was confined on the machine that made the
	// plan. It is not verified.
	Isolation string `json:"isolation,omitempty"`
	// Notes lists decisions made while resolving and rendering, such as
	// objects left out.
	Notes []Note `json:"notes,omitempty"`
	// RelatedImages are the image references the package lists as its own,
	// sorted; empty when it lists none.
	RelatedImages []string `json:"relatedImages,omitempty"`
	// Executors lists the images that the plugins of a set run in, sorted.
	Executors []Executor `json:"executors,omitempty"`
	// Requires lists the APIs the package needs and does not bring, as
	// APIVERSION/KIND, sorted.
	Requires []string `json:"requires,omitempty"`
	// CloudDocuments lists the policies in the package's description and in the documents
	// next to its objects.
	CloudDocuments []CloudDocument `json:"cloudDocuments,omitempty"`
}

// CloudDocument is a text that a publisher wrote about a package, with the permissions
// that it says the package needs in a cloud.
type CloudDocument struct {
	// Place says where it stands, such as "the description of package mongodb".
	Place string `json:"place"`
	// Documents lists the policies in it, in canonical JSON.
	Documents []string `json:"documents"`
}

// Executor is an image where a plugin of a set runs.
type Executor struct {
	// Image is the image reference that the plugin names.
	Image string `json:"image"`
	// By says where the image is named: file/PATH or plugin/NAME.
	By string `json:"by"`
}

// Note records a decision or an observation made while content was resolved or
// rendered. The plan has a finding for it.
type Note struct {
	// Rule is the name of the rule that the note follows.
	Rule string `json:"rule"`
	// Object is the id of the object or package concerned.
	Object string `json:"object"`
	// Text says in one line what was decided and why.
	Text string `json:"text"`
	// Pinned is the image that was pinned; absent in notes of other rules, and where the
	// registry does not say what it exists for.
	Pinned *PinnedImage `json:"pinned,omitempty"`
}

// PinnedImage is an image that was resolved to a digest.
type PinnedImage struct {
	// Reference is the image reference with its digest.
	Reference string `json:"reference"`
	// Platforms lists the platforms (OS/ARCH) that the image exists for.
	Platforms []string `json:"platforms"`
}

// Dependency is one requirement of a package, and the package or cluster object
// that satisfies it.
type Dependency struct {
	// Constraint is the requirement as the package writes it, such as a
	// version range.
	Constraint string `json:"constraint"`
	// By names the package of the plan, or the cluster, that satisfies the
	// requirement.
	By string `json:"by"`
	// Detail adds how the requirement is satisfied, such as the version
	// found.
	Detail string `json:"detail,omitempty"`
}

// Parameters are the resolved inputs of rendering.
type Parameters struct {
	// InstallMode is the OLM install mode, such as AllNamespaces; empty for
	// other formats.
	InstallMode string `json:"installMode"`
	// WatchNamespaces lists the namespaces that the operator watches; empty
	// for all.
	WatchNamespaces []string `json:"watchNamespaces"`
	// Values is the sha256 of the canonical values; empty when none were
	// given.
	Values string `json:"values"`
	// Certs names the provider of webhook certificates: cert-manager, service-ca,
	// generated (they are part of the plan) or none; empty without webhooks.
	Certs string `json:"certs"`
	// KubeVersion is the Kubernetes version that the content was rendered
	// for.
	KubeVersion string `json:"kubeVersion"`

	// ClusterReads lists what templates read from the cluster, ordered by kind and name.
	ClusterReads []ClusterRead `json:"clusterReads,omitempty"`

	// Section is set if the package comes from a section of a request file; the package
	// then has the section's name.
	Section *Section `json:"section,omitempty"`
}

// The providers of certificates that a package with webhooks can be rendered for. The
// set is closed for bundles; other formats may know others.
const (
	CertsCertManager = "cert-manager"
	CertsServiceCA   = "service-ca" // OpenShift's service-ca operator
	CertsGenerated   = "generated"  // none: they are part of the plan
	CertsNone        = "none"       // the API server will not trust the webhook
)

// CertProviders returns the providers of certificates, as --certs takes them.
func CertProviders() []string {
	return []string{CertsCertManager, CertsServiceCA, CertsGenerated, CertsNone}
}

// Section identifies the package and namespace of a section of a request file.
type Section struct {
	// Package is the name that the content gives itself, or the section's name if it
	// gives none.
	Package string `json:"package"`
	// Namespace is the namespace of the section's objects that name none.
	Namespace string `json:"namespace"`
}

// The kinds of a template's reads of the cluster ([ClusterRead.Kind]). The set is
// closed.
const (
	ReadKubeVersion = "kubeVersion" // Value is the version
	ReadAPIVersion  = "apiVersion"  // Value is "served" or "absent"
	ReadLookup      = "lookup"      // Value is a fingerprint, or "absent"
)

// ClusterRead is one result of a read of the cluster, made by a template, that the
// rendered objects depend on.
type ClusterRead struct {
	// Kind of the read: kubeVersion, apiVersion or lookup.
	Kind string `json:"kind"`
	// Name of the API version or objects that were asked for.
	Name string `json:"name"`
	// Value is the version, a fingerprint of what was found, or served; "absent" if
	// nothing was found.
	Value string `json:"value"`
}

// Source is a pinned artifact that content came from.
type Source struct {
	// Kind of the source, such as image, chart, git, archive or directory.
	Kind string `json:"kind"`
	// Reference is the address that the content was read from. It is not verified.
	Reference string `json:"reference"`
	// Digest pins the content: sha256 of an image or archive, or a commit.
	Digest string `json:"digest"`
	// Verification is the result for this source alone, if the package has several, such
	// as the artifacts of a plugin set; absent otherwise. It is not verified when a plan
	// is loaded.
	Verification *Verification `json:"verification,omitempty"`
}

// SourceInstalled is the kind of the source of content that another tool keeps of what it
// installed.
const SourceInstalled = "installed"

// ResolutionStep is one step from the reference to the source, such as the
// catalog that named it.
type ResolutionStep struct {
	// Kind of the step, such as catalog or helm-repository.
	Kind string `json:"kind"`
	// Reference is the address that this step was read from.
	Reference string `json:"reference"`
	// Digest pins what was read in this step; empty where it has none.
	Digest string `json:"digest"`
	// Channel is the catalog channel that the version was taken from.
	Channel string `json:"channel"`
	// Why says why this candidate was chosen over others.
	Why string `json:"why,omitempty"`
	// Rejected lists candidates of other catalogs that were not chosen.
	Rejected []RejectedCandidate `json:"rejected,omitempty"`
	// Verification is the result for this step's own signatures; absent if none were
	// required.
	Verification *Verification `json:"verification,omitempty"`
}

// RejectedCandidate is a package version of another catalog that was not chosen.
type RejectedCandidate struct {
	// Catalog is the name of the catalog that offers it.
	Catalog string `json:"catalog"`
	// Version is the package version that it offers.
	Version string `json:"version"`
	// Why says why it was not chosen.
	Why string `json:"why"`
}

// Verification is the result of verifying signatures.
type Verification struct {
	// Status is verified, unverified or failed; empty in a loaded plan.
	Status string `json:"status"`
	// Identity is the signer that was found: a key or a certificate
	// identity.
	Identity string `json:"identity"`
}

// Referrer is an artifact that refers to the content: through its subject (OCI
// image specification 1.1), or through a tag of cosign with the content's digest.
type Referrer struct {
	// ArtifactType is the media type of the artifact; it may be empty.
	ArtifactType string `json:"artifactType"`
	// Digest is the sha256 of the artifact's manifest.
	Digest string `json:"digest"`
	// PredicateType is the predicate type of an attestation, such as an
	// SBOM's; empty where that is not known. Nothing proves it.
	PredicateType string `json:"predicateType,omitempty"`
}

// CompareReferrers orders [Package.Referrers] by artifact type, predicate type
// and digest.
func CompareReferrers(a, b Referrer) int {
	return cmp.Or(strings.Compare(a.ArtifactType, b.ArtifactType), strings.Compare(a.PredicateType, b.PredicateType), strings.Compare(a.Digest, b.Digest))
}

// InSections reports whether packages come from the sections of a request file. Their
// dependencies may be among them.
func InSections(packages []Package) bool {
	return slices.ContainsFunc(packages, func(pkg Package) bool { return pkg.Parameters.Section != nil })
}
