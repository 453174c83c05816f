package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without a name a person chooses from a list, in the terminal as it is: what
// is chosen is then reviewed, and nothing chosen is nothing applied.
func TestInstallWithoutANameListsPackages(t *testing.T) {
	p := newPane(t, 100, 30, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	if err := os.CopyFS(filepath.Join(p.dir, "cat"), os.DirFS(filepath.Join(root(t), "testdata", "catalogs", "demo"))); err != nil {
		t.Fatal(err)
	}
	ask := func() {
		p.run("clear") // what is waited for must not be there already
		p.until("an empty screen", func(s string) bool { return !strings.Contains(s, "exit=") })
		p.run("kubectl-operator install --catalog ./cat; echo exit=$?")
		p.wait("Which one?")
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
