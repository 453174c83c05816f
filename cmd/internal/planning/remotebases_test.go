package planning_test

import (
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// gitServer serves a repository org/repo by git itself, and returns how to run git in it.
func gitServer(t *testing.T) (host, caFile string, git func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is not installed")
		}
		t.Skip("skipped: git is not installed")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "org", "repo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=",
	}
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main", ".")
	git("config", "uploadpack.allowAnySHA1InWant", "true")
	for name, text := range map[string]string{
		"deploy/kustomization.yaml":     "resources: [../base]\nnamePrefix: deployed-\n",
		"base/kustomization.yaml":       "resources: [a.yaml]\n",
		"base/a.yaml":                   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"climbing/kustomization.yaml":   "resources: [../../../../../local]\n",
		"onwards/kustomization.yaml":    "resources: ['https://github.com/org/other?ref=main']\n",
		"none/README.md":                "",
		"component/kustomization.yaml":  "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: component-\n",
		"elsewhere/link.yaml":           "",
		"elsewhere/kustomization.yaml":  "resources: [../missing]\n",
		"plain/a.yaml":                  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n",
		"file-above/kustomization.yaml": "resources: [../base/a.yaml]\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "-A")
	git("commit", "-q", "-m", "x")
	server, caFile := sourcetest.HTTPS(t, &cgi.Handler{Path: filepath.Join(git("--exec-path"), "git-http-backend"), Env: env})
	return strings.TrimPrefix(server.URL, "https://"), caFile, git
}

