package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// hostSettings are the fields of SecurityContextConstraints that permit pods access to
// the node.
var hostSettings = []string{"allowPrivilegedContainer", "allowHostDirVolumePlugin", "allowHostPID", "allowHostIPC", "allowHostNetwork", "allowHostPorts"}

// ownConstraints are the names, some with a trailing "*", of the
// SecurityContextConstraints that OpenShift creates and that its accounts and users
// use.
var ownConstraints = []string{
	"restricted*", "nonroot*", "anyuid", "privileged", "hostaccess", "hostmount-anyuid*", "hostnetwork*", "node-exporter", "machine-api-termination-handler",
}

// securityConstraints judges SecurityContextConstraints by the access to the node that
// they permit, and by the users and groups that may use them.
func securityConstraints(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if !o.Is("security.openshift.io/SecurityContextConstraints") || o.Planned == nil {
		return None, nil
	}
	var lines []preview.Seen
	for _, field := range hostSettings {
		if o.Planned[field] == true {
			lines = append(lines, words.Name.Of(field))
		}
	}
	for _, capability := range preview.Texts(o.Planned["allowedCapabilities"]) {
		if capability == all || slices.Contains(pods.NodeCapabilities, strings.ToUpper(capability)) {
			lines = append(lines, words.AllowedCapabilities.Of(preview.EvidenceName(capability)))
		}
	}
	if slices.Contains(preview.Texts(o.Planned["volumes"]), all) {
		lines = append(lines, words.VolumesOfEveryType.Of())
	}
	if len(lines) == 0 {
		return None, nil
	}
	level := High
	for _, group := range preview.Texts(o.Planned["groups"]) {
		lines = append(lines, words.ForGroup.Of(preview.EvidenceName(group)))
		if strings.HasPrefix(group, "system:auth") || strings.HasPrefix(group, "system:unauth") || strings.HasPrefix(group, "system:serviceaccounts") {
			level = Critical
		}
	}
	for _, user := range preview.Texts(o.Planned["users"]) {
		lines = append(lines, words.RunsFor.Of(preview.EvidenceName(user)))
	}
	if slices.ContainsFunc(ownConstraints, func(pattern string) bool { return right.MatchesName(pattern, o.Name) }) {
		level, lines = Critical, append(lines, words.ReplacesConstraintsOfOpenShift.Of())
	}
	return level, lines
}
