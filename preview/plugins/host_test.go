package plugins

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

func hostedSet(host, more string) []byte {
	return []byte(`apiVersion: kubectl-operator/v1alpha1
kind: PluginSet
metadata: {name: optimus}
spec:
  host: ` + host + more + `
  plugins:
  - {output: neo, reference: "https://example.com/neo.tgz"}
`)
}

// TestAHostThatCannotBeRestartedIsRefusedInASentence also holds configs to what
// a ConfigMap may show.
func TestAHostThatCannotBeRestartedIsRefusedInASentence(t *testing.T) {
	const server = "{deployment: {namespace: hosts, name: server}}"
	for _, test := range []struct{ name, host, more, want string }{
		{"no name of the Deployment", "{deployment: {namespace: hosts}}", "", "the PluginSet: spec.host.deployment.name: it is missing"},
		{"no namespace", "{deployment: {name: server}}", "", "the PluginSet: spec.host.deployment.namespace: it is missing"},
		{"a name that is none", "{deployment: {namespace: hosts, name: a/b}}", "", `the PluginSet: spec.host.deployment.name: "a/b" is not a name: lower-case letters, digits, "-" and "."`},
		{"a key that is none", "{deployment: {namespace: hosts, name: server}, configMap: {key: a/b}}", "", `the PluginSet: spec.host.configMap.key: it is no key of a ConfigMap: letters, digits, "-", "_" and "."`},
		{"a host that is text", "server", "", "the PluginSet: spec.host: it is text where a map is due"},
		{"a field that nobody knows", "{deployment: {namespace: hosts, name: server}, statefulSet: x}", "", "the PluginSet: the field spec.host.statefulSet is not supported, and it may change what is installed; take it out to go on"},
		{"a password in the config", server, "\n  config: {db: {password: hunter2}}", "the PluginSet: config.db.password is a secret by its name"},
		{"a login in the config", server, "\n  version: v1", "the PluginSet: plugin neo: its login is in the config, which ends up in a ConfigMap; write {env: NAME} or {file: PATH} there instead"},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := string(hostedSet(test.host, test.more))
			if test.name == "a login in the config" {
				data = strings.Replace(data, "neo.tgz\"", "neo.tgz\", auth: {bearer: hunter2}", 1)
			}
			_, err := Parse([]byte(data), Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Fatalf("the sentence holds the secret: %v", err)
			}
		})
	}
}

