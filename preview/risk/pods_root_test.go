package risk

import "testing"

// Root is a matter of the numeric user before that of the image: the kubelet starts the
// container as the number that stands there.
func TestANumericUserIsNotRoot(t *testing.T) {
	context := func(fields map[string]any) map[string]any {
		return map[string]any{"securityContext": fields}
	}
	for _, tc := range []struct {
		name           string
		pod, container map[string]any
		lines          int
	}{
		{"nothing is said", context(nil), context(nil), 1},
		{"a user of the pod", context(map[string]any{"runAsUser": int64(1000)}), context(nil), 0},
		{"a user of the container", context(nil), context(map[string]any{"runAsUser": int64(65532)}), 0},
		{"the container goes back to root", context(map[string]any{"runAsUser": int64(1000)}), context(map[string]any{"runAsUser": int64(0)}), 1},
		{"root, and its opposite", context(map[string]any{"runAsNonRoot": true}), context(map[string]any{"runAsUser": int64(0)}), 1},
		{"a user that is no number", context(nil), context(map[string]any{"runAsUser": "1000"}), 1},
		{"not root by name", context(map[string]any{"runAsNonRoot": true}), context(nil), 0},
	} {
		if _, lines := root(tc.pod, tc.container); len(lines) != tc.lines {
			t.Errorf("%s: %q", tc.name, lines)
		}
	}
}
