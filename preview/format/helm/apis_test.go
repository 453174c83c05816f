package helm

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Without a cluster a chart gets the answers of a current cluster about its own kinds:
// stable versions are served.
func TestAPIsWithoutACluster(t *testing.T) {
	apis := map[string]string{
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
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo}\ndata:\n"
	for api := range apis {
		text += "  '" + api + `': "{{ .Capabilities.APIVersions.Has "` + api + `" }}"` + "\n"
	}
	body := renderChart(t, input(chartOf("templates/a.yaml", text))).Objects[0].Body
	for api, want := range apis {
		if got := preview.String(body, "data", api); got != want {
			t.Errorf("%s: %s, want %s", api, got, want)
		}
	}
}

// The kinds that count as served are the sandbox's kinds in stable versions.
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
