// Package deputy has a table of custom resources of widely used operators, and what the
// operators' controllers do with them. To write such an object is to have the
// controller act, with the controller's own permissions.
//
// The table is kinds.tsv, with one kind or subresource a line: API group, kind, plural,
// scope, effect of writing one, how severe one is as an object of a package, the
// operator, what its controller does (words that follow the operator's name), and the
// URL that documents it. A group that begins with "*." stands for every group with that
// ending, the kind or plural "*" for every other one of the group.
package deputy

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Effect is what the controller of a kind does when an object of the kind is written.
type Effect string

// The effects. The set is closed.
const (
	Installs  Effect = "installs"  // applies manifests, with rights of its own
	RBAC      Effect = "rbac"      // grants permissions
	Node      Effect = "node"      // runs code on nodes, configures or creates nodes
	Mutates   Effect = "mutates"   // changes objects of other users
	Refuses   Effect = "refuses"   // decides which requests are refused
	Pods      Effect = "pods"      // runs pods with the template or account in the object
	Images    Effect = "images"    // runs pods with images or settings in the object
	Mints     Effect = "mints"     // creates or fetches credentials
	Exports   Effect = "exports"   // copies data out of the cluster
	IAM       Effect = "iam"       // grants permissions in a cloud account
	Requests  Effect = "requests"  // requests cloud credentials
	Cloud     Effect = "cloud"     // makes cloud resources
	Network   Effect = "network"   // changes where traffic goes, or who is let through
	Storage   Effect = "storage"   // makes, copies or deletes volumes
	Exec      Effect = "exec"      // runs commands in pods or machines
	Scrapes   Effect = "scrapes"   // collects metrics with tokens
	Scales    Effect = "scales"    // changes how many pods run, or where
	Deletes   Effect = "deletes"   // deletes objects of others
	Plain     Effect = "plain"     // nothing but what the kind is for
	Elsewhere Effect = "elsewhere" // is judged by rules of its own
)

// Kind is a row of the table: a kind or subresource, and what its controller does.
type Kind struct {
	Group, Kind, Plural string
	Namespaced          bool
	Effect              Effect
	// Order is how severe it is that a package has an object of the kind: critical,
	// high, medium, low or none.
	Order string
	// Operator is the name of the operator whose controller acts on the kind; Does is
	// what the controller does, in words that follow the name.
	Operator, Does string
	Source         string // URL
}

// GroupKind returns the API group and kind, of which either may be a wildcard.
func (k Kind) GroupKind() preview.GroupKind { return preview.GroupKind(k.Group + "/" + k.Kind) }

// Says returns what the controller does with objects of the kind, such as "Argo CD
// fetches manifests and applies them".
func (k Kind) Says() string { return k.Operator + " " + k.Does }

// Mark is an annotation or label that makes a controller act on an object of any kind.
type Mark struct {
	Name           string
	Effect         Effect
	Order          string
	Operator, Does string
	Source         string
}

// Says returns what the controller does with objects that have the annotation or label.
func (m Mark) Says() string { return m.Operator + " " + m.Does }

//go:embed kinds.tsv
var data string

//go:embed marks.tsv
var markData string

var loadMarks = sync.OnceValue(func() map[string]Mark {
	out := map[string]Mark{}
	for i, line := range strings.Split(strings.TrimSpace(markData), "\n") {
		if f := strings.Split(line, "\t"); i > 0 && len(f) == markColumns {
			out[f[0]] = Mark{Name: f[0], Effect: Effect(f[1]), Order: f[2], Operator: f[3], Does: f[4], Source: f[5]}
		}
	}
	return out
})

const markColumns = 6

// MarkOf returns the row of an annotation or label by its key; ok is false if the table
// has none.
func MarkOf(name string) (Mark, bool) {
	m, known := loadMarks()[name]
	return m, known
}

