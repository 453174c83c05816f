// Package certmanager plays cert-manager and OpenShift's service-ca in the embedded
// control plane: it serves the part of their APIs that operators' webhooks use, issues
// real certificates into Secrets, and injects CA bundles where the annotations of the
// one or the other ask for it.
package certmanager

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

//go:embed crds.yaml
var definitions []byte

// fieldManager is the field manager of everything this package writes, as in
// the real cert-manager.
const fieldManager = "cert-manager"

// retryAfter is how long after a failed round the next begins, even without an event.
const retryAfter = time.Second

var (
	crds           = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	certificates   = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}
	issuers        = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "issuers"}
	clusterIssuers = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "clusterissuers"}
	secrets        = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

// Install installs cert-manager's CRDs, and returns when Certificates and
// Issuers can be written. Nothing is issued until [Run] is called.
func Install(ctx context.Context, kubeconfig string) error {
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	if err := define(ctx, client, definitions); err != nil {
		return err
	}
	for _, kind := range []schema.GroupVersionResource{certificates, issuers, clusterIssuers} {
		if err := awaitServed(ctx, client, kind); err != nil {
			return err
		}
	}
	return nil
}

// define applies definitions of custom resources.
func define(ctx context.Context, client dynamic.Interface, definitions []byte) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(definitions), 4096)
	for {
		var crd unstructured.Unstructured
		if err := decoder.Decode(&crd.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading cert-manager's definitions: %w", err)
		}
		_, err := client.Resource(crds).Apply(ctx, crd.GetName(), &crd, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if err != nil {
			return fmt.Errorf("installing %s: %w", crd.GetName(), err)
		}
	}
}

func connect(kubeconfig string) (dynamic.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return client, nil
}

func awaitServed(ctx context.Context, client dynamic.Interface, kind schema.GroupVersionResource) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := client.Resource(kind).List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s are served: %w; the last answer was: %w", kind.Resource, ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// Run issues certificates and injects CA bundles until ctx ends, which is no
// error. [Install] must be called first.
func Run(ctx context.Context, kubeconfig string) error {
	client, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	c := &controller{client: client, wake: make(chan struct{}, 1), listers: map[schema.GroupVersionResource]cache.GenericLister{}}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() {
		stop()
		running.Wait()
	}()
	var synced []cache.InformerSynced
	kinds := append([]schema.GroupVersionResource{services}, injectables()...)
	if _, err := client.Resource(certificates).List(ctx, metav1.ListOptions{Limit: 1}); err == nil {
		kinds = append(kinds, certificates, issuers, clusterIssuers)
	}
	for _, kind := range kinds {
		informer := newInformer(client.Resource(kind))
		c.listers[kind] = cache.NewGenericLister(informer.GetIndexer(), kind.GroupResource())
		handled, err := informer.AddEventHandler(c)
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.Resource, err)
		}
		synced = append(synced, handled.HasSynced)
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	cache.WaitForCacheSync(ctx.Done(), synced...)
	for ctx.Err() == nil {
		again := make(<-chan time.Time)
		if !c.round(ctx) {
			again = time.After(retryAfter)
		}
		select {
		case <-ctx.Done():
		case <-c.wake:
		case <-again:
		}
	}
	return nil
}

// newInformer watches all objects of a kind. That of dynamicinformer would link all
// typed clients of Kubernetes into every test that imports sandboxtest.
func newInformer(objects dynamic.ResourceInterface) cache.SharedIndexInformer {
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return objects.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return objects.Watch(ctx, o)
		},
	}
	return cache.NewSharedIndexInformer(source, &unstructured.Unstructured{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// controller settles all issuers, certificates and injections again whenever
// one of them changes: there are few.
type controller struct {
	client  dynamic.Interface
	listers map[schema.GroupVersionResource]cache.GenericLister
	wake    chan struct{}
}

// OnAdd, OnUpdate and OnDelete start another round.
func (c *controller) OnAdd(any, bool) { c.ring() }

// OnUpdate starts another round.
func (c *controller) OnUpdate(any, any) { c.ring() }

// OnDelete starts another round.
func (c *controller) OnDelete(any) { c.ring() }

func (c *controller) ring() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// round settles all issuers, certificates and injections once. It returns false
// if any failed, and the round is to be repeated.
func (c *controller) round(ctx context.Context) bool {
	ok := true
	settle := func(kind schema.GroupVersionResource, settle func(context.Context, *unstructured.Unstructured) error) {
		if c.listers[kind] == nil {
			return // not served
		}
		for _, object := range c.list(kind) {
			err := settle(ctx, object)
			if err != nil && !apierrors.IsNotFound(err) { // gone meanwhile
				ok = false
			}
		}
	}
	settle(issuers, c.settleIssuer)
	settle(clusterIssuers, c.settleIssuer)
	settle(certificates, c.settleCertificate)
	settle(services, c.settleService)
	for _, kind := range injectables() {
		settle(kind, c.inject)
		settle(kind, c.injectServiceCA)
	}
	return ok
}

// list returns copies of the objects of a kind, which the caller may change.
func (c *controller) list(kind schema.GroupVersionResource) []*unstructured.Unstructured {
	found, err := c.listers[kind].List(labels.Everything())
	if err != nil {
		return nil
	}
	out := make([]*unstructured.Unstructured, 0, len(found))
	for _, object := range found {
		if u, ok := object.(*unstructured.Unstructured); ok && u.GetDeletionTimestamp() == nil {
			out = append(out, u.DeepCopy())
		}
	}
	return out
}

// ready sets the condition Ready of an object, unless the object has it so already.
func (c *controller) ready(ctx context.Context, kind schema.GroupVersionResource, o *unstructured.Unstructured, status, reason, message string) error {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range conditions {
		condition, ok := item.(map[string]any)
		if ok && condition["type"] == "Ready" && condition["status"] == status && condition["message"] == message &&
			condition["observedGeneration"] == o.GetGeneration() {
			return nil
		}
	}
	err := unstructured.SetNestedSlice(o.Object, []any{map[string]any{
		"type": "Ready", "status": status, "reason": reason, "message": message,
		"observedGeneration": o.GetGeneration(), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}}, "status", "conditions")
	if err != nil {
		return err
	}
	_, err = c.client.Resource(kind).Namespace(o.GetNamespace()).UpdateStatus(ctx, o, metav1.UpdateOptions{FieldManager: fieldManager})
	return err
}
