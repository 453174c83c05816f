package preview

import "strings"

// PodAccount returns the name of the ServiceAccount that a pod runs as, empty for the
// default one. As the API server does, it falls back to the deprecated field
// serviceAccount.
func PodAccount(pod map[string]any) string {
	if name := String(pod, "serviceAccountName"); name != "" {
		return name
	}
	return String(pod, "serviceAccount")
}

// PodReferences returns the objects that must exist for a pod to start, such as
// Secrets. Optional references, and objects that every cluster has (the default
// ServiceAccount), are left out.
func PodReferences(pod map[string]any, namespace string) []Ref {
	var refs []Ref
	add := func(apiVersion, kind, ns, name string) {
		if name != "" {
			refs = append(refs, Ref{APIVersion: apiVersion, Kind: kind, Namespace: ns, Name: name})
		}
	}
	if sa := PodAccount(pod); sa != "default" {
		add("v1", "ServiceAccount", namespace, sa)
	}
	if class := String(pod, "priorityClassName"); !strings.HasPrefix(class, "system-") {
		add("scheduling.k8s.io/v1", "PriorityClass", "", class)
	}
	for _, v := range Maps(pod, "volumes") {
		refs = append(refs, sourceReferences(v, namespace, "secretName")...)
		for _, source := range Maps(Map(v, "projected"), "sources") {
			refs = append(refs, sourceReferences(source, namespace, "name")...)
		}
		add("v1", "PersistentVolumeClaim", namespace, String(v, "persistentVolumeClaim", "claimName"))
	}
	for _, field := range []string{"initContainers", "containers"} {
		for _, container := range Maps(pod, field) {
			refs = append(refs, containerReferences(container, namespace)...)
		}
	}
	return refs
}

// sourceReferences returns the Secret and ConfigMap of a volume or a projected source.
// secretKey is the field with the Secret's name: secretName in a volume, name in a
// source.
func sourceReferences(v map[string]any, namespace, secretKey string) []Ref {
	var refs []Ref
	if s := Map(v, "secret"); s != nil && s["optional"] != true && String(s, secretKey) != "" {
		refs = append(refs, Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: String(s, secretKey)})
	}
	if c := Map(v, "configMap"); c != nil && c["optional"] != true && String(c, "name") != "" {
		refs = append(refs, Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: String(c, "name")})
	}
	return refs
}

func containerReferences(container map[string]any, namespace string) []Ref {
	var refs []Ref
	one := func(source map[string]any, secretField, configField string) {
		for field, kind := range map[string]string{secretField: "Secret", configField: "ConfigMap"} {
			s := Map(source, field)
			if name := String(s, "name"); name != "" && s["optional"] != true {
				refs = append(refs, Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name})
			}
		}
	}
	for _, env := range Maps(container, "env") {
		one(Map(env, "valueFrom"), "secretKeyRef", "configMapKeyRef")
	}
	for _, from := range Maps(container, "envFrom") {
		one(from, "secretRef", "configMapRef")
	}
	return refs
}
