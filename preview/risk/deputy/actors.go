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

// Of returns the actors of a kind, sorted. The kind's resource is its usual plural, as no
// CRD says it.
func (a Actors) Of(group, kind string) []preview.Subject {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Kind: kind})
	list := slices.Concat(a[group+"/"+plural.Resource], a[group+"/*"])
	slices.SortFunc(list, preview.CompareSubjects)
	return slices.Compact(list)
}
