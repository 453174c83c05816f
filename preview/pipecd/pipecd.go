// Package pipecd knows the configuration of a PipeCD application (app.pipecd.yaml): its
// content, the stages that change the applied objects, and the files of its directory
// that are manifests. It reads the fields of kind KubernetesApp and of the plugin
// kubernetes in kind Application, as PipeCD's own plugin does
// (pkg/app/pipedv1/plugin/kubernetes), and the fields of this program's plugin.
package pipecd

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
)

// Group and Version identify PipeCD's configuration files.
const (
	Group   = "pipecd.dev"
	Version = "v1beta1"
)

// Plugin is the name of this program's plugin in the configuration of an application.
const Plugin = "operator"

// kubernetesPlugin is the name of PipeCD's plugin for Kubernetes.
const kubernetesPlugin = "kubernetes"

// Application is what the configuration of an application says.
type Application struct {
	Name string
	// Namespace is the one that all objects go to; empty leaves those that they name.
	Namespace string
	// CreatesNamespace says that Namespace is made where it is missing, by PipeCD or by
	// this program's plugin.
	CreatesNamespace bool
	// Input is the content as PipeCD's Kubernetes plugin reads it; nil where Own is
	// the content.
	Input *Input
	// Own is the section of this program's plugin, where it is its own request.
	Own fields.Field
	// Stages are the names of stages that are not run, in their order.
	Stages []string
	// Tools are the versions of programs that PipeCD would render with, as "helm 3.8.2".
	Tools []string
}

// Input is the content of an application: a chart, or a directory with a kustomization or
// manifests.
type Input struct {
	Chart *Chart // nil for a directory
	// Dir is the directory of a kustomization, below the configuration's; empty means the
	// configuration's directory.
	Dir string
	// Manifests are files in the directory; nil means all that lie directly in it.
	Manifests []string
}

// Chart is a Helm chart with its options. Exactly one of Path, Git and Repository leads
// to it; the field of each is kept for what is wrong about its value.
type Chart struct {
	Path                      fields.Field
	Git, Ref                  fields.Field
	Repository, Name, Version fields.Field
	ReleaseName               string
	ValueFiles                []string          // below the directory of the configuration
	SetValues                 map[string]string // by dotted keys
	SetFiles                  map[string]string // the same, with files as values
	APIVersions               []string
	KubeVersion               string
}

// known are fields of an application that do not change what is applied in the end.
var known = []string{
	"labels", "description", "planner", "commitMatcher", "trigger", "timeout", "postSync", "notification", "eventWatcher", "driftDetection",
	"plugins.wait", "plugins.waitapproval", "plugins.analysis", "plugins.scriptrun",
}

// Read reads the field spec of an application. An unsupported value is recorded as an
// error of the field. kind is the document's: KubernetesApp or Application.
func Read(spec fields.Field, kind string) Application {
	app := Application{Name: spec.At("name").Need()}
	for _, path := range known {
		spec.At(path).Know()
	}
	section, own := app.section(spec, kind)
	if section.Document().Failed() {
		return app
	}
	app.stages(spec.At("pipeline.stages"))
	switch {
	case own && !section.At("input").Set():
		app.Own = section
	default:
		app.input(section.At("input"))
		app.CreatesNamespace = app.CreatesNamespace || own
		options(section)
	}
	return app
}

// section returns the part of the configuration that has the content, and whether it
// belongs to this program's plugin. PipeCD without plugins has it directly in spec.
func (a *Application) section(spec fields.Field, kind string) (section fields.Field, own bool) {
	theirs, ours, flat := spec.At("plugins."+kubernetesPlugin), spec.At("plugins."+Plugin), spec.At("input")
	theirs.IsMap()
	ours.IsMap()
	switch {
	case theirs.Set() && ours.Set():
		ours.Fail("the plugin %s is configured too; leave out one of them, as one plugin applies the content", kubernetesPlugin)
	case flat.Set() && (theirs.Set() || ours.Set()):
		flat.Fail("a plugin is configured too; give the input there")
	case ours.Set():
		return ours, true
	case theirs.Set():
		return theirs, false
	case kind == "KubernetesApp":
		return spec, false
	}
	for _, stage := range spec.At("pipeline.stages").Maps() {
		name := stage.At("name").Text()
		if strings.HasPrefix(name, "K8S_") {
			return theirs, false
		}
		if slices.Contains(OwnStages(), name) {
			return ours, true
		}
	}
	if !spec.Document().Failed() {
		spec.At("plugins").Fail("neither %s nor %s is configured, and what other plugins deploy is not read", kubernetesPlugin, Plugin)
	}
	return spec, false
}

// options reads what the Kubernetes plugin has next to the input.
func options(section fields.Field) {
	section.At("service").Know()
	section.At("workloads").Know()
	section.At("variantLabel").Know()
	section.At("trafficRouting").Know() // of the stages; where it ends, is checked there
	quick := section.At("quickSync")
	quick.At("prune").Flag() // what leaves the set is deleted here as reviewed
	noSelectors(quick)
}

// input reads the field input.
func (a *Application) input(v fields.Field) {
	a.Namespace = v.At("namespace").Text()
	a.CreatesNamespace = v.At("autoCreateNamespace").Flag()
	v.At("autoRollback").Flag() // what happens after a failure
	for _, tool := range []string{"kubectl", "kustomize", "helm"} {
		if version := v.At(tool + "Version").Text(); version != "" {
			a.Tools = append(a.Tools, tool+" "+version)
		}
	}
	if enable := v.At("kustomizeOptions.enable-helm"); enable.Text() == "" {
		enable.Know() // charts in a kustomization are refused there
	}
	in := &Input{Dir: v.At("kustomizeDir").Text()}
	if in.Dir != "" && !within(in.Dir) {
		v.At("kustomizeDir").Fail("it must be below the directory of the file")
	}
	manifests := v.At("manifests")
	for _, name := range manifests.Texts() {
		if !within(name) {
			manifests.Fail("%q does not lie below the directory of the file", shorten(name))
			return
		}
		in.Manifests = append(in.Manifests, name)
	}
	if chart := v.At("helmChart"); chart.Set() {
		in.Chart = readChart(chart, v.At("helmOptions"))
	}
	a.Input = in
}
