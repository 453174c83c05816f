package cloudtable

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// TestTable holds every line to its form: one that is not would be left out.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	id := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	lines := 0
	for line := range strings.Lines(grantData) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			t.Errorf("%q has %d fields", line, len(f))
			continue
		}
		if _, known := rules.Named(f[3]); !known {
			t.Errorf("%s: no rule %s", f[2], f[3])
		}
		for _, level := range f[4:6] {
			if _, ok := levels[level]; !ok {
				t.Errorf("%s: level %q", f[2], level)
			}
		}
		if !strings.Contains(grantData, "# ") || !strings.Contains(grantData, f[6]+": https://") {
			t.Errorf("%s: source %q is not named at the head", f[2], f[6])
		}
		if key := strings.ToLower(f[0] + f[1] + f[2]); seen[key] {
			t.Errorf("%s stands twice", f[2])
		} else {
			seen[key] = true
		}
		if _, guid, has := strings.Cut(f[2], "="); has && !id.MatchString(guid) {
			t.Errorf("%s: id %s", f[2], guid)
		}
	}
	found := 0
	for _, rows := range Grants() {
		found += len(rows)
	}
	if found != lines || lines < 400 {
		t.Errorf("%d of %d lines are read", found, lines)
	}
}
