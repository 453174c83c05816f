package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed krew.yaml.tmpl
var krew string

//go:embed formula.rb.tmpl
var formula string

// target is a build as the templates of manifests use it.
type target struct{ OS, Arch, URL, Sum, Program, Completer string }

// writeManifests writes the manifests for krew and Homebrew to install the release.
func (r *release) writeManifests() error {
	data := struct {
		Version, Number, Home string
		Targets               []target
	}{Version: r.version, Number: r.number(), Home: home}
	for _, b := range r.builds {
		t := target{OS: b.os, Arch: b.arch, URL: r.download(b), Sum: b.sum, Program: name, Completer: completer}
		if b.os == "windows" {
			t.Program, t.Completer = name+".exe", completer+".cmd"
		}
		data.Targets = append(data.Targets, t)
	}
	for file, text := range map[string]string{"operator.yaml": krew, name + ".rb": formula} {
		parsed, err := template.New(file).Parse(text)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, file), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
