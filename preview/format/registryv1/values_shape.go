package registryv1

// valuesShape returns the allowed form of the values: watchNamespace, and
// deploymentConfig with the fields of spec.config in OLM v0's Subscription, except
// selector.
func valuesShape() shape {
	return objectOf(map[string]shape{
		"watchNamespace": {is: isString},
		"deploymentConfig": objectOf(map[string]shape{
			"env":          listOf(envShape()),
			"envFrom":      listOf(envFromShape()),
			"volumes":      listOf(volumeShape()),
			"volumeMounts": listOf(volumeMountShape()),
			"tolerations":  listOf(tolerationShape()),
			"resources":    resourcesShape(),
			"nodeSelector": mapOf(shape{is: isString}),
			"affinity":     affinityShape(),
			"annotations":  mapOf(shape{is: isString}),
		}),
	})
}

func envShape() shape {
	return objectOf(map[string]shape{
		"name":  {is: isString},
		"value": {is: isString},
		"valueFrom": objectOf(map[string]shape{
			"configMapKeyRef": {is: isObject}, "fieldRef": {is: isObject}, "fileKeyRef": {is: isObject},
			"resourceFieldRef": {is: isObject}, "secretKeyRef": {is: isObject},
		}),
	}, "name")
}

func envFromShape() shape {
	ref := objectOf(map[string]shape{"name": {is: isString}, "optional": {is: isBoolean}})
	return objectOf(map[string]shape{"prefix": {is: isString}, "configMapRef": ref, "secretRef": ref})
}

// volumeShape returns the form of a core/v1 Volume, with every volume source by name.
func volumeShape() shape {
	fields := map[string]shape{"name": {is: isString}}
	for _, source := range []string{
		"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI",
		"emptyDir", "ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath",
		"image", "iscsi", "nfs", "persistentVolumeClaim", "photonPersistentDisk", "portworxVolume", "projected",
		"quobyte", "rbd", "scaleIO", "secret", "storageos", "vsphereVolume",
	} {
		fields[source] = shape{is: isObject}
	}
	return objectOf(fields, "name")
}

func volumeMountShape() shape {
	return objectOf(map[string]shape{
		"name": {is: isString}, "mountPath": {is: isString}, "subPath": {is: isString}, "subPathExpr": {is: isString},
		"mountPropagation": {is: isString}, "recursiveReadOnly": {is: isString}, "readOnly": {is: isBoolean},
	}, "name", "mountPath")
}

func tolerationShape() shape {
	return objectOf(map[string]shape{
		"key": {is: isString}, "operator": {is: isString}, "value": {is: isString}, "effect": {is: isString},
		"tolerationSeconds": {is: isInteger},
	})
}

func resourcesShape() shape {
	quantities := mapOf(shape{is: isQuantity})
	return objectOf(map[string]shape{
		"limits": quantities, "requests": quantities,
		"claims": listOf(objectOf(map[string]shape{"name": {is: isString}, "request": {is: isString}}, "name")),
	})
}

func affinityShape() shape {
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	list := listOf(shape{is: isObject})
	pods := objectOf(map[string]shape{required: list, preferred: list})
	return objectOf(map[string]shape{
		"nodeAffinity":    objectOf(map[string]shape{required: {is: isObject}, preferred: list}),
		"podAffinity":     pods,
		"podAntiAffinity": pods,
	})
}
