package neighbors

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func storageRows() []Row {
	return []Row{
		{rules.StorageDriver, kinds("storage.k8s.io/CSIDriver"), storageDriver},
		{rules.StorageClass, kinds("storage.k8s.io/StorageClass", "snapshot.storage.k8s.io/VolumeSnapshotClass", "groupsnapshot.storage.k8s.io/VolumeGroupSnapshotClass"), storageClass},
		{rules.VolumeOfOthers, kinds(preview.KindPersistentVolume), volumeOfOthers},
		{rules.VolumeOfOthers, kinds("snapshot.storage.k8s.io/VolumeSnapshotContent", "groupsnapshot.storage.k8s.io/VolumeGroupSnapshotContent"), snapshotContent},
		{rules.VolumeOfOthers, kinds(preview.KindPersistentVolumeClaim, "apps/StatefulSet", preview.KindPod, preview.KindDeployment, preview.KindDaemonSet, "apps/ReplicaSet", "ReplicationController", preview.KindJob, "batch/CronJob", preview.KindPodTemplate), claimOfOthers},
		{rules.VolumeAddress, kinds(preview.KindPersistentVolume), volumeAddress},
		{rules.StorageInternals, kinds("storage.k8s.io/VolumeAttachment", "storage.k8s.io/CSINode", "storage.k8s.io/CSIStorageCapacity"), storageInternals},
	}
}

// storageDriver matches CSIDrivers with tokenRequests: kubelets send them tokens of the
// pods that mount their volumes. A token without audience is for the API server.
func storageDriver(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	for _, request := range preview.Maps(preview.Map(o.Body, "spec"), "tokenRequests") {
		audience := preview.String(request, "audience")
		if audience == "" || strings.HasPrefix(audience, "https://kubernetes.default") {
			v.add(rules.Critical, words.TokensForTheAPIServerOf.Of())
			continue
		}
		v.add(rules.High, words.TokensForAudienceOfEveryPod.Of(audience))
	}
	return v.result()
}

// usualClasses are names of the StorageClasses that clouds and distributions create.
var usualClasses = []string{
	"azurefile", "azurefile-csi", "default", "do-block-storage", "gp2", "gp2-csi", "gp3", "gp3-csi", "hostpath", "hcloud-volumes", "ibmc-block-gold",
	"linode-block-storage", "local-path", "managed", "managed-csi", "managed-premium", "ocs-storagecluster-ceph-rbd", "premium-rwo", "standard",
	"standard-csi", "standard-rwo", "thin", "thin-csi",
}

func storageClass(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	for _, key := range []string{
		"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class",
		"snapshot.storage.kubernetes.io/is-default-class", "groupsnapshot.storage.kubernetes.io/is-default-class",
	} {
		v.addIf(o.annotation(key) == "true", rules.High, words.ObjectsThatNameNoClassAre.Of(key))
	}
	v.addIf(o.Kind == "StorageClass" && slices.Contains(usualClasses, o.Name), rules.High, words.TheNameIsThatOfA.Of(o.Name))
	parameters := preview.Map(o.Body, "parameters")
	for _, key := range sortedKeys(parameters) {
		namespace, _ := parameters[key].(string)
		plain := strings.ReplaceAll(strings.ToLower(key), "-", "")
		if strings.HasSuffix(plain, "secretnamespace") && !strings.Contains(namespace, "${") && o.foreign(namespace) {
			v.add(o.secretLevel(namespace), words.Named.Of(key, namespace))
		}
		v.addIf(slices.Contains(strings.Split(namespace, "/"), ".."), rules.Critical, words.LeavesTheFolderOfTheDriver.Of(key, namespace))
	}
	for _, option := range texts(o.Body["mountOptions"]) {
		v.addIf(slices.Contains([]string{"suid", "dev", "exec"}, option), rules.Medium, words.MountOption.Of(option))
	}
	return v.result()
}

func volumeOfOthers(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	claim := preview.Map(o.Body, "spec", "claimRef")
	if namespace := preview.String(claim, "namespace"); o.foreign(namespace) {
		v.add(rules.High, words.ClaimRefThePodsOfThatClaim.Of(namespace, preview.String(claim, "name")))
	}
	spec := preview.Map(o.Body, "spec")
	for _, source := range sortedKeys(spec) {
		fields, _ := spec[source].(map[string]any)
		for _, field := range sortedKeys(fields) {
			namespace := preview.String(fields, field, "namespace")
			if field == "secretNamespace" || field == "endpointsNamespace" {
				namespace, _ = fields[field].(string)
			}
			if of := strings.ToLower(field); (strings.Contains(of, "secret") || of == "endpointsnamespace") && o.foreign(namespace) {
				v.add(o.secretLevel(namespace), words.ResourceOfNamespace.Of(source, field, namespace))
			}
		}
	}
	return v.result()
}

