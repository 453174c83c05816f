// Package registryv1 renders OLM registry+v1 bundles: a directory with
// manifests/, one ClusterServiceVersion (CSV) among them, and
// metadata/annotations.yaml. It makes the objects that OLM v1
// (operator-controller, internal/operator-controller/rukpak) makes of the same
// bundle, names included, for every install mode.
//
// Content is kept as decoded, not passed through typed structs, so that fields
// this version of the tool has never heard of are reviewed and sent too.
package registryv1

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// Name is the format's name in plans.
const Name = "registry+v1"

// New returns the format.
func New() format.Format { return bundleFormat{} }

type bundleFormat struct{}

// Detect recognises a bundle by metadata/annotations.yaml, or by a CSV among
// manifests/. It decodes only the files that mention a CSV.
func (bundleFormat) Detect(content fs.FS) (*format.Info, error) {
	meta, found, err := readAnnotations(content)
	if err != nil {
		return nil, err
	}
	if otherMediaType(meta[keyMediaType]) {
		return nil, nil
	}
	files, err := readManifests(content)
	if err != nil && found {
		return nil, err
	}
	var csvFiles []*manifest
	for _, f := range files {
		if f.mentionsCSV() {
			csvFiles = append(csvFiles, f)
		}
	}
	if !found {
		if len(csvFiles) == 0 {
			return nil, nil
		}
		return nil, fmt.Errorf("reading the bundle: missing %s; %s holds a ClusterServiceVersion without it", annotationsFile, csvFiles[0].path)
	}
	b, err := load(context.Background(), csvFiles)
	if err != nil {
		return nil, err
	}
	info := &format.Info{
		Format:             Name,
		Package:            meta[keyPackage],
		Version:            b.csv.version,
		Bundle:             b.csv.name,
		SuggestedNamespace: b.csv.annotations[keySuggestedNamespace],
	}
	if info.Package == "" {
		return nil, errNoPackage
	}
	return info, nil
}

// otherMediaType reports a bundle of a kind that shares only the layout.
func otherMediaType(mediaType string) bool {
	return strings.HasPrefix(mediaType, "helm") || strings.HasPrefix(mediaType, "plain")
}

// Render makes the objects in the order of OLM v1's generators. Errors in the
// bundle are joined, one sentence each; only a valid bundle reaches the
// checks of the user's parameters.
func (bundleFormat) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	if in.Release.Namespace == "" {
		return nil, fmt.Errorf("rendering the bundle: the release has no namespace")
	}
	b, err := loadBundle(ctx, in.Content)
	if err != nil {
		return nil, err
	}
	if err := validate(b); err != nil {
		return nil, err
	}
	p, err := resolve(b, in)
	if err != nil {
		return nil, err
	}
	return render(b, p)
}

// params are the resolved inputs of the generators.
type params struct {
	namespace string
	mode      string
	targets   []string // [""] for all namespaces
	certs     string   // empty when the bundle has no webhooks
	config    map[string]any
}

func (p params) allNamespaces() bool { return len(p.targets) == 1 && p.targets[0] == "" }

// provisioned reports whether somebody issues certificates for the webhooks.
func (p params) provisioned() bool { return p.certs == certManager || p.certs == serviceCA }

func resolve(b *bundle, in format.Input) (params, error) {
	values, err := readValues(in.Params.Values)
	if err != nil {
		return params{}, err
	}
	watch, err := watchNamespaces(b, in.Params.WatchNamespaces, values)
	if err != nil {
		return params{}, err
	}
	p := params{namespace: in.Release.Namespace, config: values.config}
	if p.mode, err = installMode(b, p.namespace, in.Params.InstallMode, watch); err != nil {
		return params{}, err
	}
	if p.targets, err = targets(b, p.mode, p.namespace, watch); err != nil {
		return params{}, err
	}
	if p.certs, err = certProvider(b, in.Params.Certs); err != nil {
		return params{}, err
	}
	return p, nil
}

func render(b *bundle, p params) (*format.Output, error) {
	out := &format.Output{
		Annotations:   b.csv.annotations,
		Required:      b.missing(),
		RelatedImages: b.csv.relatedImages,
		Resolved: preview.Parameters{
			InstallMode:     p.mode,
			WatchNamespaces: []string{},
			Certs:           p.certs,
		},
	}
	if !p.allNamespaces() {
		out.Resolved.WatchNamespaces = slices.Clone(p.targets)
	}
	for _, generate := range []func(*bundle, params) ([]format.Rendered, error){
		serviceAccounts, roles, clusterRoles, customResourceDefinitions, additional, deployments,
		validatingWebhooks, mutatingWebhooks, webhookServices, certificates,
	} {
		objects, err := generate(b, p)
		if err != nil {
			return nil, err
		}
		out.Objects = append(out.Objects, objects...)
	}
	objects, err := distinct(out.Objects)
	if err != nil {
		return nil, err
	}
	out.Objects = objects
	out.Findings = findings(b, p, objects)
	return out, nil
}

// distinct drops objects that were made twice alike, as of two equal
// permissions. Two different objects of one name cannot both be applied.
func distinct(objects []format.Rendered) ([]format.Rendered, error) {
	seen := make(map[string]format.Rendered, len(objects))
	out := make([]format.Rendered, 0, len(objects))
	for _, o := range objects {
		id := preview.RefOf(o.Body).ID()
		first, dup := seen[id]
		if !dup {
			seen[id] = o
			out = append(out, o)
			continue
		}
		same, err := equal(first.Body, o.Body)
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", id, err)
		}
		if !same {
			return nil, fmt.Errorf("the bundle makes %s twice, from %s and from %s, with different content", id, first.Origin.File, o.Origin.File)
		}
	}
	return out, nil
}

func equal(a, b any) (bool, error) {
	x, err := preview.Canonical(a)
	if err != nil {
		return false, err
	}
	y, err := preview.Canonical(b)
	return string(x) == string(y), err
}
