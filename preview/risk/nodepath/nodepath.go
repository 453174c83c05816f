// Package nodepath judges paths of a node that pods mount by hostPath. A table has
// paths that lead to control of the node or to credentials. A mounted path is compared
// with those above and below it: /var includes /var/lib/kubelet.
package nodepath

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

//go:embed paths.tsv
var data string

// Verdict says how severe the mount of a node's path is, writable and read-only.
type Verdict struct {
	Writable rules.Level
	ReadOnly rules.Level
	// Leads says what can be reached by the path; empty for paths that are not in the
	// table.
	Leads string
}

// row is a line of the table: a path of the node, with the verdict on mounting it.
type row struct {
	path string
	tree bool // the row is about all paths below too
	Verdict
}

// Table is the table of node paths.
type Table struct {
	rows []row
}

// Load returns the table that is compiled in.
func Load() *Table {
	t := &Table{}
	for line := range strings.Lines(data) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		t.rows = append(t.rows, row{f[0], f[1] == "tree", Verdict{levels[f[2]], levels[f[3]], f[4]}})
	}
	return t
}

// levels are the words for levels in the table.
var levels = map[string]rules.Level{"critical": rules.Critical, "high": rules.High, "medium": rules.Medium}

// sockets are names of Unix sockets whose users control the container runtime or the
// kubelet, in any directory.
var sockets = []string{
	"docker.sock", "containerd.sock", "containerd.sock.ttrpc", "crio.sock", "cri-dockerd.sock", "dockershim.sock", "podman.sock", "buildkitd.sock", "frakti.sock",
	"kubelet.sock", "cri-o.sock", "rkt.sock", "pouchd.sock", "isulad.sock", "libvirt-sock", "nri.sock", "system_bus_socket",
}

// Judge returns the verdict on a hostPath: that of the longest path of the table that
// is the path itself or above it, raised by those of all paths below it.
func (t *Table) Judge(text string) Verdict {
	at := Clean(text)
	if slices.Contains(sockets, path.Base(at)) && !strings.HasPrefix(at, "/var/lib/kubelet/pod-resources/") {
		return Verdict{rules.Critical, rules.Critical, "the container runtime or the kubelet"}
	}
	worst, longest := Verdict{rules.High, rules.Medium, ""}, -1
	for _, r := range t.rows {
		if (at == r.path || r.tree && strings.HasPrefix(at, r.path+"/")) && len(r.path) > longest {
			worst, longest = r.Verdict, len(r.path)
		}
	}
	for _, r := range t.rows {
		if at == "/" || strings.HasPrefix(r.path, at+"/") {
			worst = worse(worst, r)
		}
	}
	if stepsUp(text) {
		return Verdict{rules.Critical, rules.Critical, "a path that steps up"}
	}
	return worst
}

// worse returns a verdict raised by that of a row for a path below.
func worse(v Verdict, below row) Verdict {
	if below.Writable > v.Writable || below.ReadOnly > v.ReadOnly {
		v.Leads = below.path + ": " + below.Leads
	}
	return Verdict{max(v.Writable, below.Writable), max(v.ReadOnly, below.ReadOnly), v.Leads}
}

func stepsUp(text string) bool {
	return slices.Contains(strings.Split(strings.ReplaceAll(text, `\`, "/"), "/"), "..")
}

var (
	drive       = lazyregexp.New(`^/?([A-Za-z]):(/|$)`)
	ofProcess   = lazyregexp.New(`^/proc/[^/]+/(?:task/[^/]+/)?(?:root|cwd)(/|$)`)
	legacyLinks = [...][2]string{{"/var/run", "/run"}, {"/var/lock", "/run/lock"}}
)

// Clean returns a path as the node resolves it: without "." and empty parts, with links
// such as /var/run replaced, and with Windows separators and drives in one spelling.
func Clean(text string) string {
	slashed := strings.ReplaceAll(text, `\`, "/")
	for _, prefix := range []string{"//./", "//?/"} { // device paths of Windows
		if rest, ok := strings.CutPrefix(slashed, prefix); ok && (strings.HasPrefix(strings.ToLower(rest), "pipe") || drive.MatchString(rest)) {
			slashed = "/" + rest
			if strings.HasPrefix(strings.ToLower(rest), "pipe") {
				return strings.ToLower(path.Clean(slashed))
			}
		}
	}
	if found := drive.FindStringSubmatch(slashed); found != nil {
		return strings.ToLower(path.Clean("/" + strings.TrimPrefix(slashed, "/")))
	}
	at := path.Clean("/" + slashed)
	for range maxLinks {
		before := at
		if end := ofProcess.FindString(at); end != "" {
			at = path.Clean("/" + at[len(end):])
		}
		for _, link := range legacyLinks {
			if rest, ok := strings.CutPrefix(at, link[0]); ok && (rest == "" || rest[0] == '/') {
				at = link[1] + rest
			}
		}
		if at == before {
			return at
		}
	}
	return "/"
}

// maxLinks is the most links of a path that are followed. A path with more counts as
// "/".
const maxLinks = 16
