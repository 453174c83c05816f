package plugins

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

func executorSet(t *testing.T, images string) *Set {
	t.Helper()
	set, err := Parse(hostedSet("{deployment: {namespace: hosts, name: server}}", "\n  executor: "+images), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const executedPlugin = "name: bq2bq\nplugintype: task\npluginversion: v1\nimage: example.com/bq2bq:1\nentrypoint:\n  shell: /bin/bash\n  script: |\n    cd /opt\n    python3 main.py\n"

func TestTheBootImageOfAJobIsTheCustomOneOrElseTheDefault(t *testing.T) {
	files := []preview.File{{Path: "optimus-plugin-bq2bq.yaml", Text: executedPlugin}}
	for _, test := range []struct{ name, images, want, refusal string }{
		{"the custom one", "{custom-init-image: example.com/own:1, default-init-image: example.com/optimus:1}", "example.com/own:1", ""},
		{"the default one", "{default-init-image: example.com/optimus:1}", "example.com/optimus:1", ""},
		{"none", "{}", "", "spec.executor names no image for the init container; write custom-init-image or default-init-image"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _, err := ExecutorTemplates(executorSet(t, test.images), files)
			if test.refusal != "" {
				if err == nil || err.Error() != test.refusal {
					t.Errorf("got %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pod, _ := preview.PodTemplate(got[0])
			if boot := preview.Maps(pod, "initContainers")[0]; preview.String(boot, "image") != test.want {
				t.Errorf("the init container is %v", boot)
			}
		})
	}
}

// The pod of Optimus' own DAGs (ext/scheduler/airflow/dag/expected_dag.py), as a template.
func TestThePodOfAJobRunsTheImageOfThePlugin(t *testing.T) {
	files := []preview.File{
		{Path: "optimus-bq2bq_linux_amd64"}, {Path: "optimus-plugin-bq2bq.yaml", Text: executedPlugin},
		{Path: "optimus-plugin-gone.yaml", Text: "name: gone", Action: preview.ActionDelete},
		{Path: "optimus-plugin-transporter.yaml", Text: strings.NewReplacer("bq2bq", "transporter", "task", "hook", "  shell: /bin/bash\n", "").Replace(executedPlugin)},
	}
	got, _, err := ExecutorTemplates(executorSet(t, "{default-init-image: example.com/optimus:1}"), files)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d templates, %v", len(got), err)
	}
	for i, wanted := range [][]string{
		{"name: bq2bq\n", "image: example.com/bq2bq:1\n", "- /bin/bash\n", "value: task\n", "cd /opt; python3 main.py", "- /opt/entrypoint_init_container.sh\n", "emptyDir: {}\n", "mountPath: /data\n", "postStart:\n", "restartPolicy: Never\n"},
		{"name: transporter\n", "image: example.com/transporter:1\n", "value: hook\n", "set -o allexport; . $JOB_DIR/in/.env; . $JOB_DIR/in/.secret; set +o allexport; cd /opt"},
	} {
		text := diff.Manifest(got[i])
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
}

// A set's settings for a plugin are in the environment of its program. What only a job can
// have is named.
func TestTheConfigOfAPluginIsInTheEnvironmentOfItsJobs(t *testing.T) {
	const config = `defaultconfig:
- {name: load_method, value: APPEND}
- {name: WORKERS, value: 4}
- {name: Load_Method, value: REPLACE}
- {name: PRICE, value: "$5 of $(JOB_DIR)"}
- {name: DSTART, value: "{{.DSTART}}"}
- {name: JOB_DIR, value: /elsewhere}
- {name: log-level, value: info}
`
	got, sentences, err := ExecutorTemplates(executorSet(t, "{default-init-image: example.com/optimus:1}"), []preview.File{{Path: "optimus-plugin-bq2bq.yaml", Text: executedPlugin + config}})
	if err != nil {
		t.Fatal(err)
	}
	pod, _ := preview.PodTemplate(got[0])
	var env []string
	for _, one := range preview.Maps(preview.Maps(pod, "containers")[0], "env") {
		env = append(env, preview.String(one, "name")+"="+preview.String(one, "value"))
	}
	if want := []string{"JOB_DIR=/data", "JOB_LABELS=orchestrator=optimus", "LOAD_METHOD=REPLACE", "WORKERS=4", "PRICE=$$5 of $$(JOB_DIR)"}; !slices.Equal(env, want) {
		t.Errorf("environment %q, want %q", env, want)
	}
	if want := []string{"Of the config of plugin bq2bq, these come with the environment of a job alone: DSTART (a template), JOB_DIR (the scheduler sets it), LOG-LEVEL (no name of a variable)"}; !slices.Equal(sentences, want) {
		t.Errorf("%q, want %q", sentences, want)
	}
}

func TestAPodThatCannotBeMadeSaysWhy(t *testing.T) {
	for _, test := range []struct{ name, path, text, want string }{
		{"no plugin in YAML", "optimus-neo_linux_amd64", "", "the set has no plugin of Optimus in YAML"},
		{"a plugin that Optimus refuses", "optimus-plugin-neo.yaml", "name: neo\n", "optimus-plugin-neo.yaml: Optimus refuses it"},
		{"a secret in the config", "optimus-plugin-bq2bq.yaml", executedPlugin + "defaultconfig: [{name: KEY, value: " + preview.Masked + "}]\n", "its config KEY is a secret in the clear, which no plan keeps; write it as a secret of Optimus, {{.secret.NAME}}"},
		{"a secret in the script", "optimus-plugin-bq2bq.yaml", strings.ReplaceAll(executedPlugin, "main.py", preview.Masked), "has a secret in the clear, which no plan keeps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := ExecutorTemplates(executorSet(t, "{default-init-image: example.com/optimus:1}"), []preview.File{{Path: test.path, Text: test.text}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