func TestARemoteBaseIsReadByItsCommit(t *testing.T) {
	host, caFile, git := gitServer(t)
	commit := git("rev-parse", "HEAD")
	at := "https://" + host + "/org/repo"
	gone := strings.Repeat("0", 40)
	for _, c := range []struct{ name, text, object, fails string }{
		{name: "a directory that refers to its neighbour", text: "resources: ['" + at + "//deploy?ref=" + commit + "']", object: "deployed-a"},
		{name: "a directory without //", text: "resources: ['" + at + "/base?ref=" + commit + "']", object: "a"},
		{name: "a component", text: "resources: ['" + at + "//base?ref=" + commit + "']\ncomponents: ['" + at + "//component?ref=" + commit + "']", object: "component-a"},
		{name: "a branch", text: "resources: ['" + at + "//base?ref=main']",
			fails: `kustomization.yaml: resources[0]: "` + at + `//base?ref=main" is remote and names no commit, so that it may move; sed -i 's|` +
				strings.ReplaceAll(at, ".", `\.`) + `//base?ref=main|` + at + `//base?ref=` + commit + `|' DIR/kustomization.yaml && kubectl operator preview DIR`},
		{name: "a commit that is gone", text: "resources: ['" + at + "//base?ref=" + gone + "']", fails: "at its present commit: sed -i 's|" +
			strings.ReplaceAll(at, ".", `\.`) + "//base?ref=" + gone + "|" + at + "//base?ref=" + commit + "|' DIR/kustomization.yaml && kubectl operator preview DIR"},
		{name: "a directory that is not there", text: "resources: ['" + at + "//missing?ref=" + commit + "']", fails: "is remote, and cannot be read: "},
		{name: "a directory that refers to one that is not there", text: "resources: ['" + at + "//elsewhere?ref=" + commit + "']", fails: `"../missing" of the git repository`},
		{name: "a directory without a kustomization", text: "resources: ['" + at + "//none?ref=" + commit + "']", fails: "has no kustomization"},
		{name: "one that leads to files of this machine", text: "resources: ['" + at + "//climbing?ref=" + commit + "']", fails: `"../../../../../local" lies outside of its git repository`},
		{name: "one that leads on to a branch", text: "resources: ['" + at + "//onwards?ref=" + commit + "']", fails: `resources[0]: "https://github.com/org/other?ref=main" is remote and names no commit`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := offline(t, config.Config{})
			p.Source.CAFile, p.Source.PrivateAddresses = caFile, []string{"127.0.0.1"}
			dir := files(t, map[string]string{"kustomization.yaml": c.text, "local/kustomization.yaml": "resources: [a.yaml]", "local/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: local}\n"})
			plan, err := planOf(t, p, dir, "shop")
			if c.fails != "" {
				if want := strings.ReplaceAll(c.fails, "DIR", dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got\n%v\nwant\n%s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			objectText(t, plan, c.object)
			sources := references(plan)
			if len(sources) < 2 || slices.ContainsFunc(sources[1:], func(s string) bool { return !strings.HasSuffix(s, "?ref="+commit) }) {
				t.Errorf("sources %q", sources)
			}
		})
	}
}

func TestABuildReadsAFewRemoteBases(t *testing.T) {
	host, caFile, git := gitServer(t)
	commit, repo := git("rev-parse", "HEAD"), git("rev-parse", "--show-toplevel")
	text := "resources:\n"
	for i := range 33 {
		name := "more-" + strconv.Itoa(i)
		if err := os.Symlink(repo, filepath.Join(filepath.Dir(repo), name)); err != nil {
			t.Fatal(err)
		}
		text += "- 'https://" + host + "/org/" + name + "//base?ref=" + commit + "'\n"
	}
	p := offline(t, config.Config{})
	p.Source.CAFile, p.Source.PrivateAddresses = caFile, []string{"127.0.0.1"}
	dir := files(t, map[string]string{"kustomization.yaml": text})
	_, err := planOf(t, p, dir, "shop")
	if err == nil || !strings.HasSuffix(err.Error(), "more than 32 directories of git repositories; mkdir -p "+dir+"-built && kubectl kustomize "+dir+" > "+dir+"-built/all.yaml && kubectl operator preview "+dir+"-built shop --format=plain") {
		t.Errorf("got %v", err)
	}
}

// refusedCase is content that is refused, and what the command takes that the refusal ends with.
type refusedCase struct {
	name  string
	files map[string]string
	dir   string // what is planned first
	tool  string // which the command takes
	edits string // a script of sed, as the editor
}

func TestTheCommandOfARefusalWorks(t *testing.T) {
	host, caFile, _ := gitServer(t)
	t.Setenv("GIT_SSL_CAINFO", caFile)
	refusedCase{"a base by its branch", map[string]string{"kustomization.yaml": "resources: ['https://" + host + "/org/repo//base?ref=main']"}, "", "sed", ""}.run(t, caFile)
}

// What TestTheCommandOfARefusalWorks shows for one refusal, for all of them.
func TestSlowTheCommandsOfRefusalsWork(t *testing.T) {
	slowtest.Skip(t, "the commands of all refusals, which take git, kubectl and thousands of files")
	host, caFile, git := gitServer(t)
	repo, commit := "https://"+host+"/org/repo//", git("rev-parse", "HEAD")
	base := repo + "base?ref="
	large := map[string]string{"kustomization.yaml": "resources: [a.yaml]\nconfigMapGenerator:\n- name: large\n  files:\n", "a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}
	for i := range 5000 {
		name := "f" + strconv.Itoa(i)
		large[name], large["kustomization.yaml"] = "", large["kustomization.yaml"]+"  - "+name+"\n"
	}
	if kubectl, err := filepath.Abs("../../../bin/kubectl"); err == nil { // which the sandbox has beside it
		dir := t.TempDir()
		_ = os.Symlink(kubectl, filepath.Join(dir, "kubectl"))
		t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	t.Setenv("GIT_SSL_CAINFO", caFile)
	const chart = "apiVersion: v2\nname: NAME\nversion: 1.2.3\n"
	parent := chart + "dependencies: [{name: db, version: 1.x, repository: 'file://../db'}]\n"
	for _, c := range []refusedCase{
		{"a base by its branch, without a network", map[string]string{"kustomization.yaml": "resources: ['" + base + "main']"}, "", "git", ""},
		{"a base without a branch, without a network", map[string]string{"kustomization.yaml": "resources: ['" + repo + "base']"}, "", "git", ""},
		{"a base by its commit, without a network", map[string]string{"kustomization.yaml": "resources: ['" + base + commit + "']"}, "", "git", ""},
		{"a directory that the repository does not have", map[string]string{"kustomization.yaml": "resources: ['" + repo + "missing?ref=" + commit + "']"}, "", "sed", "s/missing/base/"},
		{"a base that refers to what its repository does not have", map[string]string{"kustomization.yaml": "resources: ['" + repo + "elsewhere?ref=" + commit + "']"}, "", "git", "s/missing/base/"},
		{"a base that leads out of its repository", map[string]string{"kustomization.yaml": "resources: ['" + repo + "climbing?ref=" + commit + "']"}, "", "git", `s|\.\./\.\./.*local|../base|`},
		{"a base without a kustomization", map[string]string{"kustomization.yaml": "resources: ['" + repo + "plain?ref=" + commit + "']"}, "", "git", ""},
		{"a directory without a kustomization", map[string]string{"kustomization.yaml": "resources: [sub]", "sub/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\n"}, "", "sh", ""},
		{"a plugin", map[string]string{"kustomization.yaml": "generators: [p.yaml]", "p.yaml": "apiVersion: x.example.com/v1\nkind: Go\nmetadata: {name: x}\n"}, "", "kustomize", ""},
		{"charts that are not in the content", map[string]string{"kustomization.yaml": "helmChartInflationGenerator: [{chartName: x, releaseName: x, chartRepoUrl: 'https://" + host + "'}]"}, "", "helm", ""},
		{"more files than are read", large, "", "kubectl", ""},
		{"a base by its branch", map[string]string{"kustomization.yaml": "resources: ['" + base + "main']"}, "", "sed", ""},
		{"a base by a commit that is gone", map[string]string{"kustomization.yaml": "resources: ['" + base + strings.Repeat("0", 40) + "']"}, "", "sed", ""},
		{"a dependency outside of the content", map[string]string{
			"charts/web/Chart.yaml": strings.Replace(parent, "NAME", "web", 1), "charts/web/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
			"charts/db/Chart.yaml": strings.Replace(chart, "NAME", "db", 1), "charts/db/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n",
		}, "charts/web", "sh", ""},
		{"a dependency that is nowhere", map[string]string{
			"web/Chart.yaml": strings.Replace(parent, "NAME", "web", 1), "web/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
			"CHART/Chart.yaml": strings.Replace(chart, "NAME", "db", 1), "CHART/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n",
		}, "web", "sh", ""},
		{"a dependency that a value turns off", map[string]string{
			"web/Chart.yaml":       strings.Replace(strings.Replace(parent, "NAME", "web", 1), "name: db,", "name: db, condition: db.enabled,", 1),
			"web/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
		}, "web", "sh", ""},
		{"a kustomization that needs what lies above it", map[string]string{
			"shop/base/kustomization.yaml": "resources: [a.yaml]", "shop/base/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\n",
			"shop/prod/kustomization.yaml": "resources: [../base]",
		}, "shop/prod", "sh", ""},
		{"a dependency that Chart.lock has otherwise", map[string]string{
			"web/Chart.yaml": strings.Replace(parent, "NAME", "web", 1), "web/Chart.lock": lockOf("file://../db", "9.9.9"), "web/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
			"db/Chart.yaml": strings.Replace(chart, "NAME", "db", 1), "db/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n",
		}, "web", "helm", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, caFile) })
	}
}

// run plans content that is refused, runs the command that the refusal ends with as it is
// printed, but for this program, and plans what the command names.
func (c refusedCase) run(t *testing.T, caFile string) {
	t.Helper()
	if _, err := exec.LookPath(c.tool); err != nil {
		t.Skipf("skipped: %s is not installed", c.tool)
	}
	p := offline(t, config.Config{})
	p.Source.PrivateAddresses = []string{"127.0.0.1"}
	if !strings.HasSuffix(c.name, "without a network") {
		p.Source.CAFile = caFile
	}
	t.Setenv("EDITOR", "sed -i -e "+c.edits)
	dir := files(t, c.files)
	_, err := planOf(t, p, filepath.Join(dir, c.dir), "shop")
	if err == nil {
		t.Fatal("it is not refused")
	}
	text := strings.Replace(err.Error(), "cp -r CHART ", "cp -r "+dir+"/CHART ", 1)
	if first, wide, found := strings.Cut(text, "; or, if "); found {
		beside, _, _ := strings.Cut(wide, " is there: ")
		if _, err := os.Stat(beside); err != nil {
			text = first
		}
	}
	const command = "kubectl operator preview "
	at := strings.LastIndex(text, command)
	if at < 0 {
		t.Fatalf("no command: %v", err)
	}
	p.Source.CAFile = caFile
	before, after := text[:at], text[at+len(command):]
	if shell := shellOf(before); shell != "" {
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.TrimSuffix(strings.TrimSpace(shell), "&&")).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", shell, err, out)
		}
	}
	words := strings.Fields(after)
	within := ""
	switch {
	case len(words) == 3 && words[2] == "--format=plain":
		p.Content.Format = "plain"
	case len(words) == 4 && words[2] == "--path":
		within = words[3]
	case len(words) == 4 && words[2] == "--set":
		p.Render.Set = words[3:]
	case len(words) != 2 || words[1] != "shop":
		t.Fatalf("arguments %q", words)
	}
	request, err := p.Request(words[0], "shop")
	if err != nil {
		t.Fatal(err)
	}
	request.Path = within
	if _, err := p.Plan(t.Context(), request, nil); err != nil {
		t.Error(err)
	}
}

// shellOf returns the commands for the shell at the end of a text.
func shellOf(text string) string {
	if strings.HasSuffix(text, ": ") { // only this program is named
		return ""
	}
	for at := len(text) - 1; at >= 0; at-- {
		for _, tool := range []string{"sed", "git", "printf", "mkdir", "rm", "cp", "helm", "${EDITOR"} {
			if rest := text[at:]; strings.HasPrefix(rest, "; "+tool) || strings.HasPrefix(rest, ": "+tool) {
				return rest[2:]
			}
		}
	}
	return ""
}
