package planning_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// at writes the files below a path of a clone, as they are at a commit, to a directory.
func at(t *testing.T, clone, commit, below string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "git", "-C", clone, "archive", "--format=tar", commit, below).Output()
	if err != nil {
		t.Fatalf("%s of %s in %s: %v", below, commit, clone, err)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil { // it is within a repository
		t.Fatal(err)
	}
	files := tar.NewReader(bytes.NewReader(text))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(root, filepath.FromSlash(below))
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(files)
		if err == nil {
			err = writeBelow(root, filepath.FromSlash(header.Name), data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What other systems ship is planned as it is, or refused for one reason, from clones in the
// directory that UPSTREAM names: "make upstream" makes them. Commits are named, so that only
// this program changes what is planned.
func TestUpstreamFilesArePlanned(t *testing.T) {
	clones := os.Getenv("UPSTREAM")
	if clones == "" {
		t.Skip("skipped: UPSTREAM names no directory with clones; make upstream")
	}
	const flyte, pipecd, charts = "v1.16.8", "7e228592b581aee4df56f5dc96a8dd95a7c4cc55", "ac333a9b644762582bf33bd2321d567050dafa54"
	const template = "b713d77b78daef1354919e1b27fdbc0483122d12" // of plugins of Flyte, for Kubernetes before 1.16
	const krew = "c1ba859c65037157e354ee335bed613e4a612f4c"
	var out strings.Builder
	for _, content := range []struct{ clone, commit, path, root string }{
		{"flyte", flyte, "charts", "flyte-binary"}, {"flyte", flyte, "charts", "flyte-core"}, {"flyte", flyte, "charts", "flyte"},
		{"charts", charts, "stable/optimus", "."},
		{"flytepluginexample", template, "kustomize", "example-operator"},
	} {
		dir := filepath.Join(at(t, filepath.Join(clones, content.clone), content.commit, content.path), content.root)
		fmt.Fprintf(&out, "%s of %s: %s\n", filepath.Join(content.path, content.root), content.clone, strings.ReplaceAll(contentLine(t, dir), dir, "DIR"))
	}
	root := at(t, filepath.Join(clones, "pipecd"), pipecd, "pkg/app/pipedv1/plugin/kubernetes/deployment/testdata")
	planned, applications := 0, 0
	for _, file := range configurations(t, root) {
		name, _ := filepath.Rel(root, filepath.Dir(file))
		line, ok := applicationLine(t, file)
		if applications++; ok {
			planned++
		} else {
			fmt.Fprintf(&out, "application %s: %s\n", name, strings.ReplaceAll(line, root, "ROOT"))
		}
	}
	fmt.Fprintf(&out, "applications of the plugin: %d, of which %d are planned\n", applications, planned)
	manifests, err := filepath.Glob(filepath.Join(at(t, filepath.Join(clones, "krew-index"), krew, "plugins"), "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, manifest := range manifests {
		data, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		set, err := plugins.Parse(data, plugins.Options{})
		switch name := strings.TrimSuffix(filepath.Base(manifest), ".yaml"); {
		case err != nil:
			fmt.Fprintf(&out, "krew manifest %s: refused: %v\n", name, err)
		case set.Name != name || len(set.Plugins) != 1 || len(set.Plugins[0].Artifacts) == 0:
			fmt.Fprintf(&out, "krew manifest %s: read as %s with %d plugins\n", name, set.Name, len(set.Plugins))
		default:
			read++
		}
	}
	fmt.Fprintf(&out, "krew manifests: %d, of which %d are read\n", len(manifests), read)
	golden := filepath.Join("testdata", "upstream.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != out.String() {
		t.Errorf("%v; got\n%s", err, out.String())
	}
}

// contentLine plans content with its own values, and says what became of it.
func contentLine(t *testing.T, dir string) string {
	t.Helper()
	p := offline(t, config.Config{})
	plan, err := planOf(t, p, dir, "upstream")
	if err != nil {
		return "refused: " + err.Error()
	}
	line := fmt.Sprintf("%d objects", len(plan.Objects))
	for _, o := range engine.Obstacles(plan) {
		line += "; " + o.Object + " " + o.Cause
	}
	return line
}
