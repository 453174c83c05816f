package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
)

const (
	// resetTimeout is how long it may take to remove from a control plane what
	// a test made. After that the control plane is stopped.
	resetTimeout = 20 * time.Second
	// resetPoll is the time between two reads of the objects that are still there.
	resetPoll = 50 * time.Millisecond
	// settleLooks is how often the keys of etcd are read before all objects are read
	// again. resetPatience is how often all are read when nothing is left to
	// delete, but an object of the control plane itself is not as it was.
	settleLooks, resetPatience = 40, 12
)

// spare holds the control planes that tests have given back. It is a variable
// of the package, as shared is, because only tests link the package; the
// control planes end with the process.
var spare struct {
	mu    sync.Mutex
	boxes []*lent
}

// Lend returns a control plane that a test has for itself until its end; atEnd
// registers a function to call then, as t.Cleanup does. It is a new control
// plane, or one that another test has given back: all that the test made is
// deleted then, and audit logs begin anew. If the test has edited an object of
// the control plane itself, it is not lent again. A start takes four seconds of
// processor time, a reset less than a fourth of that.
//
// A test that kills a part of the control plane, or that asserts how a new one
// behaves, takes one from New.
func Lend(ctx context.Context, atEnd func(func())) (*sandbox.Sandbox, error) {
	l := takeSpare()
	if l == nil {
		var err error
		if l, err = newLent(ctx); err != nil {
			return nil, err
		}
	}
	atEnd(l.giveBack)
	return l.box, l.box.Forget()
}

// Borrow is [Lend] for one test. It skips the test as [Start] does.
func Borrow(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	require(t)
	box, err := Lend(t.Context(), t.Cleanup)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func takeSpare() *lent {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	n := len(spare.boxes)
	if n == 0 {
		return nil
	}
	l := spare.boxes[n-1]
	spare.boxes = spare.boxes[:n-1]
	return l
}

// lent is a control plane that is lent to one test after another.
type lent struct {
	box    *sandbox.Sandbox
	config *rest.Config
	client *http.Client
	fresh  map[string]stored // what a new one holds
	served []string          // groups and versions of its OpenAPI
	// etcd answers with one request what a hundred lists would; nil where it is not found.
	// keys are a new control plane's keys, with their revisions.
	etcd *etcdClient
	keys map[string]string
}

// stored is one object of the cluster; maps of them are keyed by its path in the API.
type stored struct {
	kind       kind
	body       string // as JSON, without what changes by itself
	finalizers bool
	deleting   bool
	managed    bool // the control plane deletes it
	aggregated bool // its rules come from other roles
}

func newLent(ctx context.Context) (*lent, error) {
	box, err := start(ctx)
	if err != nil {
		return nil, err
	}
	l := &lent{box: box}
	if l.config, err = clientcmd.BuildConfigFromFlags("", box.Kubeconfig()); err == nil {
		l.config.QPS = -1 // no client-side limit
		l.client, err = rest.HTTPClientFor(l.config)
	}
	if err == nil {
		l.fresh, err = l.present(ctx)
	}
	if err == nil {
		l.served, err = l.openAPI(ctx)
	}
	if etcd, missing := newEtcdClient(box); err == nil && missing == nil {
		l.etcd = etcd
		l.keys, err = l.stored(ctx)
	}
	if err != nil {
		box.Stop()
		return nil, err
	}
	return l, nil
}

// giveBack removes all that a test made, and keeps the control plane for the
// next test. If that fails, the control plane is stopped.
func (l *lent) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
	defer cancel()
	if err := l.reset(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "a control plane is not lent again:", err)
		l.box.Stop()
		return
	}
	spare.mu.Lock()
	defer spare.mu.Unlock()
	spare.boxes = append(spare.boxes, l)
}

