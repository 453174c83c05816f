package source

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// artifactForm is the form of an artifact whose content is in one layer of a certain
// media type.
type artifactForm struct{ config, layer, what string }

// artifactForms returns the forms that are known by the media type of the config: Helm
// charts (helm.sh/docs/topics/registries), which may have provenance too, and artifacts
// of "flux push artifact" (fluxcd.io/flux/cheatsheets/oci-artifacts).
func artifactForms() []artifactForm {
	return []artifactForm{
		{"application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "a chart"},
		{"application/vnd.cncf.flux.config.v1+json", "application/vnd.cncf.flux.content.v1.tar+gzip", "an artifact of Flux"},
	}
}

// fileLayers returns the layers to unpack for a reference: the first one of the media
// type that it selects, as Flux does; of an artifact of a known form its content; else
// all.
func (m *manifest) fileLayers(r ref.Reference) ([]v1.Descriptor, error) {
	if r.Layer != "" {
		found := m.layersOf(r.Layer)
		if len(found) == 0 {
			return nil, m.noLayer(r)
		}
		return found[:1], nil
	}
	for _, form := range artifactForms() {
		if string(m.Config.MediaType) != form.config {
			continue
		}
		found := m.layersOf(form.layer)
		if len(found) != 1 {
			return nil, m.oneOf(r, fmt.Errorf("the manifest is %s, which must have one archive, but it has %d", form.what, len(found)))
		}
		return found, nil
	}
	return m.Layers, nil
}

// layersOf returns the layers of a media type as image layers, because their bytes are
// read as such.
func (m *manifest) layersOf(mediaType string) []v1.Descriptor {
	var found []v1.Descriptor
	for _, layer := range m.Layers {
		if string(layer.MediaType) == mediaType {
			layer.MediaType = types.OCILayer
			found = append(found, layer)
		}
	}
	return found
}

// noLayer returns the error for a reference that selects a layer which the artifact does
// not have.
func (m *manifest) noLayer(r ref.Reference) error {
	return m.oneOf(r, fmt.Errorf("it has no layer of the media type %s", bounded.Quote(r.Layer)))
}

// oneOf returns an error about the layers of an artifact so that it names those that it
// has. It ends with a reference to one of them; to the artifact itself, once it is pushed
// anew, if none can be named.
func (m *manifest) oneOf(r ref.Reference, err error) error {
	image, _, _ := strings.Cut(r.Image, "?")
	var has []string
	for _, layer := range m.Layers[:min(len(m.Layers), 10)] {
		if text := string(layer.MediaType); ref.IsMediaType(text) {
			has = append(has, text)
		}
	}
	command := commandline.Operator("preview", "oci://"+image)
	if len(has) == 0 {
		err = fmt.Errorf("%w, nor one of a name; once its publisher has pushed it again: %s", err, command)
	} else {
		command = commandline.Operator("preview", "oci://"+image+"?layer="+has[0])
		err = fmt.Errorf("%w; it has %s: %s", err, strings.Join(slices.Compact(has), ", "), command)
	}
	return &commandline.Advised{Err: err, Commands: []string{command}, Scope: commandline.Planning}
}
