package deps

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// A value is read, shown and decided, whatever it is; and solving it answers
// with packages or with reasons.
func FuzzProperty(f *testing.F) {
	f.Add(typeConstraint, `{"failureMessage":"x","all":{"constraints":[{"gvk":{"group":"x.example","version":"v1","kind":"A"}},{"not":{"constraints":[{"package":{"packageName":"a","versionRange":">=1.0.0 <2.0.0 || 3.0.0"}}]}}]}}`)
	f.Add(typeConstraint, `{"cel":{"rule":"properties.exists(p, p.type == 'olm.gvk' && semver_compare(p.value.version, '1') == 0)"}}`)
	f.Add(typePackageRequired, `{"packageName":"a","versionRange":"!1.x"}`)
	f.Add(typeGVKRequired, `{"group":"","version":"v1","kind":"A"}`)
	f.Add(typeLabelRequired, `{"label":"x"}`)
	cat := published(f, "cat", bundle{pkg: "a", version: "1.0.0", properties: []catalog.Property{provides("A")}})
	f.Fuzz(func(t *testing.T, typ, text string) {
		value, err := preview.DecodeJSON([]byte(text))
		if err != nil {
			return
		}
		list := []catalog.Property{{Type: typ, Value: value}}
		texts, err := Requirements(list)
		if err != nil {
			return
		}
		_, err = Solve(context.Background(), Problem{Root: root(list...), Sources: sources(cat)})
		var unsatisfiable *Unsatisfiable
		if err != nil && (!errors.As(err, &unsatisfiable) || len(texts) == 0) {
			t.Errorf("%q: %v", texts, err)
		}
	})
}

func FuzzDependenciesFile(f *testing.F) {
	f.Add([]byte("dependencies:\n- {type: olm.package, value: {packageName: queue, version: '>=1.0.0'}}\n"))
	f.Add([]byte("dependencies:\n- type: olm.constraint\n  value: {failureMessage: x, cel: {rule: 'true'}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := FromContent(fstest.MapFS{
			"manifests/csv.yaml": {Data: []byte("kind: ClusterServiceVersion\n")},
			dependenciesFile:     {Data: data},
		})
		if err != nil {
			return
		}
		if texts, err := Requirements(list); err == nil && len(texts) > len(list) {
			t.Errorf("%d requirements of %d properties", len(texts), len(list))
		}
	})
}
