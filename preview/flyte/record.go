package flyte

import (
	"maps"
	"slices"
	"strings"
)

// recordKind is the kind of a plan's record of an engine's plugins in the cluster: if
// they change after the review, the plan is stale.
const recordKind = "FlyteEngine"

// record is what was read in the cluster for the engine of one ConfigMap. Its fields
// are texts, so that a message can quote them before and after a change.
type record struct {
	Engines    string            `json:"engines,omitempty"` // generations whose definitions the cluster has
	Before     *configRecord     `json:"before,omitempty"`
	Operators  map[string]string `json:"operators,omitzero"` // states of definitions, by plugin
	Left       map[string]string `json:"left,omitzero"`      // how many objects stay, by plugin
	Leaving    map[string]string `json:"leaving,omitzero"`   // definitions of those whose declaration goes, by plugin
	Configured string            `json:"configured,omitempty"`
	Workloads  string            `json:"workloads,omitempty"`
	Accounts   string            `json:"accounts,omitempty"`
	Beside     string            `json:"beside,omitempty"`
	Hidden     map[string]string `json:"hidden,omitempty"` // what may not be read, by topic

	Naming    *namingRecord                `json:"naming,omitempty"`
	Projects  map[string]map[string]string `json:"projects,omitzero"`  // parts by namespace and plugin
	Templates map[string]string            `json:"templates,omitzero"` // parts by plugin

	Rights   map[string]map[string]map[string]string `json:"rights,omitzero"`   // verbs by account, plugin and namespace
	Wide     map[string]string                       `json:"wide,omitzero"`     // verbs by account
	Misnamed map[string]map[string]string            `json:"misnamed,omitzero"` // verbs by account and plugin
}

// leaving returns the plugins whose declaration goes with the plan, by their ids.
func (r record) leaving() []taskPlugin {
	var out []taskPlugin
	for _, id := range slices.Sorted(maps.Keys(r.Leaving)) {
		resource, group, _ := strings.Cut(r.Leaving[id], ".")
		out = append(out, taskPlugin{id: id, resource: resource, group: group})
	}
	return out
}

// configRecord is the plugin configuration of an engine as a plan records it.
type configRecord struct {
	Types   map[string]string `json:"types"`
	Enabled []string          `json:"enabled,omitzero"` // nil where there is no list
}

// namingRecord records the template and the domains that make the names of projects'
// namespaces; domains are separated by spaces.
type namingRecord struct {
	Template string `json:"template"`
	Domains  string `json:"domains"`
}

// recordOf returns the recorded state for the engine of a ConfigMap.
func recordOf(seen Records, config string) record {
	var out record
	seen.Record(recordKind, config, &out)
	return out
}
