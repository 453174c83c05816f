package helm

import (
	_ "embed"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
)

// kinds are the kinds of the stable API versions that Kubernetes 1.37 serves, as
// GROUP/VERSION/KIND; a test compares them with the sandbox's.
//
//go:embed kinds.txt
var kinds string

// knownAPIs returns what counts as served where no cluster is asked: the versions that
// Helm knows, and the kinds of the stable ones. Helm leaves those out, so that a chart
// that asks for apiextensions.k8s.io/v1/CustomResourceDefinition, as a cluster answers it,
// would be rendered for a cluster of years ago.
func knownAPIs() []string {
	return slices.Concat([]string(common.DefaultVersionSet), strings.Fields(kinds))
}
