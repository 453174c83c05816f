package plugins

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const neoPlugin = `# of the publisher
name: neo
plugintype: task
pluginversion: 1.0.0
image: example.com/neo:1
entrypoint: {script: "run $1"}
defaultconfig: [{name: TZ, value: UTC}, {name: mode, value: slow}]
`

// zipped returns a zip with entries of these names, which may be there twice.
func zipped(t *testing.T, text string, names ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		entry, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(entry, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The plugin settings of a set's config are in the YAML that Optimus loads, and in the
// archive that its clients fetch.
func TestTheConfigOfAPluginReachesIt(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "neo.yaml"), neoPlugin)
	plan := func(config string) (*preview.Plan, []File) {
		t.Helper()
		set, got, err := fetched(t, dir, own("{output: optimus-plugin-neo.yaml, reference: ./neo.yaml"+config+"}"), Request{Platform: "linux/amd64"})
		if err != nil {
			t.Fatal(err)
		}
		files, err := Files(got)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Plan(set, got, Target{Platform: "linux/amd64", Location: preview.Location{Path: "/opt/x", Host: "h"}})
		if err != nil {
			t.Fatal(err)
		}
		return p, files
	}
	before, plain := plan("")
	if string(plain[0].Data) != neoPlugin {
		t.Errorf("without a config the file is\n%s", plain[0].Data)
	}
	after, files := plan(`, config: {image: "example.com/neo@sha256:` + strings.Repeat("1", 64) + `", MODE: fast, retries: 3, labels: {a: b}}`)
	body, err := document(files[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	var config []string
	for _, item := range preview.Maps(body, "defaultconfig") {
		config = append(config, preview.String(item, "name")+"="+preview.String(item, "value"))
	}
	if got, want := strings.Join(config, " "), `TZ=UTC MODE=fast labels={"a":"b"} retries=3`; got != want {
		t.Errorf("defaultconfig is %s, want %s", got, want)
	}
	if image := preview.String(body, "image"); !strings.HasPrefix(image, "example.com/neo@sha256:") {
		t.Errorf("its image is %s", image)
	}
	if before.Packages[0].ContentDigest == after.Packages[0].ContentDigest || !strings.Contains(changeText(after.ConfigChanges), "MODE") {
		t.Errorf("the plan does not show it: %s", changeText(after.ConfigChanges))
	}
	archive, err := ArchiveOf(files)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil || len(r.File) != 1 || r.File[0].Name != "optimus-plugin-neo.yaml" {
		t.Fatalf("the archive is %+v, %v", r, err)
	}
	entry, err := r.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(entry); err != nil || !bytes.Equal(data, files[0].Data) {
		t.Errorf("the archive has %s, %v", data, err)
	}
	if again, _ := ArchiveOf(files); !bytes.Equal(again, archive) {
		t.Error("the same files give another archive")
	}
	if none, err := ArchiveOf([]File{{Path: "sub/optimus-plugin-neo.yaml"}, {Path: "optimus-neo_linux_amd64"}}); none != nil || err != nil {
		t.Errorf("an archive of nothing: %d bytes, %v", len(none), err)
	}
}

func TestAPluginOfOptimusThatIsThereTwice(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "twice.zip"), zipped(t, neoPlugin, "optimus-plugin-neo.yaml", "optimus-plugin-neo.yaml"))
	put(t, filepath.Join(dir, "two.zip"), zipped(t, neoPlugin, "optimus-plugin-neo.yaml", "optimus-plugin-other.yaml"))
	config := "plugin: {artifacts: [./%s.zip]}"
	if _, _, err := fetched(t, dir, fmt.Sprintf(config, "twice"), Request{Platform: "linux/amd64"}); err == nil || !strings.Contains(err.Error(), `"optimus-plugin-neo.yaml" is in it twice`) {
		t.Errorf("twice in one zip: %v", err)
	}
	set, got, err := fetched(t, dir, fmt.Sprintf(config, "two"), Request{Platform: "linux/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Plan(set, got, Target{Platform: "linux/amd64", Location: preview.Location{Path: "/opt/x", Host: "h"}})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, n := range p.Packages[0].Notes {
		notes = append(notes, n.Rule+" "+n.Object+" "+n.Text)
	}
	if text := strings.Join(notes, "\n"); !strings.Contains(text, "plugin-name-taken file/optimus-plugin-other.yaml it says that its name is neo, as optimus-plugin-neo.yaml does, and Optimus refuses a second one") {
		t.Errorf("two files of one name: %s", text)
	}
}

// The config that Optimus ships names its plugins among everything else that it has.
func TestTheShippedServerConfigIsRead(t *testing.T) {
	set, err := Parse([]byte(`version: 1
log: {level: info}
serve: {port: 9100, app_key: x, db: {dsn: "postgres://db"}}
scheduler: {name: airflow2}
telemetry: {profile_addr: ":9110"}
resource_managers:
- {name: other_optimus_server, type: optimus, description: neighbor optimus server, config: {host: example.com, headers: {a: b}}}
publisher: {type: kafka, buffer: 8, config: {topic: optimus-events}}
replay: {replay_timeout: 3h}
plugin:
  artifacts: ["https://example.com/optimus_0.2.5_linux_arm64.tar.gz"]
`), Options{})
	if err != nil || len(set.Plugins) != 1 {
		t.Errorf("got %+v, %v", set, err)
	}
}
