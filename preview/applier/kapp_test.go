package applier

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestConfigurationOfKappThatIsNotUnderstoodIsAnError(t *testing.T) {
	for name, tt := range map[string]struct {
		rules string
		limit bool
		fails bool
	}{
		"a rule":             {rules: "[{path: [spec, a], type: copy, sources: [existing], resourceMatchers: [{allMatcher: {}}]}]"},
		"a template":         {rules: "[{ytt: {overlayContractV1: {overlay.yml: x}}, resourceMatchers: [{allMatcher: {}}]}]", limit: true},
		"an unknown matcher": {rules: "[{path: [spec], type: remove, resourceMatchers: [{nameMatcher: {}}]}]", fails: true},
		"an unknown type":    {rules: "[{path: [spec], type: move, resourceMatchers: [{allMatcher: {}}]}]", fails: true},
		"no step":            {rules: "[{path: [{last: true}], type: remove, resourceMatchers: [{allMatcher: {}}]}]", fails: true},
		"no expression":      {rules: "[{path: [{regex: '('}], type: remove, resourceMatchers: [{allMatcher: {}}]}]", fails: true},
	} {
		config := decodedObject(t, "{apiVersion: kapp.k14s.io/v1alpha1, kind: Config, rebaseRules: "+tt.rules+"}")
		objects := []Rendered{{Ref: preview.RefOf(config), Body: config}}
		found, err := FindKapp(t.Context(), heldObjects{}, Controlled{}, preview.Release{Name: "web", Namespace: "shop"}, objects, true)
		if (err != nil) != tt.fails {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err == nil && (len(found.Describe().Limits) > 0) != tt.limit {
			t.Errorf("%s: limits %+v", name, found.Describe().Limits)
		}
		if err == nil && len(found.Content[0]) > 0 {
			t.Errorf("%s: the configuration is applied", name)
		}
	}
}

func TestARecordOfKappThatIsNoneIsAnError(t *testing.T) {
	for spec, fails := range map[string]bool{`{"labelKey":"kapp.k14s.io/app","labelValue":"1"}`: false, "{": true, "{}": true, "[]": true} {
		record := decodedObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop, labels: {kapp.k14s.io/is-app: ''}}}")
		record["data"] = map[string]any{"spec": spec}
		held := heldObjects{objects: map[string]map[string]any{preview.RefOf(record).ID(): record}}
		_, err := FindKapp(t.Context(), held, Controlled{}, preview.Release{Name: "web", Namespace: "shop"}, nil, true)
		if (err != nil) != fails {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
