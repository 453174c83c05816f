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
	volumePlugins     = "kubectl-operator-plugins"
	volumeConfig      = "kubectl-operator-config"
	volumeTemp        = "kubectl-operator-tmp"
	volumeCredentials = "kubectl-operator-credentials"
	volumeCA          = "kubectl-operator-ca"
	configDir         = "/etc/kubectl-operator"
	caDir             = "/etc/kubectl-operator-ca"
	caKey             = "ca.crt"
	pluginsDir        = "/var/lib/kubectl-operator" // in the init container alone
	tempDir           = "/tmp"
	envDigest         = "PLUGINS_DIGEST"
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
// host's Deployment; ownCA says that the preview trusted a CA of its own.
func PodTemplate(set *Set, live map[string]any, ownCA bool) (*Boot, error) {
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
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range preview.Maps(pod, list) {
			if what := covered(container, at); what != "" {
				return nil, fmt.Errorf("installLocation %s would cover %s of container %s; name a directory that is for plugins alone", clip(at), what, clip(preview.String(container, "name")))
			}
			container["volumeMounts"] = append(preview.List(container, "volumeMounts"), h.mounts(at)...)
		}
	}
	boot := &initContainer{host: h, body: h.initContainer(at)}
	if err := boot.carry(set, ownCA); err != nil {
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

// imageDirs returns the directories in which images have their programs, libraries and
// settings.
func imageDirs() []string {
	return []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/lib", "/lib64", "/usr/lib", "/etc"}
}

// appDir is where many images have the program, and start it by a relative path.
const appDir = "/app"

// mounts returns how a container of the host sees the plugins: at their location, and
// beside it the archive that a server of Optimus sends to its clients. Both are links in
// the volume, which are followed when the container starts.
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

// initContainer is an init container with the volumes that it needs besides, and what
// those refer to.
type initContainer struct {
	host    *Host
	body    map[string]any
	volumes []any
	needs   []string
}

// carry gives the init container by reference what the preview used: the credentials that
// the config names, from a Secret by the names of their variables and files, and the CA,
// from a ConfigMap.
func (c *initContainer) carry(set *Set, ownCA bool) error {
	namespace := c.host.Deployment.Namespace
	secret := c.host.ConfigMap.Name + "-credentials"
	var seen []string
	for _, p := range set.Plugins {
		for _, a := range p.Artifacts {
			for _, s := range []Secret{a.Auth.Password, a.Auth.Bearer, a.Auth.Google, a.Auth.SecretKey} {
				if !s.Set() || slices.Contains(seen, s.String()) {
					continue
				}
				seen = append(seen, s.String())
				if s.beside {
					return fmt.Errorf("plugin %s: its login is in the file %s beside the config, which a pod does not have; write an absolute path or {env: NAME}", clip(p.Name), clip(s.File))
				}
				c.credential(secret, namespace, s)
			}
		}
	}
	if !ownCA {
		return nil
	}
	name := c.host.ConfigMap.Name + "-ca"
	c.add("args", "--ca-file", caDir+"/"+caKey)
	c.mount(map[string]any{"name": volumeCA, "mountPath": caDir, "readOnly": true}, map[string]any{"name": volumeCA, "configMap": map[string]any{"name": name}})
	c.needs = append(c.needs, fmt.Sprintf("The CA that the preview trusted comes from a ConfigMap: kubectl create configmap %s --namespace %s --from-file %s=FILE", name, namespace, caKey))
	return nil
}

func (c *initContainer) credential(secret, namespace string, s Secret) {
	key := s.Env
	if s.Env != "" {
		c.add("env", map[string]any{"name": s.Env, "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": secret, "key": s.Env}}})
	} else {
		key = path.Base(s.File)
		c.mount(map[string]any{"name": volumeCredentials, "mountPath": s.File, "subPath": key, "readOnly": true},
			map[string]any{"name": volumeCredentials, "secret": map[string]any{"secretName": secret}})
	}
	c.needs = append(c.needs, fmt.Sprintf("A credential of the config, %s, comes from a Secret: kubectl create secret generic %s --namespace %s --from-file %s=FILE", s, secret, namespace, key))
}

func (c *initContainer) add(list string, items ...any) {
	c.body[list] = append(preview.List(c.body, list), items...)
}

// mount adds a mount of a volume, and the volume unless it is there.
func (c *initContainer) mount(mount, volume map[string]any) {
	c.add("volumeMounts", mount)
	named := func(v any) bool {
		one, _ := v.(map[string]any)
		return one["name"] == volume["name"]
	}
	if !slices.ContainsFunc(c.volumes, named) {
		c.volumes = append(c.volumes, volume)
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
