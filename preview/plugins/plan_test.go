package plugins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// The plan of a set: its changes, its notes, and a content digest independent of
// location and source.
func TestAPlanComparesWithWhatIsInstalled(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "one"), "1\n")
	put(t, filepath.Join(dir, "two"), "2\n")
	config := own(`{output: a, reference: ./one}`, `{output: b, reference: ./two, config: {image: "x:1"}}`)
	set, got, err := fetched(t, dir, config, Request{})
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
	target.InstalledFiles = InstalledFiles{Generation: 3, Lock: NewLock("host", "linux/amd64", got, nil), Files: map[string]preview.LiveFile{
		"a": {SHA256: first.Files[0].SHA256, Mode: "0644"}, "b": {SHA256: "old", Mode: "0644"}, "gone": {SHA256: "x", Mode: "0600"},
	}}
	target.Location.Path = "/elsewhere"
	put(t, filepath.Join(dir, "two"), "3\n")
	set, got, err = fetched(t, dir, config, Request{})
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
	if text := strings.Join(rules, ", "); text != "plugin-changed plugin/b, plugin-image-by-tag plugin/b, plugin-unpinned plugin/a, plugin-unpinned plugin/b" {
		t.Errorf("notes: %s", text)
	}
	put(t, filepath.Join(dir, "sub", "two"), "2\n")
	set, got, err = fetched(t, dir, strings.Replace(config, "./two", "./sub/two", 1), Request{})
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

// The files there are compared byte by byte with their hashes: a file that moves while
// it is read is no one's.
func TestInstalledFilesAreComparedAsTheyWereHashed(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "run"), "#!/bin/sh\nnew\n")
	set, got, err := fetched(t, dir, own(`{output: run, reference: ./run, config: {mode: full}}`), Request{})
	if err != nil {
		t.Fatal(err)
	}
	was := []byte("#!/bin/sh\nold\n")
	sum := sha256.Sum256(was)
	target := Target{Platform: "linux/amd64", InstalledFiles: InstalledFiles{
		Files: map[string]preview.LiveFile{"run": {SHA256: hex.EncodeToString(sum[:]), Mode: "0755"}},
		Read:  func(string, int64) ([]byte, error) { return was, nil },
	}}
	p, err := Plan(set, got, target)
	if err != nil {
		t.Fatal(err)
	}
	if text := changeText(p.Files[0].Changes) + " and " + changeText(p.ConfigChanges); text !=
		`lines 1-2 change "#!/bin/sh\nold\n" "#!/bin/sh\nnew\n" and .plugins.run.mode add <nil> "full"` {
		t.Errorf("got %s", text)
	}
	was = []byte("#!/bin/sh\nmeanwhile\n")
	if _, err := Plan(set, got, target); err == nil || !strings.Contains(err.Error(), "reading what is installed as run: it changed while it was read") {
		t.Errorf("a file that moves: %v", err)
	}
}

func actions(p *preview.Plan) string {
	var list []string
	for _, f := range p.Files {
		list = append(list, f.Path+" "+string(f.Action))
	}
	return fmt.Sprintf("%s; %d -> %d", strings.Join(list, ", "), p.Generation.From, p.Generation.To)
}