func snapshotContent(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	source := preview.Map(o.Body, "spec", "source")
	for _, field := range sortedKeys(source) {
		v.add(rules.High, words.ItNamesInStorage.Of(field))
	}
	for _, field := range []string{"volumeSnapshotRef", "volumeGroupSnapshotRef"} {
		namespace := preview.String(o.Body, "spec", field, "namespace")
		v.addIf(o.foreign(namespace), rules.High, words.ObjectInNamespace.Of(field, namespace))
	}
	annotations := preview.Map(o.Body, "metadata", "annotations")
	for _, key := range sortedKeys(annotations) {
		namespace, _ := annotations[key].(string)
		if strings.HasSuffix(key, "-secret-namespace") && o.foreign(namespace) {
			v.add(o.secretLevel(namespace), words.Named.Of(key, namespace))
		}
	}
	return v.result()
}

// claimOfOthers matches PersistentVolumeClaims, and the claim templates of workloads,
// that use storage of others.
func claimOfOthers(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	claims := []map[string]any{}
	if o.Kind == "PersistentVolumeClaim" {
		claims = append(claims, preview.Map(o.Body, "spec"))
	}
	for _, template := range preview.Maps(preview.Map(o.Body, "spec"), "volumeClaimTemplates") {
		claims = append(claims, preview.Map(template, "spec"))
	}
	pod, _ := preview.PodTemplate(o.Body)
	for _, volume := range preview.Maps(pod, "volumes") {
		claims = append(claims, preview.Map(volume, "ephemeral", "volumeClaimTemplate", "spec"))
	}
	for _, spec := range claims {
		if namespace := preview.String(spec, "dataSourceRef", "namespace"); o.foreign(namespace) {
			v.add(rules.High, words.ItsDataIsThatOfIn.Of(preview.String(spec, "dataSourceRef", "name"), namespace))
		}
		if name := preview.String(spec, "volumeName"); name != "" {
			v.add(rules.Medium, words.ItAsksForPersistentVolume.Of(name))
		}
	}
	return v.result()
}

// notSources are fields of a PersistentVolume's spec that are no volume source, and
// hostPath and local, which have a rule of their own.
var notSources = []string{
	"accessModes", "capacity", "claimRef", "hostPath", "local", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy", "storageClassName",
	"volumeAttributesClassName", "volumeMode",
}

// sourceNames are the fields of volume sources that identify the storage, for the
// evidence.
var sourceNames = []string{
	"driver", "server", "path", "share", "targetPortal", "iqn", "monitors", "endpoints", "volumeHandle", "volumeID", "pdName", "diskName", "diskURI", "shareName", "pool", "image",
	"datasetName", "datasetUUID", "gateway", "registry", "volume", "volumeName", "volumeNamespace", "volumePath", "pdID", "targetWWNs", "wwids",
}

// volumeAddress matches PersistentVolumes with a source that names storage by address,
// whichever source it is: unknown ones match too.
func volumeAddress(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	for _, source := range sortedKeys(spec) {
		fields, _ := spec[source].(map[string]any)
		if fields == nil || slices.Contains(notSources, source) {
			continue
		}
		level, text := rules.Medium, source
		for _, field := range sourceNames {
			for _, value := range texts(fields[field]) {
				text += " " + field + "=" + value
			}
		}
		if source == "flexVolume" {
			level = rules.High // the kubelet runs the driver as root of the node
		}
		v.add(level, words.Name.Of(text))
	}
	for _, option := range texts(spec["mountOptions"]) {
		v.addIf(slices.Contains([]string{"suid", "dev", "exec"}, option), rules.Medium, words.MountOption.Of(option))
	}
	return v.result()
}

func storageInternals(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	switch o.Kind {
	case "VolumeAttachment":
		v.add(rules.High, words.AttachesVolumeToNodeBy.Of(preview.String(spec, "source", "persistentVolumeName"), preview.String(spec, "nodeName"), preview.String(spec, "attacher")))
	case "CSINode":
		v.add(rules.High, words.SaysWhichDriversNodeHas.Of(o.Name))
	default:
		v.add(rules.Medium, words.SaysHowMuchStorageThereIs.Of(preview.String(o.Body, "storageClassName")))
	}
	return v.result()
}
