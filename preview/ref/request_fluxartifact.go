package ref

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

const kindExternalArtifact = "ExternalArtifact"

// externalArtifact sets the error for a Kustomization whose content a controller makes in
// the cluster. It ends with the command that plans what that is copied from, as far as an
// ArtifactGenerator of the file says it.
func (r *reader) externalArtifact(namespace, name string, spec field) {
	dir, where := "./DIR", "name the directory that it is made of"
	if from, repository := r.copiedFrom(namespace, name, spec.At("path").Text()); from != "" {
		dir, where = commandline.Path(from), "in a checkout of "+repository+", which it is copied from"
	}
	for _, changes := range []string{"patches", "images", "components", "postBuild", "namePrefix", "nameSuffix"} {
		if spec.At(changes).Value != nil {
			where += ", without spec." + changes
		}
	}
	into := cmp.Or(spec.At("targetNamespace").Text(), r.asked.Namespace)
	command := commandline.Operator("preview", dir, r.asked.Name, "-n", into)
	r.err = &commandline.Advised{
		Err:      fmt.Errorf("ExternalArtifact %s is made in the cluster, by an ArtifactGenerator or another controller, and is not read from there; %s: %s", clip(namespace+"/"+name), where, command),
		Commands: []string{command}, Scope: commandline.All, Without: []string{"filename", "request"},
	}
}

// copiedFrom returns the directory that the generators of the file copy to a path of an
// artifact, and what repository has it; empty if none does.
func (r *reader) copiedFrom(namespace, name, at string) (dir, repository string) {
	for i := range r.objects {
		d := &r.objects[i]
		if d.Kind != "ArtifactGenerator" || d.Group() != "source.extensions.fluxcd.io" || d.Namespace != namespace {
			continue
		}
		for _, artifact := range preview.Maps(preview.Map(d.body, "spec"), "artifacts") {
			if preview.String(artifact, "name") != name {
				continue
			}
			for _, copied := range preview.Maps(artifact, "copy") {
				to, inArtifact := strings.CutPrefix(preview.String(copied, "to"), "@artifact/")
				below, within := strings.CutPrefix("/"+cleanSubdir(at)+"/", path.Clean("/"+to)+"/")
				if path.Clean("/"+to) == "/" {
					below, within = cleanSubdir(at), true
				}
				alias, from, _ := strings.Cut(strings.TrimSuffix(preview.String(copied, "from"), "/**"), "/")
				if inArtifact && within && strings.HasPrefix(alias, "@") && !strings.ContainsAny(from, "*?[{") {
					dir, repository = path.Join(".", from, below), sourceOfAlias(d.body, namespace, alias[1:])
				}
			}
		}
	}
	return dir, repository
}

// sourceOfAlias returns the kind and name of a source of an ArtifactGenerator.
func sourceOfAlias(generator map[string]any, namespace, alias string) string {
	for _, source := range preview.Maps(preview.Map(generator, "spec"), "sources") {
		if preview.String(source, "alias") == alias {
			return clip(preview.String(source, "kind") + " " + cmp.Or(preview.String(source, "namespace"), namespace) + "/" + preview.String(source, "name"))
		}
	}
	return clip(alias)
}
