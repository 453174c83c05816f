package admission

import (
	"cmp"
	"context"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// vital is a request that a cluster needs to keep running.
type vital struct {
	what      string // as a review names it
	heartbeat bool   // it comes every few seconds, and a node or controller counts as gone without it
	to        *target
}

// vitalRequests returns requests that every cluster makes all the time, as their usual
// senders make them.
var vitalRequests = sync.OnceValue(func() []vital {
	const node = "system:node:node-1"
	lease := func(holder string) string {
		return "spec: {holderIdentity: " + holder + ", leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z'}"
	}
	return []vital{
		{"heartbeats of nodes", true, vitalRequest("leases", "", admission.Update, node, "system:nodes",
			"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: node-1, namespace: kube-node-lease}, "+lease("node-1")+"}")},
		{"the status of nodes", true, vitalRequest("nodes", "status", admission.Update, node, "system:nodes",
			"{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1, kubernetes.io/os: linux}}, spec: {}, status: {conditions: [{type: Ready, status: 'True'}]}}")},
		{"the election of controllers", true, vitalRequest("leases", "", admission.Update, "system:kube-controller-manager", "",
			"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kube-controller-manager, namespace: kube-system}, "+lease("master-1")+"}")},
		{"new pods of kube-system", false, vitalRequest("pods", "", admission.Create, "system:serviceaccount:kube-system:replicaset-controller", "system:serviceaccounts",
			idealPod)},
	}
})

// idealPod is a pod that usual policies accept: restricted, pinned, with limits and with
// the labels that policies ask for.
const idealPod = `{apiVersion: v1, kind: Pod, metadata: {name: coredns-1, generateName: coredns-, namespace: kube-system, labels: {k8s-app: kube-dns,
  app: coredns, team: platform, owner: platform, env: prod, environment: prod, tier: control-plane, cost-center: platform, pod-template-hash: abc,
  app.kubernetes.io/name: coredns, app.kubernetes.io/instance: coredns, app.kubernetes.io/version: '1', app.kubernetes.io/component: dns,
  app.kubernetes.io/part-of: kubernetes, app.kubernetes.io/managed-by: kubernetes}, annotations: {description: dns},
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: coredns, uid: a, controller: true}]},
 spec: {serviceAccountName: coredns, automountServiceAccountToken: false, hostNetwork: false, hostPID: false, hostIPC: false, priorityClassName: system-cluster-critical,
  nodeSelector: {kubernetes.io/os: linux}, tolerations: [{operator: Exists}], volumes: [],
  securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}},
  containers: [{name: coredns, image: 'registry.k8s.io/coredns/coredns@sha256:1111111111111111111111111111111111111111111111111111111111111111', imagePullPolicy: IfNotPresent,
   ports: [{name: dns, containerPort: 5353, protocol: UDP}], env: [], volumeMounts: [],
   resources: {requests: {cpu: 100m, memory: 70Mi}, limits: {cpu: 100m, memory: 70Mi}},
   livenessProbe: {httpGet: {path: /health, port: 8080}}, readinessProbe: {httpGet: {path: /ready, port: 8181}},
   securityContext: {privileged: false, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: {drop: [ALL]}}}]}}`

// vitalRequest returns a request of a user for one object.
func vitalRequest(resource, subresource string, operation admission.Operation, name, group, text string) *target {
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		panic("a request that is compiled in cannot be read")
	}
	body := docs[0].(map[string]any)
	ref := preview.RefOf(body)
	kind := kubeschema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	object := &unstructured.Unstructured{Object: body}
	out := &target{object: &preview.Object{Planned: body}, Attributes: admission.NewAttributesRecord(object, nil, kind, ref.Namespace, ref.Name,
		kind.GroupVersion().WithResource(resource), subresource, operation, &metav1.UpdateOptions{}, false,
		&user.DefaultInfo{Name: name, Groups: slices.DeleteFunc([]string{group, "system:authenticated"}, func(g string) bool { return g == "" })})}
	if ref.Namespace != "" {
		out.namespace = named(ref.Namespace, nil)
	}
	return out
}

