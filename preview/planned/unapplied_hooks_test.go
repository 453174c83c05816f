package planned_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

const account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}\n"

// hookNotes are the notes about dangerous hooks of a package with these objects.
func hookNotes(t *testing.T, objects, hooks string) []string {
	t.Helper()
	content, err := planned.Prepare(preview.Release{Name: "op", Namespace: "app"}, planned.Material{
		Info: format.Info{Package: "op"}, Sources: []preview.Source{{Digest: "sha256:" + strings.Repeat("0", 64)}},
		Output: &format.Output{Objects: rendered(t, objects), Hooks: rendered(t, hooks)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range content.Package.Notes {
		if n.Rule == rules.HookDangerous.Name {
			got = append(got, n.Object+": "+n.Text)
		}
	}
	return got
}

// rendered decodes objects as a format returns them.
func rendered(t *testing.T, text string) []format.RenderedObject {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []format.RenderedObject
	for _, doc := range docs {
		out = append(out, format.RenderedObject{Body: doc.(map[string]any)})
	}
	return out
}

// A note counts the findings of a hook that it leaves out.
func TestANoteOfAHookCountsWhatItLeavesOut(t *testing.T) {
	const job = "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {hostNetwork: true, containers: [{name: c, image: 'a:v1', securityContext: {privileged: true}}]}}}}"
	if got := hookNotes(t, account, job); len(got) != 1 || !regexp.MustCompile(`^batch/Job/app/j: runs a privileged container \(container c: privileged\); and [2-9] warnings$`).MatchString(got[0]) {
		t.Errorf("noted %q", got[0])
	}
}

// TestHooksThatNeverRunHereAreJudged: they are part of the package for anyone who
// installs it by another program.
func TestHooksThatNeverRunHereAreJudged(t *testing.T) {
	const role = "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]}\n"
	tests := []struct {
		name, objects, hooks string
		want                 []string
	}{
		{
			"a privileged Job after deleting", account,
			"{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {containers: [{name: c, securityContext: {privileged: true}}]}}}}",
			[]string{"batch/Job/app/j: runs a privileged container (container c: privileged)"},
		},
		{
			"a binding of a role that the package has without effect", account + role,
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}, subjects: [{kind: ServiceAccount, name: op, namespace: app}]}",
			[]string{"rbac.authorization.k8s.io/ClusterRole/-/r: can read Secrets in every namespace (ServiceAccount app/op"},
		},
		{"what the package has anyway is said once", account + role, "{apiVersion: v1, kind: Pod, metadata: {name: test}, spec: {containers: [{name: c}]}}", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := hookNotes(t, test.objects, test.hooks)
			if len(got) != len(test.want) {
				t.Fatalf("noted %q, want %q", got, test.want)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("noted %q, want %q", got[i], want)
				}
			}
		})
	}
}