// reset deletes all objects that a new control plane does not have, and waits
// until they are gone.
func (l *lent) reset(ctx context.Context) error {
	tick := time.NewTicker(resetPoll)
	defer tick.Stop()
	for idle := 0; ; {
		now, err := l.present(ctx)
		if err != nil {
			return err
		}
		added := slices.DeleteFunc(slices.Sorted(maps.Keys(now)), func(at string) bool { _, ok := l.fresh[at]; return ok })
		if len(added) == 0 {
			if done, err := l.settled(ctx, tick, now); done || err != nil {
				return err
			}
			if edited := l.edited(now); len(edited) > 0 {
				if idle++; idle > resetPatience {
					return fmt.Errorf("a test has edited %s", strings.Join(edited, ", "))
				}
			}
		}
		if err := l.remove(ctx, now, added); err != nil {
			return err
		}
		if err := l.settle(ctx, tick); err != nil {
			return err
		}
	}
}

// settle waits until etcd holds nothing that was added, but at most [settleLooks] reads:
// a deleted object may wait for another object. It lets namespaces go that hold nothing:
// their controller begins to empty one only after five seconds.
func (l *lent) settle(ctx context.Context, tick *time.Ticker) error {
	for range settleLooks {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if l.etcd == nil {
			return nil
		}
		keys, err := l.stored(ctx)
		if err != nil {
			return err
		}
		added := slices.DeleteFunc(slices.Collect(maps.Keys(keys)), func(key string) bool { return l.keys[key] != "" })
		if len(added) == 0 {
			return nil
		}
		for _, key := range added {
			namespace, is := strings.CutPrefix(key, "/registry/namespaces/")
			if !is || slices.ContainsFunc(added, func(other string) bool { return strings.Contains(other, "/"+namespace+"/") }) {
				continue
			}
			if err := l.finalize(ctx, namespace); err != nil {
				return err
			}
		}
	}
	return nil
}

// stored returns the keys of etcd and their revisions, without the objects that the
// control plane writes by itself.
func (l *lent) stored(ctx context.Context) (map[string]string, error) {
	keys, err := l.etcd.keys(ctx)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(keys, func(key, _ string) bool { return isOfItself(strings.Split(key, "/")) })
	return keys, nil
}

// present returns all objects of the cluster, by path. For kinds whose objects are all as
// in a new control plane, it returns them without a request: that leaves a few of sixty
// lists.
func (l *lent) present(ctx context.Context) (map[string]stored, error) {
	kinds, err := l.kinds()
	if err != nil {
		return nil, err
	}
	if l.keys == nil { // of a new one, or where etcd is not found
		return l.objects(ctx, kinds)
	}
	keys, err := l.stored(ctx)
	if err != nil {
		return nil, err
	}
	written := l.written(keys, kinds)
	same := func(k kind) bool { return !written[k.id()] && !written[k.resource.Name] && !written[unknown] }
	now, err := l.objects(ctx, slices.DeleteFunc(kinds, same))
	if err != nil {
		return nil, err
	}
	for at, object := range l.fresh {
		if same(object.kind) {
			now[at] = object
		}
	}
	return now, nil
}

// unknown is in the place of a resource whose name in etcd is another than in the API,
// as ingresses have it.
const unknown = "?"

// written returns the resources that keys has changed: an object is new, has another
// revision, or is missing, compared with a new control plane. They are named by
// GROUP/RESOURCE, or by RESOURCE alone, as etcd names the API's own groups.
func (l *lent) written(keys map[string]string, kinds []kind) map[string]bool {
	out := map[string]bool{}
	for key, revision := range keys {
		before, known := l.keys[key]
		if before == revision {
			continue
		}
		of := resourceOf(key)
		served := func(k kind) bool { return k.id() == of || k.resource.Name == of }
		if !known && !slices.ContainsFunc(kinds, served) {
			of = unknown
		}
		out[of] = true
	}
	for key := range l.keys {
		if _, kept := keys[key]; !kept {
			out[resourceOf(key)] = true
		}
	}
	return out
}

// resourceOf returns the resource of a key of etcd: /registry/RESOURCE/…, or
// /registry/GROUP/RESOURCE/… of a group that is not the API's own.
func resourceOf(key string) string {
	parts := strings.Split(key, "/")
	if strings.Contains(parts[2], ".") {
		return parts[2] + "/" + parts[3]
	}
	return parts[2]
}

