package helm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// maxLookups bounds the lookups of one rendering, and maxAnswer what they may
// answer together.
const (
	maxLookups = 500
	maxAnswer  = 32 << 20
)

// clusterCaps are the Kubernetes version and the APIs to render for, and whether the
// user gave them.
type clusterCaps struct {
	kubeVersion string
	apiVersions []string
	// The user named the version, or the API versions: then neither the
	// cluster nor a default of this program decides what is made.
	versionGiven, apisGiven bool
}

// chooseCapabilities returns the Kubernetes version and APIs that the user gave, else
// the cluster's, else defaults. If the user gives either, the APIs are those given and
// the built-in ones, on every machine.
func chooseCapabilities(ctx context.Context, in format.Input) (clusterCaps, error) {
	c := clusterCaps{
		kubeVersion: in.Params.KubeVersion, versionGiven: in.Params.KubeVersion != "",
		apisGiven: in.Params.KubeVersion != "" || len(in.Params.APIVersions) > 0,
	}
	var err error
	switch {
	case c.versionGiven:
	case in.Cluster == nil:
		c.kubeVersion = DefaultKubeVersion
	default:
		if c.kubeVersion, err = in.Cluster.Version(ctx); err != nil {
			return c, fmt.Errorf("asking the cluster for its version: %w", err)
		}
	}
	if c.apisGiven || in.Cluster == nil {
		c.apiVersions = slices.Concat(knownAPIs(), in.Params.APIVersions)
	} else if c.apiVersions, err = in.Cluster.APIVersions(ctx); err != nil {
		return c, fmt.Errorf("reading the APIs of the cluster: %w", err)
	}
	slices.Sort(c.apiVersions)
	c.apiVersions = slices.Compact(c.apiVersions)
	return c, nil
}

// lookup reads from the cluster what a template looks up, as the answer for the next
// rendering, and records the read.
func (r *renderer) lookup(ctx context.Context, name string) error {
	ref, err := preview.ParseLookup(name)
	if err != nil {
		return err
	}
	var found []map[string]any
	value := preview.LookupNotAsked
	if r.in.Cluster != nil {
		if found, err = r.find(ctx, ref); err != nil {
			return fmt.Errorf("its templates look up %s: %w", name, err)
		}
		if value, err = preview.LookupValue(ref, found); err != nil {
			return fmt.Errorf("its templates look up %s: %w", name, err)
		}
	}
	answer, err := json.Marshal(lookupResult(ref, found))
	if err != nil {
		return err
	}
	total := len(answer)
	for _, other := range r.request.Answers {
		total += len(other)
	}
	if total > maxAnswer || len(r.request.Answers) == maxLookups {
		return fmt.Errorf("its templates look up more than %d objects or %d MiB", maxLookups, maxAnswer>>20)
	}
	r.request.Answers[name] = answer
	r.lookups = append(r.lookups, preview.ClusterRead{Kind: preview.ReadLookup, Name: name, Value: value})
	return nil
}

func (r *renderer) find(ctx context.Context, ref preview.Ref) ([]map[string]any, error) {
	if ref.Name == "" {
		found, err := r.in.Cluster.List(ctx, ref.APIVersion, ref.Kind, ref.Namespace)
		return found, dropNotServed(err)
	}
	body, err := r.in.Cluster.Get(ctx, ref)
	if err != nil || body == nil {
		return nil, dropNotServed(err)
	}
	return []map[string]any{body}, nil
}

// dropNotServed returns nil for the error that a kind is not served: charts look up
// objects to find out whether an optional API exists.
func dropNotServed(err error) error {
	switch preview.ReasonOf(err) {
	case preview.ReasonNotServed:
		return nil
	case preview.ReasonForbidden:
		return fmt.Errorf("you may not read it (%w); what the chart would make of it is not known", err)
	}
	return err
}

// lookupResult returns what the template function lookup returns: the object, a list of
// objects, or an empty map.
func lookupResult(ref preview.Ref, found []map[string]any) map[string]any {
	switch {
	case len(found) == 0:
		return map[string]any{}
	case ref.Name != "":
		return found[0]
	}
	items := make([]any, 0, len(found))
	for _, body := range found {
		items = append(items, body)
	}
	return map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind + "List", "metadata": map[string]any{}, "items": items}
}

// clusterReads returns what the objects depend on in the cluster: versions, APIs and
// lookups, as far as the user did not set them.
func (r *renderer) clusterReads(read capabilityReads) []preview.ClusterRead {
	out := slices.Clone(r.lookups)
	if read.KubeVersion && !r.caps.versionGiven {
		out = append(out, preview.ClusterRead{Kind: preview.ReadKubeVersion, Value: r.caps.kubeVersion})
	}
	if !r.caps.apisGiven {
		for api := range read.APIs {
			out = append(out, preview.ClusterRead{Kind: preview.ReadAPIVersion, Name: api, Value: preview.APIVersionValue(r.caps.apiVersions, api)})
		}
		if read.AllAPIs {
			out = append(out, preview.ClusterRead{Kind: preview.ReadAPIVersion, Name: preview.AllAPIVersions,
				Value: preview.APIVersionValue(r.caps.apiVersions, preview.AllAPIVersions)})
		}
	}
	slices.SortFunc(out, func(a, b preview.ClusterRead) int { return strings.Compare(a.ID(), b.ID()) })
	return out
}

// dependsOnCluster returns a sentence about what the objects depend on in the
// cluster; empty if they depend on nothing.
func (r *renderer) dependsOnCluster(list []preview.ClusterRead) string {
	has := func(kind string) bool {
		return slices.ContainsFunc(list, func(read preview.ClusterRead) bool { return read.Kind == kind })
	}
	var asked, flags []string
	if has(preview.ReadKubeVersion) {
		asked, flags = append(asked, "the Kubernetes version"), append(flags, "--kube-version")
	}
	if has(preview.ReadAPIVersion) {
		asked, flags = append(asked, "which APIs are served"), append(flags, "--api-versions")
	}
	if has(preview.ReadLookup) {
		asked = append(asked, "objects in the cluster")
	}
	if len(asked) == 0 {
		return ""
	}
	text := "its templates depend on " + strings.Join(asked, " and on ")
	if r.in.Cluster == nil {
		text += ", and no cluster was asked: defaults stand in, and a cluster may lead to other content"
	} else {
		text += ": its content digest holds for this cluster only"
	}
	if len(flags) > 0 {
		text += "; " + strings.Join(flags, " and ") + " would settle it"
		if has(preview.ReadLookup) {
			text += " but for the objects"
		}
	}
	return text
}
