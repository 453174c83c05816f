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
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// notDocuments are the directories of a bundle whose files are objects, metadata or tests
// of the bundle itself (operator-registry docs/design/operator-bundle.md, scorecard).
var notDocuments = []string{manifestsDir, "metadata", "tests"}

// Name is the format's name in plans.
const Name = "registry+v1"

// New returns the format.
func New() format.Format { return bundleFormat{} }

type bundleFormat struct{}

// Detect recognises a bundle by metadata/annotations.yaml, or by a CSV in manifests/.
// It decodes only the files that mention a CSV.
func (bundleFormat) Detect(content fs.FS) (*format.Info, error) {
	meta, found, err := readAnnotations(content)
	if err != nil {
		return nil, err
	}
	if otherMediaType(meta.mediaType) {
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
		Package:            meta.packageName,
		Version:            b.csv.version,
		Bundle:             b.csv.name,
		SuggestedNamespace: b.csv.annotations[keySuggestedNamespace],
	}
	if info.Package == "" {
		return nil, errNoPackage
	}
	return info, nil
}

// otherMediaType reports whether the media type means another kind of bundle with the
// same directories: helm or plain.
func otherMediaType(mediaType string) bool {
	return strings.HasPrefix(mediaType, "helm") || strings.HasPrefix(mediaType, "plain")
}

// Render returns the objects in the order that OLM v1 generates them. Errors in the
// bundle are joined, one sentence each; the user's parameters are checked only if there
// are none.
func (bundleFormat) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	if ns := in.Release.Namespace; !isLabel(ns) {
		return nil, fmt.Errorf("the release namespace %q is not a DNS-1123 label", ns)
	}
	b, err := loadBundle(ctx, in.Content)
	if err != nil {
		return nil, err
	}
	if err := validate(b); err != nil {
		return nil, err
	}
	p, err := resolve(ctx, b, in)
	if err != nil {
		return nil, err
	}
	if err := certify(ctx, b, &p, in.Certifier); err != nil {
		return nil, err
	}
	out, err := render(b, p)
	if err != nil {
		return nil, err
	}
	if d := cloud.ReadDescription(b.packageName, b.csv.description); d != nil {
		out.CloudDocuments = append(out.CloudDocuments, *d)
	}
	out.CloudDocuments = append(out.CloudDocuments, format.CloudDocuments(b.packageName, in.Content, func(dir string) bool { return slices.Contains(notDocuments, dir) })...)
	out.Notes = append(out.Notes, certNotes(b, p, in.Info.Package)...)
	return out, nil
}

// params are the parameters that the generators use, after defaults were applied.
type params struct {
	namespace string
	mode      string
	targets   []string // [""] for all namespaces
	certs     string   // empty when the bundle has no webhooks
	config    map[string]any
	// certificates that were made for the plan or an earlier one, by deployment.
	certificates map[string]servingCert
}

func (p params) allNamespaces() bool { return len(p.targets) == 1 && p.targets[0] == "" }

// provisioned reports whether a Secret gets certificates for the webhooks.
func (p params) provisioned() bool { return p.certs != "" && p.certs != certsNone }

func resolve(ctx context.Context, b *bundle, in format.Input) (params, error) {
	values, err := readValues(preview.WholeNumbers(in.Params.Values))
	if err != nil {
		return params{}, err
	}
	watch, err := watchNamespaces(b, in.Params.WatchNamespaces, values)
	if err != nil {
		return params{}, err
	}
	p := params{namespace: in.Release.Namespace, config: values.config}
	if p.mode, err = installMode(b, p.namespace, in.Params, watch); err != nil {
		return params{}, err
	}
	if p.targets, err = targetNamespaces(b, p.mode, p.namespace, watch); err != nil {
		return params{}, err
	}
	p.certs, err = certProvider(ctx, b, in.Params.Certs, in.Certifier)
	return p, err
}

func render(b *bundle, p params) (*format.Output, error) {
	out := &format.Output{
		Annotations:   b.csv.annotations,
		Required:      b.missingAPIs(),
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
	for _, generate := range []func(*bundle, params) ([]format.RenderedObject, error){
		serviceAccounts, roles, clusterRoles, customResourceDefinitions, additionalManifests, deployments,
		validatingWebhooks, mutatingWebhooks, webhookServices, certificates,
	} {
		objects, err := generate(b, p)
		if err != nil {
			return nil, err
		}
		out.Objects = append(out.Objects, objects...)
	}
	if err := b.dropDuplicates(out); err != nil {
		return nil, err
	}
	return out, nil
}
