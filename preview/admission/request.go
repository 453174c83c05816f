package admission

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	policycel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// request is the create of one object, and of its copy in another namespace.
type request struct {
	object      *preview.Object
	own, copied *target
}

// target is a create as admission sees it.
type target struct {
	admission.Attributes
	object    *preview.Object
	namespace *corev1.Namespace // nil for an object of the cluster
	// parameters are the parameters of the policy that judges the request; nil where they
	// are not known, and with a nil body where the binding has none.
	parameters *parameters
}

// parameters are an object with the parameters of a policy.
type parameters struct{ body map[string]any }

// bound returns the parameters as CEL has them.
func (t *target) bound() policycel.OptionalVariableBindings {
	if t.parameters == nil || t.parameters.body == nil {
		return policycel.OptionalVariableBindings{}
	}
	return policycel.OptionalVariableBindings{VersionedParams: &unstructured.Unstructured{Object: t.parameters.body}}
}

// body returns the object with what the API server adds, as far as that is known.
func (t *target) body() map[string]any {
	if t.object.Computed != nil {
		return t.object.Computed
	}
	return t.object.Planned
}

func (t *target) labels() map[string]string {
	return (&unstructured.Unstructured{Object: t.body()}).GetLabels()
}

// versioned returns the request with the object.
func (t *target) versioned() *admission.VersionedAttributes {
	out := &admission.VersionedAttributes{Attributes: t.Attributes, VersionedKind: t.GetKind()}
	out.VersionedObject.Set(&unstructured.Unstructured{Object: preview.CloneBody(t.body())})
	if t.GetOperation() == admission.Update {
		out.VersionedOldObject.Set(&unstructured.Unstructured{Object: preview.CloneBody(t.body())})
	}
	return out
}

// namespaces finds the Namespaces that requests go into.
type namespaces struct {
	planned map[string]*preview.Object // by id
	read    map[string]map[string]any  // bodies that the plan rests on, by id
	trial   *corev1.Namespace
	found   map[string]*corev1.Namespace // by name: many objects are in one
}

func newNamespaces(ctx context.Context, p *preview.Plan, cluster Cluster, copies bool) (*namespaces, error) {
	n := &namespaces{planned: p.ObjectsByID(), read: map[string]map[string]any{}, trial: named(preview.TrialNamespace, nil), found: map[string]*corev1.Namespace{}}
	for _, r := range p.Reads {
		n.read[r.ID] = r.Body
	}
	if !copies {
		return n, nil
	}
	read := cluster.Read(ctx, []preview.Ref{{APIVersion: "v1", Kind: "Namespace", Name: preview.TrialNamespace}})[0]
	if read.Err != nil && !preview.Answered(read.Err) {
		return nil, fmt.Errorf("reading namespace %s: %w", preview.TrialNamespace, read.Err)
	}
	if read.Body != nil {
		n.trial = named(preview.TrialNamespace, read.Body)
	}
	return n, nil
}

// of returns the Namespace that an object is in, as it is after the plan was applied; nil for a
// cluster-scoped object.
func (n *namespaces) of(o *preview.Object) *corev1.Namespace {
	if o.Namespace == "" {
		return nil
	}
	if n.found[o.Namespace] == nil {
		n.found[o.Namespace] = named(o.Namespace, n.body(o.Namespace))
	}
	return n.found[o.Namespace]
}

// body returns a Namespace of the plan, or an existing one that the plan rests on; nil if
// it was not read.
func (n *namespaces) body(name string) map[string]any {
	id := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}.ID()
	if made := n.planned[id]; made != nil {
		if made.ResultBody != nil {
			return made.ResultBody
		}
		return made.Planned
	}
	return n.read[id]
}

// named returns a Namespace with the label that the API server gives each.
func named(name string, body map[string]any) *corev1.Namespace {
	var out corev1.Namespace
	if runtime.DefaultUnstructuredConverter.FromUnstructured(body, &out) != nil {
		out = corev1.Namespace{}
	}
	out.Name = name
	metav1.SetMetaDataLabel(&out.ObjectMeta, corev1.LabelMetadataName, name)
	return &out
}

// newRequests returns the requests that create the objects. The labels of the namespace
// of copies are read only if copies says that they matter.
func newRequests(ctx context.Context, p *preview.Plan, objects []*preview.Object, cluster Cluster, copies bool) ([]*request, error) {
	in, err := newNamespaces(ctx, p, cluster, copies)
	if err != nil {
		return nil, err
	}
	definitions := schema.NewIndex(slices.Values(preview.PlannedBodies(p.Objects)))
	who := &user.DefaultInfo{Name: p.Target.User, Groups: p.Target.Groups}
	out := make([]*request, 0, len(objects))
	for _, o := range objects {
		plural := preview.String(definitions.Definition(o.Ref()), "spec", "names", "plural")
		if plural == "" {
			if plural, err = cluster.Plural(ctx, o.APIVersion, o.Kind); err != nil && !preview.Answered(err) {
				return nil, fmt.Errorf("finding the resource of %s: %w", o.ID, err)
			}
		}
		kind := kubeschema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
		to := func(namespace *corev1.Namespace, name string) *target {
			at := ""
			if namespace != nil {
				at = namespace.Name
			}
			return &target{object: o, namespace: namespace, Attributes: admission.NewAttributesRecord(nil, nil, kind, at, name,
				kind.GroupVersion().WithResource(plural), "", admission.Create, &metav1.PatchOptions{FieldManager: preview.FieldManager}, false, who)}
		}
		r := &request{object: o, own: to(in.of(o), o.Name)}
		if o.Copy != nil {
			r.copied = to(in.trial, preview.String(o.Copy, "metadata", "name"))
		}
		out = append(out, r)
	}
	return out, nil
}
