package pods

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// NodeCapabilities are Linux capabilities that give control of the node.
var NodeCapabilities = []string{"ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "DAC_READ_SEARCH"}

// baseCapabilities are those that the baseline pod security standard permits. All
// others are High.
var baseCapabilities = []string{
	"AUDIT_WRITE", "CHOWN", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// Capabilities matches containers that add Linux capabilities. Two that are High are
// Critical with what else the pod has: BPF with PERFMON reads the memory of every
// process of the node, NET_ADMIN in the node's network changes its packet filter, and
// so the traffic of all pods on it.
func Capabilities(pod, container map[string]any) (rules.Level, []preview.Seen) {
	level, lines, added := rules.None, []preview.Seen(nil), map[string]bool{}
	for _, item := range preview.List(container, "securityContext", "capabilities", "add") {
		text, _ := item.(string)
		name := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(text)), "CAP_")
		switch {
		case slices.Contains(NodeCapabilities, name):
			level = rules.Critical
		case !slices.Contains(baseCapabilities, name):
			level = max(level, rules.High)
		default:
			continue
		}
		added[name] = true
		lines = append(lines, words.AddsSubject.Of(preview.EvidenceName(name)))
	}
	if added["BPF"] && added["PERFMON"] {
		level, lines = rules.Critical, append(lines, words.BPFAndPERFMONTogetherReadThe.Of())
	}
	if added["NET_ADMIN"] && pod["hostNetwork"] == true {
		level, lines = rules.Critical, append(lines, words.NetAdminOfNode.Of())
	}
	return level, lines
}

// KeepsCapabilities matches containers that do not drop all capabilities.
func KeepsCapabilities(_, container map[string]any) (rules.Level, []preview.Seen) {
	for _, item := range preview.List(container, "securityContext", "capabilities", "drop") {
		if text, _ := item.(string); strings.EqualFold(text, "ALL") {
			return rules.None, nil
		}
	}
	return rules.None, []preview.Seen{words.KeepsDefaultCapabilities.Of()}
}
