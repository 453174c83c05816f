package plugins

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// itself is the program of this test: a Go program for the machine.
func itself(t *testing.T) []byte {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The smallest headers of programs for other systems.
func machO() []byte {
	var b bytes.Buffer
	for _, word := range []uint32{0xfeedfacf, 0x0100000c, 0, 2, 0, 0, 0, 0} { // arm64, an executable
		b.Write(binary.LittleEndian.AppendUint32(nil, word))
	}
	return b.Bytes()
}

func portable() []byte {
	data := make([]byte, 256)
	copy(data, "MZ")
	data[0x3c] = 0x80
	copy(data[0x80:], "PE\x00\x00\x64\x86") // amd64
	return data
}

func TestExecutablesSayWhatTheyAre(t *testing.T) {
	machine := runtime.GOOS + "/" + runtime.GOARCH
	for want, data := range map[string][]byte{machine: itself(t), "darwin/arm64": machO(), "windows/amd64": portable()} {
		t.Run(want, func(t *testing.T) {
			got := Inspect(data)
			if len(got.Platforms) != 1 || got.Platforms[0] != want || want == machine && !strings.Contains(got.Text, "github.com/kubectl-operator/kubectl-operator") {
				t.Errorf("%+v", got)
			}
			if got := Inspect(data[:8]); got.Damaged == "" {
				t.Errorf("cut off: %+v", got)
			}
		})
	}
	for text, want := range map[string]string{"#!/bin/sh -e\nx": "script for /bin/sh -e", "hello": "text", "a\x00b": "data"} {
		if got := Inspect([]byte(text)); got.Text != want || got.Platforms != nil {
			t.Errorf("%q is %+v, want %s", text, got, want)
		}
	}
}

func FuzzInspect(f *testing.F) {
	for _, seed := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe\x00\x00\x00\x02", "#!"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := Inspect(data); got.Text == "" {
			t.Error("a file is nothing")
		}
	})
}

const neoYAML = "name: neo\nplugintype: task\npluginversion: 1.0.0\nimage: docker.io/org/neo@sha256:11\nentrypoint: {script: sleep 1}\n"

func TestTheReviewFindsWhatIsWrongWithFiles(t *testing.T) {
	for _, test := range []struct {
		name  string
		files []File
		want  string // rule and object
	}{
		{"nothing", []File{{Path: "optimus-plugin-neo.yaml", Mode: "0644", Data: []byte(neoYAML)}}, ""},
		{"setuid", []File{{Path: "optimus-plugin-neo.yaml", Mode: "4644", Data: []byte(neoYAML)}}, "plugin-setuid file/optimus-plugin-neo.yaml"},
		{"setgid", []File{{Path: "optimus-plugin-neo.yaml", Mode: "2644", Data: []byte(neoYAML)}}, "plugin-setuid file/optimus-plugin-neo.yaml"},
		{"world-writable", []File{{Path: "optimus-plugin-neo.yaml", Mode: "0666", Data: []byte(neoYAML)}}, "plugin-world-writable file/optimus-plugin-neo.yaml"},
		{"an image by tag", []File{{Path: "optimus-plugin-neo.yaml", Mode: "0644", Data: []byte(strings.Replace(neoYAML, "@sha256:11", ":1", 1))}}, "plugin-image-by-tag file/optimus-plugin-neo.yaml"},
		{"a plugin that Optimus refuses", []File{{Path: "optimus-plugin-neo.yaml", Mode: "0644", Data: []byte(neoYAML + "secretpath: x\n")}}, "plugin-invalid file/optimus-plugin-neo.yaml"},
		{"a program without its YAML", []File{{Path: "optimus-neo_linux_amd64", Mode: "0755", Data: []byte("x")}}, "plugin-name file/optimus-neo_linux_amd64"},
		{"a name that Optimus does not find", []File{{Path: "neo", Mode: "0755", Data: []byte("x")}}, "plugin-name file/neo"},
		{"a folder", []File{{Path: "a/optimus-plugin-neo.yaml", Mode: "0644", Data: []byte(neoYAML)}}, "plugin-name file/a/optimus-plugin-neo.yaml"},
		{"a program for another platform", []File{
			{Path: "optimus-neo_linux_amd64", Mode: "0755", Data: machO()}, {Path: "optimus-plugin-neo.yaml", Mode: "0644", Data: []byte(neoYAML)},
		}, "plugin-platform file/optimus-neo_linux_amd64"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, notes := review(&Set{Form: FormOptimus}, "linux/amd64", test.files)
			var got []string
			for _, n := range notes {
				got = append(got, n.Rule+" "+n.Object)
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("notes %q, want %q", text, test.want)
			}
		})
	}
}

// The plugins of Optimus' own repository, with the sentence of those that its
// current code refuses.
func TestYAMLPluginsOfOptimus(t *testing.T) {
	dir := corpustest.Dir(t, "plugins", "optimus")
	for file, want := range map[string]string{
		"sample_plugin.yaml":                 "",
		"optimus-plugin-echo.yaml":           "entrypoint: it is text where a map is due",
		"sample_plugin_without_version.yaml": "pluginversion: it is missing",
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := readYAMLPlugin(data); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
