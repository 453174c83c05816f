// Package pods has rules about fields of a pod template other than the security
// contexts: volumes, host names, environment variables, probes and hooks.
package pods

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/nodepath"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// NodePaths is the table of node paths. It is never modified.
var NodePaths = nodepath.Load()

// HostPaths matches pods with hostPath volumes. The level depends on the path, and on
// whether the pod can write there; a socket can be written to through a read-only mount
// too.
func HostPaths(pod map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		if preview.Map(volume, "hostPath") == nil {
			continue
		}
		path := preview.String(volume, "hostPath", "path")
		verdict := NodePaths.Judge(path)
		at, text := verdict.Writable, "hostPath "+preview.EvidenceName(path)
		if readOnly(pod, preview.String(volume, "name")) {
			at, text = verdict.ReadOnly, text+" read-only"
		}
		if verdict.Leads != "" {
			text += " (" + verdict.Leads + ")"
		}
		level, lines = max(level, at), append(lines, words.Name.Of(text))
	}
	for _, container := range cloud.Containers(pod) {
		for _, mount := range preview.Maps(container, "volumeMounts") {
			if preview.String(mount, "mountPropagation") == "Bidirectional" {
				level = rules.Critical
				lines = append(lines, words.ContainerMountsFileSystemsOnThe.Of(preview.String(container, "name"), preview.EvidenceName(preview.String(mount, "mountPath"))))
			}
		}
	}
	return level, lines
}

// readOnly reports whether at least one container mounts a volume, and all mounts of it
// are read-only.
func readOnly(pod map[string]any, volume string) bool {
	mounted := false
	for _, container := range cloud.Containers(pod) {
		for _, mount := range preview.Maps(container, "volumeMounts") {
			if preview.String(mount, "name") == volume {
				if mount["readOnly"] != true {
					return false
				}
				mounted = true
			}
		}
	}
	return mounted
}

// GitRepos matches pods with gitRepo volumes. For these the kubelet runs git as root,
// with the hooks of the repository (CVE-2024-10220).
func GitRepos(pod map[string]any) (rules.Level, []preview.Seen) {
	var lines []preview.Seen
	for _, volume := range preview.Maps(pod, "volumes") {
		if source := preview.Map(volume, "gitRepo"); source != nil {
			lines = append(lines, words.GitRepo.Of(preview.EvidenceName(WithoutUser(preview.String(source, "repository")))))
		}
	}
	return rules.None, lines
}

// addressedVolume is a volume source by which a pod names a server or disk itself, such
// as nfs. With a PersistentVolumeClaim, the administrator of the cluster decides this.
type addressedVolume struct {
	field string
	level rules.Level
	names []string // fields that say what is mounted
	short string   // what the source is, for the evidence
}

func addressedSources() []addressedVolume {
	return []addressedVolume{
		{"nfs", rules.High, []string{"server", "path"}, "NFS"},
		{"iscsi", rules.High, []string{"targetPortal", "iqn"}, "iSCSI"},
		{"rbd", rules.High, []string{"monitors", "pool", "image"}, "RBD"},
		{"cephfs", rules.High, []string{"monitors", "path"}, "CephFS"},
		{"glusterfs", rules.High, []string{"endpoints", "path"}, "GlusterFS"},
		{"quobyte", rules.High, []string{"registry", "volume"}, "Quobyte"},
		{"flexVolume", rules.High, []string{"driver"}, "a program of the node runs as root: flexVolume"},
		{"fc", rules.High, []string{"targetWWNs", "wwids"}, "Fibre Channel"},
		{"flocker", rules.Medium, []string{"datasetName", "datasetUUID"}, "Flocker"},
		{"scaleIO", rules.Medium, []string{"gateway", "volumeName"}, "ScaleIO"},
		{"storageos", rules.Medium, []string{"volumeName", "volumeNamespace"}, "StorageOS"},
		{"portworxVolume", rules.Medium, []string{"volumeID"}, "Portworx"},
		{"photonPersistentDisk", rules.Medium, []string{"pdID"}, "a disk of Photon"},
		{"awsElasticBlockStore", rules.High, []string{"volumeID"}, "a disk of the AWS account"},
		{"gcePersistentDisk", rules.High, []string{"pdName"}, "a disk of the Google Cloud project"},
		{"azureDisk", rules.High, []string{"diskName", "diskURI"}, "a disk of the Azure subscription"},
		{"azureFile", rules.High, []string{"shareName", "secretName"}, "a share of an Azure storage account"},
		{"cinder", rules.High, []string{"volumeID"}, "a disk of the OpenStack project"},
		{"vsphereVolume", rules.High, []string{"volumePath"}, "a disk of vSphere"},
		{"csi", rules.Medium, []string{"driver"}, "CSI driver"},
	}
}

// quietDrivers are CSI drivers that create new content for the pod, such as
// certificates, and take no address.
var quietDrivers = []string{"csi.cert-manager.io", "spiffe.csi.cert-manager.io", "csi.spiffe.io"}

// sharingDriver is the CSI driver that mounts a Secret or ConfigMap of another namespace, by
// the name of an object that says which.
const sharingDriver = "csi.sharedresource.openshift.io"

// AddressedVolumes matches pods with volumes whose source the pod names itself: nfs,
// iscsi and the like, and CSI drivers.
func AddressedVolumes(pod map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		for _, kind := range addressedSources() {
			source := preview.Map(volume, kind.field)
			if source == nil && volume[kind.field] == nil {
				continue
			}
			at, text := kind.level, kind.short
			for _, name := range kind.names {
				if v := strings.Join(sortedTexts(source[name]), ","); v != "" {
					text += " " + v
				} else if v := preview.String(source, name); v != "" {
					text += " " + v
				}
			}
			if kind.field == "csi" {
				at, text = inlineDriver(source, text)
			}
			level, lines = max(level, at), append(lines, words.Name.Of(preview.EvidenceName(text)))
		}
	}
	return level, lines
}

