package cli

import (
	"archive/zip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// optimusServer serves the archive of plugins as a server of Optimus does (server/server.go):
// the file yaml-plugins.zip of its working directory, whatever it is when it is asked.
func optimusServer(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/plugins", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(dir, "yaml-plugins.zip"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// syncPlugins does what "optimus plugin sync" does in a working directory
// (client/cmd/plugin/sync.go, plugin/plugin_manager.go): it fetches the archive, deletes
// all of .plugins, unpacks the archive into it and deletes that.
func syncPlugins(host, dir string) error {
	answer, err := http.Get(host + "/plugins")
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	archive, to := filepath.Join(dir, "yaml-plugins.zip"), filepath.Join(dir, ".plugins")
	data, err := io.ReadAll(answer.Body) // whatever the status
	if err := errors.Join(err, os.WriteFile(archive, data, 0o600), os.RemoveAll(to)); err != nil {
		return err
	}
	read, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = read.Close() }()
	for _, file := range read.File {
		name := filepath.Join(to, filepath.FromSlash(file.Name))
		if !strings.HasPrefix(name, to) {
			return errors.New("content filepath is tainted: " + file.Name)
		}
		from, err := file.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(from)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
			return err
		}
	}
	return os.Remove(archive)
}

// A client of Optimus gets the plugins that were installed for its server: only YAML
// files, from every generation.
func TestOptimusPluginSyncGetsWhatIsInstalled(t *testing.T) {
	server, client := t.TempDir(), t.TempDir()
	plugin := func(name, version string) string {
		return "name: " + name + "\nplugintype: task\npluginversion: " + version + "\nimage: docker.io/org/" + name + "@sha256:" + strings.Repeat("0", 64) +
			"\nentrypoint: {shell: /bin/bash, script: run}\n"
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(server, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		code, _, stderr := runMain(t, append(args, "-c", filepath.Join(server, "config.yaml"), "--location", filepath.Join(server, ".plugins"))...)
		if code != exitDone {
			t.Fatalf("%q: exit code %d, %s", args, code, stderr)
		}
	}
	synced := func() map[string]string {
		t.Helper()
		if err := syncPlugins(optimusServer(t, server).URL, client); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		entries, err := os.ReadDir(filepath.Join(client, ".plugins"))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			data, err := os.ReadFile(filepath.Join(client, ".plugins", entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			out[entry.Name()] = string(data)
		}
		return out
	}
	put("config.yaml", "plugin: {artifacts: [./optimus-plugin-neo.yaml, ./optimus-plugin-old.yaml, ./optimus-neo_linux_amd64]}")
	put("optimus-plugin-neo.yaml", plugin("neo", "v1"))
	put("optimus-plugin-old.yaml", plugin("old", "v1"))
	put("optimus-neo_linux_amd64", "#!/bin/sh\n")
	run("plugin", "install", "--yes")
	first := map[string]string{"optimus-plugin-neo.yaml": plugin("neo", "v1"), "optimus-plugin-old.yaml": plugin("old", "v1")}
	if diff := cmp.Diff(first, synced()); diff != "" {
		t.Error(diff)
	}
	put("config.yaml", "plugin: {artifacts: [./optimus-plugin-neo.yaml]}")
	put("optimus-plugin-neo.yaml", plugin("neo", "v2"))
	run("plugin", "install", "--yes")
	if diff := cmp.Diff(map[string]string{"optimus-plugin-neo.yaml": plugin("neo", "v2")}, synced()); diff != "" {
		t.Error(diff)
	}
	run("plugin", "rollback", "--yes")
	if diff := cmp.Diff(first, synced()); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(client); err != nil || len(left) != 1 || left[0].Name() != ".plugins" {
		t.Errorf("the client has %v, %v", left, err)
	}
}
