package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// PinnedNote returns the note that an image was pinned and for which platforms
// (OS/ARCH) it exists. Notes are facts of the plan.
func PinnedNote(pkg, image string, platforms []string) preview.Note {
	if len(platforms) == 0 {
		return rules.ImagePinned.Note("package/"+pkg, image)
	}
	note := rules.ImagePinned.Note("package/"+pkg, image+" runs on "+strings.Join(platforms, ", "))
	note.Pinned = &preview.PinnedImage{Reference: image, Platforms: platforms}
	return note
}

// PinnedPlatforms returns the platforms of each pinned image of a plan. An image that is
// absent has unknown platforms.
func PinnedPlatforms(p *preview.Plan) map[string][]string {
	out := map[string][]string{}
	for _, pkg := range p.Packages {
		for _, n := range pkg.Notes {
			if n.Pinned != nil {
				out[n.Pinned.Reference] = n.Pinned.Platforms
			}
		}
	}
	return out
}

// NodesID returns the id of the read that records, in a plan, that the cluster has nodes
// of a platform (OS/ARCH).
func NodesID(platform string) string { return nodesPrefix + platform }

const nodesPrefix = "nodes/"

// judgePlatforms compares the platforms of pinned images with the nodes' platforms.
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
		c.hit(rules.NodesUnread, ruleHit{object: "cluster/nodes", claim: preview.Claim{Predicate: "the nodes may not be listed"}, evidence: words.Saw(words.NodesNotListed.Of())})
	}
	if len(images) == 0 || len(nodes) == 0 {
		return
	}
	for _, objects := range c.around.workloads {
		for _, o := range objects {
			pod, _ := preview.PodTemplate(o.Planned)
			level, lines := pods.UnsupportedNodes(pod, images, nodes)
			if len(lines) > 0 {
				c.hit(rules.ImagePlatform, ruleHit{
					object: o.ID, level: level, evidence: saw(o.ID, lines), narrow: true,
					known: o.Action == preview.ActionUnchanged, held: c.untouched(o),
				})
			}
		}
	}
}
