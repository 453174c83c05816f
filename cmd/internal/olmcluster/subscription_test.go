package olmcluster

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestAnOperatorGroupFitsOrIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		targets []string
		spec    map[string]any
		want    string
	}{
		"all namespaces, as reviewed":           {nil, map[string]any{}, ""},
		"its own, as reviewed":                  {[]string{"db"}, map[string]any{"targetNamespaces": []any{"db"}}, ""},
		"several, in another order":             {[]string{"a", "b"}, map[string]any{"targetNamespaces": []any{"b", "a"}}, ""},
		"its own, and reviewed were all":        {nil, map[string]any{"targetNamespaces": []any{"db"}}, "review what fits it: --install-mode OwnNamespace"},
		"all, and reviewed was its own":         {[]string{"db"}, map[string]any{}, "leads to all namespaces, and what was reviewed watches namespace db"},
		"another, and reviewed was its own":     {[]string{"db"}, map[string]any{"targetNamespaces": []any{"b"}}, "--watch-namespace b"},
		"a selector, whose namespaces may grow": {[]string{"db"}, map[string]any{"selector": map[string]any{}, "targetNamespaces": []any{"db"}}, "the namespaces of a selector"},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Install{Release: preview.Release{Name: "db", Namespace: "db"}, Targets: tt.targets}
			err := in.fits(map[string]any{"metadata": map[string]any{"name": "g"}, "spec": tt.spec})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
