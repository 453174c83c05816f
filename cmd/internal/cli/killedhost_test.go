package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

const hostText = `
apiVersion: v1
kind: Namespace
metadata: {name: NAME}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: server, namespace: NAME}
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: server, image: registry.example.com/server}]
      volumes: [{name: plugins, configMap: {name: plugins, optional: true}}]
`

const hostedSetText = `
apiVersion: kubectl-operator/v1alpha1
kind: PluginSet
metadata: {name: NAME}
spec:
  host:
    deployment: {namespace: NAME, name: server}
    configMap: {name: plugins}
  plugins: [{output: run, reference: ./run}]
`

// TestClusterKilledWhilePluginsOfAHostAreInstalled ends the installation of a set that a
// Deployment loads with kill -9 at its writes: before and after the patch of that
// Deployment, too; the usual run takes each fifth and the last.
// Resumed by digest or by plan, it is what an uninterrupted one makes.
func TestClusterKilledWhilePluginsOfAHostAreInstalled(t *testing.T) {
	t.Parallel()
	box, schemas := sandboxtest.Start(t), k8s.NewSchemas()
	whole := newHostVictim(t, box, schemas, "hw")
	code, said := whole.struck(nil, whole.byDigest())
	if code != 0 {
		t.Fatalf("without a fault: exit %d\n%s", code, said)
	}
	want := whole.hosted()
	var victims []*hostVictim
	var group errgroup.Group
	group.SetLimit(killedAtOnce)
	cuts := map[string]sandboxtest.CutPoint{"a": sandboxtest.CutAnswer}
	if slowtest.Soak() {
		cuts["b"] = sandboxtest.CutBefore
	}
	for name, cut := range cuts {
		for at := 1; at <= whole.writes; at++ {
			if at != whole.writes && !(slowtest.InSample(at-1, 5) && slowtest.Turn(t, at/5)) {
				continue
			}
			v := newHostVictim(t, box, schemas, fmt.Sprintf("h%s%d", name, at))
			victims = append(victims, v)
			group.Go(func() error { v.killedThen(at, cut, v.byDigest(), v.again(at)); return nil })
		}
	}
	_ = group.Wait() // each victim has its own findings
	for _, v := range victims {
		if got := v.hosted(); got != want {
			v.find("it ended as\n%swant\n%s", got, want)
		}
		for _, finding := range v.findings {
			t.Errorf("%s: %s", v.name, finding)
		}
	}
	t.Logf("%d writes; killed %d times\n%s", whole.writes, len(victims), want)
}

// hostVictim is one installation of a set for its own host.
type hostVictim struct {
	*victim
	content string // digest
}

func newHostVictim(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas, name string) *hostVictim {
	t.Helper()
	v := &hostVictim{victim: emptyVictim(t, box, schemas, name)}
	host, set := filepath.Join(v.dir, "host.yaml"), v.set()
	err := errors.Join(
		os.WriteFile(host, []byte(strings.ReplaceAll(hostText, "NAME", v.name)), 0o600),
		os.WriteFile(set, []byte(strings.ReplaceAll(hostedSetText, "NAME", v.name)), 0o600),
		os.WriteFile(filepath.Join(v.dir, "run"), []byte("#!/bin/sh\nrun\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	v.kubectl("apply", "-f", host)
	v.kubectl("wait", "-n", v.name, "--for=condition=Available", "deployment/server", "--timeout=120s")
	out, err := v.program(box.Kubeconfig(), "preview", "-f", set, "-o", "json", "--out", v.saved()).Output()
	var plan struct{ Digest, ContentDigest string }
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		t.Fatalf("preview: %v\n%s", err, out)
	}
	v.digest, v.content = plan.Digest, plan.ContentDigest
	return v
}

func (v *hostVictim) set() string { return filepath.Join(v.dir, "set.yaml") }

func (v *hostVictim) kubectl(args ...string) string {
	cmd := v.program(v.box.Kubeconfig(), args...)
	cmd.Path = sandboxtest.Kubectl(v.t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		v.find("kubectl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (v *hostVictim) byDigest() []string {
	return []string{"install", "-f", v.set(), "--yes", "--approve", v.digest, "--ruleset", strconv.Itoa(preview.Ruleset)}
}

func (v *hostVictim) saved() string { return filepath.Join(v.dir, "plan.tgz") }

// again returns the arguments that resume an installation: by the digest of the plan, or by
// the plan as it was saved.
func (v *hostVictim) again(at int) []string {
	if at%2 == 0 {
		return []string{"install", "--plan", v.saved(), "--yes"}
	}
	return v.byDigest()
}

// hosted says what the host was told, and what is on record.
func (v *hostVictim) hosted() string {
	record, err := record.Load(context.Background(), v.client, v.release())
	if err != nil || record == nil {
		return fmt.Sprintf("no record: %v\n", err)
	}
	annotated := v.kubectl("get", "deployment", "-n", v.name, "server", "-o", "jsonpath={.spec.template.metadata.annotations.kubectl-operator/plugins}")
	lock := v.kubectl("get", "configmap", "-n", v.name, "plugins", "-o", `jsonpath={.data.plugins\.yaml\.lock}`)
	return fmt.Sprintf("revision %d %s\nthe host has the content of the plan: %t\n%s\n", record.Revision, record.State,
		annotated == v.content, strings.ReplaceAll(lock, v.name, "NAME"))
}
