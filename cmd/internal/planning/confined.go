package planning

import (
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/format/kustomize"
)

// Confined does the work that this process was started for by one of the
// formats, and does not return. In any other process it returns at once. It
// comes before anything else in main.
func Confined() { child.Main(helm.Task(), kustomize.Task()) }
