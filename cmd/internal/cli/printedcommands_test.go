package cli_test

import (
	"encoding/json"
	"encoding/pem"
	"html"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// printing runs this program in its own directory, whose name needs quotes, and carries
// out the commands that it prints.
type printing struct {
	t    *testing.T
	dir  string
	env  []string
	done map[string]bool // commands that print the same for every package
}

func newPrinting(t *testing.T, kubeconfig string) *printing {
	t.Helper()
	p := &printing{t: t, dir: filepath.Join(t.TempDir(), "it's $HOME; `here`"), done: map[string]bool{}}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	policy := "apiVersion: kubectl-operator/v1alpha1\nkind: Policy\nrules:\n- {name: here, severity: warning, message: a policy judged it, expression: \"true\"}\n"
	if err := os.WriteFile(filepath.Join(p.dir, "our policy's.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(p.dir, "home")
	p.env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "KUBECONFIG="+kubeconfig, "CI=")
	return p
}

// answer is what a command printed, and its exit code.
type answer struct {
	stdout, stderr string
	code           int
}

// sh carries a command line out as it is printed, by a shell.
func (p *printing) sh(line string) answer {
	p.t.Helper()
	c := exec.Command("sh", "-c", `kubectl() { if [ "$1" = operator ]; then shift; kubectl-operator "$@"; else "$KUBECTL" "$@"; fi; }; `+line)
	c.Dir, c.Env = p.dir, p.env
	var out, errOut strings.Builder
	c.Stdout, c.Stderr = &out, &errOut
	if err := c.Run(); c.ProcessState == nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	return answer{out.String(), errOut.String(), c.ProcessState.ExitCode()}
}

// digests are the digests of the plan that a command prints as JSON.
type digests struct {
	Digest        string `json:"digest"`
	ContentDigest string `json:"contentDigest"`
}

// plan carries out a command that prints a plan as JSON.
func (p *printing) plan(line string) (out digests, ok bool) {
	p.t.Helper()
	got := p.sh(line + " -o json")
	if got.code != 0 || json.Unmarshal([]byte(got.stdout), &out) != nil {
		p.t.Errorf("%s: exit code %d\n%s", line, got.code, got.stderr)
		return out, false
	}
	return out, true
}

// printedCommand is a command of this program in a text or a page: to the end of the
// line, or of what marks it as code.
var printedCommand = regexp.MustCompile("kubectl operator [^\n`<]+")

// approvalWords are the part of a command that approves the plan.
var approvalWords = regexp.MustCompile(` --yes --approve (sha256:[0-9a-f]{64}) --ruleset [0-9]+(?: --accept (?:'[^']*'|[^ ]+))*`)

// offlineCommand is the command in the error that there is no cluster.
var offlineCommand = regexp.MustCompile(`"(kubectl operator preview .*)" shows the review without a cluster`)

// commandsIn returns the commands in the forms of a review.
func commandsIn(forms ...string) []string {
	found := map[string]bool{}
	for _, text := range forms {
		for _, line := range printedCommand.FindAllString(html.UnescapeString(text), -1) {
			found[strings.TrimSpace(line)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// forms previews a package and returns the review in the forms with commands.
func (p *printing) forms(line string) (forms []string) {
	p.t.Helper()
	got := p.sh(line + " --report markdown=review.md --report html=review.html")
	if got.code != 0 {
		p.t.Errorf("%s: exit code %d\n%s", line, got.code, got.stderr)
		return nil
	}
	forms = append(forms, got.stdout)
	for _, name := range []string{"review.md", "review.html"} {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			p.t.Error(err)
		}
		forms = append(forms, string(data))
	}
	return forms
}

// offline carries out a command of a review that was made without a cluster. want are
// the digests of that review.
func (p *printing) offline(line string, want digests) {
	p.t.Helper()
	verb := strings.Fields(line)[2]
	approves := approvalWords.FindStringSubmatch(line)
	switch {
	case verb == "explain" && strings.HasSuffix(line, " RULE"), verb == "install" && strings.Contains(line, " --plan PLANFILE "):
		// RULE and PLANFILE stand for what the reader has.
	case verb == "explain" || verb == "help":
		if got := p.sh(line); !p.done[line] && (got.code != 0 || got.stdout == "") {
			p.t.Errorf("%s: exit code %d\n%s", line, got.code, got.stderr)
		}
		p.done[line] = true
	case verb == "preview" && strings.Contains(line, " -o "):
		if got := p.sh(line + " --offline"); got.code != 0 || got.stdout == "" {
			p.t.Errorf("%s: exit code %d\n%s", line, got.code, got.stderr)
		}
	case approves != nil:
		if approves[1] != want.ContentDigest {
			p.t.Errorf("%s approves another content than %s", line, want.ContentDigest)
		}
		again := strings.Replace(approvalWords.ReplaceAllString(line, ""), " operator install ", " operator preview ", 1) + " --offline"
		if got, ok := p.plan(again); ok && got != want {
			p.t.Errorf("%s plans %v, want %v", again, got, want)
		}
		// As it is printed, it gets as far as the cluster that there is none of, and says
		// what shows the same without one.
		got := p.sh(line)
		if got.code != 1 || !strings.Contains(got.stderr, "no kubeconfig") {
			p.t.Errorf("%s: exit code %d\n%s", line, got.code, got.stderr)
		}
		offline := offlineCommand.FindStringSubmatch(got.stderr)
		if offline == nil {
			p.t.Errorf("%s: %s", line, got.stderr)
		} else if shown, ok := p.plan(offline[1]); ok && shown != want {
			p.t.Errorf("%s plans %v, want %v", offline[1], shown, want)
		}
	default:
		p.t.Errorf("%s: what does it claim?", line)
	}
}

// screen carries out the commands that the screen has and reports do not: the one that y
// copies before the review is done, and one for each setting that needs less. The test
// of the screen holds that it has no others.
func (p *printing) screen(first string, want digests) int {
	p.t.Helper()
	var plan preview.Plan
	if err := json.Unmarshal([]byte(p.sh(first+" -o json").stdout), &plan); err != nil {
		p.t.Fatal(err)
	}
	executed := 1
	again := review.RepeatCommand(&plan)
	if got, ok := p.plan(strings.Replace(again, " --tui", "", 1)); ok && got != want {
		p.t.Errorf("%s plans %v, want %v", again, got, want)
	}
	for _, setting := range verdict.For(&plan).Mitigations {
		executed++
		line := review.RepeatCommand(&plan, setting.Flags...)
		if got, ok := p.plan(strings.Replace(line, " --tui", "", 1)); ok && got.ContentDigest == want.ContentDigest {
			p.t.Errorf("%s plans the same content", line)
		}
	}
	return executed
}

// lacking carries out what the errors of formats say adds what content lacks and previews
// it again: that is the plan of the whole content, made with the same flags.
func (p *printing) lacking() {
	p.t.Helper()
	for _, tt := range []struct{ content, flags, lacks, bring string }{
		{"a chart's", ` --kube-version 1.33.0 --set 'size=a b'`, `mkdir -p $D/templates; printf 'apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.x, repository: "oci://registry.example/db"}]\n' >$D/Chart.yaml; printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {size: "{{ .Values.size }}"}\n' >$D/templates/a.yaml`,
			`helm() { mkdir -p "$3/charts/db"; printf 'apiVersion: v2\nname: db\nversion: 1.0.0\n' >"$3/charts/db/Chart.yaml"; }`},
		{"an overlay's", "", `printf 'resources: ["https://example.com/base.yaml"]\n' >$D/kustomization.yaml`,
			`curl() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' >"$2"; }`},
	} {
		flags := ` shop -n shops --offline --cache-dir 'ca"che $1' --policy 'our policy'\''s.yaml'` + tt.flags
		dir := "'" + strings.ReplaceAll(tt.content, "'", `'\''`) + "'"
		p.sh("mkdir " + dir + "; D=" + dir + "; " + strings.ReplaceAll(tt.lacks, "$D", `"$D"`))
		got := p.sh("kubectl operator preview ./" + dir + flags)
		_, line, said := strings.Cut(strings.TrimSpace(got.stderr), "; ")
		if !said || got.code != 1 {
			p.t.Errorf("exit code %d\n%s", got.code, got.stderr)
			continue
		}
		brought, ok := p.plan(tt.bring + "; " + line)
		if want, whole := p.plan("kubectl operator preview ./" + dir + flags); ok && whole && brought != want {
			p.t.Errorf("%s plans %v, want %v", line, brought, want)
		}
	}
}

// carryOut previews a package without a cluster by a command line and carries out each
// command that text, Markdown, page and screen have. It returns their number, 0 for a
// package that is refused.
func (p *printing) carryOut(first string) (executed int) {
	p.t.Helper()
	if p.sh(first+" -o json").code != 0 {
		p.t.Logf("refused: %s", first)
		return 0
	}
	want, ok := p.plan(first)
	if !ok {
		return 0
	}
	forms := p.forms(first)
	commands := commandsIn(forms...)
	applies := slices.ContainsFunc(commands, func(line string) bool { return strings.Contains(line, " operator install ") })
	if blocked := strings.Contains(strings.Join(forms, ""), "CANNOT BE APPLIED"); applies == blocked {
		p.t.Errorf("%s: cannot be applied: %t, a command applies it: %t: %q", first, blocked, applies, commands)
	}
	for _, line := range commands {
		p.offline(line, want)
	}
	return len(commands) + p.screen(first, want)
}

// link links a directory into the program's directory by another name, and returns that
// as an argument.
func (p *printing) link(name, dir string) string {
	p.t.Helper()
	link := filepath.Join(p.dir, name)
	_ = os.Remove(link)
	if err := os.Symlink(dir, link); err != nil {
		p.t.Fatal(err)
	}
	return `'./` + strings.ReplaceAll(name, "'", `'\''`) + `'`
}

// fromRegistry returns what is previewed from a registry over TLS, whose certificate its
// own authority signs: a package of a catalog, with a version and a channel, and bundles
// and catalogs by reference.
func (p *printing) fromRegistry() []string {
	p.t.Helper()
	handler := source.NewRegistry()
	inside, outside := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	outside.Config.ErrorLog = log.New(io.Discard, "", 0)
	outside.StartTLS()
	p.t.Cleanup(inside.Close)
	p.t.Cleanup(outside.Close)
	from, to := strings.TrimPrefix(inside.URL, "http://"), strings.TrimPrefix(outside.URL, "https://")
	catalog := filepath.Join(p.dir, "our catalog's")
	if err := pushCatalog(p.t.Context(), from, filepath.Join(root(p.t), "testdata", "bundles"), filepath.Join(root(p.t), "testdata", "catalogs", "demo"), catalog); err != nil {
		p.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(catalog, "*", "*.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.ReplaceAll(string(data), from, to)), 0o600)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.dir, "the ca's.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: outside.Certificate().Raw}), 0o600); err != nil {
		p.t.Fatal(err)
	}
	const trust = ` --ca-file 'the ca'\''s.pem'`
	return []string{
		`mongodb --catalog './our catalog'\''s' --version 1.10.0 --channel stable --platform linux/arm64 -n db` + trust,
		`mongodb documents --catalog './our catalog'\''s'` + trust,
		`oci://` + to + `/demo/mongodb:v1.10.0` + trust,
	}
}

// TestSlowPrintedCommands previews every package of the corpus without a cluster, and
// others by the ways that sources are named, and carries out each command that text,
// Markdown and page print, by a shell: an approving command plans the same content, and
// the others print the subject they name.
func TestSlowPrintedCommands(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "the commands printed for the corpus")
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	charts, _ := filepath.Glob(filepath.Join(corpustest.Dir(t, "charts"), "*", "*"))
	trees, _ := filepath.Glob(filepath.Join(corpustest.Dir(t, "kustomize"), "*", "default"))
	p := newPrinting(t, filepath.Join(t.TempDir(), "none"))
	const flags = ` --offline --cache-dir 'ca"che $1' --policy 'our policy'\''s.yaml'`
	const rendered = flags + ` --api-versions monitoring.coreos.com/v1`
	var lines []string
	for i, dir := range dirs {
		if slowtest.InSample(i, 12) {
			lines = append(lines, p.link("a package's "+filepath.Base(filepath.Dir(dir)), dir)+rendered+" --certs none")
		}
	}
	for i, dir := range charts {
		if slowtest.InSample(i, 4) {
			lines = append(lines, p.link("a chart's "+filepath.Base(filepath.Dir(dir)), dir)+" web -n 'web'"+rendered+` --kube-version 1.33.0 --set 'fullnameOverride=it'`)
		}
	}
	for i, dir := range trees {
		if slowtest.InSample(i, 4) {
			tree := filepath.Dir(dir)
			lines = append(lines, p.link("a tree's "+filepath.Base(tree), tree)+" tree --path default"+flags)
		}
	}
	for _, line := range p.fromRegistry() {
		lines = append(lines, line+flags+" --certs none")
	}
	tried, reviewed, executed := 0, 0, 0
	for i, line := range lines {
		if !slowtest.Turn(t, i) {
			continue
		}
		tried++
		if n := p.carryOut("kubectl operator preview " + line); n > 0 {
			reviewed, executed = reviewed+1, executed+n
		}
	}
	p.lacking()
	t.Logf("%d packages, %d commands", reviewed, executed)
	if reviewed <= tried/2 { // content that is refused has no commands
		t.Errorf("only %d packages of %d were reviewed", reviewed, tried)
	}
}

// TestClusterPrintedCommands installs packages of the corpus by the command that their
// review prints, and then carries out what the program says next, until they are gone.
// The usual run takes a small one.
func TestClusterPrintedCommands(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "the commands printed for the corpus")
	p := newPrinting(t, sandboxtest.New(t).Kubeconfig())
	for i, name := range []string{"limitador-operator", "argocd-operator", "grafana-operator", "external-dns-operator", "keycloak-operator", "mongodb-operator", "oadp-operator", "strimzi-kafka-operator", "rabbitmq-cluster-operator"} {
		dirs, _ := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), name, "*"))
		if len(dirs) == 0 || !slowtest.InSample(i, 9) {
			continue
		}
		first := "kubectl operator preview " + dirs[len(dirs)-1] + " --certs none --context kubectl-operator-sandbox --stage-timeout 1m"
		if name == "external-dns-operator" { // which supports two
			first += " --install-mode OwnNamespace"
		}
		want, ok := p.plan(first)
		if !ok {
			continue
		}
		for _, line := range commandsIn(p.forms(first)...) {
			approves := approvalWords.FindStringSubmatch(line)
			if approves == nil {
				continue
			}
			if approves[1] != want.Digest || !strings.Contains(line, "--context=kubectl-operator-sandbox") {
				t.Errorf("%s: %s, want the digest %s and the context", name, line, want.Digest)
			}
			got := p.sh(line + " --no-wait")
			if got.code != 0 {
				t.Errorf("%s: exit code %d\n%s%s", line, got.code, got.stdout, got.stderr)
			}
			p.after(got.stdout)
		}
	}
	p.generated()
	p.errors()
}

// generated carries out the two commands that apply a package whose certificates are part
// of the plan, so that no digest approves it: the first saves it, the second applies that.
func (p *printing) generated() {
	p.t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(corpustest.Dir(p.t, "bundles"), "aws-load-balancer-operator", "*"))
	if len(dirs) == 0 {
		p.t.Fatal("the corpus lacks a package with webhooks")
	}
	const context = "--context=kubectl-operator-sandbox"
	forms := p.forms("kubectl operator preview " + dirs[len(dirs)-1] + " -n made --certs generated --policy 'our policy'\\''s.yaml' --context kubectl-operator-sandbox")
	found := twoCommands.FindStringSubmatch(forms[0])
	if found == nil || strings.Count(found[0], context) != 2 || strings.Count(found[0], "--policy=") != 2 {
		p.t.Fatalf("%q in\n%s", found, forms[0])
	}
	for i, form := range forms {
		if text := html.UnescapeString(form); !strings.Contains(text, found[1]) || !strings.Contains(text, found[2]) {
			p.t.Errorf("form %d lacks\n%s", i, found[0])
		}
	}
	got := p.sh(found[0] + " --no-wait")
	if got.code != 0 {
		p.t.Fatalf("%s: exit code %d\n%s%s", found[0], got.code, got.stdout, got.stderr)
	}
	p.after(got.stdout)
}

