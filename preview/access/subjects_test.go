package access

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A subject of an API group that its kind cannot have is refused by the API server.
func TestSubjectsOfAnotherAPIGroupAreNone(t *testing.T) {
	for _, test := range []struct {
		kind, group string
		want        int
	}{
		{"Group", "", 1}, {"Group", rbacGroup, 1}, {"Group", "example.com", 0}, {"User", rbacGroup, 1}, {"User", rbacGroup + "x", 0},
		{preview.SubjectServiceAccount, "", 1}, {preview.SubjectServiceAccount, rbacGroup, 0},
	} {
		binding := map[string]any{"subjects": []any{map[string]any{"kind": test.kind, "apiGroup": test.group, "name": "x", "namespace": "app"}}}
		if got := Subjects(binding); len(got) != test.want {
			t.Errorf("%s of %q: %v, want %d", test.kind, test.group, got, test.want)
		}
	}
}
