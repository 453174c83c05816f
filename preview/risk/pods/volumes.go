// Package pods judges what stands in a pod template beside its containers' security
// contexts: volumes, names that lead elsewhere, probes and hooks that send requests.
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
)

// NodePaths judges paths of the node; nothing changes it.
var NodePaths = nodepath.Load()

// HostPaths judges paths of the node by where they lead, and by whether the pod can
// write to them. A socket is written to through a read-only mount too.
func HostPaths(pod map[string]any) (rules.Level, []string) {
	level, lines := rules.None, []string(nil)
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
		level, lines = max(level, at), append(lines, text)
	}
	for _, container := range cloud.Containers(pod) {
		for _, mount := range preview.Maps(container, "volumeMounts") {
			if preview.String(mount, "mountPropagation") == "Bidirectional" {
				level = rules.Critical
				lines = append(lines, "container "+preview.String(container, "name")+" mounts file systems on the node, below "+
					preview.EvidenceName(preview.String(mount, "mountPath"))+" (mountPropagation Bidirectional)")
			}
		}
	}
	return level, lines
}

// readOnly reports whether a volume is mounted, and each time read-only.
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

// GitRepos finds volumes that the kubelet fills by running git as root, hooks of
// the repository included (CVE-2024-10220).
func GitRepos(pod map[string]any) (rules.Level, []string) {
	var lines []string
	for _, volume := range preview.Maps(pod, "volumes") {
		if source := preview.Map(volume, "gitRepo"); source != nil {
			lines = append(lines, "gitRepo "+preview.EvidenceName(WithoutUser(preview.String(source, "repository"))))
		}
	}
	return rules.None, lines
}

// addressedVolume is a volume source that names a server or a disk by itself,
// where a PersistentVolumeClaim leaves this to the administrator of the cluster.
type addressedVolume struct {
	field string
	level rules.Level
	names []string // fields that say what is mounted
	short string   // what it is, for the evidence
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

// quietDrivers are CSI drivers that make something new for the pod and need no
// address: certificates and identities.
var quietDrivers = []string{"csi.cert-manager.io", "spiffe.csi.cert-manager.io", "csi.spiffe.io", "csi.sharedresource.openshift.io"}

// AddressedVolumes finds volumes whose content comes from an address: NFS, iSCSI,
// and CSI drivers that are given one.
func AddressedVolumes(pod map[string]any) (rules.Level, []string) {
	level, lines := rules.None, []string(nil)
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
			level, lines = max(level, at), append(lines, preview.EvidenceName(text))
		}
	}
	return level, lines
}

// inlineDriver judges a CSI driver that a pod names itself: what it mounts stands
// in attributes that only the driver reads.
func inlineDriver(source map[string]any, text string) (rules.Level, string) {
	driver, level := preview.String(source, "driver"), rules.Medium
	switch {
	case slices.Contains(quietDrivers, driver):
		return rules.Low, text
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

// ImageVolumes finds images that are mounted as volumes.
func ImageVolumes(pod map[string]any) (rules.Level, []string) {
	level, lines := rules.None, []string(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		image := preview.String(volume, "image", "reference")
		if image == "" {
			continue
		}
		at, text := rules.High, "volume "+preview.String(volume, "name")+": image "
		if _, ok := Digested(image); ok {
			at = rules.Notice
		}
		level, lines = max(level, at), append(lines, text+preview.EvidenceName(image))
	}
	return level, lines
}

// SubPaths finds mounts whose path leads out of the volume.
func SubPaths(_, container map[string]any) (rules.Level, []string) {
	var lines []string
	for _, mount := range preview.Maps(container, "volumeMounts") {
		for _, field := range []string{"subPath", "subPathExpr"} {
			path := preview.String(mount, field)
			if slices.Contains(strings.Split(strings.ReplaceAll(path, `\`, "/"), "/"), "..") {
				lines = append(lines, field+" "+preview.EvidenceName(path))
			}
		}
	}
	return rules.None, lines
}

// PodCertificates finds certificates that a pod asks a signer for as itself.
func PodCertificates(pod map[string]any) (rules.Level, []string) {
	level, lines := rules.None, []string(nil)
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
			level, lines = max(level, at), append(lines, text)
		}
	}
	return level, lines
}

// Borrowed returns the Secrets and claims of its namespace that a pod names,
// optional ones too.
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

// GroupPriorities returns the priority classes of the groups of pods that an object
// of scheduling.k8s.io makes.
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

// Digested reports whether an image has a digest; otherwise tag is its tag.
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
