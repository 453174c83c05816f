package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plugin set is reviewed, asked about and installed like a release; anyone who leaves
// before the answer finds nothing installed.
func TestTerminalPluginSetOnTheScreen(t *testing.T) {
	t.Parallel()
	p := newPane(t, 120, 36, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	for name, text := range map[string]string{
		"set.yaml": "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: host}\nspec:\n  version: 1.0.0\n  plugins: [{output: run, reference: ./run}]\n",
		"run":      "#!/bin/sh\necho ran\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	place := filepath.Join(p.dir, "plugins")
	confirm := func() {
		p.cleared("kubectl-operator plugin install -c set.yaml --location ./plugins")
		p.wait("CRITICAL")
		p.fits(120, 36)
		p.keys("a")
		p.wait("Nothing has been changed yet.")
		p.fits(120, 36)
	}
	for name, leave := range map[string]func(){
		"an interrupt":   func() { p.keys("C-c") },
		"Enter and back": func() { p.keys("Enter"); p.press("Escape", "REVIEW"); p.keys("q") },
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			confirm()
			leave()
			p.wait("exit=2")
			p.wait("Nothing was installed.")
			p.sane()
			if _, err := os.Stat(filepath.Join(place, "run")); err == nil {
				t.Error("it is installed")
			}
		})
	}
	p.t = t
	confirm()
	p.typeName("y") // nothing here must be looked at
	p.keys("Enter")
	screen := p.wait("exit=0")
	if !strings.Contains(screen, "DONE, generation 1") {
		t.Errorf("it does not say that it is installed:\n%s", screen)
	}
	p.sane()
	if data, err := os.ReadFile(filepath.Join(place, "run")); err != nil || string(data) != "#!/bin/sh\necho ran\n" {
		t.Errorf("installed is %q, %v", data, err)
	}
}
