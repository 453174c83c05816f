package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const whole = `
catalogs:
- {name: community, reference: "registry.example.com/catalogs/community:latest"}
- {name: ours, reference: ./catalog, priority: -1}
mirrors: [mirrors.yaml, /etc/mirrors.yaml]
verification:
  policies:
  - prefix: registry.example.com/team
    mode: required
    key: keys/team.pub
  - {mode: if-present, identity: me@example.com, issuer: "https://login.example.com", trustedRoot: /etc/root.json}
cache: {maxBytes: 1000000000}
formats:
- {name: env, sha256: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae, path: bin/env, files: ["*.env"]}
- {name: cue, sha256: "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"}
`

func TestTheWholeConfigurationIsReadAndItsPathsAnchored(t *testing.T) {
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, "kubectl-operator/config.yaml"), whole)
	for name, getenv := range map[string]func(string) string{
		"named":           env(map[string]string{"KUBECTL_OPERATOR_CONFIG": path, "XDG_CONFIG_HOME": "/nowhere"}),
		"XDG_CONFIG_HOME": env(map[string]string{"XDG_CONFIG_HOME": dir, "HOME": "/nowhere"}),
	} {
		c, err := Load(getenv)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at := func(p string) string { return filepath.Join(dir, "kubectl-operator", p) }
		want := Config{
			Catalogs: []Catalog{{Name: "community", Reference: "registry.example.com/catalogs/community:latest"}, {Name: "ours", Reference: at("catalog"), Priority: -1}},
			Mirrors:  []string{at("mirrors.yaml"), "/etc/mirrors.yaml"},
			Verification: Verification{Policies: []Policy{
				{Prefix: "registry.example.com/team", Mode: "required", Key: at("keys/team.pub")},
				{Mode: "if-present", Identity: "me@example.com", Issuer: "https://login.example.com", TrustedRoot: "/etc/root.json"},
			}},
			Cache: Cache{MaxBytes: 1_000_000_000},
			Formats: []Format{
				{Name: "env", SHA256: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", Path: at("bin/env"), Files: []string{"*.env"}},
				{Name: "cue", SHA256: "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},
			},
		}
		if !reflect.DeepEqual(c, want) {
			t.Errorf("%s: got %+v\nwant %+v", name, c, want)
		}
	}
}

func TestTheConfigurationNeedNotExistUnlessItIsNamed(t *testing.T) {
	home := t.TempDir()
	put(t, filepath.Join(home, "file"), "")
	for name, getenv := range map[string]func(string) string{
		"no home":             env(nil),
		"a home that is none": env(map[string]string{"HOME": filepath.Join(home, "file")}),
		"an empty home":       env(map[string]string{"HOME": home}),
		"a relative XDG path": env(map[string]string{"HOME": home, "XDG_CONFIG_HOME": "relative"}),
	} {
		if c, err := Load(getenv); err != nil || !reflect.DeepEqual(c, Config{}) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	put(t, filepath.Join(home, ".config/kubectl-operator/config.yaml"), "cache: {maxBytes: 7}")
	if c, err := Load(env(map[string]string{"HOME": home})); err != nil || c.Cache.MaxBytes != 7 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Load(env(map[string]string{"KUBECTL_OPERATOR_CONFIG": filepath.Join(home, "missing.yaml")})); err == nil {
		t.Error("a file that was named and is missing was passed over")
	}
}

func TestWhatTheConfigurationDoesNotKnowIsAnError(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"catalogues: []": `unknown field "catalogues"`,
		"verification: {policies: [{mode: required, kye: x}]}": `unknown field "kye"`,
		"verification: {policies: [{mode: strict}]}":           "want required, if-present or off",
		"verification: {policies: [{prefix: a.example.com}]}":  "want required, if-present or off",
		"cache: {maxBytes: 1Gi}":                               "cache.maxBytes: a string, want int64",
		"cache: {maxBytes: -1}":                                "want a number of bytes",
		"mirrors: x":                                           "mirrors: a string",
		"- a":                                                  "want a mapping at the top",
		"a: 1\n---\nb: 2":                                      "2 documents",
		"cache: {maxBytes: 1, maxBytes: 2}":                    "set twice",
		"catalogs: [{reference: ./x}]":                         `catalogs[0].name ""`,
		"catalogs: [{name: a, reference: ./x}, {name: a, reference: ./y}]":                "is there twice",
		"catalogs: [{name: a, reference: mongodb}]":                                       "want a directory",
		"catalogs: [{name: a, reference: /x, priority: high}]":                            "catalogs.priority: a string, want int",
		"catalogs: [{name: a, reference: \"clustercatalog:\"}]":                           "want a directory",
		"catalogs: [{name: a}]":                                                           "want a directory",
		"formats: [{name: ../x}]":                                                         `formats[0].name "../x"`,
		"formats: [{name: x}]":                                                            `formats[0].sha256 ""`,
		"formats: [{name: x, sha256: abc}]":                                               "want the 64 hexadecimal digits",
		"formats: [{name: x, sha256: " + digest + "}, {name: x, sha256: " + digest + "}]": `formats[1].name "x" is there twice`,
		"formats: [{name: x, sha256: " + digest + ", files: [\"[\"]}]":                    `formats[0].files: "[" is not a pattern`,
		"formats: [{name: x, sha256: " + digest + ", image: x}]":                          `unknown field`,
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}

func TestAModeOfOffMayStandWithoutQuotes(t *testing.T) {
	c, err := Parse([]byte("verification: {policies: [{prefix: a.example.com, mode: off}]}"))
	if err != nil || len(c.Verification.Policies) != 1 || c.Verification.Policies[0].Mode != "off" {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := Parse([]byte("verification: {policies: [{mode: on}]}")); err == nil {
		t.Error("on was taken for a mode")
	}
}

func TestMirrorFilesAreReadInOrder(t *testing.T) {
	dir := t.TempDir()
	set := func(mirror string) string {
		return "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: a.example.com, mirrors: [" + mirror + "]}]}"
	}
	c := Config{Mirrors: []string{put(t, filepath.Join(dir, "1"), set("one.example.com")), put(t, filepath.Join(dir, "2"), set("two.example.com"))}}
	rules, err := c.ReadMirrors()
	if err != nil || len(rules) != 2 || rules[0].Mirrors[0] != "one.example.com" || rules[1].Mirrors[0] != "two.example.com" {
		t.Errorf("%+v, %v", rules, err)
	}
	c.Mirrors = append(c.Mirrors, put(t, filepath.Join(dir, "3"), "kind: x"), filepath.Join(dir, "missing"))
	if _, err := c.ReadMirrors(); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "3")) {
		t.Errorf("got %v", err)
	}
	c.Mirrors = c.Mirrors[3:]
	if _, err := c.ReadMirrors(); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			return
		}
		for _, policy := range c.Verification.Policies {
			if policy.Mode == "" {
				t.Error("a policy without a mode")
			}
		}
	})
}