// An update is described in terms of the file: places of a text, fields of a plugin,
// modules of a program; without anything sensitive.
func TestAnUpdateSaysWhatChangesInAFile(t *testing.T) {
	long := func(line7 string) string {
		return "#!/bin/sh\n2\n3\n4\n5\n6\n" + line7 + "\n8\n9\n10\n11\n12\n"
	}
	for _, test := range []struct {
		name, path, before, after, want string
	}{
		{"a line of a script", "run", long("seven"), long("VII"), `lines 4-10 change "4\n5\n6\nseven\n8\n9\n10\n" "4\n5\n6\nVII\n8\n9\n10\n"`},
		{"a new script", "run", "", "#!/bin/sh\nexit\n", `lines 1-2 add <nil> "#!/bin/sh\nexit\n"`},
		{"the image and a default of a plugin", "optimus-plugin-neo.yaml", neoYAML + "defaultconfig: [{name: RETRIES, value: 3}]\n",
			strings.Replace(neoYAML, "@sha256:11", "@sha256:22", 1) + "defaultconfig: [{name: RETRIES, value: 5}, {name: MODE, value: full}]\n",
			`.defaultconfig[name=MODE].name add <nil> "MODE"; .defaultconfig[name=MODE].value add <nil> "full"; .defaultconfig[name=RETRIES].value change 3 5; .image change "docker.io/org/neo@sha256:11" "docker.io/org/neo@sha256:22"`},
		{"a question of a plugin", "optimus-plugin-neo.yaml", neoYAML + "questions: [{name: Q, prompt: old}]\n", neoYAML + "questions: [{name: Q, prompt: new}]\n",
			`.questions[name=Q].prompt change "old" "new"`},
		{"a comment of a plugin", "optimus-plugin-neo.yaml", neoYAML, "# about\n" + neoYAML, `lines 1-4 change "name: neo\nplugintype: task\npluginversion: 1.0.0\n" "# about\nname: neo\nplugintype: task\npluginversion: 1.0.0\n"`},
		{"a secret among the defaults", "optimus-plugin-neo.yaml", neoYAML + "defaultconfig: [{name: DB_PASSWORD, value: hunter2}]\n", neoYAML + "defaultconfig: [{name: DB_PASSWORD, value: hunter3}]\n",
			`.defaultconfig[name=DB_PASSWORD].value change "(secret)" "(secret, changed)"`},
		{"a secret in a script", "run", "#!/bin/sh\nexport DB_PASSWORD=hunter2\n", "#!/bin/sh\nexport DB_PASSWORD=hunter3\n", `text change "(secret)" "(secret, changed)"`},
		{"a secret beside a change", "run", "#!/bin/sh\nTOKEN=hunter2\na\n", "#!/bin/sh\nTOKEN=hunter3\nb\n", `lines 1-3 change "#!/bin/sh\nTOKEN=(secret)\na\n" "#!/bin/sh\nTOKEN=(secret)\nb\n"`},
		{"a secret in a new settings file", "set.yaml", "", "db: {password: hunter2, user: me}\n", `lines 1-3 add <nil> "db:\n  password: (secret)\n  user: me\n"`},
		{"data", "blob", "\x00a", "\x00b", ""},
		{"text that becomes data", "blob", "a", "\x00b", ""},
		{"the same", "run", "a", "a", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before []byte
			if test.before != "" {
				before = []byte(test.before)
			}
			got := changeText((&changeLister{diff.NewLineDiffs()}).changes(test.path, before, []byte(test.after)))
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func changeText(changes []preview.Change) string {
	var list []string
	for _, c := range changes {
		list = append(list, fmt.Sprintf("%s %s %#v %#v", c.Path, c.Op, c.From, c.To))
	}
	return strings.Join(list, "; ")
}

// Long differences are cut, and say so; a set has one budget for all its files.
func TestLongDifferencesAreCutAndCounted(t *testing.T) {
	var was, is strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&was, "%d\n", i)
		if i%20 == 0 {
			is.WriteString("changed\n")
		} else {
			fmt.Fprintf(&is, "%d\n", i)
		}
	}
	tell := &changeLister{diff.NewLineDiffs()}
	got := tell.changes("run", []byte(was.String()), []byte(is.String()))
	last := got[len(got)-1]
	if text := fmt.Sprint(last.To); last.Path != "more" || !strings.Contains(text, "of 100 changed places") || len(got) > 60 {
		t.Errorf("%d changes, the last %+v", len(got), last)
	}
	for range 20 {
		got = tell.changes("run", nil, []byte(is.String()))
	}
	if len(got) != 2 && len(got) != 1 || got[len(got)-1].Path != "more" {
		t.Errorf("a set without room left: %d changes", len(got))
	}
	if got := tell.changes("run", nil, bytes.Repeat([]byte("x\n"), maxText)); got != nil {
		t.Errorf("a text that is too long has %d changes", len(got))
	}
}

// Two builds of one program differ in what they were built from.
func TestProgramsAreComparedByWhatTheyWereBuiltFrom(t *testing.T) {
	was := &debug.BuildInfo{GoVersion: "go1.25.0", Main: debug.Module{Path: "example.com/neo", Version: "v1.0.0"},
		Deps:     []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}, {Path: "example.com/gone", Version: "v0.1.0"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "aaaa"}}}
	is := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "example.com/neo", Version: "v1.1.0"},
		Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/evil", Version: "v6.6.6"}}, {Path: "example.com/new", Version: "v0.2.0"}}}
	got := changeText(diff.Values(buildValues(was), buildValues(is)))
	want := `.build.dependencies['example.com/a'] change "v1.0.0" "v1.0.0 => example.com/evil v6.6.6"; .build.dependencies['example.com/gone'] remove "v0.1.0" <nil>; .build.dependencies['example.com/new'] add <nil> "v0.2.0"; .build.go change "go1.25.0" "go1.26.0"; .build.revision remove "aaaa" <nil>; .build.version change "v1.0.0" "v1.1.0"`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	program := itself(t)
	if got := (&changeLister{diff.NewLineDiffs()}).changes("neo", program, program[:len(program)-1]); len(got) != 0 {
		t.Errorf("the same build: %s", changeText(got))
	}
}

// The host's settings are compared without its secrets, which are not kept.
func TestAConfigIsComparedWithWhatTheHostWasTold(t *testing.T) {
	config := func(password, mode string) *Config {
		set := &Set{Name: "host", Config: map[string]any{"mode": mode}, Plugins: []Plugin{{Name: "neo", Config: map[string]any{
			"image": "docker.io/org/neo:1", "password": password, "env": []any{map[string]any{"name": "API_TOKEN", "value": password}}}}}}
		c, err := ConfigOf(set)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := config("hunter2", "full")
	if text := string(first.Encode()); strings.Contains(text, "hunter2") {
		t.Errorf("the record holds a secret: %s", text)
	}
	kept, err := ReadConfig(first.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for want, next := range map[string]*Config{
		"": config("hunter2", "full"),
		`.(secrets) change "(secret)" "(secret, changed)"`: config("hunter3", "full"),
		`.config.mode change "full" "half"`:                config("hunter2", "half"),
	} {
		if got := changeText(next.changes(kept)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := changeText(first.changes(nil)); !strings.Contains(got, `.plugins.neo.image add <nil> "docker.io/org/neo:1"`) || strings.Contains(got, "hunter2") {
		t.Errorf("a first install: %s", got)
	}
	if _, err := ReadConfig([]byte("kind: PluginConfig\napiVersion: kubectl-operator/v1alpha1\nmetadata: {name: x}\nmore: 1\n")); err == nil {
		t.Error("a record with more in it is read")
	}
}
