package engine_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// workload returns one that runs pods as an account.
func workload(gvr schema.GroupVersionResource, kind, name, account string) map[string]any {
	labels := map[string]any{"app": name}
	pod := map[string]any{"serviceAccountName": account, "containers": []any{map[string]any{"name": "c", "image": thief}}}
	template := map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod}
	spec := map[string]any{"selector": map[string]any{"matchLabels": labels}, "template": template}
	switch kind {
	case "Pod":
		spec = pod
	case "Job":
		pod["restartPolicy"] = "Never"
		spec = map[string]any{"template": template}
	case "CronJob":
		pod["restartPolicy"] = "Never"
		spec = map[string]any{"schedule": "0 0 1 1 *", "jobTemplate": map[string]any{"spec": map[string]any{"template": template}}}
	case "StatefulSet":
		spec["serviceName"] = name
	}
	return map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": name, "labels": labels}, "spec": spec}
}

// runPod has a pod run as another account. The tests of package access obtain the token
// that a kubelet then gives the pod.
func runPod(ctx context.Context, in intruder) (string, error) {
	teller := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "teller"}}
	if _, err := in.admin.CoreV1().ServiceAccounts(in.where()).Create(ctx, teller, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", err
	}
	for _, of := range []struct{ group, resource, kind string }{
		{"", "pods", "Pod"}, {"apps", "deployments", "Deployment"}, {"apps", "replicasets", "ReplicaSet"}, {"apps", "statefulsets", "StatefulSet"}, {"batch", "jobs", "Job"},
		{"apps", "daemonsets", "DaemonSet"}, {"batch", "cronjobs", "CronJob"},
	} {
		verbs := []string{"create", "update", "patch"}
		if of.kind == "Pod" || of.kind == "Job" { // their templates stay as they are
			verbs = verbs[:1]
		}
		if !slices.ContainsFunc(verbs, func(verb string) bool { return in.may(ctx, verb, of.group, of.resource, "") == nil }) {
			continue
		}
		gvr, name := schema.GroupVersionResource{Group: of.group, Version: "v1", Resource: of.resource}, "intruder-"+utilrand.String(5)
		verb, made, err := in.write(ctx, gvr, in.where(), workload(gvr, of.kind, name, "default"), workload(gvr, of.kind, name, teller.Name))
		if err != nil {
			return "", err
		}
		defer func() { _ = in.objects.Resource(gvr).Namespace(in.where()).Delete(ctx, name, metav1.DeleteOptions{}) }()
		if pod, _ := preview.PodTemplate(made.Object); preview.PodAccount(pod) != teller.Name {
			return "", fmt.Errorf("the stored %s runs as another account", of.kind)
		}
		did := "runs pods of its choice as any ServiceAccount of namespace " + in.where() + ", by " + verb + " on " + of.resource
		if of.kind == "DaemonSet" || of.kind == "CronJob" { // its pods wait for a node, or for the next year
			return did, nil
		}
		return did, eventually(ctx, "a pod that runs as the account", func(ctx context.Context) bool {
			pods, err := in.admin.CoreV1().Pods(in.where()).List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
			return err == nil && len(pods.Items) > 0 && pods.Items[0].Spec.ServiceAccountName == teller.Name
		})
	}
	return "", errors.New("it may write no workload")
}

// signCertificate issues a certificate for a request of another, from the signer whose
// certificates the API server takes for logins. That the authority trusted for them issues
// it takes the key of that authority too, which no right gives.
func signCertificate(ctx context.Context, in intruder) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	name := pkix.Name{CommonName: "system:kube-controller-manager"}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: name}, key)
	if err != nil {
		return "", err
	}
	requests := in.admin.CertificatesV1().CertificateSigningRequests()
	made, err := requests.Create(ctx, &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "victim-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeAPIServerClientSignerName, Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: name}, &x509.Certificate{Subject: name}, &key.PublicKey, key)
	if err != nil {
		return "", err
	}
	made.Status.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	if _, err := in.client.CertificatesV1().CertificateSigningRequests().UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return "", err
	}
	got, err := requests.Get(ctx, made.Name, metav1.GetOptions{})
	if err == nil && !slices.Equal(got.Status.Certificate, made.Status.Certificate) {
		err = errors.New("the request has another certificate")
	}
	return "issues certificates in place of a signer of Kubernetes", err
}

