package risk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

const runsOn = " runs on "

// PinnedNote returns the note that an image was pinned and for which platforms
// (OS/ARCH) it exists. Notes are facts of the plan, from which [PinnedPlatforms] reads
// the platforms again.
func PinnedNote(pkg, image string, platforms []string) preview.Note {
	text := image
	if len(platforms) > 0 {
		text += runsOn + strings.Join(platforms, ", ")
	}
	return rules.ImagePinned.Note("package/"+pkg, text)
}

// PinnedPlatforms returns the platforms of each pinned image of a plan, read from the
// notes that [PinnedNote] made. An image that is absent has unknown platforms.
func PinnedPlatforms(p *preview.Plan) map[string][]string {
	out := map[string][]string{}
	for _, pkg := range p.Packages {
		for _, n := range pkg.Notes {
			if image, list, ok := strings.Cut(n.Text, runsOn); ok && n.Rule == rules.ImagePinned.Name {
				out[image] = strings.Split(list, ", ")
			}
		}
	}
	return out
}

// NodesID returns the id of the read by which a plan records that the cluster has nodes
// of a platform (OS/ARCH).
func NodesID(platform string) string { return nodesPrefix + platform }

const nodesPrefix = "nodes/"

// judgePlatforms compares the platforms of pinned images with those of the nodes.
func (c *scan) judgePlatforms() {
	images := PinnedPlatforms(c.plan)
	var nodes []string
	for _, read := range c.plan.Reads {
		if platform, ok := strings.CutPrefix(read.ID, nodesPrefix); ok {
			nodes = append(nodes, platform)
		}
	}
	slices.Sort(nodes)
	if slices.ContainsFunc(c.plan.Reads, func(r preview.Read) bool { return r.ID == UnreadID("Node", "") }) {
		c.hit(rules.NodesUnread, ruleHit{object: "cluster/nodes", title: "the nodes may not be listed", evidence: []string{"nodes may not be listed"}})
	}
	if len(images) == 0 || len(nodes) == 0 {
		return
	}
	for _, objects := range c.around.workloads {
		for _, o := range objects {
			pod, _ := preview.PodTemplate(o.Planned)
			level, lines := unsupportedNodes(pod, images, eligiblePlatforms(pod, nodes))
			if len(lines) > 0 {
				c.hit(rules.ImagePlatform, ruleHit{
					object: o.ID, level: level, evidence: prefixLines(o.ID, lines), narrow: true,
					known: o.Action == preview.ActionUnchanged, held: o.Untouched(),
				})
			}
		}
	}
}

// unsupportedNodes returns a line for each image of a pod that does not exist for some
// of the nodes' platforms. The level is Critical if an image exists for none of them,
// else Medium.
func unsupportedNodes(pod map[string]any, images map[string][]string, nodes []string) (Level, []string) {
	level, lines := Medium, []string(nil)
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
				level = Critical
			}
			lines = append(lines, fmt.Sprintf("%s runs on %s, and pods may go to nodes of %s", image, strings.Join(runs, ", "), strings.Join(missing, ", ")))
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
