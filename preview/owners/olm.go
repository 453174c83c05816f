package owners

import "github.com/kubectl-operator/kubectl-operator/preview"

// OnlyCSV reports whether the only owner of an object is a ClusterServiceVersion of OLM
// v0, and not a copy that OLM made in another namespace.
func (c Controllers) OnlyCSV() bool {
	return len(c.Objects) == 1 && len(c.Hidden) == 0 && IsCSV(preview.RefOf(c.Objects[0])) &&
		preview.String(c.Objects[0], "metadata", "labels", "olm.copiedFrom") == ""
}

// IsCSV reports whether a reference is to a ClusterServiceVersion.
func IsCSV(ref preview.Ref) bool { return ref.APIVersion == OLMAPI && ref.Kind == CSVKind }

// IsOLM reports whether a reference is to a ClusterServiceVersion or Subscription, OLM
// v0's owners of objects.
func IsOLM(ref preview.Ref) bool {
	return ref.APIVersion == OLMAPI && (ref.Kind == CSVKind || ref.Kind == SubscriptionKind)
}

// Subscribes reports whether a Subscription is the one that installed a
// ClusterServiceVersion.
func Subscribes(subscription map[string]any, csv preview.Ref) bool {
	return preview.RefOf(subscription).Namespace == csv.Namespace && IsCSV(csv) &&
		(preview.String(subscription, "status", "installedCSV") == csv.Name || preview.String(subscription, "status", "currentCSV") == csv.Name)
}
