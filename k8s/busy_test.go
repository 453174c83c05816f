package k8s_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestClusterABusyServerIsObeyed gives a user a few seats of the API server's priority and
// fairness and no queue, so that it refuses most of many dry runs and reads with 429. All
// are answered in the end.
func TestClusterABusyServerIsObeyed(t *testing.T) {
	t.Parallel()
	c, user := admin(t), unique("busy")
	create(t, c, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", user))
	create(t, c, fmt.Sprintf("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s, namespace: %s}, rules: [{apiGroups: [''], resources: [configmaps], verbs: ['*']}]}", user, user))
	create(t, c, fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s, namespace: %s},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %s}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]}`, user, user, user, user))
	create(t, c, fmt.Sprintf(`{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: %s}, spec: {type: Limited,
		limited: {nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: {type: Reject}}}}`, user))
	create(t, c, fmt.Sprintf(`{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: %s}, spec: {matchingPrecedence: 50,
		priorityLevelConfiguration: {name: %s}, rules: [{subjects: [{kind: User, user: {name: %s}}],
		resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*']}]}]}}`, user, user, user))
	var refused atomic.Int64
	proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, sandboxtest.Start(t), user), sandboxtest.ProxyOptions{HTTP2: true, Answered: func(_ sandboxtest.Request, status int, _ []byte) {
		if status == http.StatusTooManyRequests {
			refused.Add(1)
		}
	}})
	busy := connect(t, proxy.Kubeconfig)
	var items []preview.DryRun
	var refs []preview.Ref
	for i := range 48 {
		items = append(items, preview.DryRun{Body: parse(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a%d, namespace: %s}}", i, user))})
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: user, Name: fmt.Sprint("a", i)}) // by gets, all forbidden
	}
	for refused.Load() == 0 && t.Context().Err() == nil { // the API server takes up the configuration when it has seen it
		for _, result := range busy.DryRun(t.Context(), items) {
			if result.Err != nil {
				t.Fatal(result.Err)
			}
		}
	}
	for _, result := range busy.Read(t.Context(), refs) {
		if preview.ReasonOf(result.Err) != preview.ReasonForbidden {
			t.Errorf("%s: %v, %v", result.Ref.ID(), result.Body, result.Err)
		}
	}
	t.Logf("%d of the requests were refused as too many", refused.Load())
}
