package plain

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yttMark begins ytt's instructions, which are YAML comments, so that a template
// decodes as if it were a manifest.
const yttMark = "#@"

// refuseTemplate returns an error for a file that is a ytt template.
func refuseTemplate(name string, data []byte) error {
	if !bytes.Contains(data, []byte(yttMark)) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil {
			return nil // at its end, or what is wrong with it is said elsewhere
		}
		if line := commented(&node); line > 0 {
			return fmt.Errorf("%s line %d: it is a ytt template, which is not run here; keep what ytt makes of it", name, line)
		}
	}
}

// commented returns the line of the first ytt instruction below a node, 0 if there is
// none.
func commented(n *yaml.Node) int {
	for _, comment := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		for line := range strings.Lines(comment) {
			if strings.HasPrefix(strings.TrimSpace(line), yttMark) {
				return max(n.Line, 1)
			}
		}
	}
	for _, child := range n.Content {
		if line := commented(child); line > 0 {
			return line
		}
	}
	return 0
}