// table is the parsed kinds.tsv with indexes. It is never modified.
type table struct {
	rows     []Kind
	kinds    map[string]int   // GROUP/KIND → row
	plurals  map[string]int   // GROUP/PLURAL → row
	groups   map[string][]int // GROUP → rows
	resource map[string][]int // PLURAL → rows of every group
	endings  []int            // rows of "*.ENDING", the longest first
}

var load = sync.OnceValue(func() *table { return parse(data) })

func parse(text string) *table {
	t := &table{kinds: map[string]int{}, plurals: map[string]int{}, groups: map[string][]int{}, resource: map[string][]int{}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 || len(f) != columns {
			continue // the heading; a test holds every other line to its columns
		}
		t.add(Kind{
			Group: f[0], Kind: f[1], Plural: f[2], Namespaced: f[3] == "Namespaced", Effect: Effect(f[4]), Order: f[5],
			Operator: f[6], Does: f[7], Source: f[8],
		})
	}
	slices.SortFunc(t.endings, func(a, b int) int { return len(t.rows[b].Group) - len(t.rows[a].Group) })
	return t
}

const columns = 9

func (t *table) add(k Kind) {
	at := len(t.rows)
	t.rows = append(t.rows, k)
	if strings.HasPrefix(k.Group, "*.") {
		t.endings = append(t.endings, at)
		return
	}
	t.groups[k.Group] = append(t.groups[k.Group], at)
	t.plurals[k.Group+"/"+k.Plural] = at
	if k.Kind != all || k.Plural == all {
		t.kinds[k.Group+"/"+k.Kind] = at
	}
	if k.Plural != all {
		t.resource[k.Plural] = append(t.resource[k.Plural], at)
	}
}

const all = "*"

// Kinds returns every row of kinds.tsv.
func Kinds() []Kind { return load().rows }

// Of returns the row of a kind in an API group; known is false if the table has none.
func Of(group, kind string) (k Kind, known bool) {
	t := load()
	return t.find(t.kinds, group, kind)
}

func (t *table) find(index map[string]int, group, name string) (Kind, bool) {
	for _, key := range [...]string{group + "/" + name, group + "/" + all} {
		if at, ok := index[key]; ok {
			return t.rows[at], true
		}
	}
	if len(t.groups[group]) > 0 {
		return Kind{}, false
	}
	for _, at := range t.endings {
		if strings.HasSuffix(group, t.rows[at].Group[1:]) {
			return t.rows[at], true
		}
	}
	return Kind{}, false
}

// Resources returns the rows that the group and resource of an RBAC rule name,
// wildcards included. It is nil for "*" in both, and for groups that the table does not
// have.
func Resources(group, resource string) []Kind {
	t := load()
	switch sub, every := strings.CutPrefix(resource, "*/"); {
	case group == all && resource == all:
		return nil // more than any kind
	case group == all:
		return t.pick(t.resource[resource])
	case resource == all:
		if rows := t.pick(t.groups[group]); len(rows) > 0 {
			return rows
		}
	case every:
		return slices.DeleteFunc(t.pick(t.groups[group]), func(k Kind) bool { return !strings.HasSuffix(k.Plural, "/"+sub) })
	}
	if row, ok := t.find(t.plurals, group, resource); ok {
		if row.Plural == all && strings.Contains(resource, "/") {
			return nil // a status or the like of a kind that has no row
		}
		return []Kind{row}
	}
	return nil
}

func (t *table) pick(rows []int) []Kind {
	out := make([]Kind, 0, len(rows))
	for _, at := range rows {
		out = append(out, t.rows[at])
	}
	return out
}

// KnownGroup reports whether the table has a row of an API group.
func KnownGroup(group string) bool {
	t := load()
	if len(t.groups[group]) > 0 {
		return true
	}
	return slices.ContainsFunc(t.endings, func(at int) bool { return strings.HasSuffix(group, t.rows[at].Group[1:]) })
}
