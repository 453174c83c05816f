package plugins

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Executor is what the pods of Optimus' jobs take in addition to the image of a plugin:
// the image of the container that fetches what the job reads. A PluginSet names it:
//
//	spec:
//	  executor:
//	    custom-init-image: registry.example.com/own@sha256:…   # default: default-init-image
//	    default-init-image: docker.io/goto/optimus@sha256:…
type Executor struct{ CustomInitImage, DefaultInitImage string }

// InitImage returns custom-init-image, else default-init-image; empty without both.
func (e *Executor) InitImage() string {
	switch {
	case e == nil:
		return ""
	case e.CustomInitImage != "":
		return e.CustomInitImage
	}
	return e.DefaultInitImage
}

// executor reads the field spec.executor of a plugin set; nil if the set has none.
func (p *parser) executor(f field) *Executor {
	if !f.IsMap() {
		return nil
	}
	return &Executor{f.At("custom-init-image").Text(), f.At("default-init-image").Text()}
}

// The parts of the pod of a job, by their names in the DAGs that Optimus generates
// (ext/scheduler/airflow); base is the container that KubernetesPodOperator starts.
const (
	jobDir         = "/data"
	assetVolume    = "asset-volume"
	bootContainer  = "init-container"
	bootEntrypoint = "/opt/entrypoint_init_container.sh"
	baseContainer  = "base"
)

// The variables of the container that no config of a plugin sets.
const (
	jobDirVariable    = "JOB_DIR"
	jobLabelsVariable = "JOB_LABELS"
)

// ExecutorTemplates returns the pod template of each plugin of a set for the jobs that run
// it, as the RFC on plugins (docs/docs/rfcs/20220507_simplify_plugin_maintenance.md) has
// it: an init container fetches assets and environment into a volume that it shares with
// the image of the plugin, which stays as its publisher made it. The template is for
// pod_template_file of KubernetesPodOperator; settings of one job, such as JOB_NAME, are
// added there. files come from the plan of the set. The sentences name what of the config
// of a plugin a template cannot have.
func ExecutorTemplates(set *Set, files []preview.File) (templates []map[string]any, sentences []string, err error) {
	image := set.Executor.InitImage()
	if image == "" {
		return nil, nil, errors.New("spec.executor names no image for the init container; write custom-init-image or default-init-image")
	}
	for _, f := range files {
		if !isYAMLPlugin(f.Path) || f.Action == preview.ActionDelete {
			continue
		}
		plugin, err := readYAMLPlugin([]byte(f.Text))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: Optimus refuses it: %w", clip(f.Path), err)
		}
		if strings.Contains(plugin.script+plugin.image, preview.Masked) {
			return nil, nil, fmt.Errorf("%s: its image or script has a secret in the clear, which no plan keeps; have it read from a variable", clip(f.Path))
		}
		for _, one := range plugin.config {
			if strings.Contains(one.value, preview.Masked) {
				return nil, nil, fmt.Errorf("%s: its config %s is a secret in the clear, which no plan keeps; write it as a secret of Optimus, {{.secret.NAME}}", clip(f.Path), clip(one.name))
			}
		}
		variables, left := plugin.variables()
		if len(left) > 0 {
			sentences = append(sentences, "Of the config of plugin "+clip(plugin.name)+", these come with the environment of a job alone: "+strings.Join(left, ", "))
		}
		templates = append(templates, plugin.executorTemplate(image, variables))
	}
	if len(templates) == 0 {
		return nil, nil, fmt.Errorf("the set has no plugin of Optimus in YAML, %sNAME%s, whose jobs run an image", yamlPrefix, yamlSuffix)
	}
	return templates, sentences, nil
}

// variables returns the config of a plugin as variables, with names in capitals, as Optimus
// has them; and what a job alone can have, with the reason. The files
// that a job loads have the config of the job, which wins.
func (p yamlPlugin) variables() (list []setting, left []string) {
	for _, one := range p.config {
		name, why := strings.ToUpper(one.name), ""
		switch {
		case !variableName.MatchString(name):
			why = "no name of a variable"
		case name == jobDirVariable || name == jobLabelsVariable:
			why = "the scheduler sets it"
		case strings.Contains(one.value, "{{"):
			why = "a template"
		}
		if why != "" {
			left = append(left, clip(name)+" ("+why+")")
			continue
		}
		value := strings.ReplaceAll(one.value, "$", "$$") // which Kubernetes reads as one
		if at := slices.IndexFunc(list, func(s setting) bool { return s.name == name }); at >= 0 {
			list[at].value = value // as the last of a name counts
			continue
		}
		list = append(list, setting{name, value})
	}
	return list, left
}

var variableName = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$`)

// executorTemplate returns the pod template of a plugin's jobs; variables come from its
// config.
func (p yamlPlugin) executorTemplate(bootImage string, variables []setting) map[string]any {
	settings := []string{jobDirVariable, jobDir, jobLabelsVariable, "orchestrator=optimus"}
	for _, v := range variables {
		settings = append(settings, v.name, v.value)
	}
	env := func(pairs ...string) (out []any) {
		for pair := range slices.Chunk(pairs, 2) {
			out = append(out, map[string]any{"name": pair[0], "value": pair[1]})
		}
		return out
	}
	assets := []any{map[string]any{"name": assetVolume, "mountPath": jobDir}}
	confined := func() map[string]any {
		return map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}, "seccompProfile": map[string]any{"type": "RuntimeDefault"}}
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "PodTemplate", "metadata": map[string]any{"name": strings.ToLower(strings.ReplaceAll(p.name, "_", "-"))},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"orchestrator": "optimus"}},
			"spec": map[string]any{
				"restartPolicy": "Never",
				"volumes":       []any{map[string]any{"name": assetVolume, "emptyDir": map[string]any{}}},
				"initContainers": []any{map[string]any{
					"name": bootContainer, "image": bootImage, "command": []any{"/bin/sh", bootEntrypoint},
					"env":          env(jobDirVariable, jobDir, "INSTANCE_TYPE", p.kind, "INSTANCE_NAME", p.name),
					"volumeMounts": assets, "securityContext": confined(),
				}},
				"containers": []any{map[string]any{
					"name": baseContainer, "image": p.image, "command": []any{p.shell, "-c"}, "args": []any{loadEnvironment + p.script},
					"env":          env(settings...),
					"volumeMounts": assets, "securityContext": confined(),
					"lifecycle": map[string]any{"postStart": map[string]any{"exec": map[string]any{"command": []any{p.shell, "-c", checkEnvironment}}}},
				}},
			},
		},
	}
}

// Files that the init container writes for the job. A shell that cannot read one of the
// files may go on without it, so postStart ends the container then: the kubelet kills one
// whose hook fails, and says so in an event.
const (
	loadEnvironment  = "set -o allexport; . $JOB_DIR/in/.env; . $JOB_DIR/in/.secret; set +o allexport; "
	checkEnvironment = "test -r $JOB_DIR/in/.env && test -r $JOB_DIR/in/.secret"
)
