package helm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
)

// helmVersion is the value of .Capabilities.HelmVersion: the version of Helm's engine,
// which does not depend on the build of this program.
const helmVersion = "v4.3.1"

// capabilityReads records which parts of .Capabilities the templates read.
type capabilityReads struct {
	KubeVersion bool `json:"kubeVersion"`
	// APIs are the API versions asked for one by one.
	APIs map[string]bool `json:"apis"`
	// AllAPIs is set when the whole list was used.
	AllAPIs bool `json:"allAPIs"`
}

// capabilities replaces Helm's struct for .Capabilities. Its methods have the names of
// Helm's fields, which templates use in the same way, so that it can record what a
// chart reads.
type capabilities struct {
	HelmVersion buildInfo

	version *common.KubeVersion
	apis    []string
	read    *capabilityReads
	// Uses of the list of API versions, and how many of them asked about one.
	uses, questions *int
}

// buildInfo has the fields of .Capabilities.HelmVersion.
type buildInfo struct {
	Version      string `json:"version,omitempty"`
	GitCommit    string `json:"git_commit,omitempty"`
	GitTreeState string `json:"git_tree_state,omitempty"`
	GoVersion    string `json:"go_version,omitempty"`
}

func newCapabilities(version string, apis []string, read *capabilityReads) (*capabilities, error) {
	parsed, err := common.ParseKubeVersion(version)
	if err != nil {
		return nil, fmt.Errorf("the Kubernetes version %.100q is none", version)
	}
	read.APIs = map[string]bool{}
	return &capabilities{
		HelmVersion: buildInfo{Version: helmVersion, GitTreeState: "clean"},
		version:     parsed, apis: apis, read: read, uses: new(int), questions: new(int),
	}, nil
}

// KubeVersion returns the Kubernetes version, which prints as a string.
func (c *capabilities) KubeVersion() *common.KubeVersion {
	c.read.KubeVersion = true
	return c.version
}

// APIVersions returns the served API versions.
func (c *capabilities) APIVersions() versionSet {
	*c.uses++
	set := make(versionSet, 0, len(c.apis)+1)
	for _, api := range c.apis {
		set = append(set, api)
	}
	return append(set, c)[:len(c.apis)]
}

// MarshalJSON returns all capabilities, for toYaml and toJson.
func (c *capabilities) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"KubeVersion": c.KubeVersion(), "APIVersions": c.APIVersions(), "HelmVersion": c.HelmVersion,
	})
}

// done completes the record after rendering: the whole list of APIs counts as read if
// it was used in another way than to ask about one API.
func (c *capabilities) done() { c.read.AllAPIs = *c.uses > *c.questions }

// versionSet is the value of .Capabilities.APIVersions: a slice, because charts range
// over it and search it. Behind its end, where templates cannot see it, is the
// capabilities object.
type versionSet []any

// Has reports whether an API version such as "apps/v1", or a kind such as
// "apps/v1/Deployment", is served.
func (v versionSet) Has(api string) bool {
	if cap(v) > len(v) {
		if c, ok := v[:len(v)+1][len(v)].(*capabilities); ok {
			*c.questions++
			c.read.APIs[api] = true
		}
	}
	return slices.Contains(v, any(api))
}

func (v versionSet) String() string {
	names := make([]string, 0, len(v))
	for _, item := range v {
		names = append(names, fmt.Sprint(item))
	}
	return "[" + strings.Join(names, " ") + "]"
}
