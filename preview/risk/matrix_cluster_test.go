package risk_test

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// onCluster are the ways with a control plane, which serves the kinds of all rows and has
// their namespaces.
func onCluster(t testing.TB) []reviewWay {
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sandboxtest.Start(t).Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, client: client}
	w.prepare()
	t.Cleanup(w.clear)
	return []reviewWay{
		{"cluster", func(c cell) (*preview.Plan, string) {
			w.clear()
			return built(t, c.bodies, client, options())
		}},
		{"upgrade", w.upgrade},
		{"two releases", w.secondRelease},
	}
}

// world is the control plane in which older versions and other releases are applied. It
// leaves what the next cell has too, as writing takes nearly all of the time.
type world struct {
	t       testing.TB
	client  *k8s.Client
	applied []map[string]any
}

// prepare makes the namespaces of all rows, and has their kinds served.
func (w *world) prepare() {
	var first, then []map[string]any
	known := map[string]bool{}
	for _, row := range risk.Rows(w.t) {
		for _, body := range append(row.Bodies(), map[string]any{"metadata": map[string]any{"namespace": "payments"}}) {
			ref := preview.RefOf(body)
			if ref.Namespace != "" && !known[ref.Namespace] {
				known[ref.Namespace] = true
				then = append(then, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ref.Namespace}})
			}
			group, version, found := strings.Cut(ref.APIVersion, "/")
			name := pluralOf(ref) + "." + group
			if _, err := w.client.Kind(w.t.Context(), ref.APIVersion, ref.Kind); !found || known[name] || preview.ReasonOf(err) != preview.ReasonNotServed {
				continue
			}
			known[name] = true
			first = append(first, definition(ref, name, group, version))
		}
	}
	for _, body := range append(first, then...) {
		_, err := w.client.Apply(w.t.Context(), preview.DryRun{Body: body})
		if ref := preview.RefOf(body); err != nil && ref.Kind != "Namespace" {
			w.t.Logf("not served: %s: %v", ref.Name, err)
		}
	}
	w.client.Refresh()
}

func pluralOf(ref preview.Ref) string {
	if k, known := deputy.Of(ref.Group(), ref.Kind); known && k.Plural != "*" {
		return k.Plural
	}
	return strings.ToLower(ref.Kind) + "s"
}

