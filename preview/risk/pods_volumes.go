package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/nodepath"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// volumeRules returns the rules about what pods mount, but for paths of the node.
func volumeRules() []entry {
	return []entry{
		{Rule: rules.PodGitRepo, object: podMatch(gitRepos)},
		{Rule: rules.PodVolumeAddress, object: podMatch(addressedVolumes)},
		{Rule: rules.PodImageVolume, object: podMatch(imageVolumes)},
		{Rule: rules.PodSubPath, object: containerMatch(subPaths)},
		{Rule: rules.PodCertificate, object: podMatch(podCertificates)},
	}
}

// nodePaths judges paths of the node; nothing changes it.
var nodePaths = nodepath.Load()

// hostPaths judges paths of the node by where they lead, and by whether the pod can
// write to them. A socket is written to through a read-only mount too.
func hostPaths(pod map[string]any) (Level, []string) {
	level, lines := None, []string(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		if preview.Map(volume, "hostPath") == nil {
			continue
		}
		path := preview.String(volume, "hostPath", "path")
		verdict := nodePaths.Judge(path)
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
				level = Critical
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

// gitRepos finds volumes that the kubelet fills by running git as root, hooks of
// the repository included (CVE-2024-10220).
func gitRepos(pod map[string]any) (Level, []string) {
	var lines []string
	for _, volume := range preview.Maps(pod, "volumes") {
		if source := preview.Map(volume, "gitRepo"); source != nil {
			lines = append(lines, "gitRepo "+preview.EvidenceName(withoutUser(preview.String(source, "repository"))))
		}
	}
	return None, lines
}

// addressedVolume is a volume source that names a server or a disk by itself,
// where a PersistentVolumeClaim leaves this to the administrator of the cluster.
type addressedVolume struct {
	field string
	level Level
	names []string // fields that say what is mounted
	short string   // what it is, for the evidence
}

func addressedSources() []addressedVolume {
	return []addressedVolume{
		{"nfs", High, []string{"server", "path"}, "NFS"},
		{"iscsi", High, []string{"targetPortal", "iqn"}, "iSCSI"},
		{"rbd", High, []string{"monitors", "pool", "image"}, "RBD"},
		{"cephfs", High, []string{"monitors", "path"}, "CephFS"},
		{"glusterfs", High, []string{"endpoints", "path"}, "GlusterFS"},
		{"quobyte", High, []string{"registry", "volume"}, "Quobyte"},
		{"flexVolume", High, []string{"driver"}, "a program of the node runs as root: flexVolume"},
		{"fc", High, []string{"targetWWNs", "wwids"}, "Fibre Channel"},
		{"flocker", Medium, []string{"datasetName", "datasetUUID"}, "Flocker"},
		{"scaleIO", Medium, []string{"gateway", "volumeName"}, "ScaleIO"},
		{"storageos", Medium, []string{"volumeName", "volumeNamespace"}, "StorageOS"},
		{"portworxVolume", Medium, []string{"volumeID"}, "Portworx"},
		{"photonPersistentDisk", Medium, []string{"pdID"}, "a disk of Photon"},
		{"awsElasticBlockStore", High, []string{"volumeID"}, "a disk of the AWS account"},
		{"gcePersistentDisk", High, []string{"pdName"}, "a disk of the Google Cloud project"},
		{"azureDisk", High, []string{"diskName", "diskURI"}, "a disk of the Azure subscription"},
		{"azureFile", High, []string{"shareName", "secretName"}, "a share of an Azure storage account"},
		{"cinder", High, []string{"volumeID"}, "a disk of the OpenStack project"},
		{"vsphereVolume", High, []string{"volumePath"}, "a disk of vSphere"},
		{"csi", Medium, []string{"driver"}, "CSI driver"},
	}
}

// quietDrivers are CSI drivers that make something new for the pod and need no
// address: certificates and identities.
var quietDrivers = []string{"csi.cert-manager.io", "spiffe.csi.cert-manager.io", "csi.spiffe.io", "csi.sharedresource.openshift.io"}

func addressedVolumes(pod map[string]any) (Level, []string) {
	level, lines := None, []string(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		for _, kind := range addressedSources() {
			source := preview.Map(volume, kind.field)
			if source == nil && volume[kind.field] == nil {
				continue
			}
			at, text := kind.level, kind.short
			for _, name := range kind.names {
				if v := strings.Join(words(source[name]), ","); v != "" {
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
func inlineDriver(source map[string]any, text string) (Level, string) {
	driver, level := preview.String(source, "driver"), Medium
	switch {
	case slices.Contains(quietDrivers, driver):
		return Low, text
	case strings.Contains(driver, "hostpath"), strings.Contains(driver, "local"), strings.Contains(driver, "image"):
		level = High
	}
	for _, key := range keysOf(preview.Map(source, "volumeAttributes")) {
		if !preview.SensitiveName(key) {
			text += " " + key + "=" + preview.String(source, "volumeAttributes", key)
		}
	}
	if secret := preview.String(source, "nodePublishSecretRef", "name"); secret != "" {
		text += ", which is given Secret " + secret
	}
	return level, text
}

func imageVolumes(pod map[string]any) (Level, []string) {
	level, lines := None, []string(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		image := preview.String(volume, "image", "reference")
		if image == "" {
			continue
		}
		at, text := High, "volume "+preview.String(volume, "name")+": image "
		if _, ok := digested(image); ok {
			at = Notice
		}
		level, lines = max(level, at), append(lines, text+preview.EvidenceName(image))
	}
	return level, lines
}

func subPaths(_, container map[string]any) (Level, []string) {
	var lines []string
	for _, mount := range preview.Maps(container, "volumeMounts") {
		for _, field := range []string{"subPath", "subPathExpr"} {
			path := preview.String(mount, field)
			if slices.Contains(strings.Split(strings.ReplaceAll(path, `\`, "/"), "/"), "..") {
				lines = append(lines, field+" "+preview.EvidenceName(path))
			}
		}
	}
	return None, lines
}

// podCertificates finds certificates that a pod asks a signer for as itself.
func podCertificates(pod map[string]any) (Level, []string) {
	level, lines := None, []string(nil)
	for _, volume := range preview.Maps(pod, "volumes") {
		for _, source := range preview.Maps(volume, "projected", "sources") {
			signer := preview.String(source, "podCertificate", "signerName")
			if signer == "" {
				continue
			}
			at := Low
			if strings.HasPrefix(signer, "kubernetes.io/") {
				at = Medium
			}
			level, lines = max(level, at), append(lines, "signer "+preview.EvidenceName(signer))
		}
	}
	return level, lines
}
