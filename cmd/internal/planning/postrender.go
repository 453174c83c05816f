package planning

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/format/kustomize"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// postRender makes the changes of a request in what its chart rendered to, and leaves out
// what the request leaves out of it. What lies in a directory crds is not changed.
func (out *Resolution) postRender(ctx context.Context, in format.Input, output *format.Output) error {
	if out.rendering.Decrypts {
		if err := out.leaveEncrypted(output); err != nil {
			return err
		}
	}
	without := out.rendering.OnInstall
	if in.Upgrade {
		without = out.rendering.OnUpgrade
	}
	if without.CRDs {
		output.Objects = slices.DeleteFunc(output.Objects, func(o format.RenderedObject) bool { return definedAside(in, o) })
	}
	if without.Hooks {
		output.DropHooks()
	}
	if len(out.rendering.PostRender) == 0 {
		return nil
	}
	aside, objects, hooks := []format.RenderedObject{}, []format.RenderedObject{}, []format.RenderedObject{}
	for _, object := range output.Objects {
		switch {
		case definedAside(in, object):
			aside = append(aside, object)
		case object.Hook != nil && out.rendering.PostRenderHooks != "" && out.rendering.PostRenderHooks != "combined":
			hooks = append(hooks, object)
		default:
			objects = append(objects, object)
		}
	}
	var err error
	for _, change := range out.rendering.PostRender {
		if objects, err = changed(ctx, in, objects, change); err != nil {
			return err
		}
		if out.rendering.PostRenderHooks == "separate" {
			if hooks, err = changed(ctx, in, hooks, change); err != nil {
				return err
			}
		}
	}
	output.Objects = slices.Concat(aside, objects, hooks)
	return nil
}

// leaveEncrypted leaves out the objects that a controller decrypts before it applies them: it
// says which, and without a controller it is an error.
func (out *Resolution) leaveEncrypted(output *format.Output) error {
	var tool interface{ NotRead(ref preview.Ref) }
	if out.by != nil {
		tool, _ = out.by.Tool.(interface{ NotRead(ref preview.Ref) })
	}
	if tool == nil {
		return fmt.Errorf("%s: the field spec.decryption is not supported, and it may change what is installed; take it out to go on", out.file.Object)
	}
	output.Objects = slices.DeleteFunc(output.Objects, func(o format.RenderedObject) bool {
		if o.Body["sops"] != nil {
			tool.NotRead(preview.RefOf(o.Body))
		}
		return o.Body["sops"] != nil
	})
	return nil
}

// definedAside reports whether an object comes from a directory crds of a chart, which is
// no part of what the chart renders to.
func definedAside(in format.Input, object format.RenderedObject) bool {
	return in.Info.Format == helm.Name && applier.InCRDs(object.Origin, object.Body)
}

func changed(ctx context.Context, in format.Input, objects []format.RenderedObject, change ref.PostRender) ([]format.RenderedObject, error) {
	for _, object := range objects {
		for field, texts := range map[string]map[string]string{"labels": change.Labels, "annotations": change.Annotations} {
			for key, text := range texts {
				preview.SetMetadata(object.Body, field, key, text)
			}
		}
	}
	if len(objects) == 0 || len(change.Patches)+len(change.Images) == 0 {
		return objects, nil
	}
	objects, err := kustomizedObjects(ctx, in, objects, change)
	if err != nil {
		return nil, fmt.Errorf("post-rendering %s: %w", in.Info.Package, err)
	}
	return objects, nil
}

// kustomizedObjects builds a kustomization that has rendered objects as resources, each in
// a file that is named by its index. The built ones keep their origin and hook.
func kustomizedObjects(ctx context.Context, in format.Input, objects []format.RenderedObject, change ref.PostRender) ([]format.RenderedObject, error) {
	files, resources := map[string]string{}, make([]string, len(objects))
	for i, object := range objects {
		data, err := preview.Canonical(object.Body)
		if err != nil {
			return nil, err
		}
		resources[i] = strconv.Itoa(i) + ".yaml"
		files[resources[i]] = string(data)
	}
	own, err := json.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
		"resources": resources, "patches": change.Patches, "images": change.Images,
	})
	if err != nil {
		return nil, err
	}
	files["kustomization.yaml"] = string(own)
	content, err := source.Compose(source.Part{Name: "the rendered objects", Files: files})
	if err != nil {
		return nil, err
	}
	info := format.Info{Format: kustomize.Name, Package: in.Info.Package}
	made, err := kustomize.New().Render(ctx, format.Input{Content: content, Info: info, Release: in.Release, Source: in.Source})
	if err != nil {
		return nil, err
	}
	out := make([]format.RenderedObject, 0, len(made.Objects))
	for _, object := range made.Objects {
		i, err := strconv.Atoi(strings.TrimSuffix(object.Origin.File, ".yaml"))
		if err != nil || i >= len(objects) {
			return nil, fmt.Errorf("%s has no known origin", preview.RefOf(object.Body).ID())
		}
		was := objects[i]
		was.Body, was.Items = object.Body, nil
		out = append(out, was)
	}
	return out, nil
}
