package planning_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
)

// followedStory is an owner with controllers: what they follow, and their workloads.
type followedStory struct {
	name, api, kind, plural, status string
	workload                        string   // the kind of the workloads
	labels                          string   // labels of a workload and its pods; NAME stands for the name of the controller
	controllers                     []string // by the names that limits have
	found                           string   // the kind of the workloads in limits
	find                            func(ctx context.Context, c applier.Cluster, r preview.Release, asked applier.Controlled) (*applier.Found, error)
}

func followedStories() []followedStory {
	const component = "app.kubernetes.io/component: NAME"
	return []followedStory{
		{
			"HelmRelease", "helm.toolkit.fluxcd.io/v2", "HelmRelease", "helmreleases", `{"observedGeneration": -1}`,
			"Deployment", component, []string{"helm-controller", "source-controller"}, "Deployment",
			func(ctx context.Context, c applier.Cluster, r preview.Release, asked applier.Controlled) (*applier.Found, error) {
				return applier.FindHelmRelease(ctx, c, r, asked, applier.Chart{})
			},
		},
		{
			"Kustomization", "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "kustomizations", `{"observedGeneration": -1}`,
			"Deployment", component, []string{"kustomize-controller", "source-controller"}, "Deployment", applier.FindKustomization,
		},
		{
			"Application", "argoproj.io/v1alpha1", "Application", "applications", "",
			"StatefulSet", component + ", app.kubernetes.io/part-of: argocd", []string{"application-controller"}, "StatefulSet", findArgo,
		},
		{
			"Application with sharding", "argoproj.io/v1alpha1", "Application", "applications", "",
			"Deployment", component + ", app.kubernetes.io/part-of: argocd", []string{"application-controller"}, "Deployment", findArgo,
		},
		{
			"App", "kappctrl.k14s.io/v1alpha1", "App", "apps", "",
			"Deployment", "app: NAME", []string{"kapp-controller"}, "ReplicaSet",
			func(ctx context.Context, c applier.Cluster, r preview.Release, asked applier.Controlled) (*applier.Found, error) {
				return applier.FindKapp(ctx, c, asked, r, nil, false)
			},
		},
		{
			"Subscription", "operators.coreos.com/v1alpha1", "Subscription", "subscriptions", "",
			"Deployment", "app: NAME", []string{"catalog-operator", "olm-operator"}, "Deployment",
			func(ctx context.Context, c applier.Cluster, r preview.Release, asked applier.Controlled) (*applier.Found, error) {
				return applier.FindOLMv0(ctx, c, r, asked, applier.Bundle{Package: "web"})
			},
		},
		{
			"ClusterExtension", "olm.operatorframework.io/v1", "ClusterExtension", "clusterextensions", "",
			"Deployment", "app.kubernetes.io/name: NAME", []string{"operator-controller"}, "Deployment",
			func(ctx context.Context, c applier.Cluster, r preview.Release, asked applier.Controlled) (*applier.Found, error) {
				return applier.FindOLMv1(ctx, c, r, asked, applier.Bundle{Package: "web"})
			},
		},
	}
}

func findArgo(ctx context.Context, c applier.Cluster, r preview.Release, asked applier.Controlled) (*applier.Found, error) {
	return applier.FindArgoCD(ctx, c, asked.Body, r, nil)
}

// followedWorld is a control plane with an object that an owner follows.
type followedWorld struct {
	*appliedWorld
	followedStory
	ref    preview.Ref
	denied *k8s.Client // of a user who may read what is followed, and no workloads
}

// put applies a text.
func (w *followedWorld) put(text string) {
	w.t.Helper()
	file := filepath.Join(files(w.t, map[string]string{"a.yaml": text}), "a.yaml")
	w.kubectl("apply", "--server-side", "--force-conflicts", "-f", file)
}

// workloads writes the workloads of the controllers, whose pods are ready if they may be
// scheduled.
func (w *followedWorld) workloads(replicas int, node string) {
	w.t.Helper()
	for _, name := range w.controllers {
		labels := strings.ReplaceAll(w.labels, "NAME", name)
		own := "{" + labels + "}"
		if w.found == "ReplicaSet" {
			own = "{}"
		}
		service := map[string]string{"StatefulSet": "serviceName: x, "}[w.workload]
		w.put(fmt.Sprintf(`{apiVersion: apps/v1, kind: %s, metadata: {name: %s, labels: %s}, spec: {%sreplicas: %d, selector: {matchLabels: {%s}},
 template: {metadata: {labels: {%s}}, spec: {nodeSelector: {%s}, containers: [{name: c, image: 'c:1'}]}}}}`, w.workload, name, own, service, replicas, labels, labels, node))
		if w.workload == "StatefulSet" { // it does not replace a pod that was never ready
			w.kubectl("delete", "pods", "--all", "--grace-period=0", "--force")
		}
		w.kubectl("rollout", "status", "--timeout=60s", "--watch="+fmt.Sprint(node == ""), w.workload+"/"+name)
	}
}

// limits plans again and returns the limits about controllers.
func (w *followedWorld) limits(client *k8s.Client) []preview.ApplierLimit {
	w.t.Helper()
	asked := applier.Controlled{Ref: w.ref, Body: map[string]any{
		"apiVersion": w.ref.APIVersion, "kind": w.kind,
		"metadata": map[string]any{"name": w.ref.Name, "namespace": w.ref.Namespace}, "spec": map[string]any{"namespace": w.namespace},
	}}
	by, err := w.find(w.t.Context(), client, preview.Release{Name: "web", Namespace: w.namespace}, asked)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := applier.FindControllers(w.t.Context(), client, by); err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(by.Describe().Limits, func(l preview.ApplierLimit) bool {
		return !slices.Contains([]preview.Limit{preview.LimitNoController, preview.LimitNotRunning, preview.LimitNotHandled}, l.What)
	})
}

