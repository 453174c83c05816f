package plugins

import (
	"errors"
	"fmt"
	"path"
	"slices"
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
	pluginsDir    = "/var/lib/kubectl-operator" // in the init container alone
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

// Boot is a pod template whose pods install a plugin set, and what else it needs in the
// namespace, a sentence with a command for each.
type Boot struct {
	Template map[string]any // a v1 PodTemplate
	Needs    []string
}

// PodTemplate returns the pod template of a host with an init container that installs the
// plugin set into an emptyDir shared with the host, so that the host's image need not
// change. The host sees of it the location alone, and what else its image has stays as it
// is. The container verifies the files by the lock and the reviewed digest. live is the
// host's Deployment, and used is what the preview used of its environment.
func PodTemplate(set *Set, live map[string]any, used Used) (*Boot, error) {
	h := set.Host
	template := preview.Map(preview.CloneBody(live), "spec", "template")
	pod := preview.Map(template, "spec")
	at := path.Clean(set.Location)
	switch {
	case h.InitImage() == "":
		return nil, errors.New("spec.host names no image for the init container; write custom-init-image or default-init-image")
	case !path.IsAbs(set.Location) || at == "/":
		return nil, errors.New("installLocation is " + clip(set.Location) + ": a pod needs an absolute path of a directory that is for plugins alone, such as /var/lib/plugins")
	case pod == nil:
		return nil, errors.New("the host has no pod template")
	}
	var needs []string
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range preview.Maps(pod, list) {
			need, err := withoutInstalling(container)
			if err != nil {
				return nil, err
			}
			needs = append(needs, need...)
			if what := covered(container, at); what != "" {
				return nil, fmt.Errorf("installLocation %s would cover %s of container %s; name a directory that is for plugins alone", clip(at), what, clip(preview.String(container, "name")))
			}
			container["volumeMounts"] = append(preview.List(container, "volumeMounts"), h.mounts(at)...)
		}
	}
	boot := &initContainer{host: h, body: h.initContainer(at), needs: needs}
	if err := boot.carry(set, used); err != nil {
		return nil, err
	}
	pod["initContainers"] = append([]any{boot.body}, preview.List(pod, "initContainers")...)
	pod["volumes"] = slices.Concat(preview.List(pod, "volumes"), []any{
		map[string]any{"name": volumePlugins, "emptyDir": map[string]any{}},
		map[string]any{"name": volumeTemp, "emptyDir": map[string]any{}},
		map[string]any{"name": volumeConfig, "configMap": map[string]any{"name": h.ConfigMap.Name}},
	}, boot.volumes)
	meta := map[string]any{"name": h.Deployment.Name, "namespace": h.Deployment.Namespace}
	return &Boot{map[string]any{"apiVersion": "v1", "kind": "PodTemplate", "metadata": meta, "template": template}, boot.needs}, nil
}

// installsItself is the flag that makes an Optimus server install its plugins at its
// start, into the location that it cannot write to here; it ends where that fails.
const installsItself = "--install-plugins"

// withoutInstalling removes the flag that makes a container's program install plugins
// itself, and returns a sentence about that. A shell's text that has it is an error.
func withoutInstalling(container map[string]any) (need []string, err error) {
	name := clip(preview.String(container, "name"))
	for _, field := range []string{"command", "args"} {
		words := preview.List(container, field)
		kept := slices.DeleteFunc(slices.Clone(words), func(v any) bool {
			word, _ := v.(string)
			return word == installsItself || strings.HasPrefix(word, installsItself+"=")
		})
		for _, word := range preview.Texts(kept) {
			if strings.Contains(word, installsItself) {
				return nil, fmt.Errorf("container %s runs a command with %s, which writes plugins that no review has seen, and fails where they are mounted; take it out of the Deployment's %s", name, installsItself, field)
			}
		}
		if len(kept) < len(words) {
			container[field] = kept
			need = append(need, fmt.Sprintf("Container %s is started without %s: the init container has installed what was reviewed, and the server would replace it", name, installsItself))
		}
	}
	return need, nil
}

// covered returns what of a container a mount at a path would hide, as far as its
// template says and images are alike: its working directory, its program, another volume,
// a directory of the system; empty if nothing.
func covered(container map[string]any, at string) string {
	within := func(name string) bool { return name == at || strings.HasPrefix(name, at+"/") }
	if dir := preview.String(container, "workingDir"); dir != "" && within(path.Clean(dir)) {
		return "the working directory " + clip(dir)
	}
	command := preview.Texts(preview.List(container, "command"))
	if len(command) > 0 && within(path.Clean(command[0])) {
		return "the program " + clip(command[0])
	}
	for _, mount := range preview.Maps(container, "volumeMounts") {
		if dir := preview.String(mount, "mountPath"); within(path.Clean(dir)) {
			return "the volume at " + clip(dir)
		}
	}
	for _, dir := range imageDirs() {
		if within(dir) {
			return "the directory " + dir + " of the image"
		}
	}
	if byPath := len(command) > 0 && path.IsAbs(command[0]); at == appDir && !byPath && preview.String(container, "workingDir") == "" {
		return "the directory " + appDir + " of the image"
	}
	return ""
}

// imageDirs returns the directories where images have their programs, libraries and
// settings.
func imageDirs() []string {
	return []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/lib", "/lib64", "/usr/lib", "/etc"}
}

// appDir is where many images have the program, and start it by a relative path.
const appDir = "/app"

// mounts returns how a container of the host sees the plugins: at their location, and
// next to it the archive that a server of Optimus sends to its clients. Both are links
// in the volume, which are followed when the container starts.
func (h *Host) mounts(at string) []any {
	mount := func(from, to string) any {
		return map[string]any{"name": volumePlugins, "mountPath": to, "subPath": from, "readOnly": true}
	}
	out := []any{mount(path.Base(at), at)}
	if ServesArchive(path.Base(at)) {
		out = append(out, mount(YAMLArchive, path.Join(path.Dir(at), YAMLArchive)))
	}
	return out
}

// initContainer returns the init container, which runs "plugin install".
func (h *Host) initContainer(at string) map[string]any {
	config := configDir + "/" + h.Key
	return map[string]any{
		"name": engine.BootContainer, "image": h.InitImage(),
		"args": []any{
			"plugin", "install", "-c", config, "--lock", config + suffixLock, "--location", path.Join(pluginsDir, path.Base(at)),
			"--yes", "--approve", "$(" + envDigest + ")", "--ruleset", strconv.Itoa(preview.Ruleset),
		},
		"env": []any{
			map[string]any{"name": "HOME", "value": tempDir},
			map[string]any{"name": envDigest, "valueFrom": map[string]any{
				"configMapKeyRef": map[string]any{"name": h.ConfigMap.Name, "key": h.Key + suffixDigest},
			}},
		},
		"volumeMounts": []any{
			map[string]any{"name": volumePlugins, "mountPath": pluginsDir},
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
