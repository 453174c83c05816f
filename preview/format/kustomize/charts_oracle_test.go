package kustomize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
)

// chartedTree returns a base and its overlays; some have charts, namespaces and other
// changes.
func chartedTree(random *rand.Rand) map[string]string {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	chart := func(dir string) map[string]string {
		return map[string]string{
			dir + "/charts/demo/Chart.yaml":  "apiVersion: v2\nname: demo\nversion: 1.0.0\n",
			dir + "/charts/demo/values.yaml": "a: chart\nbig: 4651090\n",
			dir + "/charts/demo/templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {a: {{ .Values.a | toJson | quote }}, big: "{{ .Values.big }}", namespace: {{ .Release.Namespace }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name }}-leader, namespace: kube-system}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name }}}
subjects: [{kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Name }}, annotations: {note: x}}
rules: []
`,
		}
	}
	files := map[string]string{"prod.yaml": "a: file\nbig: 12345678\n"}
	kustomization := func(dir, resources, release string) {
		text := "resources: [" + resources + "]\n" + pick("", "namespace: ns-"+release+"\n", "namespace: ns-"+release+"\n") + pick("", "namePrefix: p-\n") + pick("", "commonLabels: {team: x}\n")
		if release != "" && random.IntN(3) > 0 {
			text += "helmCharts:\n- {name: demo, releaseName: " + release + pick("", "", ", namespace: chosen", ", namespace: kube-system") +
				pick("", ", valuesInline: {a: inline, big: 7654321}", ", valuesInline: {extra: {b: [1, x]}}", ", valuesFile: values.yaml") + "}\n"
			for name, text := range chart(dir) {
				files[name] = text
			}
		}
		files[dir+"/kustomization.yaml"], files[dir+"/own.yaml"] = text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own-"+release+"}\n"
		files[dir+"/values.yaml"] = "a: file\n"
	}
	kustomization("base", "own.yaml", "base")
	kustomization("middle", "own.yaml, ../base", "middle")
	kustomization("top", "own.yaml, ../middle", "top")
	return files
}

// Charts of kustomizations render the same objects as kubectl kustomize --enable-helm
// with the real helm.
func TestSlowChartsAreThoseOfKubectlKustomize(t *testing.T) {
	slowtest.Skip(t, "the comparison with the real kubectl and helm")
	var programs [2]string
	for i, name := range []string{"kubectl", "helm"} {
		programs[i], _ = filepath.Abs("../../../bin/" + name)
		if _, err := os.Stat(programs[i]); err != nil {
			t.Skipf("skipped: no bin/%s; \"make %s\" builds it", name, name)
		}
	}
	same := 0
	from, to := slowtest.Runs(t, 4)
	for run := from; run < to; run++ {
		files, dir := chartedTree(rand.New(rand.NewPCG(2, uint64(run)))), t.TempDir()
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), programs[0], "kustomize", "--enable-helm", "--helm-command", programs[1], "top")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "KUBECONFIG="+dir+"/none", "HOME="+dir)
		var text, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, &said
		theirErr := cmd.Run()
		theirs, err := preview.Decode(text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		out, err := NewWithCharts(helm.New()).Render(t.Context(), format.Input{Content: tree(files), Whole: tree(files), Path: "top", Info: format.Info{Package: "shop"}})
		if err != nil || theirErr != nil {
			t.Errorf("run %d: kubectl %v %s, ours %v\n%s", run, theirErr, said.String(), err, files)
			continue
		}
		var ours []any
		for _, body := range out.Bodies() {
			ours = append(ours, body)
		}
		if got, want := sortedJSON(t, ours), sortedJSON(t, theirs); !slices.Equal(got, want) {
			t.Errorf("run %d:\n got %s\nwant %s\n%s", run, got, want, files)
			continue
		}
		same++
	}
	t.Logf("%d of %d kustomizations as kubectl kustomize builds them", same, to-from)
}

func sortedJSON(t *testing.T, objects []any) []string {
	t.Helper()
	var out []string
	for _, o := range objects {
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s\n", data))
	}
	slices.Sort(out)
	return out
}