func definition(ref preview.Ref, name, group, version string) map[string]any {
	scope := "Cluster"
	if ref.Namespace != "" {
		scope = "Namespaced"
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a test"}},
		"spec": map[string]any{
			"group": group, "scope": scope, "names": map[string]any{"kind": ref.Kind, "plural": strings.TrimSuffix(name, "."+group), "singular": strings.ToLower(ref.Kind), "listKind": ref.Kind + "List"},
			"versions": []any{map[string]any{"name": version, "served": true, "storage": true, "schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}},
		},
	}
}

// upgrade plans the cell over an older version that is applied. Objects that the API server
// refuses, and those that change how it answers, are new in the plan.
func (w *world) upgrade(c cell) (*preview.Plan, string) {
	older, err := contentOf(release, "1.0.0", olderOf(c))
	if err != nil {
		return nil, "refused: " + reasonOf(err)
	}
	var bodies []map[string]any
	for i := range older.Objects {
		bodies = append(bodies, older.Objects[i].Planned)
	}
	members := w.apply(bodies)
	if len(members) == 0 {
		return nil, ""
	}
	opts := options()
	opts.Request.Action, opts.Installed = preview.RequestUpgrade, engine.Installed{Base: preview.Base{Revision: 1, Digest: "sha256:1"}}
	for _, ref := range members {
		opts.Installed.Members = append(opts.Installed.Members, engine.InstalledObject{Ref: ref, Package: "op"})
	}
	return built(w.t, c.bodies, w.client, opts)
}

// secondRelease plans a cell of which another release brought a part.
func (w *world) secondRelease(c cell) (*preview.Plan, string) {
	first, second := w.split(c)
	if len(first) == 0 || len(second) == 0 {
		return nil, ""
	}
	content, err := contentOf(preview.Release{Name: "first", Namespace: release.Namespace}, "1.0.0", first)
	if err != nil {
		return nil, "refused: " + reasonOf(err)
	}
	var bodies []map[string]any
	for i := range content.Objects {
		bodies = append(bodies, runnable(content.Objects[i].Planned))
	}
	members := w.apply(bodies)
	if len(members) == 0 {
		return nil, ""
	}
	return built(w.t, second, w.client, options())
}

// runnable returns an object with what the API server requires of workloads.
func runnable(body map[string]any) map[string]any {
	body = preview.CloneBody(body)
	pod, meta := preview.PodTemplate(body)
	if pod == nil {
		return body
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range preview.Maps(pod, list) {
			c["image"] = cmp.Or(preview.String(c, "image"), "c")
		}
	}
	ref, spec := preview.RefOf(body), preview.Map(body, "spec")
	switch {
	case ref.Group() == "batch":
		pod["restartPolicy"] = cmp.Or(preview.String(pod, "restartPolicy"), "Never")
	case ref.Kind != "Pod" && spec["selector"] == nil:
		labels := map[string]any{"app": ref.Name}
		maps.Copy(labels, preview.Map(meta, "labels"))
		template := preview.Map(spec, "template")
		template["metadata"] = map[string]any{"labels": labels, "annotations": meta["annotations"]}
		spec["selector"] = map[string]any{"matchLabels": labels}
		if ref.Kind == "ReplicationController" {
			spec["selector"] = labels
		}
	}
	return body
}

// split returns the objects of a cell in two parts. Of rights as they are, each second verb
// is in a role of the first, with a binding to the same account; else the roles are, and
// what binds them in the second. Of others the second has what is found.
func (w *world) split(c cell) (first, second []map[string]any) {
	if c.row.Rights() && c.disguise == "as it is" {
		return c.row.Halves(c.number % 2)
	}
	about := map[string]bool{}
	if p, _ := built(w.t, c.bodies, nil, options()); p != nil && !c.row.Rights() {
		for _, f := range p.Findings {
			about[f.Object] = about[f.Object] || f.Rule == c.row.Rule()
		}
	}
	for _, body := range c.bodies {
		ref := preview.RefOf(body)
		if c.row.Rights() && ref.Kind == "ClusterRole" || !c.row.Rights() && !about[ref.ID()] {
			first = append(first, body)
		} else {
			second = append(second, body)
		}
	}
	return first, second
}

// standing are the kinds that are not applied, as they change what the control plane
// answers to the cells after, or stay.
var standing = []string{
	"admissionregistration.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io", "apiextensions.k8s.io", "certificates.k8s.io",
}

// apply writes objects in place of those before, and returns those that the API server took.
func (w *world) apply(bodies []map[string]any) (members []preview.Ref) {
	bodies = slices.DeleteFunc(bodies, func(body map[string]any) bool {
		ref := preview.RefOf(body)
		return slices.Contains(standing, ref.Group()) || ref.Kind == "Namespace" || ref.Kind == "Node"
	})
	kept := w.keep(bodies)
	var aggregating []preview.Ref // which another controller fills
	for _, body := range bodies {
		ref := preview.RefOf(body)
		if kept[ref.ID()] {
			members = append(members, ref)
			continue
		}
		_, err := w.client.Apply(w.t.Context(), preview.DryRun{Body: body})
		for preview.ReasonOf(err) == preview.ReasonChanged { // the controller that fills roles made one of a cell before again
			w.remove(ref)
			_, err = w.client.Apply(w.t.Context(), preview.DryRun{Body: body})
		}
		if err != nil {
			continue
		}
		members, w.applied = append(members, ref), append(w.applied, body)
		if body["aggregationRule"] != nil {
			aggregating = append(aggregating, ref)
		}
	}
	for _, ref := range aggregating {
		for len(preview.List(w.client.Read(w.t.Context(), []preview.Ref{ref})[0].Body, "rules")) == 0 {
			if w.t.Context().Err() != nil {
				w.t.Fatal(w.t.Context().Err())
			}
		}
	}
	return members
}

// keep removes what was applied and is not among bodies as it is, and returns the ids of
// the others. A role that is filled is applied anew, and so is what a controller deleted.
func (w *world) keep(bodies []map[string]any) map[string]bool {
	wanted, kept := map[string]map[string]any{}, map[string]bool{}
	for _, body := range bodies {
		wanted[preview.RefOf(body).ID()] = body
	}
	var refs []preview.Ref
	for _, body := range w.applied {
		refs = append(refs, preview.RefOf(body))
	}
	reads := w.client.Read(w.ctx(), refs)
	for i, ref := range slices.Backward(refs) {
		body := w.applied[i]
		if reads[i].Body != nil && body["aggregationRule"] == nil && reflect.DeepEqual(wanted[ref.ID()], body) {
			kept[ref.ID()] = true
		} else {
			w.remove(ref)
		}
	}
	w.applied = slices.DeleteFunc(w.applied, func(body map[string]any) bool { return !kept[preview.RefOf(body).ID()] })
	return kept
}

func (w *world) clear() { w.keep(nil) }

// ctx is not done when the test has ended, and what it applied is removed.
func (w *world) ctx() context.Context { return context.WithoutCancel(w.t.Context()) }

// remove deletes an object, which a controller may change at the same time.
func (w *world) remove(ref preview.Ref) {
	for {
		read := w.client.Read(w.ctx(), []preview.Ref{ref})[0]
		if read.Body == nil {
			return
		}
		_, err := w.client.Delete(w.ctx(), ref, preview.String(read.Body, "metadata", "uid"), preview.String(read.Body, "metadata", "resourceVersion"), preview.Background)
		switch reason := preview.ReasonOf(err); {
		case err == nil || reason == preview.ReasonNotFound:
			return
		case reason != preview.ReasonChanged:
			w.t.Fatalf("%s: %v", ref.ID(), err)
		}
	}
}

// TestClusterMatrix is the matrix with a control plane: each 160th cell by each way, in a
// soak all.
func TestClusterMatrix(t *testing.T) {
	for _, way := range onCluster(t) {
		t.Run(way.name, func(t *testing.T) {
			m := &matrix{t: t, ways: []reviewWay{way}}
			m.run(sampled(160))
			m.log()
		})
	}
}
