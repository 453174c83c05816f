package install_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// manyKinds is one object of each kind that the API server, or a controller,
// completes in its own way.
const manyKinds = `
apiVersion: v1
kind: Service
metadata: {name: cluster-ip}
spec: {selector: {a: b}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None, selector: {a: b}, ports: [{port: 80, name: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: node-port}
spec: {type: NodePort, selector: {a: b}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: set}
spec:
  serviceName: headless
  selector: {matchLabels: {a: set}}
  template:
    metadata: {labels: {a: set}}
    spec: {containers: [{name: c, image: "registry.example.com/c:1", resources: {requests: {cpu: 1000m, memory: 1024Mi}}}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: daemon}
spec:
  selector: {matchLabels: {a: daemon}}
  template:
    metadata: {labels: {a: daemon}}
    spec: {containers: [{name: c, image: "registry.example.com/c:1"}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cron}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example.com/c:1"}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1024Mi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: budget}
spec: {minAvailable: 1, selector: {matchLabels: {a: set}}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: policy}
spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: ingress}
spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: cluster-ip, port: {number: 80}}}}]}}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: NS-priority}
value: 10
---
apiVersion: v1
kind: ConfigMap
metadata: {name: binary}
binaryData: {x: "AAEC"}
`

func TestClusterEveryObjectEqualsTheReviewedOne(t *testing.T) {
	for _, fresh := range []bool{true, false} {
		name := "kinds"
		if fresh {
			name = "kinds-fresh"
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, name)
			if !fresh { // then the review has a dry-run result for each
				w.edit(t, "create", "namespace", name)
			}
			plan := w.plan(t, w.content(t, "1.0.0", strings.ReplaceAll(manyKinds, "NS", name)))
			receipt := w.apply(t, plan)
			for _, o := range receipt.Objects {
				if o.State != record.StateReady {
					t.Errorf("%s is %s: %s", o.ID, o.State, o.Message)
				}
			}
			for i := range plan.Objects {
				o := &plan.Objects[i]
				live := w.read(t, o.APIVersion, o.Kind, o.Namespace, o.Name)
				verdict, notes, err := install.Compare(w.schemas, install.WrittenObject{Sealed: o.Planned, Reviewed: o.ResultBody, Before: live, Live: live})
				if err != nil || verdict != install.Same {
					t.Errorf("%s: %s %v %v", o.ID, verdict, notes, err)
				}
			}
			again := w.plan(t, w.content(t, "1.0.0", strings.ReplaceAll(manyKinds, "NS", name)))
			if again.Summary.Changes() {
				t.Errorf("a new preview says %+v", again.Summary)
			}
		})
	}
}

const gated = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: hook}
spec:
  selector: {matchLabels: {app: hook}}
  template:
    metadata:
      labels: {app: hook}
      annotations: {kubectl-operator/sandbox-fault: FAULT}
    spec:
      containers: [{name: hook, image: registry.example.com/hook:1}]
