package remedy

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Each cause for which the gate refuses a plan has a remedy, and its commands name the
// cluster that the plan is for.
func TestEachCauseHasARemedy(t *testing.T) {
	object := &preview.Object{ID: "core/ConfigMap/shop/it's", APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "it's"}
	plan := &preview.Plan{Request: preview.Request{Flags: []string{"--context=a cluster", "--values=own.yaml"}}}
	for cause := range causes {
		c := Case{
			Plan: plan, Object: object, ID: object.ID, Release: preview.Release{Name: "other", Namespace: "theirs"},
			Owner: preview.Ref{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: "argocd", Name: "shop"}, Set: "applyset-1", Hidden: "Secret a/b", Policy: "ValidatingAdmissionPolicy house",
		}
		found := Obstacle(cause, "is in the way", c)
		if found.Object != object.ID || found.Cause != "is in the way" || found.Remedy == "" {
			t.Errorf("cause %d: %+v", cause, found)
		}
		commands := strings.Count(found.Remedy, "kubectl ") // of this program and of kubectl
		if named := strings.Count(found.Remedy, "'--context=a cluster'"); named != commands {
			t.Errorf("cause %d: %d of %d commands name the cluster: %s", cause, named, commands, found.Remedy)
		}
		if strings.Contains(found.Remedy, "own.yaml") {
			t.Errorf("cause %d: %s", cause, found.Remedy)
		}
	}
}

func TestTheRemedyForAKindThatIsNotServed(t *testing.T) {
	for id, want := range map[string]string{
		"cert-manager.io/Issuer/shop/own":           "kubectl operator install chart+https://charts.jetstack.io/cert-manager",
		"route.openshift.io/Route/shop/own":         "the package is for OpenShift",
		"monitoring.coreos.com/ServiceMonitor/a/b":  "kubectl operator search servicemonitor",
		"an id that a plan file has, and is no one": "install first what brings its CRD",
	} {
		if got := Obstacle(NotServed, "", Case{Plan: &preview.Plan{}, ID: id}).Remedy; !strings.Contains(got, want) {
			t.Errorf("%s: %s", id, got)
		}
	}
}
