package plugins

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// The volumes of a pod that installs its plugins itself. No pod has names of
// this form by chance.
const (
	volumePlugins = "kubectl-operator-plugins"
	volumeConfig  = "kubectl-operator-config"
	volumeTemp    = "kubectl-operator-tmp"
	configDir     = "/etc/kubectl-operator"
	tempDir       = "/tmp"
	envDigest     = "PLUGINS_DIGEST"
)

// InitImage returns the image of the init container: custom-init-image, else
// default-init-image; empty where the config names neither.
func (h *Host) InitImage() string {
	if h.CustomInitImage != "" {
		return h.CustomInitImage
	}
	return h.DefaultInitImage
}

// PodTemplate returns the pod template of a host, as a v1 PodTemplate, with an init
// container that installs the plugin set into an emptyDir shared with the host, so that
// the host's image need not change. The container verifies the files by the lock and
// the reviewed digest. live is the host's Deployment.
func PodTemplate(set *Set, live map[string]any) (map[string]any, error) {
	h := set.Host
	template := preview.Map(preview.CloneBody(live), "spec", "template")
	pod := preview.Map(template, "spec")
	switch {
	case h.InitImage() == "":
		return nil, errors.New("spec.host names no image for the init container; write custom-init-image or default-init-image")
	case !path.IsAbs(set.Location) || path.Dir(path.Clean(set.Location)) == "/":
		return nil, errors.New("installLocation is " + clip(set.Location) + ": a pod needs an absolute path below a directory that is for plugins alone, such as /var/lib/plugins/current")
	case pod == nil:
		return nil, errors.New("the host has no pod template")
	}
	parent := path.Dir(path.Clean(set.Location))
	shared := map[string]any{"name": volumePlugins, "mountPath": parent}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range preview.Maps(pod, list) {
			mounts := preview.List(container, "volumeMounts")
			container["volumeMounts"] = append(mounts, map[string]any{"name": volumePlugins, "mountPath": parent, "readOnly": true})
		}
	}
	pod["initContainers"] = append([]any{h.boot(set, shared)}, preview.List(pod, "initContainers")...)
	pod["volumes"] = append(preview.List(pod, "volumes"),
		map[string]any{"name": volumePlugins, "emptyDir": map[string]any{}},
		map[string]any{"name": volumeTemp, "emptyDir": map[string]any{}},
		map[string]any{"name": volumeConfig, "configMap": map[string]any{"name": h.ConfigMap.Name}},
	)
	meta := map[string]any{"name": h.Deployment.Name, "namespace": h.Deployment.Namespace}
	return map[string]any{"apiVersion": "v1", "kind": "PodTemplate", "metadata": meta, "template": template}, nil
}

// boot returns the init container, which runs "plugin install". shared is the volume
// mount that the plugins are installed into.
func (h *Host) boot(set *Set, shared map[string]any) map[string]any {
	config := configDir + "/" + h.Key
	return map[string]any{
		"name": engine.BootContainer, "image": h.InitImage(),
		"args": []any{
			"plugin", "install", "-c", config, "--lock", config + suffixLock, "--location", path.Clean(set.Location),
			"--yes", "--approve", "$(" + envDigest + ")", "--ruleset", strconv.Itoa(preview.Ruleset),
		},
		"env": []any{
			map[string]any{"name": "HOME", "value": tempDir},
			map[string]any{"name": envDigest, "valueFrom": map[string]any{
				"configMapKeyRef": map[string]any{"name": h.ConfigMap.Name, "key": h.Key + suffixDigest},
			}},
		},
		"volumeMounts": []any{
			shared,
			map[string]any{"name": volumeTemp, "mountPath": tempDir},
			map[string]any{"name": volumeConfig, "mountPath": configDir, "readOnly": true},
		},
		"securityContext": map[string]any{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
			"capabilities": map[string]any{"drop": []any{"ALL"}}, "seccompProfile": map[string]any{"type": "RuntimeDefault"},
		},
	}
}

// initImageNotes returns a note if the init container's image is not named by digest.
func (h *Host) initImageNotes() []preview.Note {
	image := h.InitImage()
	if image == "" || strings.Contains(image, "@sha256:") {
		return nil
	}
	return []preview.Note{rules.PluginImageByTag.Note("host/"+h.Deployment.Name, rules.PluginImageByTag.NoteText(clip(image)))}
}
