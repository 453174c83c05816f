package deputy

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// Actors are the ServiceAccounts that may change the status or the finalizers of custom
// kinds, by grants that name the API group: so they have the rights of a controller of
// the kind.
type Actors map[string][]preview.Subject // by GROUP/RESOURCE; the resource is "*" for all

// ActorsOf returns the actors by grants that are not removed.
func ActorsOf(grants []preview.Grant) Actors {
	out := Actors{}
	for _, g := range grants {
		if g.Change == preview.GrantRemoved || g.Subject.Kind != preview.SubjectServiceAccount || !access.HasVerb(g, "update") && !access.HasVerb(g, "patch") {
			continue
		}
		for _, resource := range g.Resources {
			of, sub, isSub := strings.Cut(resource, "/")
			if isSub && sub != "*" && sub != "status" && sub != "finalizers" || !isSub && of != "*" {
				continue
			}
			for _, group := range g.APIGroups {
				out[group+"/"+of] = append(out[group+"/"+of], g.Subject)
			}
		}
	}
	return out
}

// Changed are custom resources whose objects, status or finalizers ServiceAccounts may
// change, as GROUP/RESOURCE, either of which may be "*", and as GROUP/ for any of a group
// that they may change or watch.
type Changed map[string]bool

// ChangedBy returns what grants let ServiceAccounts change that are not removed.
func ChangedBy(grants []preview.Grant) Changed {
	out := Changed{}
	for _, g := range grants {
		changes := access.HasVerb(g, "update") || access.HasVerb(g, "patch")
		if g.Change == preview.GrantRemoved || g.Subject.Kind != preview.SubjectServiceAccount || !changes && !access.HasVerb(g, "watch") {
			continue
		}
		for _, resource := range g.Resources {
			of, sub, _ := strings.Cut(resource, "/")
			if sub != "" && sub != "*" && sub != "status" && sub != "finalizers" {
				continue
			}
			for _, group := range g.APIGroups {
				out[group+"/"] = true
				if changes {
					out[group+"/"+of] = true
				}
			}
		}
	}
	return out
}

// Has reports whether an account may change objects of a kind, or their status or
// finalizers, and so has what its controller needs.
func (c Changed) Has(group, plural string) bool {
	return c[group+"/"+plural] || c[group+"/*"] || c["*/"+plural] || c["*/*"]
}

// HasAny reports whether an account may change or watch objects of any kind of an API
// group.
func (c Changed) HasAny(group string) bool { return c[group+"/"] || c["*/"] }

// PluralOf returns the usual resource of a kind, for kinds whose CRD is not known.
func PluralOf(group, kind string) string {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Kind: kind})
	return plural.Resource
}

// Of returns the actors of a resource, sorted; those of every resource of the group if it
// is "*".
func (a Actors) Of(group, resource string) []preview.Subject {
	list := slices.Concat(a[group+"/"+resource], a[group+"/*"])
	if resource == "*" {
		for key, of := range a {
			if strings.HasPrefix(key, group+"/") {
				list = append(list, of...)
			}
		}
	}
	slices.SortFunc(list, preview.CompareSubjects)
	return slices.Compact(list)
}
