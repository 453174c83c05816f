package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// dangerous are the requests of the catalogue of risks (specs/rbac-risk.md,
// section 3): "VERB GROUP/RESOURCE[/SUB]" with "core" for the core group, a name
// behind "=", or "VERB URL". Those of namespaced resources are asked for every
// namespace at once and for single ones. None is of what every cluster permits
// to everybody, which plans leave out.
var dangerous = strings.Fields(`
get:core/secrets list:core/secrets watch:core/secrets create:core/secrets update:core/secrets delete:core/secrets deletecollection:core/secrets get:core/secrets=admin-token
create:core/pods patch:core/pods delete:core/pods deletecollection:core/pods create:core/pods/exec get:core/pods/exec create:core/pods/attach
patch:core/pods/ephemeralcontainers create:core/pods/portforward get:core/pods/proxy get:core/pods/log patch:core/pods/status create:core/pods/eviction
get:core/services/proxy create:core/services patch:core/services/status
create:apps/deployments patch:apps/deployments update:apps/deployments=web create:apps/daemonsets patch:apps/statefulsets create:apps/replicasets patch:apps/deployments/scale update:apps/deployments/finalizers
create:core/replicationcontrollers create:batch/jobs create:batch/cronjobs
create:core/serviceaccounts/token create:core/serviceaccounts patch:core/serviceaccounts impersonate:core/serviceaccounts
escalate:rbac.authorization.k8s.io/roles bind:rbac.authorization.k8s.io/roles create:rbac.authorization.k8s.io/roles patch:rbac.authorization.k8s.io/roles
create:rbac.authorization.k8s.io/rolebindings patch:rbac.authorization.k8s.io/rolebindings
update:core/configmaps create:core/configmaps update:core/configmaps=aws-auth update:core/endpoints update:discovery.k8s.io/endpointslices
create:networking.k8s.io/ingresses delete:networking.k8s.io/networkpolicies patch:networking.k8s.io/networkpolicies
create:core/persistentvolumeclaims delete:core/persistentvolumeclaims delete:core/resourcequotas patch:core/limitranges create:core/events
update:coordination.k8s.io/leases create:coordination.k8s.io/leases
use:security.openshift.io/securitycontextconstraints=privileged create:cloudcredential.openshift.io/credentialsrequests create:route.openshift.io/routes
create:cert-manager.io/certificates create:external-secrets.io/externalsecrets create:monitoring.coreos.com/servicemonitors
create:operators.coreos.com/subscriptions create:argoproj.io/applications get:kubevirt.io/virtualmachines/console
`)

var dangerousInCluster = strings.Fields(`
get:core/nodes/proxy create:core/nodes/proxy patch:core/nodes patch:core/nodes/status delete:core/nodes get:core/nodes/log get:core/nodes/metrics list:core/nodes
impersonate:core/users impersonate:core/groups impersonate:authentication.k8s.io/userextras/scopes impersonate:core/groups=system:masters
escalate:rbac.authorization.k8s.io/clusterroles bind:rbac.authorization.k8s.io/clusterroles bind:rbac.authorization.k8s.io/clusterroles=cluster-admin
create:rbac.authorization.k8s.io/clusterroles create:rbac.authorization.k8s.io/clusterrolebindings
create:certificates.k8s.io/certificatesigningrequests update:certificates.k8s.io/certificatesigningrequests/approval update:certificates.k8s.io/certificatesigningrequests/status
approve:certificates.k8s.io/signers=kubernetes.io/kube-apiserver-client sign:certificates.k8s.io/signers attest:certificates.k8s.io/signers create:certificates.k8s.io/clustertrustbundles
create:admissionregistration.k8s.io/mutatingwebhookconfigurations patch:admissionregistration.k8s.io/validatingwebhookconfigurations delete:admissionregistration.k8s.io/mutatingwebhookconfigurations create:admissionregistration.k8s.io/validatingadmissionpolicies
create:apiextensions.k8s.io/customresourcedefinitions patch:apiextensions.k8s.io/customresourcedefinitions delete:apiextensions.k8s.io/customresourcedefinitions
create:apiregistration.k8s.io/apiservices patch:apiregistration.k8s.io/apiservices create:flowcontrol.apiserver.k8s.io/flowschemas create:scheduling.k8s.io/priorityclasses
patch:core/namespaces delete:core/namespaces create:core/namespaces create:core/persistentvolumes create:storage.k8s.io/storageclasses create:storage.k8s.io/volumeattachments create:storage.k8s.io/csidrivers
create:authentication.k8s.io/tokenreviews create:authorization.k8s.io/subjectaccessreviews create:olm.operatorframework.io/clusterextensions
get:/metrics get:/logs/kube-apiserver.log get:/debug/pprof/ post:/anything put:/apis
`)

