package install_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview/health"
)

// operated is an operator and what it looks after. The test plays the operator.
const operated = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.$NS.example.com}
spec:
  group: $NS.example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: $NS.example.com/v1
kind: Thing
metadata: {name: main}
---
` + `
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: main, image: "registry.example/operator:1"}]}
`

// playOperator answers to the operand being waited for with a status.
func (w *world) playOperator(t *testing.T, sink install.Sink, status string) install.Sink {
	operand := w.here("$NS.example.com/Thing/$NS/main")
	played := false
	return func(e install.Event) {
		sink(e)
		if e.Object == operand && e.State == record.StateWaiting && !played {
			played = true
			w.edit(t, "patch", w.here("things.$NS.example.com"), "main", "-n", w.release.Namespace, "--subresource=status", "--type=merge", "-p", status)
		}
	}
}

func TestClusterOperandsAreWaitedForAfterTheirOperator(t *testing.T) {
	t.Run("healthy", func(t *testing.T) {
		w := newWorld(t, "operand")
		plan := w.plan(t, w.content(t, "1.0.0", w.here(operated)))
		var order []string
		opts := w.options(t)
		log := opts.Sink
		opts.Sink = w.playOperator(t, func(e install.Event) {
			log(e)
			if e.State == record.StateReady || e.Type == install.EventStage && e.Stage == "operands" {
				order = append(order, e.Stage+strings.Split(e.Object, "/")[max(0, min(1, strings.Count(e.Object, "/")))])
			}
		}, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
		if _, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts); err != nil {
			t.Fatal(err)
		}
		// Objects that gate nothing, such as the Namespace, may be seen to be ready late.
		got := strings.Join(order, " ")
		before, ended := strings.CutSuffix(got, " operands Thing")
		if !ended || !strings.Contains(before, "Deployment") {
			t.Errorf("the order was %q, want the Deployment before the operands, and the Thing as the last", got)
		}
	})
	t.Run("not ready", func(t *testing.T) {
		w := newWorld(t, "operand-waits")
		plan := w.plan(t, w.content(t, "1.0.0", w.here(operated)))
		opts, clock := w.options(t), newJumpClock()
		opts.Clock = clock
		log := opts.Sink
		opts.Sink = w.playOperator(t, func(e install.Event) {
			log(e)
			if strings.Contains(e.Message, "no quorum") && e.Type == install.EventObject {
				clock.jump()
			}
		}, `{"status":{"conditions":[{"type":"Ready","status":"False","message":"no quorum"}]}}`)
		_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
		if install.KindOf(err) != install.Interrupted || !strings.Contains(err.Error(), "Thing/operand-waits/main waiting: no quorum") {
			t.Errorf("exit code %d: %v, want 4 with the operand's own words", install.KindOf(err), err)
		}
	})
}

func TestClusterHealthCheckHoldsTheNextStageBack(t *testing.T) {
	w := newWorld(t, "checked")
	// Services alone are no gate; Deployments come in a later stage.
	manifest := "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}\n---\n" + fault("none")
	plan := w.plan(t, w.content(t, "1.0.0", manifest))
	check, err := health.Parse("Service/web=has(self.metadata.annotations) && 'ready' in self.metadata.annotations")
	if err != nil {
		t.Fatal(err)
	}
	opts, clock := w.options(t), newJumpClock()
	opts.Clock, opts.Checks = clock, []rollout.Check{check}
	log := opts.Sink
	opts.Sink = func(e install.Event) {
		log(e)
		if e.Cause == rollout.CheckFailed && e.Type == install.EventObject {
			clock.jump()
		}
	}
	_, err = install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if install.KindOf(err) != install.Interrupted || !strings.Contains(err.Error(), "core/Service/checked/web waiting: health check") {
		t.Errorf("exit code %d: %v, want 4, naming the Service and its check", install.KindOf(err), err)
	}
	if live := w.read(t, "apps/v1", "Deployment", "checked", "web"); live != nil {
		t.Error("the next stage began")
	}

	w.edit(t, "annotate", "service", "web", "-n", "checked", "ready=yes")
	opts = w.options(t)
	opts.Checks = []rollout.Check{check}
	receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if err != nil || receipt.State != string(record.Applied) {
		t.Errorf("once it holds: %v, %v", receipt, err)
	}
}

func TestClusterRolloutWithNothingToWaitForEndsAtOnce(t *testing.T) {
	w := newWorld(t, "nothing")
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
	opts := w.options(t)
	opts.Clock = stopped{time.Now()} // no timer ever fires
	receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if err != nil || receipt.State != string(record.Applied) {
		t.Errorf("got %v, %v", receipt, err)
	}
}

// stopped is a clock that stands still.
type stopped struct{ now time.Time }

func (s stopped) Now() time.Time                     { return s.now }
func (stopped) After(time.Duration) <-chan time.Time { return make(chan time.Time) }
