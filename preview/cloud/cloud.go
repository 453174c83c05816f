// Package cloud finds the access to clouds that a plan's objects ask for: permissions
// where actions or roles are stated (CredentialsRequests, IAM custom resources,
// identities of ServiceAccounts), and declarations where objects show access without
// saying which. It works on decoded objects and performs no I/O.
//
// Three kinds of access show nowhere in manifests and are not found: EKS pod identity
// associations, GKE workload identity principals named in IAM, and the permissions of
// the node's own instance role.
package cloud

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The providers. Openshift stands for the cloud that the cluster runs on, whichever
// that is.
const (
	AWS       = "aws"
	Azure     = "azure"
	GCP       = "gcp"
	IBM       = "ibmcloud"
	PowerVS   = "powervs"
	VSphere   = "vsphere"
	Nutanix   = "nutanix"
	OpenStack = "openstack"
	KubeVirt  = "kubevirt"
	OVirt     = "ovirt"
	Alibaba   = "alibaba"
	Openshift = "openshift"
)

const (
	all        = "*"
	allow      = "Allow"
	credential = "CredentialsRequest"
)

// Input has the objects and annotations that are searched for cloud access.
type Input struct {
	Objects []map[string]any
	// Annotations are the package's, in registry+v1 its ClusterServiceVersion's.
	Annotations map[string]string
	// Attached are policies that a reviewer attached to the plan.
	Attached []preview.CloudPolicy
	// Documents are the policies that the publisher wrote about the package.
	Documents []preview.CloudDocument
	PackageID string // name of the package in origins of annotations; may be empty
}

// ScanAll is [Scan] for several packages, each with its own annotations.
func ScanAll(sources []Input) preview.Cloud {
	s := &scanner{}
	for _, in := range sources {
		s.scan(in)
	}
	return s.sorted()
}

// Scan returns the cloud access that objects ask for, sorted, without duplicates. Change
// is empty until [Delta] sets it. Access that cannot be parsed is listed as declared.
func Scan(in Input) preview.Cloud {
	return ScanAll([]Input{in})
}

func (s *scanner) scan(in Input) {
	s.annotations(in.Annotations, in.PackageID)
	s.attach(in.Attached)
	s.documents(in.Documents)
	for _, body := range in.Objects {
		s.object(body)
	}
}

func (s *scanner) sorted() preview.Cloud {
	slices.SortFunc(s.out.Permissions, compare)
	s.out.Permissions = slices.CompactFunc(s.out.Permissions, func(a, b preview.CloudPermission) bool { return compare(a, b) == 0 })
	slices.SortFunc(s.out.Declared, func(a, b preview.CloudDeclaration) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Origin, b.Origin))
	})
	s.out.Declared = slices.Compact(s.out.Declared)
	return s.out
}

// compare compares permissions for sorting, by everything except Rules and Change.
func compare(a, b preview.CloudPermission) int { return strings.Compare(key(a), key(b)) }

func key(p preview.CloudPermission) string {
	var b strings.Builder
	b.WriteString(p.Provider + "\x00" + p.Origin + "\x00" + p.Effect)
	for _, list := range [][]string{p.Actions, p.Resources, p.Roles} {
		b.WriteString("\x00\x01" + strings.Join(list, "\x00"))
	}
	b.WriteString("\x00\x01" + conditionText(p.Conditions))
	return b.String()
}

// conditionText returns the canonical JSON of conditions, empty if there are none.
func conditionText(conditions map[string]any) string {
	if len(conditions) == 0 {
		return ""
	}
	data, err := preview.Canonical(conditions)
	if err != nil {
		return "unreadable"
	}
	return string(data)
}

// scanner collects the cloud access in the objects of a package.
type scanner struct {
	out preview.Cloud
}

func (s *scanner) object(body map[string]any) {
	s.credentialsRequest(body, "")
	s.embedded(body)
	s.iamResource(body)
	s.stated(body)
	s.role(body)
	s.identity(body)
	s.pods(body)
	s.secret(body)
}

func (s *scanner) declare(provider, origin string) {
	s.out.Declared = append(s.out.Declared, preview.CloudDeclaration{Provider: provider, Origin: origin, Certainty: certaintyOf(origin)})
}

// permit adds a permission, with its lists sorted and not nil.
func (s *scanner) permit(p preview.CloudPermission) {
	for _, list := range []*[]string{&p.Actions, &p.Resources, &p.Roles, &p.Rules} {
		sorted := slices.Clone(*list)
		slices.Sort(sorted)
		if *list = slices.Compact(sorted); *list == nil {
			*list = []string{}
		}
	}
	if p.Conditions == nil {
		p.Conditions = map[string]any{}
	}
	p.Certainty = certaintyOf(p.Origin)
	s.out.Permissions = append(s.out.Permissions, p)
}

// TokenAuth returns the annotation that declares a package's support for short-lived
// tokens of a provider (OpenShift docs, "Token authentication for Operators on cloud
// providers").
func TokenAuth(provider string) string {
	return "features.operators.openshift.io/token-auth-" + provider
}

// Examples is the annotation of a package with its example objects, a JSON list.
const Examples = "alm-examples"

// AnnotationOrigin returns the origin of cloud access that an annotation of a package
// declares.
func AnnotationOrigin(key, packageID string) string {
	if packageID == "" {
		return "annotation " + key
	}
	return "annotation " + key + " of package " + packageID
}

// annotations adds the cloud access that a package's annotations declare: support for
// token authentication, and what its examples ask for.
func (s *scanner) annotations(annotations map[string]string, packageID string) {
	for _, provider := range []string{AWS, Azure, GCP} {
		if value := annotations[TokenAuth(provider)]; strings.EqualFold(strings.TrimSpace(value), "true") {
			s.declare(provider, AnnotationOrigin(TokenAuth(provider), packageID))
		}
	}
	s.examples(annotations[Examples], packageID)
}

// objectName returns KIND/NAMESPACE/NAME of an object.
func objectName(body map[string]any) string {
	ref := preview.RefOf(body)
	if ref.Namespace == "" {
		return ref.Kind + "/" + ref.Name
	}
	return ref.Kind + "/" + ref.Namespace + "/" + ref.Name
}

// texts returns the strings of a list; a single string counts as a list of one.
func texts(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	return preview.Texts(v)
}