// ask turns a row into a request.
func ask(row, namespace string) access.Request {
	verb, what, _ := strings.Cut(row, ":")
	if strings.HasPrefix(what, "/") {
		return access.Request{Verb: verb, URL: what}
	}
	what, name, _ := strings.Cut(what, "=")
	group, resource, _ := strings.Cut(what, "/")
	if group == "core" {
		group = ""
	}
	return access.Request{Namespace: namespace, Verb: verb, Group: group, Resource: resource, Name: name}
}

func requests(namespaces []string) []access.Request {
	var out []access.Request
	for _, row := range dangerousInCluster {
		out = append(out, ask(row, ""))
	}
	for _, row := range dangerous {
		for _, namespace := range namespaces {
			out = append(out, ask(row, namespace))
		}
	}
	return out
}

// With the Namespaces, ServiceAccounts and RBAC of each real bundle in a
// cluster, the API server answers every dangerous request of every account as
// the plan's grants do. The usual run takes each fourth bundle, a soak all.
func TestClusterGrantsAnswerAsTheAPIServerDoes(t *testing.T) {
	a := newAuthority(t)
	var bundles, accounts int
	for i, dir := range corpustest.Bundles(t) {
		if !slowtest.InSample(i, 4) {
			continue
		}
		p := planOf(t, dir)
		if p == nil {
			continue // one that TestSlowEveryRealBundleHasOneContentDigest knows
		}
		name, err := filepath.Rel(corpustest.Dir(t), dir)
		if err != nil {
			t.Fatal(err)
		}
		bundles++
		accounts += a.compare(t, name, p)
	}
	t.Logf("%d comparisons over %d accounts of %d bundles, %d of them allowed", a.asked.Load(), accounts, bundles, a.allowed.Load())
	if rows := len(dangerous) + len(dangerousInCluster); rows < 60 || a.allowed.Load() == 0 || a.asked.Load() == a.allowed.Load() {
		t.Errorf("%d rows, %d of %d allowed", rows, a.allowed.Load(), a.asked.Load())
	}
}

// authority is an API server that holds the RBAC of one bundle at a time.
type authority struct {
	dynamic        dynamic.Interface
	client         kubernetes.Interface
	host           string
	network        string // the socket that leads the API server to the pod network
	tls            rest.TLSClientConfig
	round          int
	asked, allowed atomic.Int64
}

