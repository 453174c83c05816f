package plugins

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

var update = flag.Bool("update", false, "write the golden files")

// rfc is the example of the RFC, with all kinds of providers.
const rfc = `
plugins:
  install_location: ""
  providers:
    - {type: url, name: web, url: "https://plugins.example.com/neo/"}
    - {type: s3, name: store, bucket: my-plugins, region: eu-west-1}
    - {type: gcs, name: google, bucket: team-plugins, service_account: eyJ0eXBlIjoic2VydmljZV9hY2NvdW50In0=}
    - {type: file, name: here, path: build}
  plugins:
    - {provider: web, output: optimus-neo_linux_amd64, path: neo.tar.gz, config: {EXECUTOR_IMAGE: "neo:1"}}
    - {provider: store, output: optimus-plugin-neo.yaml, path: v1/neo.yaml}
    - {provider: google, output: trinity, path: trinity.zip}
    - {provider: here, output: morpheus, path: morpheus}
`

func TestTheConfigOfTheRFCIsRead(t *testing.T) {
	set, err := Parse([]byte(rfc), Options{Dir: "/conf"})
	if err != nil {
		t.Fatal(err)
	}
	if set.Form != FormOptimus || set.Name != "optimus" || set.Location != ".plugins" || len(set.Plugins) != 4 {
		t.Fatalf("%+v", set)
	}
	for i, want := range []string{
		"https://plugins.example.com/neo/neo.tar.gz", "s3://my-plugins/v1/neo.yaml?region=eu-west-1",
		"gs://team-plugins/trinity.zip", "build/morpheus",
	} {
		if got := set.Plugins[i].Artifacts[0].Reference.Text; got != want {
			t.Errorf("plugin %d comes from %s, want %s", i, got, want)
		}
	}
	if path := set.Plugins[3].Artifacts[0].Reference.Path; path != "/conf/build/morpheus" {
		t.Errorf("the local one is at %s", path)
	}
	if set.Plugins[0].Config["EXECUTOR_IMAGE"] != "neo:1" {
		t.Errorf("config %v", set.Plugins[0].Config)
	}
	if len(set.Notes) != 1 || set.Notes[0].Rule != rules.PluginInlineCredential.Name || !strings.Contains(set.Notes[0].Text, "{env: NAME}") {
		t.Errorf("notes %+v", set.Notes)
	}
}