func hosted(t *testing.T, more string) planned.Content {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "neo"), "1\n")
	config := strings.Replace(string(hostedSet("{deployment: {namespace: hosts, name: server}}", more)), "https://example.com/neo.tgz", "./neo", 1)
	set, got, err := fetched(t, dir, config, Request{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := HostContent(set, []PlatformSet{{"linux/amd64", got}}, NewLock(set.Name, "linux/amd64", got, nil), preview.Release{Name: "optimus", Namespace: "hosts"})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestARestartCarriesTheDigestOfItsSet: the digest cannot cover its own value,
// but covers everything else.
func TestARestartCarriesTheDigestOfItsSet(t *testing.T) {
	content := hosted(t, "\n  config: {level: debug}")
	if n := len(content.Objects); n != 2 {
		t.Fatalf("%d objects", n)
	}
	configMap, restart := content.Objects[0], content.Objects[1]
	annotations := preview.Map(restart.Planned, "spec", "template", "metadata", "annotations")
	if annotations[preview.AnnotationPlugins] != content.Package.ContentDigest || restart.Manager != "kubectl-operator-optimus" || !restart.Patches() || restart.ReleasesOwnership() {
		t.Errorf("the restart is %v by %q, and the set %s", annotations, restart.Manager, content.Package.ContentDigest)
	}
	if preview.IsMember(restart.Planned, preview.Release{Name: "optimus", Namespace: "hosts"}) {
		t.Error("the host carries a label of the release")
	}
	config := preview.String(configMap.Planned, "data", "plugins.yaml")
	if strings.Contains(config, "host") || !strings.Contains(config, "level: debug") {
		t.Errorf("the ConfigMap holds\n%s", config)
	}
	if again := hosted(t, "\n  config: {level: debug}"); again.Package.ContentDigest != content.Package.ContentDigest {
		t.Error("the same set has another digest")
	}
	if other := hosted(t, "\n  config: {level: info}"); other.Package.ContentDigest == content.Package.ContentDigest {
		t.Error("another config has the same digest")
	}
}

func TestAChangedRestartDoesNotPassAsTheReviewedOne(t *testing.T) {
	for name, change := range map[string]func(o *preview.Object){
		"another value of the annotation": func(o *preview.Object) { o.Planned = preview.Restart(o.Ref(), "sha256:00") },
		"another field besides": func(o *preview.Object) {
			preview.Map(o.Planned, "spec")["replicas"] = int64(0)
		},
		"the manager of another release": func(o *preview.Object) { o.Manager = preview.PatchManager("other") },
		"the manager of everything":      func(o *preview.Object) { o.Manager = preview.FieldManager },
		"nothing at all":                 func(o *preview.Object) { o.Planned = preview.EmptyApply(o.Ref()) },
	} {
		t.Run(name, func(t *testing.T) {
			content := hosted(t, "")
			plan := &preview.Plan{
				Release: preview.Release{Name: "optimus", Namespace: "hosts"}, ReadMode: preview.ReadOffline, Options: preview.DefaultOptions(),
				Packages: []preview.Package{content.Package}, Objects: content.Objects, Platform: "linux/amd64",
				Generation: &preview.Generation{To: 1}, Location: &preview.Location{}, Files: content.Set.Files,
			}
			seal := func() {
				o := &plan.Objects[1]
				digest, err := preview.HashObject(o.Planned, content.Package.Sources[0].Digest)
				if o.Digest = digest; err != nil {
					t.Fatal(err)
				}
				if err := plan.Seal(); err != nil {
					t.Fatal(err)
				}
			}
			seal()
			if err := engine.CheckPlanned(plan); err != nil {
				t.Fatalf("the reviewed plan is refused: %v", err)
			}
			change(&plan.Objects[1])
			seal()
			if err := engine.CheckPlanned(plan); err == nil {
				t.Error("it passes")
			}
		})
	}
}

// TestPodsOfEachPlatformAreHeldToTheirOwnFiles: one content digest covers them all, the
// same wherever it is made, and the ConfigMap has each platform's.
func TestPodsOfEachPlatformAreHeldToTheirOwnFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "amd"), "#!/bin/sh\necho amd\n")
	put(t, filepath.Join(dir, "arm"), "#!/bin/sh\necho arm\n")
	config := strings.Replace(string(hostedSet("{deployment: {namespace: hosts, name: server}}", "")), `{output: neo, reference: "https://example.com/neo.tgz"}`,
		"{output: neo, platforms: [{platform: linux/amd64, reference: ./amd}, {platform: linux/arm64, reference: ./arm}]}", 1)
	release := preview.Release{Name: "optimus", Namespace: "hosts"}
	seal := func(platforms ...string) planned.Content {
		t.Helper()
		var set *Set
		var all []PlatformSet
		lock := &Lock{Name: "optimus", Platforms: map[string][]LockedArtifact{}}
		for _, platform := range platforms {
			read, got, err := fetched(t, dir, config, Request{Platform: platform})
			if err != nil {
				t.Fatal(err)
			}
			set, all = read, append(all, PlatformSet{platform, got})
			lock = NewLock("optimus", platform, got, lock)
		}
		content, err := HostContent(set, all, lock, release)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	digests := func(c planned.Content) string {
		return preview.String(c.Objects[0].Planned, "data", "plugins.yaml.digest")
	}
	both, amd, arm := seal("linux/amd64", "linux/arm64"), seal("linux/amd64"), seal("linux/arm64")
	switch {
	case digests(both) != digests(amd)+","+digests(arm):
		t.Errorf("pods are held to %s; alone to %s and %s", digests(both), digests(amd), digests(arm))
	case both.Package.ContentDigest != seal("linux/arm64", "linux/amd64").Package.ContentDigest:
		t.Error("the content is another on another machine")
	case both.Package.ContentDigest == amd.Package.ContentDigest:
		t.Error("the content for two platforms is that for one")
	}
	before := both.Package.ContentDigest
	put(t, filepath.Join(dir, "arm"), "#!/bin/sh\necho other\n")
	if seal("linux/amd64", "linux/arm64").Package.ContentDigest == before {
		t.Error("another file on another platform is the same content")
	}
}

