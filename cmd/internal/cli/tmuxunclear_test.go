package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where a bundle supports several install modes and none is clear, a person is asked
// before the review. Without a question the narrowest is taken, and said.
func TestTerminalAnInstallModeThatIsNotClearIsAsked(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	bundle := filepath.Join(p.dir, "modes")
	if err := os.CopyFS(bundle, os.DirFS(filepath.Join(root(t), "testdata", "bundles", "mongodb", "1.11.0"))); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(bundle, "manifests", "mongodb.clusterserviceversion.yaml")
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	const single = "- type: SingleNamespace\n    supported: "
	several := strings.Replace(string(data), single+"false", single+"true", 1)
	if several == string(data) {
		t.Fatal("the bundle's modes are not where they were")
	}
	if err := os.WriteFile(manifest, []byte(several), 0o600); err != nil {
		t.Fatal(err)
	}

	const command = "kubectl-operator install ./modes db -n db"
	p.cleared(command)
	p.wait("1  OwnNamespace     it watches its own namespace")
	p.wait("Which mode?")
	p.run("q")
	p.wait("Nothing was applied.")
	p.wait("exit=2")
	p.sane()

	p.cleared(command)
	p.wait("Which mode?")
	p.run("2")
	p.wait("Which namespaces does it watch?")
	p.run("tenant")
	p.wait("CRITICAL")
	p.keys("q")
	p.wait("exit=2")
	p.wait("--install-mode SingleNamespace --watch-") // and tenant on the next line
	p.sane()

	p.cleared(command + " --preview | grep -- --approve")
	p.wait("--install-mode OwnNamespace")
	p.wait("exit=0")
}