// Whatever prints a set must not print a credential of its config.
func TestACredentialInAConfigShowsNowhere(t *testing.T) {
	const secret = "hunter2-hunter2"
	set, err := Parse([]byte(`
providers:
  - {type: url, name: a, url: https://a.example.com, auth: "me:`+secret+`"}
  - {type: url, name: b, url: https://b.example.com, auth: {bearer: "`+secret+`"}}
  - {type: s3, name: c, bucket: abc, access_key_id: AKIA, secret_access_key: "`+secret+`"}
plugins:
  - {provider: a, output: a, path: a}
  - {provider: b, output: b, path: b}
  - {provider: c, output: c, path: c}
`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", set, set, set), string(written)} {
		if strings.Contains(text, secret) {
			t.Errorf("the credential is in %s", text)
		}
	}
	for i := range set.Plugins {
		auth := set.Plugins[i].Artifacts[0].Auth
		if text := fmt.Sprintf("%v %+v %#v", auth, auth, &auth); strings.Contains(text, secret) {
			t.Errorf("the credential is in %s", text)
		}
	}
	if len(set.Notes) != 3 {
		t.Errorf("%d notes: %+v", len(set.Notes), set.Notes)
	}
}

func TestOtherFormsAreRead(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for _, test := range []struct {
		name, text, file, want string
	}{
		{"what Optimus ships: go-getter sources", `
version: 1
log: {level: info}
plugin:
  artifacts:
    - https://example.com/releases/plugins.tar.gz?checksum=sha256:` + sum + `
    - ../transformers/optimus-bq2bq_darwin_arm64
    - git::https://example.com/org/plugins.git//optimus?ref=v1
    - github.com/org/plugins//yaml
    - s3::https://s3-eu-west-1.amazonaws.com/bucket/plugins.zip
    - gcs::https://www.googleapis.com/storage/v1/bucket/plugins.zip
`, "", `artifacts optimus "" .plugins
plugins.tar.gz -> "" from https://example.com/releases/plugins.tar.gz#sha256=` + sum + `
optimus-bq2bq_darwin_arm64 -> "" from ../transformers/optimus-bq2bq_darwin_arm64
optimus -> "" from git+https://example.com/org/plugins.git?ref=v1 pick optimus
yaml -> "" from git+https://github.com/org/plugins pick yaml
plugins.zip -> "" from s3://bucket/plugins.zip?region=eu-west-1
plugins.zip -> "" from gs://bucket/plugins.zip`},
		{"the plugins of a Piped", `
apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: p
  plugins:
    - {name: kubernetes, port: 7001, url: "https://example.com/kubernetes", deployTargets: [{name: a, config: {}}]}
    - {name: wait, port: 7002, url: "file:///opt/wait"}
    - {name: canary, port: 7003, url: "oci://ghcr.io/org/canary"}
`, "", `piped piped "" ~/.piped/plugins
kubernetes -> "kubernetes" from https://example.com/kubernetes
wait -> "wait" from /opt/wait
canary -> "canary" from oci://ghcr.io/org/canary:latest`},
		{"a krew manifest for the platform", `
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {name: view-secret}
spec:
  version: v1.2.3
  shortDescription: shows
  platforms:
    - selector: {matchExpressions: [{key: os, operator: In, values: [darwin, windows]}]}
      uri: https://example.com/other.zip
      sha256: ` + sum + `
      bin: view-secret
    - selector: {matchLabels: {os: linux, arch: amd64}}
      uri: https://example.com/linux.tar.gz
      sha256: ` + sum + `
      files: [{from: "*/view-secret", to: .}, {from: LICENSE, to: doc}]
      bin: view-secret
`, "view-secret.yaml", `krew view-secret "v1.2.3" ~/.krew
view-secret -> "" from https://example.com/linux.tar.gz#sha256=` + sum + ` files [{*/view-secret } {LICENSE doc}] bin view-secret as `},
		{"a krew manifest as the index has some: files from the root, a number, a version besides", `
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {name: neo, version: v1.2.3}
spec:
  version: v1.2.3
  shortDescription: shows
  platforms:
    - selector: {matchLabels: {os: windows, arch: 386}}
      uri: https://example.com/other.zip
      sha256: ` + sum + `
      bin: neo.exe
    - selector: {matchExpressions: [{key: arch, operator: NotIn, values: [386]}]}
      uri: https://example.com/linux.tar.gz
      sha256: ` + sum + `
      files: [{from: /*/neo, to: .}]
      bin: ./neo
`, "neo.yaml", `krew neo "v1.2.3" ~/.krew
neo -> "" from https://example.com/linux.tar.gz#sha256=` + sum + ` files [{*/neo }] bin neo as `},
		{"a krew manifest that is wrong for another platform", `
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {name: neo}
spec:
  version: v1.2.3
  shortDescription: shows
  platforms:
    - {selector: {matchLabels: {os: windows}}, uri: "https://example.com/other.zip", sha256: ABC, bin: ../neo.exe, sum: x}
    - {selector: {matchLabels: {os: linux}}, uri: "https://example.com/linux.tar.gz", sha256: ` + sum + `, bin: neo}
`, "neo.yaml", `krew neo "v1.2.3" ~/.krew
neo -> "" from https://example.com/linux.tar.gz#sha256=` + sum + ` bin neo as `},
		{"our own form", `
apiVersion: kubectl-operator/v1alpha1
kind: PluginSet
metadata: {name: host}
spec:
  installLocation: /opt/plugins
  plugins:
    - output: bin/neo
      reference: git+https://example.com/org/repo//dist?ref=main
      path: neo
      program: true
    - output: trinity
      platforms:
        - {platform: windows/amd64, reference: "https://example.com/w.zip"}
        - {selector: {matchLabels: {os: linux}}, reference: "oci://example.com/t:v1", sha256: ` + sum + `}
`, "", `set host "" /opt/plugins
bin/neo -> "bin/neo" from git+https://example.com/org/repo//dist?ref=main pick neo
trinity -> "trinity" from oci://example.com/t:v1`},
		{"a config in a ConfigMap beside other objects", `
apiVersion: v1
kind: Service
metadata: {name: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
data:
  notes: some text
  config.yaml: |
    providers: [{type: url, name: w, url: "https://example.com"}]
    plugins: [{provider: w, output: a, path: a}]
`, "", `optimus optimus "" .plugins
a -> "a" from https://example.com/a`},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := Parse([]byte(test.text), Options{File: test.file, Dir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(set); got != test.want {
				t.Errorf("read as\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func describe(set *Set) string {
	out := fmt.Sprintf("%s %s %q %s", set.Form, set.Name, set.Version, set.Location)
	for _, p := range set.Plugins {
		a := p.Artifact("linux/amd64")
		if a == nil {
			out += "\n" + p.Name + " has nothing for linux/amd64"
			continue
		}
		out += fmt.Sprintf("\n%s -> %q from %s", p.Name, p.Output, a.Reference.Text)
		if a.Pick != "" {
			out += " pick " + a.Pick
		}
		if len(a.Files) > 0 {
			out += fmt.Sprintf(" files %v", a.Files)
		}
		if a.Bin != "" {
			out += " bin " + a.Bin + " as " + p.Command
		}
	}
	return out
}

func TestBadConfigsAreRefusedWithOneSentence(t *testing.T) {
	provided := func(plugins string) string {
		return "providers: [{type: url, name: w, url: 'https://example.com'}]\nplugins: " + plugins
	}
	own := func(plugin string) string {
		return "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: x}\nspec: {plugins: [" + plugin + "]}"
	}
	piped := func(plugin string) string {
		return "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec: {plugins: [" + plugin + "]}"
	}
	for _, test := range []struct{ name, text, want string }{
		{"an unknown field", provided("[{provider: w, output: a, path: a, checksum: x}]"), "the field plugins[0].checksum is not supported, and it may change what is installed"},
		{"an unknown field at the top", "install: x\n" + provided("[{provider: w, output: a, path: a}]"), "the field install is not supported, and it may change what is installed"},
		{"two plugins with one output", provided("[{provider: w, output: a, path: a}, {provider: w, output: a, path: b}]"), "plugins a and a have one output, a"},
		{"a provider that is not there", provided("[{provider: v, output: a, path: a}]"), "plugins[0].provider: no provider is called v"},
		{"two providers of one name", "providers: [{type: file, name: w}, {type: file, name: w}]\nplugins: [{provider: w, output: a, path: a}]", "two providers are called w"},
		{"an unknown provider", "providers: [{type: ftp, name: w}]\nplugins: [{provider: w, output: a, path: a}]", "ftp is not a kind of provider"},
		{"a list where a map is due", provided("[[a]]"), "plugins[0]: it is a list where a map is due"},
		{"a map where a list is due", "providers: {a: b}\nplugins: []", "providers: it is a map where a list is due"},
		{"a list as config", provided("[{provider: w, output: a, path: a, config: [x]}]"), "plugins[0].config: it is a list where a map is due"},
		{"base64 that is not", "providers: [{type: gcs, name: w, bucket: abc, service_account: '%%%'}]\nplugins: [{provider: w, output: a, path: a}]", "service_account: it is not base64"},
		{"base64 of something else", "providers: [{type: gcs, name: w, bucket: abc, service_account: aGVsbG8=}]\nplugins: [{provider: w, output: a, path: a}]", "not of the JSON key of a service account"},
		{"an output outside the location", provided("[{provider: w, output: ../a, path: a}]"), `output "../a" is not a path below the location`},
		{"an absolute output", provided("[{provider: w, output: /etc/passwd, path: a}]"), "is not a path below the location"},
		{"plain http", "providers: [{type: url, name: w, url: 'http://example.com'}]\nplugins: [{provider: w, output: a, path: a}]", "plain http can be changed on its way"},
		{"no plugins", provided("[]"), "it lists no plugins"},
		{"nothing at all", "", "it is empty"},
		{"no YAML", "a: [", "it is not YAML"},
		{"some other YAML", "hello: world", "it is none of the configs that are read"},
		{"an Optimus server without plugins", "version: 1\nserve: {port: 9100}\n", "it is the config of an Optimus server that lists no plugins; write them in plugin.artifacts"},
		{"the sample that Optimus ships, where all else is a comment", "version: 1\nlog:\n  level: info\n# plugin:\n#   artifacts:\n#     - ../transformers.tar.gz\n", "write them in plugin.artifacts, which is a comment in the sample that Optimus ships"},
		{"a config with a version and a log of another program", "version: 1\nlog: {level: info}\nserver: {port: 1}\n", "it is none of the configs that are read"},
		{"an Optimus plugin", "name: a\nplugintype: task", "it is an Optimus plugin itself"},
		{"a Piped with an http address", piped("{name: a, port: 1, url: 'http://example.com/a'}"), "piped takes no http address"},
		{"a Piped with another scheme", piped("{name: a, port: 1, url: 'ftp://example.com/a'}"), "its scheme is not file, https or oci"},
		{"a Piped with two deploy targets of one name", piped("{name: a, url: 'https://example.com/a', deployTargets: [{name: b}, {name: b}]}"), "two deploy targets are called b"},
		{"a Piped plugin without a name", piped("{port: 1, url: 'https://example.com/a'}"), "spec.plugins[0].name: it is missing"},
		{"a sha256 that is none", own("{output: a, reference: 'https://example.com/a', sha256: ABC}"), "it is not 64 lower-case hexadecimal digits"},
		{"a package as reference", own("{output: a, reference: mongodb}"), "a package holds no plugin"},
		{"a credential in an address", own("{output: a, reference: 'https://me:hunter2@example.com/a'}"), "carries a password"},
		{"files that leave the plugin", own("{output: a, reference: 'https://example.com/a', files: [{from: '../x', to: .}]}"), "is not a pattern of files"},
		{"a name that is none", "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: A_B}\nspec: {plugins: [{output: a, reference: ./a}]}", "is not a name"},
		{"two configs in one file", own("{output: a, reference: ./a}") + "\n---\n" + own("{output: a, reference: ./a}"), "it holds 2 configs"},
		{"a go-getter source of another kind", "plugin: {artifacts: ['hg::https://example.com/x']}", "hg:: is not read"},
		{"a go-getter source with a key in it", "plugin: {artifacts: ['s3::https://s3.amazonaws.com/b/k.zip?aws_access_key_secret=x']}", "credentials come from the environment"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.text), Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q in it", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error is %q", err)
			}
		})
	}
}

func TestPlainHTTPTakesAFlagAndASHA256(t *testing.T) {
	text := func(extra string) []byte {
		return []byte("providers: [{type: url, name: w, url: 'http://example.com'}]\nplugins: [{provider: w, output: a, path: a" + extra + "}]")
	}
	sum := ", sha256: " + strings.Repeat("0a", 32)
	for _, test := range []struct {
		name  string
		extra string
		flag  bool
		want  string // in the error, empty for none
	}{
		{"neither", "", false, "--plain-http"},
		{"the sha256 alone", sum, false, "--plain-http"},
		{"the flag alone", "", true, "plain http needs a sha256"},
		{"both", sum, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(text(test.extra), Options{PlainHTTP: test.flag})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// Every file of the corpus is read, or refused with the sentence in the golden
// file.
func TestTheCorpusIsReadOrRefused(t *testing.T) {
	root := filepath.Join(corpustest.Dir(t), "plugins")
	var got bytes.Buffer
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		set, err := Parse(data, Options{File: filepath.Base(name), Dir: "/"})
		if err != nil {
			_, err = fmt.Fprintf(&got, "%s\n\trefused: %s\n", short, err)
			return err
		}
		_, err = fmt.Fprintf(&got, "%s\n\t%s\n", short, strings.ReplaceAll(describe(set), "\n", "\n\t"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "corpus.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the corpus is read otherwise than %s says:\n%s", golden, got.String())
	}
}

// Whatever a config says, reading it ends, and what it returns is whole.
func FuzzParse(f *testing.F) {
	f.Add([]byte(rfc))
	f.Add([]byte("plugin: {artifacts: ['git::https://example.com/x//y?ref=z', '::', 's3::', '?checksum=']}"))
	f.Add([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec: {plugins: [{name: a, url: 'oci://h/r'}]}"))
	f.Add([]byte("apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata: {name: a}\nspec: {version: v1.0.0, platforms: [{selector: {matchLabels: {os: linux}}}]}"))
	f.Add([]byte("apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: a}\nspec: {plugins: [{output: a, reference: ./a}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := Parse(data, Options{Dir: "/", PlainHTTP: true})
		if err != nil {
			return
		}
		for _, p := range set.Plugins {
			if len(p.Artifacts) == 0 || p.Name == "" || CheckOutput(p.Output) != nil {
				t.Errorf("plugin %+v", p)
			}
			for _, a := range p.Artifacts {
				if a.Reference.Text == "" {
					t.Errorf("plugin %s comes from nowhere", p.Name)
				}
			}
		}
	})
}
