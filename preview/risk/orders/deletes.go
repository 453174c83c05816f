package orders

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// cleaning are kinds whose controller deletes the objects that they match.
var cleaning = []preview.GroupKind{
	"kyverno.io/CleanupPolicy", "kyverno.io/ClusterCleanupPolicy", "policies.kyverno.io/DeletingPolicy", "policies.kyverno.io/NamespacedDeletingPolicy",
}

// Cleans returns the level of an object that has a controller delete what it matches, and
// why: Critical for data and settings of others, which nothing makes again, High where
// only objects are matched that controllers make again or are done with, Medium within
// the namespaces of the release. ok is false for other kinds. namespaced says whether the
// kind is, whatever the object says; foreign reports whether others use a namespace.
func Cleans(o *preview.Object, namespaced bool, foreign func(namespace string) bool) (level rules.Level, why preview.Seen, ok bool) {
	if !slices.Contains(cleaning, o.GroupKind()) {
		return rules.None, preview.Seen{}, false
	}
	matched, made, own := matches(o.Planned), true, true
	for _, m := range matched {
		made = made && len(m.kinds) > 0 && !slices.ContainsFunc(m.kinds, lasts)
		own = own && len(m.namespaces) > 0 && !slices.ContainsFunc(m.namespaces, func(name string) bool { return strings.ContainsAny(name, "*?") || foreign(name) })
	}
	switch {
	case namespaced && !foreign(o.Namespace), own && len(matched) > 0:
		return rules.Medium, words.OnlyOwnNamespaces.Of(), true
	case made && len(matched) > 0:
		return rules.High, words.OnlyMadeAgain.Of(), true
	}
	return rules.Critical, words.ObjectsOfOthers.Of(), true
}

// matched is a part of what an object chooses: kinds or resources, and the namespaces to
// which it is limited, if any.
type matched struct{ kinds, namespaces []string }

// matches returns the parts of what an object of one of the kinds of cleaning chooses.
func matches(body map[string]any) []matched {
	var out []matched
	for _, list := range []string{"any", "all"} {
		for _, filter := range preview.Maps(body, "spec", "match", list) {
			resources := preview.Map(filter, "resources")
			out = append(out, matched{preview.Texts(resources["kinds"]), preview.Texts(resources["namespaces"])})
		}
	}
	of := preview.Map(body, "spec", "matchConstraints")
	namespace := preview.String(of, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name")
	for _, rule := range preview.Maps(of, "resourceRules") {
		m := matched{kinds: preview.Texts(rule["resources"])}
		if namespace != "" {
			m.namespaces = []string{namespace}
		}
		out = append(out, m)
	}
	return out
}

// lasts reports whether objects of a kind or resource are more than what controllers make
// again or are done with.
func lasts(kind string) bool {
	kind = strings.ToLower(kind[strings.LastIndex(kind, "/")+1:])
	return !strings.HasSuffix(strings.TrimSuffix(kind, "s"), "report") && !slices.Contains([]string{"pod", "replicaset", "job", "event"}, strings.TrimSuffix(kind, "s"))
}
