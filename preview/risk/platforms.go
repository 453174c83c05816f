package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
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
		c.hit(rules.NodesUnread, ruleHit{object: "cluster/nodes", claim: preview.Claim{Predicate: "the nodes may not be listed"}, evidence: rules.Said("nodes may not be listed")})
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
					object: o.ID, level: level, evidence: said(o.ID, lines), narrow: true,
					known: o.Action == preview.ActionUnchanged, held: c.untouched(o),
				})
			}
		}
	}
}
