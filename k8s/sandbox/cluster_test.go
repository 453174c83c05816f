package sandbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

func TestClusterPods(t *testing.T) {
	sb := sandboxtest.Start(t)
	client := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, client)

	for name, test := range map[string]struct {
		fault string
		want  observed
	}{
		"become Ready": {
			want: observed{Phase: corev1.PodRunning, Ready: true},
		},
		"fail to pull their image on demand": {
			fault: "image-pull",
			want:  observed{Phase: corev1.PodPending, Waiting: "ImagePullBackOff"},
		},
		"crash on demand": {
			fault: "crash-loop",
			want:  observed{Phase: corev1.PodRunning, Waiting: "CrashLoopBackOff", Restarts: 5, ExitCode: 1},
		},
		"never start on demand": {
			fault: "pending",
			want:  observed{Phase: corev1.PodPending, Waiting: "ContainerCreating"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := newPod(namespace, test.fault)
			created, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := observe(awaitStatus(t, client, created))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("pod status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClusterFaultsFollowTheAnnotation(t *testing.T) {
	sb := sandboxtest.Start(t)
	client := newClient(t, sb.Kubeconfig())
	pods := client.CoreV1().Pods(newNamespace(t, client))

	for name, test := range map[string]struct {
		before, after string
		want          observed
	}{
		"a pod without its image starts once the fault is removed": {
			before: "image-pull",
			want:   observed{Phase: corev1.PodRunning, Ready: true},
		},
		"a running pod crashes when the fault is added": {
			after: "crash-loop",
			want:  observed{Phase: corev1.PodRunning, Waiting: "CrashLoopBackOff", Restarts: 5, ExitCode: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := pods.Create(t.Context(), newPod("", test.before), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			pod = awaitStatus(t, client, pod)
			pod.Annotations = map[string]string{sandbox.FaultAnnotation: test.after}
			if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			awaitPod(t, client, pod, func(p *corev1.Pod) bool { return observe(p) == test.want })
		})
	}
}

func TestClusterAuditLogTellsWhatWasPersisted(t *testing.T) {
	sb := sandboxtest.Start(t)
	const user = "audited"
	admin := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, admin)
	grant(t, admin, namespace, user, rbacv1.PolicyRule{
		Verbs: []string{"create", "get"}, APIGroups: []string{""}, Resources: []string{"configmaps"},
	})
	client := newClient(t, sandboxtest.User(t, sb, user)).CoreV1()

	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dry"}}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if _, err := client.ConfigMaps(namespace).Create(t.Context(), configMap, dryRun); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Secrets(namespace).Create(t.Context(), &corev1.Secret{}, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("creating a Secret: %v, want forbidden", err)
	}
	if got := sandboxtest.Mutations(t, sb, user); len(got) != 0 {
		t.Errorf("a dry run and a refused request count as mutations: %v", got)
	}
	configMap.Name = "real"
	if _, err := client.ConfigMaps(namespace).Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got := sandboxtest.Mutations(t, sb, user)
	if len(got) != 1 || got[0].String() != "create core/configmaps "+namespace+"/real" {
		t.Errorf("mutations = %v, want the one create", got)
	}
}

func TestClusterUsersHaveOnlyWhatRBACGrants(t *testing.T) {
	sb := sandboxtest.Start(t)
	admin := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, admin)
	grant(t, admin, namespace, "reader", rbacv1.PolicyRule{
		Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"configmaps"},
	})
	for name, test := range map[string]struct {
		user    string
		groups  []string
		allowed bool
	}{
		"the named user may":             {"reader", nil, true},
		"another user may not":           {"other", []string{"readers"}, false},
		"a member of system:masters may": {"boss", []string{"system:masters"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, sandboxtest.User(t, sb, test.user, test.groups...))
			_, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
			if allowed := err == nil; allowed != test.allowed || err != nil && !apierrors.IsForbidden(err) {
				t.Errorf("listing: %v; want allowed = %v", err, test.allowed)
			}
		})
	}
}

func TestClusterWebhookServicesFailAtOnceWithAnExplanation(t *testing.T) {
	sb := sandboxtest.Start(t)
	client := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, client)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "hook"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
	}
	if _, err := client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hook := validatingWebhook(namespace)
	hooks := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := hooks.Create(t.Context(), hook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hooks.Delete(context.Background(), hook.Name, metav1.DeleteOptions{}) })

	// The API server learns of the webhook by a watch; until then creates work.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}}
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap, metav1.CreateOptions{})
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), "the-sandbox-has-no-pod-network") {
			t.Errorf("error = %v, want one that explains itself", err)
		}
		return
	}
}

// observed holds what a test expects of a pod with one container.
type observed struct {
	Phase    corev1.PodPhase
	Ready    bool
	Waiting  string
	Restarts int32
	ExitCode int32
}

func observe(pod *corev1.Pod) observed {
	o := observed{Phase: pod.Status.Phase}
	for _, c := range pod.Status.Conditions {
		o.Ready = o.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	for _, c := range pod.Status.ContainerStatuses {
		o.Restarts = c.RestartCount
		if c.State.Waiting != nil {
			o.Waiting = c.State.Waiting.Reason
		}
		if c.LastTerminationState.Terminated != nil {
			o.ExitCode = c.LastTerminationState.Terminated.ExitCode
		}
	}
	return o
}

// awaitStatus returns the pod once kwok has written a status for its container.
func awaitStatus(t *testing.T, client kubernetes.Interface, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	return awaitPod(t, client, pod, func(p *corev1.Pod) bool { return len(p.Status.ContainerStatuses) > 0 })
}

func awaitPod(t *testing.T, client kubernetes.Interface, pod *corev1.Pod, done func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	source := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", pod.Namespace,
		fields.OneTermEqualSelector("metadata.name", pod.Name))
	event, err := watchtools.UntilWithSync(ctx, source, &corev1.Pod{}, nil, func(e watch.Event) (bool, error) {
		p, ok := e.Object.(*corev1.Pod)
		return ok && done(p), nil
	})
	if err != nil {
		t.Fatalf("waiting for pod %s: %v", pod.Name, err)
	}
	got, ok := event.Object.(*corev1.Pod)
	if !ok {
		t.Fatalf("waiting for pod %s: got a %T", pod.Name, event.Object)
	}
	return got
}

func newClient(t *testing.T, kubeconfig string) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
