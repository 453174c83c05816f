package words

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Target returns what a grant is for: resources with their API groups and names, or
// non-resource URLs.
func Target(g preview.Grant) string {
	if len(g.Resources) == 0 {
		return Listed(g.NonResourceURLs, "all non-resource URLs")
	}
	return Resources(g.Resources, g.APIGroups) + Prefixed(" named ", strings.Join(g.ResourceNames, ", "))
}

// CloudPermission returns what a permission in a cloud is, without its conditions.
func CloudPermission(c preview.CloudPermission) string {
	return Joined("  ", c.Provider, c.Effect, strings.Join(c.Actions, " "), Prefixed("roles ", strings.Join(c.Roles, " ")),
		Prefixed("on ", strings.Join(c.Resources, " ")))
}

// CloudOrigin returns where the content states access to a cloud, and how sure that is.
func CloudOrigin(certainty, origin string) string {
	switch certainty {
	case preview.CloudExample:
		return "example, in " + origin
	case preview.CloudInferred:
		return "inferred, from " + origin
	}
	return "declared by " + origin
}

// Artifact returns what an artifact is, such as an SBOM, by its media type.
func Artifact(mediaType string) string {
	for _, known := range []struct{ part, word string }{
		{"spdx", "SBOM"}, {"cyclonedx", "SBOM"}, {"in-toto", "provenance"}, {"slsa", "provenance"}, {"sigstore", "signature"}, {"cosign", "signature"}, {"notary", "signature"},
	} {
		if strings.Contains(mediaType, known.part) {
			return known.word + ", " + mediaType
		}
	}
	if mediaType == "" {
		return "of no type"
	}
	return mediaType
}
