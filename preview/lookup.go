package preview

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// LookupAbsent records that a template's read of the cluster found nothing. LookupNotAsked
// records a read that was made without a cluster.
const (
	LookupAbsent   = "absent"
	LookupNotAsked = "not asked"
)

var (
	lookupVersion = lazyregexp.New(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]+$`)
	lookupKind    = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]*$`)
	lookupPart    = lazyregexp.New(`^([A-Za-z0-9]([-A-Za-z0-9._:]*[A-Za-z0-9])?)?$`)
)

// LookupName returns the reference of a template's lookup as text:
// APIVERSION/KIND/NAMESPACE/NAME, with "-" for no namespace, and "*" for all objects.
func LookupName(ref Ref) string {
	namespace, name := ref.Namespace, ref.Name
	if namespace == "" {
		namespace = "-"
	}
	if name == "" {
		name = "*"
	}
	return ref.APIVersion + "/" + ref.Kind + "/" + namespace + "/" + name
}

// ParseLookup parses the result of [LookupName]. In a lookup of all objects the name is
// empty. It errs for invalid parts.
func ParseLookup(text string) (Ref, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 && len(parts) != 5 {
		return Ref{}, fmt.Errorf("lookup of %.200q: want APIVERSION/KIND/NAMESPACE/NAME", text)
	}
	n := len(parts) - 3
	ref := Ref{APIVersion: strings.Join(parts[:n], "/"), Kind: parts[n], Namespace: parts[n+1], Name: parts[n+2]}
	if ref.Namespace == "-" {
		ref.Namespace = ""
	}
	if ref.Name == "*" {
		ref.Name = ""
	}
	return ref, CheckLookup(ref)
}

// CheckLookup returns an error for a lookup with invalid parts. They come from
// templates and are used in request paths.
func CheckLookup(ref Ref) error {
	for _, part := range []string{ref.APIVersion, ref.Kind, ref.Namespace, ref.Name} {
		if len(part) > 253 || strings.Contains(part, "..") {
			return errors.New("a lookup with a name that no object can have")
		}
	}
	switch {
	case !lookupVersion.MatchString(ref.APIVersion):
		return fmt.Errorf("a lookup of apiVersion %q, which is none", ref.APIVersion)
	case !lookupKind.MatchString(ref.Kind):
		return fmt.Errorf("a lookup of kind %q, which is none", ref.Kind)
	case !lookupPart.MatchString(ref.Namespace), !lookupPart.MatchString(ref.Name):
		return fmt.Errorf("a lookup of %s %q in namespace %q, which no object can have", ref.Kind, ref.Name, ref.Namespace)
	}
	return nil
}

// LookupValue returns a hash of the objects that a lookup found, without status,
// server-set metadata and volatile fields. The values of a single Secret are included as
// in any hash (see [HashObject]), a list of Secrets has none.
func LookupValue(ref Ref, found []map[string]any) (string, error) {
	if len(found) == 0 {
		return LookupAbsent, nil
	}
	if ref.Name != "" {
		digest, err := HashObject(WithoutVolatile(found[0]), "lookup")
		if err != nil {
			return "", err
		}
		return Hash(map[string]any{"uid": String(found[0], "metadata", "uid"), "object": digest})
	}
	list := make([]any, 0, len(found))
	for _, body := range found {
		fingerprint, err := hashLive(body, WithoutVolatile(body), "")
		if err != nil {
			return "", err
		}
		list = append(list, RefOf(body).ID()+" "+fingerprint)
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return Hash(map[string]any{"items": list})
}

// ID returns the id that the read has among a plan's reads.
func (r ClusterRead) ID() string { return "render/" + r.Kind + "/" + r.Name }

// AllAPIVersions is the name of a template's read of all API versions that are served.
const AllAPIVersions = "*"

// APIVersionValue returns the recorded result of a template's read of one API version,
// or of all; served must be sorted.
func APIVersionValue(served []string, name string) string {
	switch {
	case name == AllAPIVersions:
		return HashBytes([]byte(strings.Join(served, "\n")))
	case slices.Contains(served, name):
		return "served"
	}
	return LookupAbsent
}