// define has the sandbox serve a kind of others, with any content.
func (in intruder) define(ctx context.Context, gvr schema.GroupVersionResource, kind, scope string) error {
	crds := in.objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err := crds.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": gvr.Resource + "." + gvr.Group, "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a test"}},
		"spec": map[string]any{
			"group": gvr.Group, "scope": scope, "names": map[string]any{"kind": kind, "plural": gvr.Resource, "singular": strings.ToLower(kind)},
			"versions": []any{map[string]any{"name": gvr.Version, "served": true, "storage": true, "schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}},
		},
	}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return eventually(ctx, "the kind is served", func(ctx context.Context) bool {
		_, err := in.objects.Resource(gvr).List(ctx, metav1.ListOptions{})
		return err == nil
	})
}

// order writes an object of a kind that the sandbox serves for the test, and checks that
// it is stored with the intruder's content. The controllers that act on the kind are not
// here: they need pods that run, and their own clusters makers.
func (in intruder) order(ctx context.Context, gvr schema.GroupVersionResource, kind, scope string, ours map[string]any) (verb string, err error) {
	if err := in.define(ctx, gvr, kind, scope); err != nil {
		return "", err
	}
	namespace := in.where()
	if scope == "Cluster" {
		namespace = ""
	}
	head := map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": "intruder-" + utilrand.String(5)}}
	theirs := maps.Clone(head)
	maps.Copy(ours, head)
	verb, made, err := in.write(ctx, gvr, namespace, theirs, ours)
	if err != nil {
		return "", err
	}
	stored, err := in.objects.Resource(gvr).Namespace(namespace).Get(ctx, made.GetName(), metav1.GetOptions{})
	for key := range ours {
		if err == nil && stored.Object[key] == nil {
			err = fmt.Errorf("the stored %s has no %s", kind, key)
		}
	}
	return verb, err
}

// orderInstallation has an installer install what the intruder says.
func orderInstallation(ctx context.Context, in intruder) (string, error) {
	for _, of := range []struct{ group, version, resource, kind string }{
		{"operators.coreos.com", "v1alpha1", "subscriptions", "Subscription"}, {"operators.coreos.com", "v1", "operatorgroups", "OperatorGroup"},
		{"argoproj.io", "v1alpha1", "applications", "Application"}, {"operators.coreos.com", "v1alpha1", "clusterserviceversions", "ClusterServiceVersion"},
	} {
		for _, verb := range []string{"create", "update", "patch"} {
			if in.may(ctx, verb, of.group, of.resource, "") != nil {
				continue
			}
			gvr := schema.GroupVersionResource{Group: of.group, Version: of.version, Resource: of.resource}
			verb, err := in.order(ctx, gvr, of.kind, "Namespaced", map[string]any{"spec": map[string]any{"source": thief}})
			return "orders installations, by " + verb + " on " + of.resource + " of " + of.group, err
		}
	}
	return "", errors.New("it may write none of the kinds that install")
}

// writeConstraint permits privileged pods to the intruder. Only OpenShift admits pods by
// the kind.
func writeConstraint(ctx context.Context, in intruder) (string, error) {
	verb, err := in.order(ctx, schema.GroupVersionResource{Group: "security.openshift.io", Version: "v1", Resource: "securitycontextconstraints"}, "SecurityContextConstraints", "Cluster", map[string]any{
		"allowPrivilegedContainer": true, "users": []any{"system:serviceaccount:" + in.subject.Namespace + ":" + in.subject.Name},
	})
	return "permits itself privileged pods, by " + verb + " on securitycontextconstraints", err
}
