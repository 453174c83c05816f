package certmanager

import (
	"context"
	_ "embed"
	"encoding/base64"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed serviceca.yaml
var serviceCADefinition []byte

// The annotations of OpenShift's service-ca.
const (
	annotationServing     = "service.beta.openshift.io/serving-cert-secret-name"
	annotationServiceCA   = "service.beta.openshift.io/inject-cabundle"
	serviceCASecret       = "signing-key"
	serviceCANamespace    = "openshift-service-ca"
	serviceCAFieldManager = "service-ca-operator"
	serviceCASigner       = "service-serving-signer"
)

var (
	services   = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// InstallServiceCA makes the API of OpenShift's service-ca, and the authority that it
// issues with. [Run] then issues certificates for annotated Services, and injects the
// authority where the annotation asks for it.
func InstallServiceCA(ctx context.Context, kubeconfig string) error {
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	if err := define(ctx, client, serviceCADefinition); err != nil {
		return err
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": serviceCANamespace},
	}}
	if _, err := client.Resource(namespaces).Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	request := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"commonName": serviceCASigner, "isCA": true}}}
	cert, key, ca, err := sign(request, keyPair{})
	if err != nil {
		return err
	}
	return store(ctx, client, serviceCANamespace, serviceCASecret, cert, key, ca)
}

// settleService issues the certificate that a Service asks for, once.
func (c *controller) settleService(ctx context.Context, o *unstructured.Unstructured) error {
	name := o.GetAnnotations()[annotationServing]
	if name == "" {
		return nil
	}
	if _, err := c.client.Resource(secrets).Namespace(o.GetNamespace()).Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	signer, err := c.serviceAuthority(ctx)
	if err != nil {
		return err
	}
	host := o.GetName() + "." + o.GetNamespace() + ".svc"
	request := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"commonName": host, "dnsNames": []any{host, host + ".cluster.local"}}}}
	cert, key, ca, err := sign(request, signer)
	if err != nil {
		return err
	}
	return store(ctx, c.client, o.GetNamespace(), name, cert, key, ca)
}

func (c *controller) serviceAuthority(ctx context.Context) (keyPair, error) {
	cert, err := c.secretKey(ctx, serviceCANamespace, serviceCASecret, keyCert)
	if err != nil {
		return keyPair{}, err
	}
	key, err := c.secretKey(ctx, serviceCANamespace, serviceCASecret, keyPrivate)
	if err != nil {
		return keyPair{}, err
	}
	return parseKeyPair(cert, key)
}

// injectServiceCA fills in the authority where the annotation asks for it.
func (c *controller) injectServiceCA(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetAnnotations()[annotationServiceCA] != "true" {
		return nil
	}
	bundle, err := c.secretKey(ctx, serviceCANamespace, serviceCASecret, keyCA)
	if err != nil || !setBundle(o, base64.StdEncoding.EncodeToString(bundle)) {
		return err
	}
	kind, err := kindOf(o)
	if err != nil {
		return err
	}
	_, err = c.client.Resource(kind).Update(ctx, o, metav1.UpdateOptions{FieldManager: serviceCAFieldManager})
	return err
}