// TestLinesOfTheNextSetAreComparedWithThoseOnRecord: only the host has the installed
// set, and none of its artifacts is needed any more.
func TestLinesOfTheNextSetAreComparedWithThoseOnRecord(t *testing.T) {
	dir := t.TempDir()
	release := preview.Release{Name: "optimus", Namespace: "hosts"}
	server := strings.Replace(string(hostedSet("{deployment: {namespace: hosts, name: server}}", "")), "https://example.com/neo.tgz", "./neo", 1)
	planned := func(neo string, before *preview.Plan) *preview.Plan {
		t.Helper()
		put(t, filepath.Join(dir, "neo"), neo)
		set, got, err := fetched(t, dir, server, Request{})
		if err != nil {
			t.Fatal(err)
		}
		content, err := HostContent(set, []PlatformSet{{"linux/amd64", got}}, NewLock(set.Name, "linux/amd64", got, nil), release)
		if err != nil {
			t.Fatal(err)
		}
		opts := engine.Options{Release: release, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas()}
		if before != nil {
			opts.Installed.Set = planned.SetOf(before).Installed(before)
		}
		p, err := engine.Build(t.Context(), []planned.Content{content}, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	changes := func(p *preview.Plan) string {
		var out []string
		for _, c := range p.Files[0].Changes {
			out = append(out, fmt.Sprintf("%s %s %v -> %v", c.Op, c.Path, c.From, c.To))
		}
		return strings.Join(out, "; ")
	}
	first := planned("#!/bin/sh\necho one\n", nil)
	unrecorded := *first
	unrecorded.Files = slices.Clone(first.Files)
	unrecorded.Files[0].Text = ""
	for _, test := range []struct {
		name   string
		before *preview.Plan
		neo    string
		want   string
	}{
		{"the first install shows what it brings", nil, "#!/bin/sh\necho one\n", "add lines 1-2 <nil> -> #!/bin/sh\necho one\n"},
		{"a line is another", first, "#!/bin/sh\necho two\n", "change lines 1-2 #!/bin/sh\necho one\n -> #!/bin/sh\necho two\n"},
		{"nothing is another", first, "#!/bin/sh\necho one\n", ""},
		{"a secret is another", planned("token: hunter2\n", nil), "token: hunter3\n", "change text (secret) -> (secret, changed)"},
		{"the record has no text", &unrecorded, "#!/bin/sh\necho two\n", "change text  -> its lines cannot be compared: the text that is installed is not on record"},
		{"it is a program now", first, "\x7fELF\x00", "change text  -> its lines cannot be compared: it is no text any more, or too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planned(test.neo, test.before)
			if got := changes(p); got != test.want {
				t.Errorf("it says\n%s\nwant\n%s", got, test.want)
			}
			if data, err := json.Marshal(p); err != nil || strings.Contains(string(data), "hunter") {
				t.Errorf("the plan holds the secret (%v)", err)
			}
			if err := engine.CheckPlanned(p); err != nil {
				t.Errorf("the plan does not hold together: %v", err)
			}
		})
	}
}
