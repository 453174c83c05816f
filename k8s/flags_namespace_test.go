package k8s

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
)

// The namespace of a context counts where a user has chosen one.
func TestNamespaceOfTheContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	const text = "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts:\n- {name: a, context: {cluster: c, namespace: shop}}\n- {name: b, context: {cluster: c}}\n- {name: d, context: {cluster: c, namespace: default}}\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "shop"},
		{[]string{"--context", "b"}, ""},
		{[]string{"--context", "d"}, ""},
		{[]string{"--context", "nowhere"}, ""},
		{[]string{"--kubeconfig", file + ".gone"}, ""},
	} {
		f := NewFlags()
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.AddFlags(set)
		if err := set.Parse(append([]string{"--kubeconfig", file}, tc.args...)); err != nil {
			t.Fatal(err)
		}
		if got := f.ContextNamespace(); got != tc.want {
			t.Errorf("%v: %q", tc.args, got)
		}
	}
}
