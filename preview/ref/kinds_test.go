package ref

import (
	"slices"
	"testing"
)

// Whatever asks what a kind of source is like asks its row, so a kind whose row
// lacks an answer would get a wrong one in silence.
func TestEveryKindHasAWholeRow(t *testing.T) {
	seen := map[string]Kind{}
	for _, k := range kinds {
		if k.kind == "" || k.parse == nil || k.baseName == nil || k.immutable == nil || k.pinned == nil {
			t.Errorf("kind %q has no whole row: %+v", k.kind, k)
		}
		if !slices.Contains([]CredentialForm{CredentialsNone, CredentialsLogin}, k.credentials) {
			t.Errorf("kind %q does not say which credentials it takes", k.kind)
		}
		if !slices.Contains([]ContentForm{ContentNone, ContentFiles, ContentAny}, k.content) {
			t.Errorf("kind %q does not say what it holds", k.kind)
		}
		if len(k.schemes) == 0 && k.kind != KindPackage && k.kind != KindDirectory {
			t.Errorf("no reference leads to kind %q", k.kind)
		}
		for _, scheme := range k.schemes {
			if other, ok := seen[scheme]; ok {
				t.Errorf("%q is %q and %q", scheme, other, k.kind)
			}
			seen[scheme] = k.kind
			if found, _, _, _ := cutScheme(scheme + "x"); found.kind != k.kind {
				t.Errorf("%q leads to %q, not to %q: another scheme begins it", scheme, found.kind, k.kind)
			}
		}
		if row, ok := k.kind.row(); !ok || row.kind != k.kind {
			t.Errorf("kind %q is twice in the table", k.kind)
		}
	}
}

func TestReferencesSayWhetherTheyAreImmutable(t *testing.T) {
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for text, want := range map[string]struct {
		immutable bool
		base      string
	}{
		"mongodb@1.10.0":                         {false, "mongodb"},
		"quay.io/org/bundle:v1":                  {false, "bundle"},
		"localhost:5000/a/b:v1@sha256:" + sum:    {true, "b"},
		"oci://h/charts/a?version=^1":            {false, "a"},
		"oci-layout:out/layout:v1":               {false, "layout"},
		"oci-layout:out/layout@sha256:" + sum:    {true, "layout"},
		"git+https://h/a/b.git":                  {false, "b"},
		"git+https://h/a/b//c/d?ref=" + sum[:40]: {true, "d"},
		"https://h/x.tgz":                        {false, "x.tgz"},
		"https://h/x.tgz#sha256=" + sum:          {true, "x.tgz"},
		"./dir/x.zip":                            {false, "x.zip"},
		"./dir/x":                                {false, "x"},
		"configmap://a/b":                        {false, "b"},
		"s3://bucket/a/b.tgz":                    {false, "b.tgz"},
		"chart+https://h/charts/c":               {false, "c"},
		"source+x:https://h/a/b/?v=1":            {false, "b"},
		"source+x:a#sha256=" + sum:               {true, "a"},
		"source+x:/":                             {false, "x"},
	} {
		r, err := Parse(text)
		if err != nil || r.Immutable() != want.immutable || r.BaseName() != want.base {
			t.Errorf("%s: immutable %t, base name %q, error %v; want %+v", text, r.Immutable(), r.BaseName(), err, want)
		}
	}
}