// A catalog on this machine is found from everywhere: its path starts at the file
// that names it, in every form that a reference to it has.
func TestCatalogsOfThisMachineAreBesideTheConfiguration(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "config.yaml")
	put(t, file, `
catalogs:
- {name: directory, reference: ./catalog}
- {name: archive, reference: ../catalog.tgz}
- {name: layout, reference: "oci-layout:layout:v1"}
- {name: digest, reference: "oci-layout:./layout@sha256:`+strings.Repeat("a", 64)+`"}
- {name: absolute, reference: /catalog.tgz}
- {name: server, reference: "https://example.com/catalog.tgz"}
`)
	c, err := Load(func(name string) string {
		if name == "KUBECTL_OPERATOR_CONFIG" {
			return file
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		filepath.Join(home, "catalog"), filepath.Join(filepath.Dir(home), "catalog.tgz"), "oci-layout:" + filepath.Join(home, "layout") + ":v1",
		"oci-layout:" + filepath.Join(home, "layout") + "@sha256:" + strings.Repeat("a", 64), "/catalog.tgz", "https://example.com/catalog.tgz",
	} {
		if got := c.Catalogs[i].Reference; got != want {
			t.Errorf("catalog %s is %s, want %s", c.Catalogs[i].Name, got, want)
		}
	}
}