func newAuthority(t *testing.T) *authority {
	box := sandboxtest.Borrow(t)
	config, err := clientcmd.BuildConfigFromFlags("", box.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	network := filepath.Join(filepath.Dir(box.Kubeconfig()), "config", "the-sandbox-has-no-pod-network")
	a := &authority{dynamic: dynamic.NewForConfigOrDie(config), host: config.Host, network: network, tls: rest.TLSClientConfig{CAData: config.CAData, CAFile: config.CAFile}}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	a.client = kubernetes.NewForConfigOrDie(config)
	return a
}

func (a *authority) compare(t *testing.T, bundle string, p *preview.Plan) (accounts int) {
	t.Helper()
	created := a.create(t, p)
	a.settle(t)
	for _, subject := range serviceAccounts(p) {
		accounts++
		namespaces := []string{"", subject.Namespace, "kube-system"}
		var group errgroup.Group
		group.SetLimit(16)
		for _, r := range requests(namespaces) {
			group.Go(func() error {
				want, err := a.review(t.Context(), subject, r)
				if err != nil {
					return err
				}
				a.asked.Add(1)
				if want {
					a.allowed.Add(1)
				}
				if got := access.Allows(p.Access.Grants, subject, r); got != want {
					t.Errorf("%s: ServiceAccount %s/%s, %+v: the plan says %v, the API server %v", bundle, subject.Namespace, subject.Name, r, got, want)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	a.remove(t, created)
	return accounts
}

func serviceAccounts(p *preview.Plan) []preview.Subject {
	seen := map[preview.Subject]bool{}
	var out []preview.Subject
	add := func(s preview.Subject) {
		if s.Kind == "ServiceAccount" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	for _, o := range p.Objects {
		if o.Kind == "ServiceAccount" {
			add(preview.Subject{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
		}
	}
	for _, g := range p.Access.Grants {
		add(g.Subject)
	}
	return out
}

var rbacResources = map[string]string{
	"Role": "roles", "ClusterRole": "clusterroles", "RoleBinding": "rolebindings", "ClusterRoleBinding": "clusterrolebindings",
}

type stored struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

// create makes what authorization goes by. Namespaces stay: deleting one takes
// long, and an empty one permits nothing.
func (a *authority) create(t *testing.T, p *preview.Plan) []stored {
	t.Helper()
	var out []stored
	for _, o := range p.Objects {
		if o.Namespace != "" && o.Planned != nil {
			a.namespace(t, o.Namespace)
		}
		gvr := schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
		if resource, ok := rbacResources[o.Kind]; ok && o.Ref().Group() == "rbac.authorization.k8s.io" {
			gvr = schema.GroupVersionResource{Group: o.Ref().Group(), Version: "v1", Resource: resource}
		} else if o.Kind != "ServiceAccount" {
			continue
		}
		body := &unstructured.Unstructured{Object: preview.CloneBody(o.Planned)}
		if _, err := a.dynamic.Resource(gvr).Namespace(o.Namespace).Create(t.Context(), body, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatalf("%s: %v", o.ID, err)
		}
		out = append(out, stored{gvr, o.Namespace, o.Name})
	}
	return out
}

func (a *authority) namespace(t *testing.T, name string) {
	t.Helper()
	body := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	_, err := a.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), body, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

func (a *authority) remove(t *testing.T, objects []stored) {
	t.Helper()
	for _, o := range slices.Backward(objects) {
		if o.resource.Resource == "serviceaccounts" {
			continue
		}
		if err := a.dynamic.Resource(o.resource).Namespace(o.namespace).Delete(t.Context(), o.name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// settle waits until the authorizer has seen everything written so far: it
// watches each kind by itself, in order, so one more object of each kind that
// has shown its effect is behind all others.
func (a *authority) settle(t *testing.T) {
	t.Helper()
	a.round++
	user := fmt.Sprintf("settled-%d", a.round)
	for _, where := range []struct{ namespace, role, binding string }{{"", "ClusterRole", "ClusterRoleBinding"}, {"default", "Role", "RoleBinding"}} {
		role := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": where.role, "metadata": map[string]any{"name": user}, "rules": []any{
			map[string]any{"apiGroups": []any{"settled"}, "resources": []any{strings.ToLower(where.role)}, "verbs": []any{"get"}},
		}}
		binding := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": where.binding, "metadata": map[string]any{"name": user},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": where.role, "name": user},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}}}
		for _, body := range []map[string]any{role, binding} {
			gvr := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: rbacResources[preview.String(body, "kind")]}
			if _, err := a.dynamic.Resource(gvr).Namespace(where.namespace).Create(t.Context(), &unstructured.Unstructured{Object: body}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		r := access.Request{Namespace: "default", Verb: "get", Group: "settled", Resource: strings.ToLower(where.role)}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		for ok := false; !ok; {
			var err error
			if ok, err = a.review(ctx, preview.Subject{Kind: "User", Name: user}, r); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
	}
}

func (a *authority) review(ctx context.Context, subject preview.Subject, r access.Request) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: subject.Name}}
	if subject.Kind == "ServiceAccount" {
		review.Spec.User = "system:serviceaccount:" + subject.Namespace + ":" + subject.Name
		review.Spec.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + subject.Namespace, "system:authenticated"}
	}
	if r.URL != "" {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: r.URL, Verb: r.Verb}
	} else {
		resource, sub, _ := strings.Cut(r.Resource, "/")
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: r.Namespace, Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: sub, Name: r.Name,
		}
	}
	answer, err := a.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}