// isOfItself reports whether a key, in parts, is of an object that the control plane writes
// by itself: /registry/RESOURCE/NAME, or /registry/RESOURCE/NAMESPACE/NAME.
func isOfItself(key []string) bool {
	namespace, name := key[len(key)-2], key[len(key)-1]
	if len(key) > 4 && !slices.Contains(itsNamespaces, namespace) {
		return false
	}
	return name == "kube-root-ca.crt" || slices.Contains(key, "serviceaccounts") && name == "default" ||
		slices.ContainsFunc(key[2:len(key)-1], func(part string) bool { return slices.Contains(ofItself, part) || slices.Contains(ofEtcd, part) })
}

// finalize removes the finalizer of a namespace.
func (l *lent) finalize(ctx context.Context, namespace string) error {
	empty := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q},"spec":{"finalizers":[]}}`, namespace)
	return l.send(ctx, http.MethodPut, "/api/v1/namespaces/"+namespace+"/finalize", "application/json", empty, nil)
}

// edited returns the paths of the control plane's own objects that are not as
// they were. Aggregated roles are left out: their controller takes out the
// rules of a deleted role.
func (l *lent) edited(now map[string]stored) []string {
	var out []string
	for at, object := range l.fresh {
		if now[at].body != object.body && !now[at].aggregated {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// settled reports whether aggregated roles and served versions are as in a new control
// plane again. Controllers restore both in a moment.
func (l *lent) settled(ctx context.Context, tick *time.Ticker, now map[string]stored) (bool, error) {
	for at, object := range l.fresh {
		if now[at].body != object.body {
			return false, nil
		}
	}
	for range settleLooks {
		served, err := l.openAPI(ctx)
		if err != nil || slices.Equal(served, l.served) {
			return err == nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}

// remove sends the deletions of the objects at the paths added. Webhook configurations and
// APIServices affect other requests, so they are deleted alone, before all others.
// Namespaces come first: controllers then make nothing in them any more.
func (l *lent) remove(ctx context.Context, now map[string]stored, added []string) error {
	inTheWay := slices.DeleteFunc(slices.Clone(added), func(at string) bool {
		return !strings.Contains(at, "/admissionregistration.k8s.io/") && (!strings.Contains(at, "/apiservices/") || now[at].managed)
	})
	if len(inTheWay) > 0 {
		added = inTheWay
	}
	slices.SortStableFunc(added, func(a, b string) int { return turn(a) - turn(b) })
	for _, at := range added {
		object := now[at]
		if namespace, is := strings.CutPrefix(at, "/api/v1/namespaces/"); is && object.deleting && !l.holds(now, at) {
			if err := l.finalize(ctx, namespace); err != nil {
				return err
			}
		}
		if !object.deleting && !object.managed {
			const atOnce = `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Background"}`
			if err := l.send(ctx, http.MethodDelete, at, "application/json", atOnce, nil); err != nil {
				return err
			}
		}
		if object.finalizers && !strings.Contains(at, "/customresourcedefinitions/") {
			if err := l.send(ctx, http.MethodPatch, at, MergePatch, `{"metadata":{"finalizers":null}}`, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds reports whether a namespace has any object but events.
func (l *lent) holds(now map[string]stored, namespace string) bool {
	for at := range now {
		within := strings.Contains(at, "/namespaces/"+path.Base(namespace)+"/")
		if within && !strings.Contains(at, "/events/") {
			return true
		}
	}
	return false
}

// turn returns the rank of a path in the order of deletions, lowest first.
func turn(at string) int {
	switch {
	case path.Dir(at) == "/api/v1/namespaces":
		return 0
	case strings.Contains(at, "/pods/"):
		return 3
	case strings.HasPrefix(at, "/api/"):
		return 2
	}
	return 1
}

// itsNamespaces are the namespaces that a new control plane has.
var itsNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// ofItself are the resources that a control plane writes by itself, such as events.
var ofItself = []string{"events", "leases", "nodes", "csinodes", "endpoints", "endpointslices", "ipaddresses", "servicecidrs", "componentstatuses", "podmetrics", "nodemetrics", "storageversions"}

// ofEtcd are the parts of keys that are no names of resources, and of objects that the
// control plane writes by itself: nodes, what its API servers say of themselves, and
// which addresses and ports are taken.
var ofEtcd = []string{"minions", "masterleases", "health", "ranges"}

// kind is one kind of objects that the API serves.
type kind struct {
	version  schema.GroupVersion
	resource metav1.APIResource
}

// id returns GROUP/RESOURCE.
func (k kind) id() string { return k.version.Group + "/" + k.resource.Name }

// kinds returns the kinds whose objects can be listed and deleted, but those that the
// control plane writes by itself.
func (l *lent) kinds() ([]kind, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(l.config, l.client)
	if err != nil {
		return nil, err
	}
	lists, err := client.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // of an API without a backend
		return nil, err
	}
	var out []kind
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "delete") && (resource.Namespaced || !slices.Contains(ofItself, resource.Name)) {
				out = append(out, kind{version, resource})
			}
		}
	}
	return out, nil
}

