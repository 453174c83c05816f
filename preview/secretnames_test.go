package preview_test

import (
	"reflect"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A value that is sensitive by the name of its key is shown where it names a Secret
// that is seen in the plan, and hidden wherever it may be something else.
func TestNamesOfSecretsAreShown(t *testing.T) {
	env := func(name, value string) map[string]any {
		return map[string]any{"name": name, "value": value}
	}
	hidden := func(name string) map[string]any { return env(name, preview.Masked) }
	pods := func(namespace string, vars ...any) map[string]any {
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "a", "namespace": namespace},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"containers":       []any{map[string]any{"name": "a", "env": vars}},
				"imagePullSecrets": []any{map[string]any{"name": "pull-secret"}},
				"volumes":          []any{map[string]any{"secret": map[string]any{"secretName": "webhook-cert"}}},
			}}},
		}
	}
	secret := func(name string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "namespace": "n"},
			"data": map[string]any{"secret": "webhook-cert"},
		}
	}
	config := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "n"},
		"data": map[string]any{"cert_secret": "brought-tls", "secretName": "only-here-1", "other_secret": "only-here-1", "db_secret": "postgres"},
	}
	vars := []any{
		env("WEBHOOK_CERT_SECRET", "webhook-cert"), env("PULL_SECRETS", "pull-secret"), env("TLS_SECRET", "brought-tls"),
		env("DB_PASSWORD", "brought-tls"), env("SECRET_TOKEN", "brought-tls"), env("SECRET_KEY", "webhook-cert2"), env("CLIENT_SECRET", "postgres"),
	}
	bodies := []map[string]any{pods("n", vars...), pods("elsewhere", env("TLS_SECRET", "brought-tls")), secret("brought-tls"), secret("postgres"), config}
	p := &preview.Plan{}
	for _, body := range bodies {
		ref := preview.RefOf(body)
		p.Objects = append(p.Objects, preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Planned: body})
	}
	names := preview.SecretNamesOf(p)
	want := map[string]any{"cert_secret": "brought-tls", "secretName": preview.Masked, "other_secret": preview.Masked, "db_secret": preview.Masked}
	if got := preview.Map(names.Mask(config), "data"); !reflect.DeepEqual(got, want) {
		t.Errorf("the ConfigMap shows %v", got)
	}
	for body, want := range map[*map[string]any]map[string]any{
		&bodies[0]: pods("n", append(append([]any{}, vars[:3]...), hidden("DB_PASSWORD"), hidden("SECRET_TOKEN"), hidden("SECRET_KEY"), hidden("CLIENT_SECRET"))...),
		&bodies[1]: pods("elsewhere", hidden("TLS_SECRET")),
	} {
		before := preview.CloneBody(*body)
		if got := names.Mask(*body); !reflect.DeepEqual(got, want) {
			t.Errorf("shown is %v", got)
		}
		if !reflect.DeepEqual(before, *body) {
			t.Error("the object itself was changed")
		}
	}
	if got := preview.Map(names.Mask(bodies[2]), "data")["secret"]; got != preview.Masked {
		t.Errorf("a value of a Secret shows %v", got)
	}
}
