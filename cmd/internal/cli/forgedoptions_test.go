package cli_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// optionForgery is what a tenant who may write Secrets, and nothing else, does to the
// records of a chart's release, whose administrator then runs commands with --yes.
type optionForgery struct {
	name  string
	forge func(f *forgedOptions)
	runs  []optionRun
	// keyed says which keys are used: none, one, or both.
	without, with bool
}

// optionRun is a command, its exit code, and what it says.
type optionRun struct {
	command  []string
	code     int
	says     string
	approved bool   // the review approves it
	keyed    string // its further text with a key
}

type forgedOptions struct {
	*forged
	keyed bool
	kept  map[string]map[string]any // Secrets as the tenant kept them, by revision and name
}

// The chart in two versions. The version that the tenant wants applied has "evil" in it,
// and the one that the administrator replaced has "vulnerable".
var optionChart = map[string]string{
	"Chart.yaml":  "apiVersion: v2\nname: web\nversion: VERSION.0.0\n",
	"values.yaml": "image: good\nextraRules: []\n",
	"templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {image: {{ .Values.image | quote }}, version: "VERSION"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules:
- {apiGroups: [""], resources: [services], verbs: [get]}
{{- with .Values.extraRules }}
{{ toYaml . }}
{{- end }}
`,
	"other/evil.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil}\n",
}

// TestClusterForgedOptions has a tenant whose token is good for the Secrets of one
// namespace forge the options, the records and their order. Nothing that an administrator
// then runs with --yes does what a review without the record would not.
func TestClusterForgedOptions(t *testing.T) {
	t.Parallel()
	box, schemas := sandboxtest.Start(t), k8s.NewSchemas()
	var all []*forgedOptions
	var names []string
	played := 0
	var group errgroup.Group
	group.SetLimit(forgedAtOnce)
	for _, row := range optionForgeries() {
		for _, keyed := range []bool{false, true} {
			if played++; keyed && !row.with || !keyed && !row.without || !slowtest.Turn(t, played) {
				continue
			}
			f := &forgedOptions{
				forged: newForged(t, box, schemas, fmt.Sprintf("options-%d", len(all)+1), forgery{}),
				keyed:  keyed, kept: map[string]map[string]any{},
			}
			all, names = append(all, f), append(names, fmt.Sprintf("%s (key: %t)", row.name, keyed))
			group.Go(func() error { f.playOptions(row); return nil })
		}
	}
	_ = group.Wait() // each has its own findings
	for i, f := range all {
		t.Logf("%2d %s: %s", i+1, names[i], strings.Join(f.story, "; "))
		for _, finding := range f.findings {
			t.Errorf("%d, a tenant %s: %s", i+1, names[i], finding)
		}
	}
}

// prepareOptions makes the namespaces, the tenant's right, and revisions 1 and 2.
func (f *forgedOptions) prepareOptions() {
	for _, version := range []string{"1", "2", "3"} {
		for name, text := range optionChart {
			path := filepath.Join(f.dir, "chart"+version, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(strings.ReplaceAll(text, "VERSION", version)), 0o600)); err != nil {
				f.find("%v", err)
			}
		}
	}
	private, _, err := signKey("ecdsa")
	if err := errors.Join(err, os.WriteFile(filepath.Join(f.dir, "record.key"), private, 0o600)); err != nil {
		f.find("%v", err)
	}
	for _, name := range []string{f.name, f.other} {
		f.mustDo(f.admin, http.MethodPost, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": name}})
		rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + name
		f.mustDo(f.admin, http.MethodPost, rbac+"/roles", map[string]any{
			"metadata": map[string]any{"name": "tenant"},
			"rules":    []map[string]any{{"apiGroups": []string{""}, "resources": []string{"secrets"}, "verbs": []string{"*"}}},
		})
		f.mustDo(f.admin, http.MethodPost, rbac+"/rolebindings", map[string]any{
			"metadata": map[string]any{"name": "tenant"},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
			"subjects": []map[string]any{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": f.name + "-tenant"}},
		})
	}
	f.must(f.keyArgs("install", "DIR/chart1", "NAME", "--set", "image=vulnerable", "--yes")...)
	f.keep("1")
	f.must(f.keyArgs("upgrade", "NAME", "DIR/chart2", "--set", "image=fixed", "--yes")...)
	f.keep("2")
}

func (f *forgedOptions) keyArgs(words ...string) []string {
	if f.keyed {
		return append(slices.Clone(words), "--record-key", "DIR/record.key")
	}
	return slices.Clone(words)
}

// keep reads the Secrets of the records as they are now.
func (f *forgedOptions) keep(when string) {
	list := f.mustDo(f.tenant, http.MethodGet, f.secrets(""), nil)
	for _, item := range preview.Maps(list, "items") {
		f.kept[when+" "+preview.String(item, "metadata", "name")] = item
	}
}

// putBack writes a Secret as it was kept.
func (f *forgedOptions) putBack(when, name string) {
	f.put(preview.CloneBody(f.kept[when+" "+name]))
}

func (f *forgedOptions) remove(names ...string) {
	for _, name := range names {
		f.mustDo(f.tenant, http.MethodDelete, f.secrets("/"+name), nil)
	}
}

// options changes the options in the newest record.
func (f *forgedOptions) options(change func(options map[string]any)) {
	f.edit(f.recordName(), func(record map[string]any) { change(record["options"].(map[string]any)) })
}

func setOption(key, value string) func(f *forgedOptions) {
	return func(f *forgedOptions) {
		f.options(func(options map[string]any) {
			options["values"] = []any{map[string]any{"keys": []any{key}, "json": value}}
		})
	}
}

func (f *forgedOptions) playOptions(row optionForgery) {
	f.prepareOptions()
	if len(f.findings) > 0 {
		return
	}
	row.forge(f)
	for _, run := range row.runs {
		words := f.keyArgs(run.command...)
		if run.command[0] != "history" {
			words = append(words, "--yes")
		}
		if run.approved {
			words = append(words, "--approve", f.digestOf(run.command), "--ruleset", strconv.Itoa(preview.Ruleset))
		}
		before := f.written()
		code, said := f.runAs(words)
		f.story = append(f.story, fmt.Sprintf("%s: exit %d", strings.Join(run.command, " "), code))
		if code != run.code || !regexp.MustCompile(run.says).MatchString(said) || f.keyed && !regexp.MustCompile(run.keyed).MatchString(said) {
			f.find("%v: exit %d, want %d and %q\n%s", words, code, run.code, run.says, said)
		}
		if more := f.more(before, func(string) bool { return code == 0 }); len(more) > 0 {
			f.find("%v ended with %d and wrote %v", words, code, more)
		}
		f.unforged(words)
	}
}

func (f *forgedOptions) digestOf(command []string) string {
	words := f.keyArgs(append(slices.Clone(command), "--preview", "-o", "json")...)
	if command[0] == "install" {
		words = append([]string{"preview", "-o", "json"}, f.keyArgs(command[1:]...)...)
	}
	_, said := f.runAs(words)
	match := regexp.MustCompile(`(?m)^  "digest": "(sha256:[0-9a-f]+)"`).FindStringSubmatch(said)
	if match == nil {
		f.find("%v has no digest:\n%s", words, said)
		return ""
	}
	return match[1]
}

// unforged holds that the cluster has nothing of what the tenant wanted.
func (f *forgedOptions) unforged(command []string) {
	for _, path := range []string{"/api/v1/namespaces/" + f.name + "/configmaps", "/apis/rbac.authorization.k8s.io/v1/namespaces/" + f.name + "/roles"} {
		for _, item := range preview.Maps(f.mustDo(f.admin, http.MethodGet, path, nil), "items") {
			delete(preview.Map(item, "metadata"), "managedFields")
			if text := fmt.Sprint(item); strings.Contains(text, "evil") || strings.Contains(text, "vulnerable") {
				f.find("%v applied what is forged: %s", command, text)
			}
		}
	}
}
