package plugins

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The plan of a set: what changes, what is told, and a content digest that
// knows neither the place nor the source.
func TestAPlanComparesWithWhatIsInstalled(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "one"), "1\n")
	put(t, filepath.Join(dir, "two"), "2\n")
	config := own(`{output: a, reference: ./one}`, `{output: b, reference: ./two, config: {image: "x:1"}}`)
	set, got, err := fetched(t, dir, config, Options{}, Request{})
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Platform: "linux/amd64", Location: preview.Location{Path: "/opt/x", Host: "h"}}
	first, err := Plan(set, got, target)
	if err != nil {
		t.Fatal(err)
	}
	if text := actions(first); text != "a create, b create; 0 -> 1" {
		t.Errorf("first: %s", text)
	}
	target.Installed = Installed{Generation: 3, Lock: NewLock("host", "linux/amd64", got, nil), Files: map[string]preview.LiveFile{
		"a": {SHA256: first.Files[0].SHA256, Mode: "0644"}, "b": {SHA256: "old", Mode: "0644"}, "gone": {SHA256: "x", Mode: "0600"},
	}}
	target.Location.Path = "/elsewhere"
	put(t, filepath.Join(dir, "two"), "3\n")
	set, got, err = fetched(t, dir, config, Options{}, Request{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Plan(set, got, target)
	if err != nil {
		t.Fatal(err)
	}
	if text := actions(second); text != "a unchanged, b update, gone delete; 3 -> 4" {
		t.Errorf("second: %s", text)
	}
	var rules []string
	for _, n := range second.Packages[0].Notes {
		rules = append(rules, n.Rule+" "+n.Object)
	}
	if text := strings.Join(rules, ", "); text != "plugin-changed plugin/b, plugin-unpinned plugin/a, plugin-unpinned plugin/b" {
		t.Errorf("notes: %s", text)
	}
	put(t, filepath.Join(dir, "sub", "two"), "2\n")
	set, got, err = fetched(t, dir, strings.Replace(config, "./two", "./sub/two", 1), Options{}, Request{})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := Plan(set, got, target)
	if err != nil {
		t.Fatal(err)
	}
	switch digest := first.Packages[0].ContentDigest; {
	case moved.Packages[0].ContentDigest != digest:
		t.Error("the same files from elsewhere to elsewhere are other content")
	case second.Packages[0].ContentDigest == digest:
		t.Error("another file is the same content")
	}
	target.Platform = "linux/arm64"
	if other, err := Plan(set, got, target); err != nil || other.Packages[0].ContentDigest == moved.Packages[0].ContentDigest {
		t.Errorf("another platform is the same content, %v", err)
	}
}

func actions(p *preview.Plan) string {
	var list []string
	for _, f := range p.Files {
		list = append(list, f.Path+" "+string(f.Action))
	}
	return fmt.Sprintf("%s; %d -> %d", strings.Join(list, ", "), p.Generation.From, p.Generation.To)
}
