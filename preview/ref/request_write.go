package ref

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// requestDocument is the YAML of a Request, the kind that this program defines. [Request.Write]
// writes it.
type requestDocument struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name        string            `yaml:"name"`
		Namespace   string            `yaml:"namespace"`
		Annotations map[string]string `yaml:"annotations"`
	} `yaml:"metadata"`
	Spec requestDocumentSpec `yaml:"spec"`
}

type requestDocumentSpec struct {
	Package         *requestDocumentPackage `yaml:"package,omitempty"`
	Sources         []requestDocumentSource `yaml:"sources,omitempty"`
	Format          string                  `yaml:"format,omitempty"`
	Path            string                  `yaml:"path,omitempty"`
	InstallMode     string                  `yaml:"installMode,omitempty"`
	WatchNamespaces []string                `yaml:"watchNamespaces,omitempty"`
	Certs           string                  `yaml:"certs,omitempty"`
	KubeVersion     string                  `yaml:"kubeVersion,omitempty"`
	APIVersions     []string                `yaml:"apiVersions,omitempty"`
	PinImages       bool                    `yaml:"pinImages,omitempty"`
	Values          map[string]any          `yaml:"values,omitempty"`
}

type requestDocumentPackage struct {
	Name     string   `yaml:"name"`
	Version  string   `yaml:"version"`
	Channels []string `yaml:"channels,omitempty"`
	Catalogs []string `yaml:"catalogs,omitempty"`
}

type requestDocumentSource struct {
	Reference   string `yaml:"reference"`
	Destination string `yaml:"destination,omitempty"`
}

// Write returns a request file of this program's own kind that asks for what a command
// line asked for, pinned by digest. Release and Namespace must be set.
func (r *Request) Write(p Pinned) ([]byte, error) {
	w := requestDocument{APIVersion: preview.APIVersion, Kind: KindRequest}
	w.Metadata.Name, w.Metadata.Namespace = r.Release, r.Namespace
	w.Metadata.Annotations = map[string]string{AnnotationContentDigest: p.ContentDigest}
	w.Spec = requestDocumentSpec{
		Format: r.Format, Path: r.Path, InstallMode: r.InstallMode, WatchNamespaces: r.WatchNamespaces,
		Certs: r.Certs, KubeVersion: r.KubeVersion, APIVersions: r.APIVersions, PinImages: r.PinImages, Values: r.Values,
	}
	if r.Package != nil {
		w.Spec.Package = &requestDocumentPackage{Name: r.Package.Name, Version: p.Version, Channels: r.Package.Channels, Catalogs: r.Package.Catalogs}
	} else if len(p.Sources) < len(r.Sources) {
		return nil, fmt.Errorf("writing a request: %d of %d sources were read", len(p.Sources), len(r.Sources))
	}
	for i, s := range r.Sources {
		w.Spec.Sources = append(w.Spec.Sources, requestDocumentSource{Reference: p.reference(i, s.Reference), Destination: s.Destination})
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(w); err != nil {
		return nil, fmt.Errorf("writing a request: %w", err)
	}
	return out.Bytes(), nil
}