// objects reads all objects of the kinds, by path, but those that the control plane
// writes by itself.
func (l *lent) objects(ctx context.Context, kinds []kind) (map[string]stored, error) {
	out := map[string]stored{}
	for _, k := range kinds {
		if err := l.list(ctx, k, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *lent) list(ctx context.Context, k kind, into map[string]stored) error {
	version, resource := k.version, k.resource
	base := path.Join("/apis", version.Group, version.Version)
	if version.Group == "" {
		base = path.Join("/api", version.Version)
	}
	var answer struct{ Items []map[string]any }
	if err := l.send(ctx, http.MethodGet, path.Join(base, resource.Name), "", "", &answer); err != nil {
		return err
	}
	for _, item := range answer.Items {
		meta, _ := item["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		namespace, _ := meta["namespace"].(string)
		switch {
		case !slices.Contains(itsNamespaces, namespace):
		case slices.Contains(ofItself, resource.Name), name == "kube-root-ca.crt", resource.Name == "serviceaccounts" && name == "default":
			continue // some are made a moment later
		}
		at := path.Join(base, resource.Name, name)
		if namespace != "" {
			at = path.Join(base, "namespaces", namespace, resource.Name, name)
		}
		labels, _ := meta["labels"].(map[string]any)
		object := stored{kind: k, finalizers: meta["finalizers"] != nil, deleting: meta["deletionTimestamp"] != nil, managed: labels["kube-aggregator.kubernetes.io/automanaged"] != nil, aggregated: item["aggregationRule"] != nil}
		for _, key := range []string{"resourceVersion", "managedFields", "generation"} {
			delete(meta, key)
		}
		delete(item, "status")
		body, err := json.Marshal(item)
		if err != nil {
			return err
		}
		object.body = string(body)
		into[at] = object
	}
	return nil
}

// openAPI returns the paths of the API versions that OpenAPI describes. The
// version of a deleted CRD disappears from it a moment later.
func (l *lent) openAPI(ctx context.Context) ([]string, error) {
	var answer struct{ Paths map[string]any }
	err := l.send(ctx, http.MethodGet, "/openapi/v3", "", "", &answer)
	return slices.Sorted(maps.Keys(answer.Paths)), err
}

// send sends a request and decodes the answer. An object or kind that does not
// exist is no error. Nor is a write that fails inside the API server, which
// still calls a webhook for a moment after the webhook's configuration is
// deleted: reset sends the write again.
func (l *lent) send(ctx context.Context, method, at, contentType, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, l.config.Host+at, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := l.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case slices.Contains([]int{http.StatusNotFound, http.StatusConflict, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusServiceUnavailable}, response.StatusCode):
		return nil
	case method != http.MethodGet && response.StatusCode == http.StatusInternalServerError:
		return nil
	case response.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %s: %.300s", method, at, response.Status, data)
	case into == nil:
		return nil
	}
	return json.Unmarshal(data, into)
}