// Refusals are requests that a cluster needs to keep running and that a policy refuses.
type Refusals struct {
	Requests []string
	// Lacking says that it refuses one of them because its parameters are not there.
	Lacking bool
}

// RefusedByPolicy returns the vital requests of a cluster that a
// ValidatingAdmissionPolicy refuses where one of the bindings has it deny. An expression
// that errs refuses too, unless the failurePolicy is Ignore. Parameters are those among
// objects.
func RefusedByPolicy(ctx context.Context, body map[string]any, bindings, objects []map[string]any) Refusals {
	policies, bound := decoded[admissionv1.ValidatingAdmissionPolicy]([]map[string]any{body}), decoded[admissionv1.ValidatingAdmissionPolicyBinding](bindings)
	c := &configuration{}
	c.addValidatingPolicies(policies, bound)
	var out Refusals
	for _, p := range c.policies {
		spec := policies[0].Spec
		strict := spec.FailurePolicy == nil || *spec.FailurePolicy == admissionv1.Fail
		for _, v := range vitalRequests() {
			given, lacking := p.parametersFor(v.to, objects)
			refused := lacking && strict && p.concerns(v.to)
			out.Lacking = out.Lacking || refused
			for _, params := range given {
				to := *v.to
				to.parameters = params
				refused = refused || p.refuses(ctx, &to, strict)
			}
			if refused && !slices.Contains(out.Requests, v.what) {
				out.Requests = append(out.Requests, v.what)
			}
		}
	}
	return out
}

// parametersFor returns the objects that are a policy's parameters for a request, each by
// itself; lacking says that there are none and it needs some, which is an error (CollectParams
// of k8s.io/apiserver). A policy that has none judges once.
func (p *policy) parametersFor(to *target, objects []map[string]any) (given []*parameters, lacking bool) {
	switch {
	case p.parameters == nil:
		return []*parameters{nil}, false
	case p.given == nil:
		return []*parameters{{}}, false
	}
	of := kubeschema.FromAPIVersionAndKind(p.parameters.APIVersion, p.parameters.Kind)
	namespace := ""
	if preview.NewScopes(objects).Namespaced(of.Group, of.Kind) {
		if namespace = cmp.Or(p.given.Namespace, to.GetNamespace()); namespace == "" {
			return nil, true
		}
	}
	for _, body := range objects {
		ref := preview.RefOf(body)
		if ref.Group() != of.Group || ref.Kind != of.Kind || ref.Namespace != namespace {
			continue
		}
		if p.given.Name == ref.Name || p.given.Name == "" && selectsLabels(p.given.Selector, (&unstructured.Unstructured{Object: body}).GetLabels()) {
			given = append(given, &parameters{body})
		}
	}
	return given, len(given) == 0 && p.given.ParameterNotFoundAction != nil && *p.given.ParameterNotFoundAction == admissionv1.DenyAction
}

// sees reports whether the selector selects a request. strict says that it does where a
// condition errs; a condition that asks the authorizer counts as one that does not hold.
func (s *selector) sees(ctx context.Context, to *target, strict bool) bool {
	selection := s.selection(ctx, to)
	return selection == holds || selection == unknown && strict && !s.conditions.authorized
}

// refuses reports whether a policy refuses a request. strict says that it does too where
// an expression errs.
func (p *policy) refuses(ctx context.Context, to *target, strict bool) bool {
	if !p.sees(ctx, to, strict) {
		return false
	}
	answers := p.checks.evaluate(ctx, to)
	return slices.Contains(answers, fails) || strict && slices.Contains(answers, unknown) && !p.checks.authorized
}

// StoppedByWebhook returns the heartbeats of nodes and controllers that a webhook with
// failurePolicy Fail sees: while it does not answer, they are refused.
func StoppedByWebhook(ctx context.Context, body map[string]any) []string {
	var out []string
	for _, w := range decoded[admissionv1.ValidatingWebhook]([]map[string]any{body}) {
		if w.FailurePolicy != nil && *w.FailurePolicy != admissionv1.Fail {
			continue
		}
		s := webhook("", w)
		for _, v := range vitalRequests() {
			if v.heartbeat && s.sees(ctx, v.to, true) {
				out = append(out, v.what)
			}
		}
	}
	return out
}
