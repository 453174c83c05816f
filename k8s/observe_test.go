package k8s_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// observation is one report of Observe.
type observation struct {
	name   string
	exists bool
	value  string // of data.k
	reason preview.Reason
}

// observe follows refs until the test ends.
func observe(t *testing.T, c *k8s.Client, refs ...preview.Ref) <-chan observation {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reports := make(chan observation, 1000)
	done := make(chan error, 1)
	go func() {
		done <- c.Observe(ctx, refs, func(ref preview.Ref, body map[string]any, err error) {
			select {
			case reports <- observation{ref.Name, body != nil, preview.String(body, "data", "k"), preview.ReasonOf(err)}:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Observe ended with %v", err)
		}
	})
	return reports
}

// await reads reports until one is as wanted.
func await(t *testing.T, reports <-chan observation, want observation) {
	t.Helper()
	eventually(t, fmt.Sprintf("%+v is reported", want), func() bool {
		for {
			select {
			case got := <-reports:
				if got == want {
					return true
				}
			default:
				return false
			}
		}
	})
}

func configMapRefs(namespace string, names ...string) []preview.Ref {
	var refs []preview.Ref
	for _, name := range names {
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name})
	}
	return refs
}

// changes makes and follows one object from absent to absent.
func changes(t *testing.T, c *k8s.Client, reports <-chan observation, namespace, name string) {
	t.Helper()
	await(t, reports, observation{name: name})
	create(t, c, configMap(namespace, name, "{k: one}"))
	await(t, reports, observation{name, true, "one", ""})
	body, err := update(t, c, preview.DryRun{Body: parse(t, configMap(namespace, name, "{k: two}"))})
	if err != nil {
		t.Fatal(err)
	}
	await(t, reports, observation{name, true, "two", ""})
	uid, version := pin(body)
	if _, err := c.Delete(t.Context(), preview.RefOf(body), uid, version, preview.Background); err != nil {
		t.Fatal(err)
	}
	await(t, reports, observation{name: name})
}

func TestClusterObserveReportsEveryChange(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	create(t, c, configMap(namespace, "first", "{k: v}"))
	reports := observe(t, c, configMapRefs(namespace, "first", "second")...)
	await(t, reports, observation{"first", true, "v", ""})
	changes(t, c, reports, namespace, "second")
}

func TestClusterObserveOfOneObjectAsksForNoOther(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	t.Cleanup(func() { // after the watch ended: only then is it in the log
		eventually(t, "the audit log has the watch", func() bool { return slices.Contains(requests(t, namespace), "watch configmaps/a") })
	})
	// Only with the name in the request does a right for that name suffice.
	user := restricted(t, c, namespace, "[{apiGroups: [''], resources: [configmaps], resourceNames: [a], verbs: [get, list, watch]}]")
	reports := observe(t, user, configMapRefs(namespace, "a")...)
	changes(t, c, reports, namespace, "a")
}

func TestClusterObserveReadsWhereItMayNotWatch(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	user := restricted(t, c, namespace, "[{apiGroups: [''], resources: [configmaps], verbs: [get]}]")
	reports := observe(t, user, configMapRefs(namespace, "a", "b")...)
	changes(t, c, reports, namespace, "a")
	await(t, reports, observation{name: "b"})
}

func TestClusterObserveSaysWhatItMayNotRead(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	user := restricted(t, c, namespace, "[{apiGroups: [''], resources: [pods], verbs: [get]}]")
	await(t, observe(t, user, configMapRefs(namespace, "a")...), observation{name: "a", reason: preview.ReasonForbidden})
}

func TestClusterObserveWaitsForAKindToBeServed(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	group := unique("later") + ".example"
	ref := preview.Ref{APIVersion: group + "/v1", Kind: "Thing", Namespace: namespace, Name: "a"}
	reports := observe(t, c, ref)
	await(t, reports, observation{name: "a", reason: preview.ReasonNotServed})
	create(t, c, strings.ReplaceAll(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.GROUP}, spec: {group: GROUP, scope: Namespaced,
		names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`, "GROUP", group))
	await(t, reports, observation{name: "a"})
	create(t, c, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: a, namespace: %s}}", group, namespace))
	await(t, reports, observation{name: "a", exists: true})
}

// The last of many objects is beyond what one Observe watches: it is read at
// intervals, and its changes are reported all the same.
func TestClusterObserveWatchesABoundedNumber(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	var refs []preview.Ref
	for i := range 70 {
		// Each Secret takes its own watch.
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: fmt.Sprintf("s%02d", i)})
	}
	reports := observe(t, c, refs...)
	for _, name := range []string{"s00", "s69"} {
		await(t, reports, observation{name: name})
		create(t, c, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: %s}, data: {k: dg==}}", name, namespace))
		await(t, reports, observation{name, true, "dg==", ""})
	}
	t.Cleanup(func() { // after the watches ended: only then are they in the log
		eventually(t, "the audit log has a watch", func() bool { return slices.Contains(requests(t, namespace), "watch secrets/s00") })
		if slices.Contains(requests(t, namespace), "watch secrets/s69") {
			t.Error("it watched more than it may")
		}
	})
}
