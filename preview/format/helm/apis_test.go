package helm

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// Without a cluster a chart gets the answers that a cluster of today gives about its own
// kinds: those of stable versions are served.
func TestAPIsWithoutACluster(t *testing.T) {
	for api, want := range map[string]string{
		"apiextensions.k8s.io/v1/CustomResourceDefinition": "true",
		"apps/v1":                               "true",
		"policy/v1/PodDisruptionBudget":         "true",
		"v1/Pod":                                "true",
		"v1/PodList":                            "false",
		"v1/DeleteOptions":                      "false",
		"v1/RangeAllocation":                    "false",
		"extensions/v1beta1/Ingress":            "false",
		"batch/v1beta1/CronJob":                 "false",
		"monitoring.coreos.com/v1":              "false",
		"monitoring.coreos.com/v1/PodMonitor":   "false",
		"apiextensions.k8s.io/v1/CustomObjects": "false",
	} {
		if got := value(t, `"{{ .Capabilities.APIVersions.Has "`+api+`" }}"`, input(nil)); got != want {
			t.Errorf("%s: %s, want %s", api, got, want)
		}
	}
}

// The kinds that count as served are those of stable versions that the sandbox serves.
func TestClusterKindsThatCountAsServedAreServed(t *testing.T) {
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sandboxtest.Start(t).Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	served, err := client.APIVersions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stable := regexp.MustCompile(`(^|/)v[0-9]+/[A-Z]`)
	served = slices.DeleteFunc(served, func(api string) bool { return !stable.MatchString(api) })
	if want := strings.Fields(kinds); !slices.Equal(served, want) {
		t.Errorf("served are\n%s\nand not\n%s", strings.Join(served, "\n"), strings.Join(want, "\n"))
	}
}
