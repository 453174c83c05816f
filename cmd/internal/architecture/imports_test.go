package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

const module = "github.com/kubectl-operator/kubectl-operator"

// rule says what the packages below from may not reach, over any chain of our
// own packages, except through the packages in but.
type rule struct {
	why  string
	from []string // below the module; a trailing slash includes what is below
	not  []string // import path prefixes
	but  []string // packages of ours that may
}

var directions = []rule{
	{why: "the plan and its parts know no cluster client", from: []string{"preview", "preview/"}, not: []string{"k8s.io/client-go", "k8s.io/cli-runtime", module + "/k8s", module + "/install", module + "/tui", module + "/cmd"}},
	{why: "what is known of a host of plugins is handed to the engine, and knows neither engine nor sources", from: []string{"preview/flyte"}, not: []string{module + "/preview/engine", module + "/preview/plugins", module + "/preview/source", module + "/preview/format"}},
	{why: "what the engine is made of does not know the engine", from: []string{"preview/owners", "preview/escalation", "preview/rollback", "preview/schema", "preview/access", "preview/diff"}, not: []string{module + "/preview/engine", module + "/preview/flyte"}},
	{why: "the table of rules knows the types of a plan, and nothing that finds or shows", from: []string{"preview/rules"}, not: []string{module + "/preview/", module + "/install", module + "/tui", module + "/cmd"}, but: []string{"preview/lazyregexp", "preview/spelling", "preview/words"}},
	{why: "what finds something does not know the pages that explain it", from: []string{"preview/access", "preview/engine", "preview/flyte", "preview/format/", "preview/plugins", "preview/policy", "preview/ref", "preview/risk", "preview/schema", "install", "install/"}, not: []string{module + "/preview/risk/pages"}, but: []string{"preview/report", "preview/review"}},
	{why: "install reaches the cluster through its own interfaces", from: []string{"install", "install/"}, not: []string{"k8s.io/client-go", "k8s.io/cli-runtime", module + "/k8s", module + "/tui", module + "/cmd"}},
	{why: "the screen receives functions, never a client", from: []string{"tui", "tui/"}, not: []string{"k8s.io/client-go", "k8s.io/cli-runtime", module + "/k8s", module + "/cmd"}},
	{why: "the screens of one program are not those of another", from: []string{"tui/frame", "tui/diffview", "tui/pick", "tui/follow", "tui/review", "tui/tabs", "tui/tuitest"}, not: []string{module + "/tui/pick", module + "/tui/follow", module + "/tui/review"}},
	{why: "what all screens have in common knows none of them", from: []string{"tui/frame", "tui/theme", "tui/widget"}, not: []string{module + "/tui/diffview", module + "/tui/tabs", module + "/tui/tuitest"}},
	{why: "planning reaches the cluster through interfaces, prints nothing and draws nothing", from: []string{"cmd/internal/planning"}, not: []string{"k8s.io/client-go", "k8s.io/cli-runtime", module + "/k8s", module + "/tui", module + "/cmd/internal/cli", module + "/cmd/internal/streams"}},
	{why: "only the command line knows flags", from: []string{"preview", "preview/", "install", "install/", "tui", "tui/", "cmd/internal/planning", "cmd/internal/config"}, not: []string{"github.com/spf13/"}},
	{why: "k8s knows the plan types and nothing else of ours", from: []string{"k8s"}, not: []string{module + "/preview/", module + "/install", module + "/tui", module + "/cmd"}, but: []string{"preview/lazyregexp", "preview/tasks"}},
	{why: "the sandbox stands alone", from: []string{"k8s/sandbox/"}, not: []string{module + "/preview", module + "/install", module + "/tui", module + "/cmd"}},
	{why: "only the screen draws", from: []string{"preview/", "install/", "k8s/", "cmd/"}, not: []string{"charm.land/", "github.com/charmbracelet/"}, but: []string{"tui", "tui/"}},
	{why: "only sources talk to registries, stores and git servers", from: []string{"preview/", "install/", "k8s/", "tui/", "cmd/"}, not: []string{"github.com/google/go-containerregistry", "github.com/aws", "golang.org/x/oauth2", "github.com/go-git"}, but: []string{"preview/source", "preview/source/auth", "preview/source/git"}},
	{why: "the reading of a git repository knows neither the other sources nor a Fetcher", from: []string{"preview/source/git"}, not: []string{module + "/preview/source"}, but: []string{"preview/source/bounded"}},
	{why: "credentials, indexes of charts and trees know neither a source nor each other", from: []string{"preview/source/auth", "preview/source/chartindex", "preview/source/filetree"}, not: []string{module + "/preview/source"}, but: []string{"preview/source/bounded"}},
	{why: "the cache knows the trees it keeps, and no source", from: []string{"preview/source/diskcache"}, not: []string{module + "/preview/source"}, but: []string{"preview/source/bounded", "preview/source/filetree"}},
	{why: "reading within limits knows nothing that is read", from: []string{"preview/source/bounded"}, not: []string{module + "/"}},
	{why: "only verification knows Sigstore", from: []string{"preview/", "install/", "k8s/", "tui/", "cmd/"}, not: []string{"github.com/sigstore/"}, but: []string{"preview/verify"}},
	{why: "verification fetches nothing", from: []string{"preview/verify"}, not: []string{"net", "net/http", module + "/preview/source"}},
	{why: "shipped code links no test packages", from: []string{"preview/", "install/", "k8s", "tui/", "cmd/internal/cli", "cmd/kubectl-operator"}, not: []string{"testing", "github.com/rogpeppe/go-internal"}, but: []string{"preview/corpustest", "preview/findingtest", "preview/review/reviewtest", "preview/catalog/catalogtest", "preview/risk/fieldtest", "k8s/sandbox/sandboxtest", "preview/source/sourcetest", "tui/tuitest"}},
}

