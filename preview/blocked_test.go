package preview

import "testing"

func TestWhyBlocked(t *testing.T) {
	release := Release{Name: "demo", Namespace: "x"}
	ours := func(kind string, meta map[string]any) *Object {
		body := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta}
		Mark(body, release)
		return &Object{Kind: kind, LiveBody: body}
	}
	theirs := func(kind string, meta map[string]any) *Object {
		return &Object{Kind: kind, LiveBody: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta}}
	}
	owner := []any{map[string]any{"kind": "Widget", "name": "w"}}
	const replaced = "changes a field that cannot change, and "
	for name, c := range map[string]struct {
		object *Object
		want   string
	}{
		"a mark of another tool": {
			theirs("Secret", map[string]any{"labels": map[string]any{"argocd.argoproj.io/instance": "app"}}), "belongs to Argo CD application app",
		},
		"its deletion":                {ours("Secret", map[string]any{"deletionTimestamp": "t"}), "is being deleted"},
		"a deletion that is held up":  {ours("Secret", map[string]any{"deletionTimestamp": "t", "finalizers": []any{"a/b", "c"}}), "is being deleted, and waits for its finalizers a/b, c"},
		"a claim, which is data":      {ours("PersistentVolumeClaim", map[string]any{}), replaced + "a PersistentVolumeClaim is never deleted to be created again: what it holds would go with it"},
		"finalizers of somebody":      {ours("Secret", map[string]any{"finalizers": []any{"a/b", "orphan"}}), replaced + "its finalizers may hold up the deletion that takes: a/b"},
		"an owner, and finalizers":    {theirs("Secret", map[string]any{"ownerReferences": owner, "finalizers": []any{"a/b"}}), "belongs to Widget w by an owner reference"},
		"our own, which has an owner": {ours("PersistentVolume", map[string]any{"ownerReferences": owner}), replaced + "a PersistentVolume is never deleted to be created again: what it holds would go with it"},
		"nothing that can be named":   {theirs("Secret", nil), "belongs to another owner"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := WhyBlocked(c.object, release); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
