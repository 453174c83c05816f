package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli/help"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// stage FILE FIELD SCRIPT writes what the first SCRIPT_RUN stage of a PipeCD
// application runs there.
func stageCommand(ts *testscript.TestScript, _ bool, args []string) {
	text, err := stageScript(ts.MkAbs(args[0]), args[1])
	ts.Check(err)
	if text == "" {
		ts.Fatalf("%s has no stage with %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o600))
}

func stageScript(path, field string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return "", err
	}
	application, _ := docs[0].(map[string]any)
	for _, stage := range preview.Maps(application, "spec", "pipeline", "stages") {
		if preview.String(stage, "name") == "SCRIPT_RUN" {
			return preview.String(stage, "with", field), nil
		}
	}
	return "", nil
}

// args TEMPLATE SCRIPT FROM=TO... writes what the first init container of a
// PodTemplate runs, with other paths and with the environment instead of $(NAME).
func argsCommand(ts *testscript.TestScript, _ bool, args []string) {
	docs, err := preview.Decode([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	template, _ := docs[0].(map[string]any)
	containers := preview.Maps(preview.Map(template, "template", "spec"), "initContainers")
	if len(containers) == 0 {
		ts.Fatalf("%s has no init container", args[0])
	}
	pairs := []string{"$(", "${", ")", "}"}
	for _, pair := range args[2:] {
		from, to, _ := strings.Cut(pair, "=")
		pairs = append(pairs, from, to)
	}
	words := strings.Join(preview.Texts(containers[0]["args"]), " ")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte("exec kubectl-operator "+strings.NewReplacer(pairs...).Replace(words)+"\n"), 0o600))
}

func TestTheManualShowsTheExampleForPipeCD(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root(t), "testdata", "examples", "pipecd", "app.pipecd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if topic, _ := help.Find("plugins"); !strings.Contains(topic.Text, "```yaml\n"+string(example)+"```\n") {
		t.Error("the topic plugins has another form of testdata/examples/pipecd/app.pipecd.yaml")
	}
}
