package describe

import "testing"

// A list has one column for what is found and one for the object: a title that has both
// is taken apart, so that no name is printed twice, and cut twice.
func TestATitleIsSplitIntoWhatAndWho(t *testing.T) {
	for _, tt := range []struct{ name, title, object, what, who string }{
		{"an account before a colon", "ServiceAccount op: can read Secrets", "rbac.authorization.k8s.io/ClusterRole/-/op", "can read Secrets", "SA op"},
		{"a CRD at the beginning of a sentence", "CustomResourceDefinition things.example.com loses fields, and 1 more", "apiextensions.k8s.io/CustomResourceDefinition/-/things.example.com", "loses fields, and 1 more", "CRD things.example.com"},
		{"another CRD of a longer name", "CustomResourceDefinition things.example.com.org loses fields", "apiextensions.k8s.io/CustomResourceDefinition/-/things.example.com", "CustomResourceDefinition things.example.com.org loses fields", "CRD things.example.com"},
		{"a title without a name", "is deleted", "core/Secret/app/cert", "is deleted", "Secret app/cert"},
		{"a title that is the name", "CustomResourceDefinition things.example.com", "apiextensions.k8s.io/CustomResourceDefinition/-/things.example.com", "CustomResourceDefinition things.example.com", "CRD things.example.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if what, who := SplitTitle(tt.title, tt.object); what != tt.what || who != tt.who {
				t.Errorf("SplitTitle(%q) = %q, %q; want %q, %q", tt.title, what, who, tt.what, tt.who)
			}
		})
	}
}
