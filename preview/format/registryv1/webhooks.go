package registryv1

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// customResourceDefinitions returns the CRDs, with the Service of their conversion
// webhook set.
func customResourceDefinitions(b *bundle, p params) ([]format.RenderedObject, error) {
	converted := b.csv.conversions()
	var out []format.RenderedObject
	for _, o := range b.crds {
		if w, ok := converted[o.name()]; ok {
			client := w.client(p.namespace)
			service := preview.Map(client, "service")
			if service["path"] == nil {
				service["path"] = "/"
			}
			child(o.body, "spec")["conversion"] = map[string]any{
				"strategy": "Webhook",
				"webhook": map[string]any{
					"clientConfig":             client,
					"conversionReviewVersions": preview.Clone(w.body["admissionReviewVersions"]),
				},
			}
			injectCA(o.body, w.deploymentName, p)
		}
		out = append(out, format.RenderedObject{Body: o.body, Origin: o.origin})
	}
	return out, nil
}

// client returns the clientConfig of a webhook, without caBundle, which the provider of
// certificates sets.
func (w webhook) client(namespace string) map[string]any {
	service := map[string]any{
		"namespace": namespace, "name": serviceName(w.deploymentName), "port": w.containerPort,
	}
	if w.path != nil {
		service["path"] = w.path
	}
	return map[string]any{"service": service}
}

func validatingWebhooks(b *bundle, p params) ([]format.RenderedObject, error) {
	return b.admission(p, validatingWebhook, "ValidatingWebhookConfiguration"), nil
}

func mutatingWebhooks(b *bundle, p params) ([]format.RenderedObject, error) {
	return b.admission(p, mutatingWebhook, "MutatingWebhookConfiguration", "reinvocationPolicy"), nil
}

// admission returns a webhook configuration for each of the CSV's webhooks of a kind.
// OLM also sets a namespace on these cluster-scoped objects, which the API server
// drops.
func (b *bundle) admission(p params, kind, objectKind string, extra ...string) []format.RenderedObject {
	fields := append(extra, "rules", "failurePolicy", "matchPolicy", "objectSelector", "sideEffects",
		"timeoutSeconds", "admissionReviewVersions")
	var out []format.RenderedObject
	for _, w := range b.csv.webhooks {
		if w.kind != kind {
			continue
		}
		hook := map[string]any{"name": w.name(), "clientConfig": w.client(p.namespace)}
		for _, field := range fields {
			if v := w.body[field]; v != nil {
				hook[field] = v
			}
		}
		if !p.allNamespaces() {
			hook["namespaceSelector"] = map[string]any{"matchExpressions": []any{map[string]any{
				"key": "kubernetes.io/metadata.name", "operator": "In", "values": anyList(p.targets),
			}}}
		}
		body := newObject("admissionregistration.k8s.io/v1", objectKind, "", w.name())
		body["webhooks"] = []any{hook}
		injectCA(body, w.deploymentName, p)
		out = append(out, b.generated(body, w.lines))
	}
	return out
}

// servicePort is one port of a webhook Service; targetPort is an int64 or a
// name.
type servicePort struct {
	port       int64
	targetPort any
}

// webhookServices returns one Service for each deployment with webhooks.
func webhookServices(b *bundle, p params) ([]format.RenderedObject, error) {
	ports := map[string]map[servicePort]bool{}
	for _, w := range b.csv.webhooks {
		port := servicePort{w.containerPort, w.targetPort}
		if port.targetPort == nil {
			port.targetPort = w.containerPort
		}
		if ports[w.deploymentName] == nil {
			ports[w.deploymentName] = map[servicePort]bool{}
		}
		ports[w.deploymentName][port] = true
	}
	var out []format.RenderedObject
	for _, d := range b.csv.deployments {
		if len(ports[d.name]) == 0 {
			continue
		}
		list := slices.SortedFunc(maps.Keys(ports[d.name]), func(x, y servicePort) int {
			return cmp.Or(cmp.Compare(x.port, y.port), cmp.Compare(fmt.Sprint(x.targetPort), fmt.Sprint(y.targetPort)))
		})
		body := newObject("v1", "Service", p.namespace, serviceName(d.name))
		spec := map[string]any{"ports": portBodies(list)}
		if selector := preview.Map(d.spec, "selector", "matchLabels"); selector != nil {
			spec["selector"] = preview.Clone(selector)
		}
		body["spec"] = spec
		certifyService(body, d.name, p)
		out = append(out, b.generated(body, d.lines))
	}
	return out, nil
}

func portBodies(list []servicePort) []any {
	var out []any
	for _, p := range list {
		out = append(out, map[string]any{
			"name": strconv.FormatInt(p.port, 10), "port": p.port, "targetPort": p.targetPort,
		})
	}
	return out
}