// twoCommands are those that save a plan and apply its file.
var twoCommands = regexp.MustCompile(`(kubectl operator preview [^\n]* --out [^\n]*) &&\n +(kubectl operator install --plan [^\n]*)`)

// errors carries out the commands that errors and obstacles name.
func (p *printing) errors() {
	p.t.Helper()
	const context = " --context kubectl-operator-sandbox"
	missing := p.sh("kubectl operator status nosuch" + context)
	_, list, _ := strings.Cut(missing.stderr, "; see ")
	if got := p.sh(strings.TrimSpace(list)); got.code != 0 || !strings.HasPrefix(got.stdout, "NAME") || !strings.Contains(list, "--context=kubectl-operator-sandbox") {
		p.t.Errorf("%q: exit code %d\n%s%s", list, got.code, got.stdout, got.stderr)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "in the way"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	settings := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\n"
	if err := os.WriteFile(filepath.Join(p.dir, "in the way", "settings.yaml"), []byte(settings), 0o600); err != nil {
		p.t.Fatal(err)
	}
	if got := p.sh(sandboxtest.Kubectl(p.t) + " apply -f 'in the way'/settings.yaml"); got.code != 0 {
		p.t.Fatal(got.stderr)
	}
	blocked := p.forms("kubectl operator preview './in the way' settings -n default" + context)
	adopt := adoptCommand.FindString(blocked[0])
	if again := p.sh(strings.Replace(adopt, " operator install ", " operator preview ", 1)); adopt == "" || again.code != 0 || strings.Contains(again.stdout, "CANNOT BE APPLIED") {
		p.t.Errorf("%q: exit code %d\n%s%s", adopt, again.code, again.stdout, again.stderr)
	}
}

// adoptCommand is the command that takes over what is in the way, however its lines are
// wrapped.
var adoptCommand = regexp.MustCompile(`kubectl operator (?:install|preview) [^\n]*--adopt`)

// after carries out the commands that an install prints at its end.
func (p *printing) after(stdout string) {
	p.t.Helper()
	said := commandsIn(stdout)
	for _, verb := range []string{"status", "uninstall"} {
		at := slices.IndexFunc(said, func(line string) bool { return strings.HasPrefix(line, "kubectl operator "+verb+" ") })
		switch {
		case at < 0:
			p.t.Errorf("no %s in %q", verb, said)
		case verb == "status":
			if got := p.sh(said[at]); got.code != 0 && got.code != 3 || !strings.Contains(got.stdout, "revision 1 applied") {
				p.t.Errorf("%s: exit code %d\n%s%s", said[at], got.code, got.stdout, got.stderr)
			}
		default:
			if got := p.sh(said[at] + " --yes --no-wait"); got.code != 0 {
				p.t.Errorf("%s: exit code %d\n%s", said[at], got.code, got.stderr)
			}
		}
	}
}