// pkg is the output of "go list" for a package.
type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImportDirections(t *testing.T) {
	packages := list(t)
	for _, r := range directions {
		t.Run(r.why, func(t *testing.T) {
			checked := 0
			for path := range packages {
				if !covers(r.from, path) || covers(r.but, path) {
					continue
				}
				checked++
				if chain := reach(packages, path, r, map[string]bool{}); chain != nil {
					t.Errorf("%s", strings.Join(chain, "\n  -> "))
				}
			}
			if checked == 0 {
				t.Errorf("no package is below %v", r.from)
			}
		})
	}
}

// reach returns the first chain of imports from a package to a forbidden one.
func reach(packages map[string]pkg, path string, r rule, seen map[string]bool) []string {
	if seen[path] {
		return nil
	}
	seen[path] = true
	for _, imported := range packages[path].Imports {
		if covers(r.but, imported) {
			continue
		}
		if slices.ContainsFunc(r.not, func(prefix string) bool { return under(prefix, imported) }) {
			return []string{path, imported}
		}
		if _, ours := packages[imported]; !ours {
			continue
		}
		if chain := reach(packages, imported, r, seen); chain != nil {
			return append([]string{path}, chain...)
		}
	}
	return nil
}

func under(prefix, path string) bool {
	return path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
}

// covers reports whether a package of ours is named by a pattern.
func covers(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		full := module + "/" + strings.TrimSuffix(p, "/")
		if strings.HasSuffix(p, "/") {
			return under(full, path)
		}
		return path == full
	})
}

func list(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = corpustest.Repository(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	packages := map[string]pkg{}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// The top level is fixed: a newcomer sees the whole map at once.
func TestTopLevel(t *testing.T) {
	want := []string{"LICENSE", "Makefile", "README.md", "bin", "cmd", "go.mod", "go.sum", "install", "k8s", "preview", "testdata", "tui"}
	entries, err := os.ReadDir(corpustest.Repository(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(want, e.Name()) {
			t.Errorf("%s has no place at the top level", e.Name())
		}
	}
}