// inlineDriver returns level and evidence of a CSI volume in a pod. What it mounts is
// in volumeAttributes, which only the driver understands.
func inlineDriver(source map[string]any, text string) (rules.Level, string) {
	driver, level := preview.String(source, "driver"), rules.Medium
	switch {
	case slices.Contains(quietDrivers, driver):
		return rules.Low, text
	case driver == sharingDriver && preview.String(source, "volumeAttributes", "sharedConfigMap") == "":
		level, text = rules.Critical, text+", which mounts a Secret of another namespace"
	case driver == sharingDriver:
		level = rules.Medium
	case strings.Contains(driver, "hostpath"), strings.Contains(driver, "local"), strings.Contains(driver, "image"):
		level = rules.High
	}
	for _, key := range slices.Sorted(maps.Keys(preview.Map(source, "volumeAttributes"))) {
		if !preview.SensitiveName(key) {
			text += " " + key + "=" + preview.String(source, "volumeAttributes", key)
		}
	}
	if secret := preview.String(source, "nodePublishSecretRef", "name"); secret != "" {
		text += ", which is given Secret " + secret
	}
	return level, text
}

// ImageVolumes matches pods that mount images as volumes.
func ImageVolumes(pod map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		image := preview.String(volume, "image", "reference")
		if image == "" {
			continue
		}
		at, text := rules.High, "volume "+preview.String(volume, "name")+": image "
		if _, ok := Digested(image); ok {
			at = rules.Notice
		}
		level, lines = max(level, at), append(lines, words.Name.Of(text+preview.EvidenceName(image)))
	}
	return level, lines
}

// SubPaths matches containers with a subPath that has "..", which leads out of the
// volume.
func SubPaths(_, container map[string]any) (rules.Level, []preview.Seen) {
	var lines []preview.Seen
	for _, mount := range preview.Maps(container, "volumeMounts") {
		for _, field := range []string{"subPath", "subPathExpr"} {
			path := preview.String(mount, field)
			if slices.Contains(strings.Split(strings.ReplaceAll(path, `\`, "/"), "/"), "..") {
				lines = append(lines, words.Setting.Of(field, preview.EvidenceName(path)))
			}
		}
	}
	return rules.None, lines
}

// PodCertificates matches pods with podCertificate volumes, for which a signer issues a
// certificate with the pod's identity.
func PodCertificates(pod map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		for _, source := range preview.Maps(volume, "projected", "sources") {
			asked := preview.Map(source, "podCertificate")
			signer := preview.String(asked, "signerName")
			if signer == "" {
				continue
			}
			at, text := rules.Low, "signer "+preview.EvidenceName(signer)
			if strings.HasPrefix(signer, "kubernetes.io/") {
				at = rules.Medium
			}
			if seconds, ok := asked["maxExpirationSeconds"].(int64); ok {
				text += fmt.Sprintf(", for up to %d hours", seconds/3600)
			}
			passed := preview.Map(asked, "userAnnotations")
			for _, key := range slices.Sorted(maps.Keys(passed)) {
				text += ", " + preview.EvidenceName(key+"="+preview.String(passed, key))
			}
			level, lines = max(level, at), append(lines, words.Name.Of(text))
		}
	}
	return level, lines
}

// Borrowed returns references to the Secrets and PersistentVolumeClaims of its
// namespace that a pod uses, optional ones included.
func Borrowed(pod map[string]any, namespace string) []preview.Ref {
	var out []preview.Ref
	add := func(kind, name string) {
		if name != "" {
			out = append(out, preview.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name})
		}
	}
	for _, volume := range preview.Maps(pod, "volumes") {
		add("PersistentVolumeClaim", preview.String(volume, "persistentVolumeClaim", "claimName"))
		for _, kind := range slices.Sorted(maps.Keys(volume)) {
			source := preview.Map(volume, kind)
			add("Secret", preview.String(source, "secretName"))
			add("Secret", preview.String(source, "secretRef", "name"))
			add("Secret", preview.String(source, "nodePublishSecretRef", "name"))
		}
		for _, source := range preview.Maps(volume, "projected", "sources") {
			add("Secret", preview.String(source, "secret", "name"))
		}
	}
	for _, container := range cloud.Containers(pod) {
		for _, env := range preview.Maps(container, "env") {
			add("Secret", preview.String(env, "valueFrom", "secretKeyRef", "name"))
		}
		for _, from := range preview.Maps(container, "envFrom") {
			add("Secret", preview.String(from, "secretRef", "name"))
		}
	}
	return out
}

// GroupPriorities returns the values of priorityClassName in an object of
// scheduling.k8s.io, such as a PodGroup, at any depth.
func GroupPriorities(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		if class := preview.String(v, "priorityClassName"); class != "" {
			out = append(out, class)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, GroupPriorities(v[key])...)
		}
	case []any:
		for _, item := range v {
			out = append(out, GroupPriorities(item)...)
		}
	}
	return out
}

// Digested reports whether an image is named by sha256 digest. If ok is false, tag is
// its tag, empty if it has none.
func Digested(image string) (tag string, ok bool) {
	name, digest, ok := strings.Cut(image, "@")
	if ok && strings.HasPrefix(digest, "sha256:") {
		return "", true
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return name[i+1:], false
	}
	return "", false
}

// sortedTexts returns the strings of a decoded list, sorted.
func sortedTexts(v any) []string { return slices.Sorted(slices.Values(preview.Texts(v))) }

// WithoutUser returns a URL without user, password and query.
func WithoutUser(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "a URL that cannot be read"
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}