---
apiVersion: v1
kind: Service
metadata: {name: hook}
spec: {selector: {app: hook}, ports: [{port: 443}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS}
webhooks:
- name: hook.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {namespace: NS, name: hook}}
  rules: [{apiGroups: [nothing.example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]
`

func TestClusterStageThatIsNotReadyHoldsTheNextBack(t *testing.T) {
	w := newWorld(t, "gates")
	manifest := func(fault string) string { return strings.NewReplacer("FAULT", fault, "NS", "gates").Replace(gated) }
	plan := w.plan(t, w.content(t, "1.0.0", manifest("pending")))
	opts := w.options(t)
	opts.StageTimeout = 2 * time.Second
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if install.KindOf(err) != install.Interrupted || err == nil || !strings.Contains(err.Error(), "apps/Deployment/gates/hook") {
		t.Errorf("kind %d: %v, want 4, naming the Deployment", install.KindOf(err), err)
	}
	if live := w.read(t, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "gates"); live != nil {
		t.Error("the webhook is there before anything can answer it")
	}
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil || stored.State != record.Applying {
		t.Fatalf("the record is %+v, %v, want applying", stored, err)
	}

	// A newer plan takes over, and abandons what was begun.
	second := w.plan(t, w.content(t, "1.0.1", manifest("none")))
	if receipt := w.apply(t, second); receipt.Revision != 2 {
		t.Errorf("revision %d, want 2", receipt.Revision)
	}
	if live := w.read(t, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "gates"); live == nil {
		t.Error("the webhook did not come after its Service")
	}
	old, err := record.LoadRevision(t.Context(), w, w.release, 1)
	if err != nil || old == nil || old.State != record.Abandoned {
		t.Errorf("revision 1 is %+v, %v, want abandoned", old, err)
	}
	if _, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t)); install.KindOf(err) != install.Refused {
		t.Errorf("the abandoned plan: %v, want refused", err)
	}
}

func TestClusterRolloutThatTakesTooLongCanBeResumed(t *testing.T) {
	w := newWorld(t, "slow")
	plan := w.plan(t, w.content(t, "1.0.0", strings.Replace(scaled, "metadata: {labels: {app: web}}",
		"metadata: {labels: {app: web}, annotations: {kubectl-operator/sandbox-fault: crash-loop}}", 1)))
	opts := w.options(t)
	opts.RolloutTimeout = 3 * time.Second
	for range 2 { // the second run resumes, and waits again
		receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
		if install.KindOf(err) != install.Interrupted || err == nil || !strings.Contains(err.Error(), "CrashLoopBackOff") {
			t.Errorf("kind %d: %v, want 4 with the reason", install.KindOf(err), err)
		}
		if receipt == nil || receipt.Revision != 1 {
			t.Errorf("the receipt is %+v", receipt)
		}
	}
	n := 0
	for _, event := range w.writes(t) {
		if event == "patch apps/deployments slow/web" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the Deployment was written %d times", n)
	}
	opts.NoWait = true
	if receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts); err != nil || receipt.State != string(record.Applied) {
		t.Errorf("without waiting: %v, %v", receipt, err)
	}
}

// mutating is a cluster with an admission webhook that came after the review.
type mutating struct{ install.Cluster }

func (m *mutating) Apply(ctx context.Context, item preview.DryRun) (map[string]any, error) {
	live, err := m.Cluster.Apply(ctx, item)
	if err == nil && preview.RefOf(item.Body).Kind == "Role" {
		live["rules"] = append(preview.List(live, "rules"), map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get"}})
	}
	return live, err
}

func TestClusterDivergedRoleStopsBeforeItIsBound(t *testing.T) {
	w := newWorld(t, "diverged")
	plan := w.plan(t, w.content(t, "1.0.0", w.operator("one")))
	receipt, err := install.Apply(t.Context(), plan, byDigest(plan), &mutating{w.Client}, w.options(t))
	if install.KindOf(err) != install.Failed || err == nil || !strings.Contains(err.Error(), "Role/diverged/operator") {
		t.Errorf("kind %d: %v, want 3, naming the Role", install.KindOf(err), err)
	}
	if live := w.read(t, "rbac.authorization.k8s.io/v1", "RoleBinding", "diverged", "operator"); live != nil {
		t.Error("the diverged Role was bound")
	}
	found := false
	for _, o := range receipt.Objects {
		found = found || o.State == record.StateDiverged && o.ID == "rbac.authorization.k8s.io/Role/diverged/operator"
	}
	if !found || receipt.State != string(record.Failed) {
		t.Errorf("the receipt says %s of %+v", receipt.State, receipt.Objects)
	}
}

func TestClusterUninstallRefusesWhileOperandsExist(t *testing.T) {
	w := newWorld(t, "operands")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", w.operator("one"))))
	thing := body(t, `{apiVersion: operands.example.com/v1, kind: Thing, metadata: {name: mine, namespace: operands}}`)
	if _, err := connect(t, w.sandbox.Kubeconfig()).Apply(t.Context(), preview.DryRun{Body: thing}); err != nil {
		t.Fatal(err)
	}
	removal := w.plan(t)
	before := len(w.writes(t))
	_, err := install.Apply(t.Context(), removal, byDigest(removal), w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "1 Thing.operands.example.com") {
		t.Errorf("kind %d: %v, want a refusal that counts", install.KindOf(err), err)
	}
	if after := w.writes(t); len(after) != before {
		t.Errorf("it wrote %v", after[before:])
	}
}

func TestClusterForbiddenWriteBeforeAnyOtherChangesNothing(t *testing.T) {
	w := newWorld(t, "forbidden")
	w.edit(t, "create", "namespace", "forbidden")
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
	w.edit(t, "create", "clusterrole", "forbidden-reader", "--verb=get,list,watch", "--resource=*.*")
	w.edit(t, "create", "clusterrolebinding", "forbidden-reader", "--clusterrole=forbidden-reader", "--user=forbidden-user")
	user := *w
	user.user = "forbidden-user"
	user.Client = connect(t, sandboxtest.User(t, w.sandbox, user.user))
	_, err := install.Apply(t.Context(), plan, byDigest(plan), &user, user.options(t))
	if kind := install.KindOf(err); kind != install.NotStarted && kind != install.Refused {
		t.Errorf("kind %d: %v, want one that says nothing changed", kind, err)
	}
	if writes := user.writes(t); len(writes) != 0 {
		t.Errorf("it wrote %v", writes)
	}
}
