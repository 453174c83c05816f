package certmanager

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// annotationInject is the annotation that names the Certificate, as NAMESPACE/NAME,
// whose CA is to be written into the annotated object's CA bundles.
const annotationInject = "cert-manager.io/inject-ca-from"

// injectables returns the kinds that have a CA bundle, such as webhook configurations.
func injectables() []schema.GroupVersionResource {
	const admission = "admissionregistration.k8s.io"
	return []schema.GroupVersionResource{
		{Group: admission, Version: "v1", Resource: "validatingwebhookconfigurations"},
		{Group: admission, Version: "v1", Resource: "mutatingwebhookconfigurations"},
		crds,
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	}
}

// inject fills the CA bundles of an object whose annotation asks for it.
func (c *controller) inject(ctx context.Context, o *unstructured.Unstructured) error {
	namespace, name, ok := strings.Cut(o.GetAnnotations()[annotationInject], "/")
	if !ok {
		return nil
	}
	certificate, err := c.client.Resource(certificates).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	secretName, _, _ := unstructured.NestedString(certificate.Object, "spec", "secretName")
	bundle, err := c.secretKey(ctx, namespace, secretName, keyCA)
	if err != nil {
		return err
	}
	if !setBundle(o, base64.StdEncoding.EncodeToString(bundle)) {
		return nil
	}
	kind, err := kindOf(o)
	if err != nil {
		return err
	}
	_, err = c.client.Resource(kind).Update(ctx, o, metav1.UpdateOptions{FieldManager: fieldManager + "-cainjector"})
	return err
}

func kindOf(o *unstructured.Unstructured) (schema.GroupVersionResource, error) {
	for _, kind := range injectables() {
		if kind.Group == o.GroupVersionKind().Group && strings.HasPrefix(kind.Resource, strings.ToLower(o.GetKind())) {
			return kind, nil
		}
	}
	return schema.GroupVersionResource{}, fmt.Errorf("%s has no CA bundle", o.GetKind())
}

// setBundle sets every caBundle of an object, and reports whether that changed any.
func setBundle(o *unstructured.Unstructured, bundle string) bool {
	changed := false
	set := func(in map[string]any) {
		if in != nil && in["caBundle"] != bundle {
			in["caBundle"], changed = bundle, true
		}
	}
	if webhooks, ok := o.Object["webhooks"].([]any); ok {
		for _, item := range webhooks {
			webhook, _ := item.(map[string]any)
			client, _ := webhook["clientConfig"].(map[string]any)
			set(client)
		}
	}
	switch o.GetKind() {
	case "CustomResourceDefinition":
		client, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "conversion", "webhook", "clientConfig")
		in, _ := client.(map[string]any)
		set(in)
	case "APIService":
		spec, _ := o.Object["spec"].(map[string]any)
		set(spec)
	}
	return changed
}

// secretKey reads the value of one key of a Secret.
func (c *controller) secretKey(ctx context.Context, namespace, name, key string) ([]byte, error) {
	secret, err := c.client.Resource(secrets).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	encoded, found, _ := unstructured.NestedString(secret.Object, "data", key)
	if !found {
		return nil, fmt.Errorf("secret %s/%s has no %s", namespace, name, key)
	}
	return base64.StdEncoding.DecodeString(encoded)
}
