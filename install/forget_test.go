package install_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/installer"
)

// TestClusterInstallerRoleForgetsOldRevisions: a user with exactly the roles that
// -o installer-role writes can apply the plan that makes one revision too many,
// and its record is removed; without the right to, nothing is written.
func TestClusterInstallerRoleForgetsOldRevisions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "forgets")
	for i := range preview.DefaultHistoryMax {
		w.applyQuietly(t, w.plan(t, w.content(t, fmt.Sprintf("1.%d.0", i), configMap("a", fmt.Sprint(i)))))
	}
	plan := w.plan(t, w.content(t, "2.0.0", configMap("a", "new")))
	plural := func(apiVersion, kind string) string {
		name, err := w.Plural(t.Context(), apiVersion, kind)
		if err != nil {
			t.Error(err)
		}
		return name
	}
	const user = "forgets-installer"
	give := func(without string) {
		for _, body := range installer.Manifests(plan, plural) {
			rules := preview.List(body, "rules")
			body["rules"] = slices.DeleteFunc(rules, func(rule any) bool {
				return without != "" && slices.Contains(preview.Texts(rule.(map[string]any)["verbs"]), without) &&
					slices.Contains(preview.Texts(rule.(map[string]any)["resources"]), "secrets")
			})
			if rules == nil {
				delete(body, "rules")
			}
			data, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "role.json")
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), installer.Subject, user)), 0o600); err != nil {
				t.Fatal(err)
			}
			w.edit(t, "apply", "-f", path)
		}
	}
	limited := *w
	limited.user = user
	limited.Client = connect(t, sandboxtest.User(t, w.sandbox, user))
	apply := func() error {
		opts := w.options(t)
		opts.NoWait = true
		_, err := install.Apply(t.Context(), plan, byDigest(plan), &limited, opts)
		return err
	}

	give("delete")
	err := apply()
	if install.KindOf(err) != install.NotStarted || err == nil || !strings.Contains(err.Error(), "delete secrets") {
		t.Errorf("without delete: kind %d, %v", install.KindOf(err), err)
	}
	if writes := limited.writes(t); len(writes) > 0 {
		t.Errorf("without delete it wrote %v", writes)
	}
	give("")
	if err := apply(); err != nil {
		t.Fatal(err)
	}
	oldest := preview.RecordName(w.release.Name) + ".v1.0"
	if live := w.read(t, "v1", "Secret", w.release.Namespace, oldest); live != nil {
		t.Errorf("Secret %s is still there", oldest)
	}
	if record, err := record.Load(t.Context(), w, w.release); err != nil || record.Older[0].Revision != 2 {
		t.Errorf("the record lists %v, %v, want the revisions from 2", record.Older, err)
	}
}
