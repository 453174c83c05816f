package owners

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// ReleaseSteps returns the commands that make the owner of an object no longer act on
// it, and keep the object. They have the flags, which choose the cluster.
func ReleaseSteps(o *preview.Object, owner preview.Ref, flags ...string) string {
	patch := func(merge string) string {
		return commandline.Add("kubectl patch "+commandline.KubectlArgument(owner)+" --type=merge -p '"+merge+"'", flags...)
	}
	remove, note := commandline.Add("kubectl delete "+commandline.KubectlArgument(owner), flags...), ""
	steps := []string{remove}
	switch owner.GroupKind() {
	case "olm.operatorframework.io/ClusterExtension":
		steps = []string{remove + " --cascade=orphan"}
		note = " (an operator-controller that writes its owner references back while it deletes has to be updated first)"
	case "kustomize.toolkit.fluxcd.io/Kustomization", "helm.toolkit.fluxcd.io/HelmRelease":
		steps = []string{patch(`{"spec":{"suspend":true}}`), remove}
		note = " (Flux keeps the objects of a suspended resource; remove it from its Git repository first, or it comes back)"
	case "argoproj.io/Application":
		steps = []string{patch(`{"metadata":{"finalizers":null}}`), remove}
		note = " (what makes the Application, such as an ApplicationSet, comes first, or it comes back)"
	case "kappctrl.k14s.io/App", "packaging.carvel.dev/PackageInstall":
		steps = []string{patch(`{"spec":{"noopDelete":true}}`), remove}
	case "ConfigMap":
		if owner.ID() != o.ID && preview.MarkValue(o.LiveBody, "kapp.k14s.io/app") != "" {
			note = " (it is kapp's record, and nothing else goes with it)"
			break
		}
		steps = []string{remove + " --cascade=orphan"}
	default:
		steps = []string{remove + " --cascade=orphan"}
	}
	return fmt.Sprintf("to take it over: %s%s, then plan with --adopt", strings.Join(steps, " && "), note)
}
