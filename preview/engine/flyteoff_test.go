package engine_test

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// flyteRelease is a release of a plugin that is installed, in a cluster with
// jobs of it.
type flyteRelease struct {
	box     *sandbox.Sandbox
	release preview.Release
	members []engine.InstalledObject
}

func installFlyte(t *testing.T, name, docs string) *flyteRelease {
	t.Helper()
	f := &flyteRelease{box: sandboxtest.Start(t), release: preview.Release{Name: name, Namespace: name}}
	apply(t, f.box, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	content, err := planned.Prepare(f.release, material(t, docs))
	if err != nil {
		t.Fatal(err)
	}
	applyDefinitions(t, f.box, content)
	client := connected(t, f.box)
	for i := range content.Objects {
		o := &content.Objects[i]
		f.members = append(f.members, engine.InstalledObject{Ref: o.Ref(), Package: "p"})
		if o.Kind == "CustomResourceDefinition" {
			continue
		}
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: o.Planned}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *flyteRelease) upgrade(t *testing.T, cluster engine.Cluster, docs string) *preview.Plan {
	t.Helper()
	content, err := planned.Prepare(f.release, material(t, docs))
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, cluster, engine.Options{
		Tool: "test", Release: f.release, Request: preview.Request{Action: preview.RequestUpgrade}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		Installed: engine.Installed{Base: preview.Base{Revision: 1, Digest: preview.HashBytes([]byte("1"))}, Members: f.members},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ofRecord is a plan as the record of a release keeps it: without live bodies,
// and of the reads with those that are this tool's own.
func ofRecord(p *preview.Plan) *preview.Plan {
	out := *p
	out.Objects, out.Reads = slices.Clone(p.Objects), slices.Clone(p.Reads)
	for i := range out.Objects {
		out.Objects[i].LiveBody = nil
	}
	for i := range out.Reads {
		if preview.String(out.Reads[i].Body, "apiVersion") != preview.APIVersion {
			out.Reads[i].Body = nil
		}
	}
	return &out
}

const (
	flyteJobs = "{apiVersion: kubernetes.dask.org/v1, kind: DaskJob, metadata: {name: one, namespace: default}}\n---\n{apiVersion: kubernetes.dask.org/v1, kind: DaskJob, metadata: {name: two, namespace: default}}"
	flyteOff  = "plugin dask is turned off while the cluster has "
)

// flyteWorkload is an engine that mounts its configuration.
func flyteWorkload(checksum string) string {
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: engine, labels: {app: engine}}, spec: {selector: {matchLabels: {app: engine}}, template: {
  metadata: {labels: {app: engine}, annotations: {checksum: ` + checksum + `}}, spec: {containers: [{name: engine, image: "example.com/engine:1"}], volumes: [{name: config, configMap: {name: config}}]}}}}`
}

// flyteRest is what stays of the release: a plan of nothing is none.
const flyteRest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: rest}}"

// A plugin that is turned off, or whose operator goes, leaves its objects: they
// are counted, or it is said that they cannot be; where they may not be, that is
// no absence.
func TestClusterFlytePluginThatIsTurnedOff(t *testing.T) {
	definition := flyteDefinition("DaskJob", "kubernetes.dask.org")
	f := installFlyte(t, "fl-off", definition+"\n---\n"+flyteConfigMap("dask")+"\n---\n"+flyteRest)
	apply(t, f.box, flyteJobs+"\n---\n"+strings.Replace(flyteWorkload("a"), "name: engine,", "name: engine, namespace: fl-off,", 1))
	user := func(name, rules string) *k8s.Client {
		apply(t, f.box, flyteBinding(name, "", `{apiGroups: [""], resources: [namespaces], verbs: [get]}, {apiGroups: [""], resources: [configmaps], verbs: [get, list, create, patch, delete]}, `+
			rules, "{apiGroup: rbac.authorization.k8s.io, kind: User, name: "+name+"}"))
		return as(t, f.box, name)
	}
	client := connected(t, f.box)
	reader := user("fl-off-reader", "{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list, patch]}")
	left, removed, missing, restart := rules.FlyteObjectsLeft.Name, rules.FlyteDefaultRemoved.Name, rules.FlyteSectionMissing.Name, rules.FlyteEngineNotRestarted.Name
	same := func(text string) string { return text }
	for _, test := range []struct {
		name, plan string
		client     *k8s.Client
		severity   preview.Severity
		want       map[string]string
	}{
		{"its configuration has it no more", definition + "\n---\n" + flyteConfigMap() + "\n---\n" + flyteRest, client, preview.Critical,
			map[string]string{left: flyteOff + "2 DaskJob objects", removed: "enabled-plugins has no dask any more; default-for-task-types has no dask any more",
				missing: "plugin dask: no configuration: the plan brings daskjobs.kubernetes.dask.org, and enabled-plugins does not have it",
				restart: "Deployment engine mounts this ConfigMap and is left as it is; after the apply: kubectl rollout restart deployment/engine -n fl-off",
				rules.FlyteListsChanged.Name: "enabled-plugins was container, sidecar, k8s-array, dask, and will be container, sidecar, k8s-array; " +
					"default-for-task-types was {container: container, container_array: k8s-array, dask: dask, sidecar: sidecar}, and will be {container: container, container_array: k8s-array, sidecar: sidecar}"}},
		{"the ConfigMap goes", definition + "\n---\n" + flyteRest, client, preview.Critical,
			map[string]string{left: flyteOff + "2 DaskJob objects", removed: "", missing: "",
				restart: "Deployment engine mounts this ConfigMap, which the plan deletes: it goes on as it is, and its next pod does not start"}},
		{"all of it goes, and the definition stays", flyteRest, client, preview.Critical,
			map[string]string{left: flyteOff + "2 DaskJob objects", missing: ""}},
		{"its operator goes, and the configuration stays", flyteConfigMap("dask") + "\n---\n" + flyteRest, client, preview.Critical,
			map[string]string{left: "the operator of plugin dask goes while the cluster has 2 DaskJob objects",
				restart: "", missing: "plugin dask: no operator: the plan takes it away: of its objects only the definition daskjobs.kubernetes.dask.org stays"}},
		{"by somebody who may not list its objects", definition + "\n---\n" + flyteConfigMap() + "\n---\n" + flyteRest, reader, preview.NotKnown,
			map[string]string{left: flyteOff + "objects that cannot be counted: they may not be listed",
				restart: "the Deployments of namespace fl-off may not be listed: what mounts this ConfigMap has to be restarted"}},
		{"by somebody who may not read its definition", flyteConfigMap() + "\n---\n" + flyteRest, user("fl-off-blind", "{apiGroups: [apps], resources: [deployments], verbs: [list]}"), preview.NotKnown,
			map[string]string{left: flyteOff + "objects that cannot be counted: their definition may not be read"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := f.upgrade(t, test.client, test.plan)
			checkFlyteEvidence(t, p, test.want, same)
			if found := findingOf(p, left+"/core/ConfigMap/fl-off/config"); found == nil || found.Severity != test.severity {
				t.Errorf("want %s, got %+v", test.severity, found)
			}
			recorded := ofRecord(p)
			if moved, err := engine.StaleReads(t.Context(), recorded, test.client); err != nil || len(moved) > 0 {
				t.Errorf("read again: %v, %v", moved, err)
			}
			flyteToday(t, recorded)
		})
	}
	t.Run("one more object, since the review", func(t *testing.T) {
		p := f.upgrade(t, client, definition+"\n---\n"+flyteConfigMap()+"\n---\n"+flyteRest)
		_, another, _ := strings.Cut(flyteJobs, "---\n")
		apply(t, f.box, strings.Replace(another, "two", "three", 1))
		const want = `left.dask: reviewed "2 DaskJob objects", now "3 DaskJob objects"`
		if moved, err := engine.StaleReads(t.Context(), ofRecord(p), client); err != nil || len(moved) != 1 || !strings.HasSuffix(moved[0], "core/ConfigMap/fl-off/config: "+want) {
			t.Errorf("resumed: %q, %v", moved, err)
		}
		flyteRefused(t, client, p, want)
	})
	t.Run("the restart that the evidence names", func(t *testing.T) {
		p := f.upgrade(t, client, definition+"\n---\n"+flyteConfigMap()+"\n---\n"+flyteRest)
		at := slices.IndexFunc(p.Findings, func(f preview.Finding) bool { return f.Rule == restart })
		if at < 0 {
			t.Fatal("nothing is to be restarted")
		}
		words := strings.Fields(regexp.MustCompile(`kubectl rollout restart \S+ -n \S+`).FindString(p.Findings[at].Evidence))
		out, err := exec.CommandContext(t.Context(), sandboxtest.Kubectl(t), append(words[1:], "--kubeconfig", f.box.Kubeconfig())...).CombinedOutput()
		if err != nil || string(out) != "deployment.apps/engine restarted\n" {
			t.Errorf("%q: %v: %s", words, err, out)
		}
	})
}

// An engine of the plan that takes its configuration's checksum into its pods is
// restarted with the plan, and one that does not is not.
func TestClusterFlyteEngineOfThePlanIsRestartedOrNot(t *testing.T) {
	f := installFlyte(t, "fl-roll", flyteConfigMap()+"\n---\n"+flyteWorkload("a"))
	client := connected(t, f.box)
	const mounted = "Deployment engine mounts this ConfigMap and is left as it is"
	for _, test := range []struct{ name, plan, want string }{
		{"nothing changes", flyteConfigMap() + "\n---\n" + flyteWorkload("a"), ""},
		{"the plugins, and not the engine", flyteConfigMap("mpi") + "\n---\n" + flyteWorkload("a"), mounted},
		{"the plugins, and a label of the engine", flyteConfigMap("mpi") + "\n---\n" + strings.Replace(flyteWorkload("a"), "labels: {app: engine}", "labels: {app: engine, more: a}", 1), mounted},
		{"the plugins, and the engine's pods", flyteConfigMap("mpi") + "\n---\n" + flyteWorkload("b"), ""},
		{"the plugins, and the engine goes", flyteConfigMap("mpi"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := f.upgrade(t, client, test.plan)
			checkFlyteEvidence(t, p, map[string]string{rules.FlyteEngineNotRestarted.Name: test.want}, func(text string) string { return text })
			flyteToday(t, ofRecord(p))
		})
	}
}

// flyteToday holds that a resumed run finds of Flyte what the review found.
func flyteToday(t *testing.T, recorded *preview.Plan) {
	t.Helper()
	all, err := engine.CurrentFindings(recorded, k8s.NewSchemas())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all[len(recorded.Findings):] {
		if strings.HasPrefix(f.Rule, "flyte-") {
			t.Errorf("found anew: %+v", f)
		}
	}
}

// flyteRefused holds that the whole check of a plan finds that something moved.
func flyteRefused(t *testing.T, client *k8s.Client, p *preview.Plan, want string) {
	t.Helper()
	now, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
	if err != nil || now.Digest == p.Digest {
		t.Errorf("the digest is the same (%v)", err)
		return
	}
	moves := engine.FactChanges(p, now, k8s.NewSchemas())
	if !slices.ContainsFunc(moves, func(m diff.FactChange) bool { return strings.HasSuffix(m.String(), want) }) {
		t.Errorf("want %q, got %q", want, moves)
	}
}

// The basis of a finding about a live engine is a Fact: if it moved, the check before an
// apply refuses, and so does a resumed run.
func TestClusterWhatAFlytePlanRestsOnMoves(t *testing.T) {
	box := sandboxtest.Start(t)
	here := func(text string) string { return strings.ReplaceAll(text, "$NS", "fl-moves") }
	tensorflow := flyteDefinition("TFJob", "kubeflow.org")
	// Of two definitions of one kind the second is never established.
	applyDefinitions(t, box, plainContent(t, strings.ReplaceAll(tensorflow, "tfjob", "tfother")))
	apply(t, box, tensorflow+"\n---\n"+here(flyteEngine+"---\n"+flyteBinding("$NS-tf", "", "{apiGroups: [kubeflow.org], resources: [tfjobs], verbs: ['*']}", flyteAccount)+
		flyteBinding("engine", "$NS-team-dev", flyteRule, flyteAccount)))
	client := connected(t, box)
	const plan = `{apiVersion: v1, kind: ConfigMap, metadata: {name: config}, data: {plugins.yaml: "tasks: {task-plugins: {default-for-task-types: {spark: spark, tensorflow: tensorflow}}}"}}`
	v2 := flyteDefinition("TaskAction", "flyte.org")
	checkFlyteEvidence(t, planFrom(t, client, "fl-moves", plan), map[string]string{
		rules.FlyteSectionMissing.Name: "plugin tensorflow: no operator: nothing in the plan defines tfjobs.kubeflow.org, and the cluster's own definition is not established",
		rules.FlyteConfigIgnored.Name:  "", // without a list engines of both generations have every plugin
	}, here)
	const name = "core/ConfigMap/fl-moves/config: "
	for _, test := range []struct {
		name, want string
		move       func()
		own        bool // whether it may be the work of the plan itself, to a run that goes on
	}{
		{"a right in a project goes", `rights.engine.spark.fl-moves-team-dev: reviewed "create get list watch patch update delete", now (none)`,
			func() { remove(t, box, rbac+"/v1", "rolebindings", "fl-moves-team-dev", "engine") }, false},
		{"a right everywhere goes", `rights.engine.tensorflow.*: reviewed "create get list watch patch update delete", now (none)`,
			func() { remove(t, box, rbac+"/v1", "clusterrolebindings", "", "fl-moves-tf") }, false},
		{"a project comes", `projects.fl-moves-new-dev: reviewed (none), now {}`,
			func() { apply(t, box, "{apiVersion: v1, kind: Namespace, metadata: {name: fl-moves-new-dev}}") }, false},
		{"a project gets what it needs", `projects.fl-moves-team-dev.spark: reviewed (none), now "ServiceAccount Role RoleBinding"`,
			func() { apply(t, box, strings.TrimSuffix(sparkObjects("fl-moves-team-dev"), "---\n")) }, true},
		{"the engine is found to be of v2", `engines: reviewed (none), now "v2"`,
			func() { apply(t, box, v2) }, false},
		{"the engine goes", `accounts: reviewed "engine", now (none)`,
			func() { remove(t, box, "apps/v1", "deployments", "fl-moves", "engine") }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planFrom(t, client, "fl-moves", plan)
			test.move()
			moved, err := engine.StaleReads(t.Context(), ofRecord(p), client)
			if found := slices.ContainsFunc(moved, func(text string) bool { return strings.HasSuffix(text, name+test.want) }); err != nil || found == test.own {
				t.Errorf("resumed: %q, got %q, %v", test.want, moved, err)
			}
			flyteRefused(t, client, p, test.want)
		})
	}
	last := planFrom(t, client, "fl-moves", plan)
	checkFlyteEvidence(t, last, map[string]string{rules.FlyteConfigIgnored.Name: "", rules.FlyteDefaultRemoved.Name: ""}, here)
	tamperEveryLeaf(t, last)
	removeDefinition(t, box, v2)
}

// removeDefinition deletes a definition and waits until it is gone.
func removeDefinition(t *testing.T, box *sandbox.Sandbox, definition string) {
	t.Helper()
	ref := preview.RefOf(parseAll(t, definition)[0])
	remove(t, box, ref.APIVersion, "customresourcedefinitions", "", ref.Name)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	gone := false
	err := connected(t, box).Observe(ctx, []preview.Ref{ref}, func(_ preview.Ref, body map[string]any, _ error) {
		if gone = body == nil; gone {
			cancel()
		}
	})
	if err != nil || !gone {
		t.Errorf("%s is still there: %v", ref.ID(), err)
	}
}