// says compares the limits about controllers with those of each workload, whose objects are
// there or not; none are wanted if it is empty.
func (w *followedWorld) says(when string, there, none bool) {
	w.t.Helper()
	var want []preview.ApplierLimit
	for _, name := range w.controllers {
		limit := preview.ApplierLimit{What: preview.LimitNotRunning, Detail: name}
		if there {
			limit.Object = (preview.Ref{APIVersion: "apps/v1", Kind: w.found, Namespace: w.namespace, Name: name}).ID()
		}
		if !none {
			want = append(want, limit)
		}
	}
	got := append([]preview.ApplierLimit(nil), w.limits(w.client)...)
	for i := range got { // a ReplicaSet has a hash in its name
		if at := strings.Index(got[i].Object, "-controller-"); at > 0 {
			got[i].Object = got[i].Object[:at] + "-controller"
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// handle has the status of what is followed say that its controller has handled a generation.
func (w *followedWorld) handle(generation int) {
	w.t.Helper()
	w.kubectl("patch", w.plural+"."+w.ref.Group(), w.ref.Name, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status": {"observedGeneration": %d}}`, generation))
}

func TestClusterControllersThatDoNotRunAreFound(t *testing.T) {
	box := sandboxtest.New(t)
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig(), ReadOnly: preview.ReadDryRun})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range followedStories() {
		t.Run(s.name, func(t *testing.T) {
			here := &appliedWorld{t: t, box: box, namespace: fmt.Sprintf("followed-%d", i), client: client}
			w := &followedWorld{appliedWorld: here, followedStory: s}
			w.kubectl("create", "namespace", w.namespace)
			w.ref = preview.Ref{APIVersion: s.api, Kind: s.kind, Namespace: w.namespace, Name: "web"}
			scope := "Namespaced"
			if s.kind == "ClusterExtension" {
				scope, w.ref.Namespace = "Cluster", ""
			}
			if i != 3 {
				if got := w.limits(client); len(got) != 1 || got[0] != (preview.ApplierLimit{What: preview.LimitNoController, Detail: w.ref.Group()}) {
					t.Errorf("of a kind that is not served: %+v", got)
				}
			}
			_, version, _ := strings.Cut(s.api, "/")
			w.put(fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %[1]s.%[2]s}, spec: {group: %[2]s, scope: %[3]s,
 names: {kind: %[4]s, plural: %[1]s, singular: %[5]s, listKind: %[4]sList}, versions: [{name: %[6]s, served: true, storage: true, subresources: {status: {}},
 schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`, s.plural, w.ref.Group(), scope, s.kind, strings.ToLower(s.kind), version))
			w.kubectl("wait", "--for=condition=Established", "crd/"+s.plural+"."+w.ref.Group())
			if client, err = k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig(), ReadOnly: preview.ReadDryRun}); err != nil {
				t.Fatal(err)
			}
			w.client = client
			w.says("of what is not there yet, without workloads", false, false)
			w.put(fmt.Sprintf(`{apiVersion: %s, kind: %s, metadata: {name: web}, spec: {namespace: %s, source: {catalog: {packageName: web}}}}`, s.api, s.kind, w.namespace))
			if s.status != "" {
				w.kubectl("patch", s.plural+"."+w.ref.Group(), "web", "--subresource=status", "--type=merge", "-p", `{"status": `+s.status+`}`)
			}
			w.mayNotRead(preview.LimitNotHandled)
			w.handle(1)
			w.mayNotRead("")
			w.says("handled, without workloads", false, false)
			w.workloads(0, "")
			w.says("scaled to none", true, false)
			w.workloads(1, "no: node")
			w.says("handled, and not ready", true, true)
			w.handle(0)
			w.says("behind, and not ready", true, false)
			w.workloads(1, "")
			if i == 3 { // what Argo CD had before it was a Deployment
				w.put(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: before, labels: {app.kubernetes.io/component: application-controller, app.kubernetes.io/part-of: argocd}},
 spec: {replicas: 0, serviceName: x, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: 'c:1'}]}}}}`)
			}
			w.says("behind, and ready", true, true)
			w.kubectl("delete", "deployments,statefulsets", "--all", "--cascade=foreground", "--timeout=60s")
			w.says("the workloads deleted", false, false)
		})
	}
}

// mayNotRead looks as a user who may read what is followed and no workloads.
func (w *followedWorld) mayNotRead(want preview.Limit) {
	w.t.Helper()
	if w.denied == nil {
		name := "denied-" + w.namespace
		w.kubectl("create", "clusterrole", name, "--verb=get,list", "--resource="+w.plural+"."+w.ref.Group()+",configmaps,secrets")
		w.kubectl("create", "clusterrolebinding", name, "--clusterrole="+name, "--user="+name)
		var err error
		if w.denied, err = k8s.Connect(w.t.Context(), k8s.Options{Kubeconfig: sandboxtest.User(w.t, w.box, name), ReadOnly: preview.ReadGet}); err != nil {
			w.t.Fatal(err)
		}
	}
	switch got := w.limits(w.denied); {
	case want == "" && len(got) > 0, want != "" && (len(got) != 1 || got[0] != preview.ApplierLimit{What: want, Object: w.ref.ID()}):
		w.t.Errorf("where workloads may not be read, limits %+v", got)
	}
}
