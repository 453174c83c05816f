package mergeschema

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

var update = flag.Bool("update", false, "write builtin.gob anew")

// ofClientGo returns the schema that client-go parses from its YAML.
func ofClientGo(t testing.TB) *schema.Schema {
	t.Helper()
	value, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}})
	if err != nil {
		t.Fatal(err)
	}
	return value.Schema()
}

func TestTheSchemasAreThoseOfClientGo(t *testing.T) {
	want := ofClientGo(t).Types
	if *update {
		data, err := encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("builtin.gob", data, 0o600); err != nil {
			t.Fatal(err)
		}
		builtIn = data
	}
	got := Parser().Schema.Types
	if len(want) < 900 {
		t.Errorf("client-go has only %d types", len(want))
	}
	// The unexported fields of a map are an index that is made when it is used.
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(schema.Map{})); diff != "" {
		t.Errorf("builtin.gob differs from client-go's schemas; rewrite it with go test ./k8s/mergeschema -update\n%s", diff)
	}
}

func BenchmarkParser(b *testing.B) {
	for b.Loop() {
		Parser()
	}
}
