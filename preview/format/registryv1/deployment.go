package registryv1

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// The annotations OLM gives to pod templates. Operators read them through the
// downward API to learn what to watch.
const (
	targetNamespacesAnnotation  = "olm.targetNamespaces"
	operatorNamespaceAnnotation = "olm.operatorNamespace"
	certificateAnnotation       = "webhook-certificate-sha256"
)

// deployments returns the CSV's Deployments. Their specs are as written, except for
// revisionHistoryLimit, the pod template's annotations, certificate volumes and what
// the user's deploymentConfig sets.
func deployments(b *bundle, p params) ([]format.RenderedObject, error) {
	serving := map[string]bool{}
	for _, w := range b.csv.webhooks {
		serving[w.deploymentName] = true
	}
	var out []format.RenderedObject
	for _, d := range b.csv.deployments {
		body := newObject("apps/v1", "Deployment", p.namespace, d.name)
		if len(d.labels) > 0 {
			preview.Map(body, "metadata")["labels"] = d.labels
		}
		body["spec"] = d.spec
		d.spec["revisionHistoryLimit"] = int64(1)
		annotateTemplate(d.spec, b.csv.annotations, p)
		if serving[d.name] && p.provisioned() {
			mountCertificate(d.spec, certName(d.name))
		}
		if cert, ok := p.certificates[d.name]; ok { // pods start again with a renewed one: not all read it anew
			annotateTemplate(d.spec, map[string]string{certificateAnnotation: cert.fingerprint()}, p)
		}
		configure(body, p.config)
		out = append(out, b.generated(body, d.lines))
	}
	return out, nil
}

// child returns the map under a key, and creates it if missing.
func child(m map[string]any, key string) map[string]any {
	c, ok := m[key].(map[string]any)
	if !ok {
		c = map[string]any{}
		m[key] = c
	}
	return c
}

func annotateTemplate(spec map[string]any, inherited map[string]string, p params) {
	annotations := child(child(child(spec, "template"), "metadata"), "annotations")
	for key, value := range inherited {
		if _, set := annotations[key]; !set {
			annotations[key] = value
		}
	}
	annotations[targetNamespacesAnnotation] = strings.Join(p.targets, ",")
	annotations[operatorNamespaceAnnotation] = p.namespace
}

// certMount is a volume and the path where operators built for OLM expect their serving
// certificate.
type certMount struct{ volume, path, cert, key string }

// certMounts returns the mounts for webhooks and for extension API servers. As OLM
// does, both are added to every Deployment with webhooks.
func certMounts() [2]certMount {
	return [2]certMount{
		{"webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"},
		{"apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"},
	}
}

// mountCertificate adds the certificate's volumes and mounts to a Deployment, in place
// of any with the same names or paths that the CSV has.
func mountCertificate(spec map[string]any, secret string) {
	pod := child(child(spec, "template"), "spec")
	mounts := certMounts()
	names, paths := map[any]bool{}, map[any]bool{}
	for _, m := range mounts {
		names[m.volume], paths[m.path] = true, true
	}
	containers := mappings(pod["containers"])
	for _, c := range containers {
		for _, mount := range mappings(c["volumeMounts"]) {
			if name, ok := mount["name"].(string); ok && paths[mount["mountPath"]] {
				names[name] = true
			}
		}
	}
	taken := func(item any) bool {
		m, _ := item.(map[string]any)
		return names[m["name"]]
	}
	volumes := slices.DeleteFunc(preview.List(pod, "volumes"), taken)
	for _, m := range mounts {
		volumes = append(volumes, certVolume(m, secret))
	}
	pod["volumes"] = volumes
	for _, c := range containers {
		list := slices.DeleteFunc(preview.List(c, "volumeMounts"), taken)
		for _, m := range mounts {
			list = append(list, map[string]any{"name": m.volume, "mountPath": m.path})
		}
		c["volumeMounts"] = list
	}
}

func certVolume(m certMount, secret string) map[string]any {
	return map[string]any{
		"name": m.volume,
		"secret": map[string]any{
			"secretName": secret,
			"items": []any{
				map[string]any{"key": "tls.crt", "path": m.cert},
				map[string]any{"key": "tls.key", "path": m.key},
			},
		},
	}
}

// mappings returns the items of a list that are mappings.
func mappings(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
