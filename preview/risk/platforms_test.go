package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestPinnedImagesAgainstNodes(t *testing.T) {
	const image = "c:v1@sha256:11"
	on := func(fields string) string { return pod(fields, "image: '"+image+"'") }
	affinity := func(values string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [" + values + "]}]}]}}}, "
	}
	tests := []struct {
		name     string
		workload string
		runs     []string
		nodes    []string
		want     preview.Severity // empty for no finding
	}{
		{"an image for all nodes", on(""), []string{"linux/amd64", "linux/arm64"}, []string{"linux/amd64", "linux/arm64"}, ""},
		{"an image for some nodes", on(""), []string{"linux/amd64"}, []string{"linux/amd64", "linux/arm64"}, preview.Warning},
		{"an image for none", on(""), []string{"linux/amd64"}, []string{"linux/arm64"}, preview.Critical},
		{"a selector keeps it off the others", on("nodeSelector: {kubernetes.io/arch: amd64}, "), []string{"linux/amd64"}, []string{"linux/amd64", "linux/arm64"}, ""},
		{"affinity keeps it off the others", on(affinity("amd64")), []string{"linux/amd64"}, []string{"linux/amd64", "linux/arm64"}, ""},
		{"affinity for more than it runs on", on(affinity("amd64, arm64")), []string{"linux/amd64"}, []string{"linux/amd64", "linux/arm64"}, preview.Warning},
		{"other systems do not count unasked", on(""), []string{"linux/amd64"}, []string{"linux/amd64", "windows/amd64"}, ""},
		{"other systems count when asked for", on("nodeSelector: {kubernetes.io/os: windows}, "), []string{"linux/amd64"}, []string{"linux/amd64", "windows/amd64"}, preview.Critical},
		{"an image that does not say", on(""), nil, []string{"linux/arm64"}, ""},
		{"no nodes are known", on(""), []string{"linux/amd64"}, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, test.workload)
			p.Packages = []preview.Package{{Name: "op", Notes: []preview.Note{PinnedNote("op", image, test.runs)}}}
			for _, node := range test.nodes {
				p.Reads = append(p.Reads, preview.Read{ID: NodesID(node)})
			}
			f := find(evaluate(t, Input{Plan: p}), "image-platform")
			switch {
			case f == nil && test.want != "":
				t.Error("nothing was found")
			case f != nil && f.Severity != test.want:
				t.Errorf("%s: %s", f.Severity, f.Evidence)
			case f != nil && !strings.Contains(f.Evidence, image+" runs on linux/amd64"):
				t.Errorf("evidence %s", f.Evidence)
			}
		})
	}
}

func TestNodesThatMayNotBeListedAreTold(t *testing.T) {
	p := planOf(t, pod("", "image: c"))
	p.Reads = []preview.Read{{ID: UnreadID("Node", "")}}
	if f := find(evaluate(t, Input{Plan: p}), "nodes-unread"); f == nil || f.Severity != preview.Info {
		t.Errorf("finding %+v", f)
	}
}
