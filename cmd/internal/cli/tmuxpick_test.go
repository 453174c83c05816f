package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cleared runs a command on an empty screen: the awaited text must not be there already.
func (p *pane) cleared(command string) {
	p.t.Helper()
	p.run("clear")
	p.until("an empty screen", func(s string) bool { return !strings.Contains(s, "exit=") })
	p.run(command + "; echo exit=$?")
}

// chooser is a pane with the catalog of the demo and no cluster.
func chooser(t *testing.T) *pane {
	t.Helper()
	p := newPane(t, 100, 30, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	if err := os.CopyFS(filepath.Join(p.dir, "cat"), os.DirFS(filepath.Join(root(t), "testdata", "catalogs", "demo"))); err != nil {
		t.Fatal(err)
	}
	return p
}

// Without a name a person chooses on a screen, and nothing chosen is nothing
// applied.
func TestTerminalInstallWithoutANameLetsAPersonChoose(t *testing.T) {
	t.Parallel()
	p := chooser(t)
	ask := func() {
		p.cleared("kubectl-operator install --catalog ./cat")
		p.wait("4 packages")
	}
	for name, leave := range map[string]func(){
		"q":              func() { p.keys("q") },
		"escape":         func() { p.keys("Escape") },
		"an interrupt":   func() { p.keys("C-c") },
		"a search first": func() { p.text("/mon"); p.wait("1 of 4 packages"); p.keys("C-c") },
		"SIGTERM":        func() { sendSignal(p.t, "-TERM", p.installing()) },
		"the versions":   func() { p.keys("Enter"); p.wait("review this one"); p.keys("q") },
		"another size": func() {
			p.tmux("resize-window", "-x", "40", "-y", "12")
			p.until("a small screen", func(s string) bool { return !strings.Contains(s, "a choice opens its review") })
			p.fits(40, 12)
			p.tmux("resize-window", "-x", "100", "-y", "30")
			p.wait("a choice opens its review")
			p.keys("q")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			ask()
			p.fits(100, 30)
			leave()
			p.wait("exit=2")
			p.wait("othing was applied")
			p.sane()
		})
	}
	// The package leads to the review, which has no cluster here.
	p.t = t
	ask()
	p.text("/mongodb")
	p.wait("1 of 4 packages")
	p.keys("Enter", "Enter", "Enter")
	p.wait("exit=1")
	p.sane()
}

// The review shows the chosen version with its channel.
func TestTerminalChosenVersionIsReviewed(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	p.cleared("kubectl-operator install --catalog ./cat --plain-http")
	p.wait("4 packages")
	p.text("/mongo")
	p.wait("1 of 4 packages")
	p.keys("Enter", "Enter")
	p.wait("Channel candidate")
	p.keys("G", "k") // 1.11.0 of candidate: 1.10.0 is below it
	p.until("the cursor on 1.11.0", func(s string) bool { return strings.Contains(s, "> 1.11.0") })
	p.keys("Enter")
	screen := p.wait("CRITICAL")
	p.fits(120, 36)
	if !strings.Contains(screen, "mongodb  1.11.0") {
		t.Errorf("another version is reviewed:\n%s", screen)
	}
	p.keys("q")
	if screen := p.wait("exit=2"); !strings.Contains(screen, "--channel candidate") || !strings.Contains(screen, "1.11.0") {
		t.Errorf("the way back does not name what was chosen:\n%s", screen)
	}
	p.asKubectl()
	p.cleared(p.command("review again"))
	if screen := p.wait("CRITICAL"); !strings.Contains(screen, "mongodb  1.11.0") {
		t.Errorf("the way back leads to another version:\n%s", screen)
	}
	p.keys("q")
	p.wait("exit=2")
	p.sane()
}

// A name that no package has opens the list on what it finds; a script gets the error.
func TestTerminalANameThatNoPackageHasIsSearched(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	p.cleared("kubectl-operator install mongo shop --catalog ./cat --plain-http")
	p.wait(`no package is called "mongo"`)
	p.wait(`1 of 4 packages: "mongo"`)
	p.keys("Enter")
	p.wait("review this one")
	p.keys("Enter")
	screen := p.wait("CRITICAL")
	if !strings.Contains(screen, "shop") {
		t.Errorf("the release is not the one that was named:\n%s", screen)
	}
	p.keys("q")
	p.wait("exit=2")
	p.cleared("kubectl-operator install mongo --catalog ./cat --plain-http --plain")
	p.wait(`nearest are mongodb in`)
	p.wait("Which package?")
	p.keys("Enter")
	p.wait("exit=2")
	p.cleared("kubectl-operator install mongo --catalog ./cat --plain-http --yes")
	p.wait(`no package "mongo"`)
	p.wait("exit=1")
	p.sane()
}

// Where no screen is drawn the packages are a numbered list.
func TestTerminalInstallWithoutANameListsPackages(t *testing.T) {
	t.Parallel()
	p := chooser(t)
	ask := func() {
		p.cleared("kubectl-operator install --catalog ./cat --plain")
		p.wait("Which package?")
	}
	ask()
	p.fits(100, 30)
	p.text("nosuch")
	p.keys("Enter")
	p.wait("No package is called that.")
	p.keys("Enter")
	p.wait("exit=2")
	p.wait("Nothing was applied.")
	p.sane()
	for name, leave := range map[string]string{"the end of input": "C-d", "an interrupt": "C-c"} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			ask()
			p.keys(leave)
			p.wait("exit=2")
			p.wait("othing was applied")
			p.sane()
		})
	}
	// The package leads to the review, which has no cluster here.
	p.t = t
	ask()
	p.text("mongodb")
	p.keys("Enter")
	p.wait("exit=1")
	p.sane()
}
