package pods

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// UnsupportedNodes returns a line for each image of a pod that does not exist for some
// of the platforms (OS/ARCH) of the nodes which the pod may be scheduled onto. images has
// the platforms of each image. The level is Critical if an image exists for none of them,
// else Medium.
func UnsupportedNodes(pod map[string]any, images map[string][]string, nodes []string) (rules.Level, []preview.Seen) {
	nodes = eligiblePlatforms(pod, nodes)
	level, lines := rules.Medium, []preview.Seen(nil)
	for _, field := range []string{"initContainers", "containers"} {
		for _, container := range preview.Maps(pod, field) {
			image := preview.String(container, "image")
			runs, known := images[image]
			if !known {
				continue
			}
			missing := slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return slices.Contains(runs, n) })
			if len(missing) == 0 {
				continue
			}
			if len(missing) == len(nodes) {
				level = rules.Critical
			}
			lines = append(lines, words.RunsOnAndPodsMayGo.Of(image, strings.Join(runs, ", "), strings.Join(missing, ", ")))
		}
	}
	return level, lines
}

// eligiblePlatforms returns the platforms of the nodes that a pod may be scheduled
// onto, by its nodeSelector and required node affinity. Without a nodeSelector for the
// operating system, only Linux nodes count.
func eligiblePlatforms(pod map[string]any, nodes []string) []string {
	os := preview.String(pod, "nodeSelector", "kubernetes.io/os")
	if os == "" {
		os = "linux"
	}
	arch := preview.String(pod, "nodeSelector", "kubernetes.io/arch")
	required := requiredArchitectures(pod)
	return slices.DeleteFunc(slices.Clone(nodes), func(platform string) bool {
		nodeOS, nodeArch, _ := strings.Cut(platform, "/")
		return nodeOS != os || arch != "" && nodeArch != arch || required != nil && !slices.Contains(required, nodeArch)
	})
}

// requiredArchitectures returns the architectures that required node affinity allows.
// It is nil, for any, where one of the terms, which are alternatives, names no
// architecture.
func requiredArchitectures(pod map[string]any) []string {
	var out []string
	for _, term := range preview.Maps(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms") {
		var allowed []string
		for _, e := range preview.Maps(term, "matchExpressions") {
			if preview.String(e, "key") == "kubernetes.io/arch" && preview.String(e, "operator") == "In" {
				allowed = append(allowed, wording.Strings(e["values"])...)
			}
		}
		if allowed == nil {
			return nil
		}
		out = append(out, allowed...)
	}
	return out
}
