package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli/help"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// forgedAtOnce is the number of forgeries played at a time.
const forgedAtOnce = 4

// TestClusterForgeriesByATenant has a tenant, with every right but RBAC in the namespace
// of an administrator's release, forge what the release remembers; then the
// administrator runs a command. Whatever was forged, --yes alone does no more than
// its review says, an approval of the review neither, the review says what is not
// verified, and nothing outside of the namespace is the tenant's.
func TestClusterForgeriesByATenant(t *testing.T) {
	t.Parallel()
	box, schemas := sandboxtest.Start(t), k8s.NewSchemas()
	var all []*forged
	var group errgroup.Group
	group.SetLimit(forgedAtOnce)
	for i, row := range forgeries() {
		if !slowtest.Turn(t, i) {
			continue
		}
		f := newForged(t, box, schemas, fmt.Sprintf("forged-%d", i+1), row)
		all = append(all, f)
		group.Go(func() error { f.play(); return nil })
	}
	_ = group.Wait() // each has its own findings
	for i, f := range all {
		t.Logf("%2d %s: %s", i+1, f.row.name, strings.Join(f.story, "; "))
		for _, finding := range f.findings {
			t.Errorf("%d, a tenant %s: %s", i+1, f.row.name, finding)
		}
	}
}

// forged is one release, its administrator, and its tenant.
type forged struct {
	*victim
	row    forgery
	tenant *sandboxtest.RawClient
	admin  *sandboxtest.RawClient
	other  string // a namespace that is not the tenant's
	shadow map[string]map[string]any
	story  []string
}

func newForged(t *testing.T, box *sandbox.Sandbox, schemas *k8s.Schemas, name string, row forgery) *forged {
	t.Helper()
	f := &forged{victim: emptyVictim(t, box, schemas, name), row: row}
	f.other = f.name + "-other"
	f.tenant = sandboxtest.NewRawClient(t, sandboxtest.User(t, box, f.name+"-tenant"))
	f.admin = sandboxtest.NewRawClient(t, box.Kubeconfig())
	return f
}

// The packages of a release. evil is what the tenant wants the administrator to
// apply.
var forgedPackages = map[string]string{
	"one":   settingsOf("one"),
	"two":   settingsOf("two"),
	"three": settingsOf("three"),
	"evil": settingsOf("two") + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME-pwn}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NAME-tenant}]
`,
}

func settingsOf(version string) string {
	return strings.ReplaceAll(`apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: VERSION}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-VERSION}
data: {mode: VERSION}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: op}
`, "VERSION", version)
}

func (f *forged) fill(words ...string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = strings.NewReplacer("DIR", f.dir, "NAME", f.name).Replace(word)
	}
	return out
}

// mustDo sends a request that has to succeed.
func (f *forged) mustDo(as *sandboxtest.RawClient, method, path string, body any) map[string]any {
	status, answer, err := as.Do(f.t.Context(), method, path, "", body)
	if err != nil || status >= 300 {
		f.find("%s %s: %d %v %v", method, path, status, answer["message"], err)
	}
	return answer
}

// prepare makes the namespaces, the tenant's rights, and revisions 1 and 2.
func (f *forged) prepare() {
	for version, text := range forgedPackages {
		dir := filepath.Join(f.dir, version)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(f.fill(text)[0]), 0o600)); err != nil {
			f.find("%v", err)
		}
	}
	for _, name := range []string{f.name, f.other} {
		f.mustDo(f.admin, http.MethodPost, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": name}})
	}
	f.mustDo(f.admin, http.MethodPost, "/api/v1/namespaces/"+f.other+"/configmaps", map[string]any{"metadata": map[string]any{"name": "precious"}})
	rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + f.name
	all := []string{"*"}
	f.mustDo(f.admin, http.MethodPost, rbac+"/roles", map[string]any{
		"metadata": map[string]any{"name": "tenant"},
		"rules": []map[string]any{{
			"apiGroups": []string{"", "apps", "batch", "coordination.k8s.io", "networking.k8s.io", "policy", "autoscaling", "discovery.k8s.io", "events.k8s.io"},
			"resources": all, "verbs": all,
		}},
	})
	f.mustDo(f.admin, http.MethodPost, rbac+"/rolebindings", map[string]any{
		"metadata": map[string]any{"name": "tenant"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
		"subjects": []map[string]any{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": f.name + "-tenant"}},
	})
	if f.row.shadow {
		f.makeShadow()
	}
	f.must("install", "DIR/one", "NAME", "--yes")
	f.must("upgrade", "NAME", "DIR/two", "--yes")
}

// must runs a command of the administrator that has to succeed, before anything
// is forged.
func (f *forged) must(words ...string) string {
	code, said := f.run(f.program(f.box.Kubeconfig(), append(f.fill(words...), "-n", f.name)...))
	if code != 0 {
		f.find("%s: exit %d\n%s", strings.Join(words, " "), code, said)
	}
	return said
}

// makeShadow keeps the Secrets of a release with the evil package: the tenant would make
// the same in their own cluster, under the same name.
func (f *forged) makeShadow() {
	said := f.must("preview", "DIR/evil", "NAME", "-o", "json")
	var plan struct{ Digest string }
	if err := json.Unmarshal([]byte(said), &plan); err != nil {
		f.find("the shadow's preview: %v", err)
	}
	f.must("install", "DIR/evil", "NAME", "--yes", "--approve", plan.Digest, "--ruleset", strconv.Itoa(preview.Ruleset))
	f.shadow = map[string]map[string]any{}
	for _, name := range []string{f.recordName(), f.recordName() + ".v1.1"} {
		f.shadow[name] = f.secret(name)
	}
	f.must("uninstall", "NAME", "--yes")
	list := f.mustDo(f.admin, http.MethodGet, f.secrets(""), nil)
	for _, item := range preview.Maps(list, "items") {
		if name := preview.String(item, "metadata", "name"); strings.HasPrefix(name, "kubectl-operator.") {
			f.mustDo(f.admin, http.MethodDelete, f.secrets("/"+name), nil)
		}
	}
}

func (f *forged) recordName() string { return preview.RecordName(f.name) }
func (f *forged) secrets(rest string) string {
	return "/api/v1/namespaces/" + f.name + "/secrets" + rest
}

// secret reads one with the tenant's token.
func (f *forged) secret(name string) map[string]any {
	return f.mustDo(f.tenant, http.MethodGet, f.secrets("/"+name), nil)
}

// put writes a Secret with the tenant's token, over the one of its name.
func (f *forged) put(secret map[string]any) {
	meta := preview.Map(secret, "metadata")
	name := preview.String(secret, "metadata", "name")
	for _, key := range []string{"resourceVersion", "uid", "managedFields", "creationTimestamp"} {
		delete(meta, key)
	}
	status, _, err := f.tenant.Do(f.t.Context(), http.MethodGet, f.secrets("/"+name), "", nil)
	switch {
	case err != nil:
		f.find("%v", err)
	case status == http.StatusNotFound:
		f.mustDo(f.tenant, http.MethodPost, f.secrets(""), secret)
	default:
		f.mustDo(f.tenant, http.MethodPut, f.secrets("/"+name), secret)
	}
}

// edit changes the record in a Secret, and writes it with the tenant's token.
func (f *forged) edit(name string, change func(record map[string]any)) {
	secret := f.secret(name)
	f.change(secret, change)
	f.put(secret)
}

func (f *forged) change(secret map[string]any, change func(record map[string]any)) {
	packed, err := base64.StdEncoding.DecodeString(preview.String(secret, "data", "record"))
	if err != nil {
		f.find("the record: %v", err)
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		f.find("the record: %v", err)
		return
	}
	record := map[string]any{}
	data, err := io.ReadAll(unpacked)
	if err := errors.Join(err, json.Unmarshal(data, &record)); err != nil {
		f.find("the record: %v", err)
	}
	change(record)
	if data, err = json.Marshal(record); err != nil {
		f.find("the record: %v", err)
	}
	preview.Map(secret, "data")["record"] = base64.StdEncoding.EncodeToString(compressed(data))
}

func compressed(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data) // to memory
	_ = w.Close()
	return b.Bytes()
}

// reviewed holds the writes that a review announces.
type reviewed struct {
	Digest   string
	Objects  []struct{ ID, Action string }
	Undo     struct{ Objects []struct{ ID, Action string } }
	Findings []struct{ Rule string }

	code int
	text string
}

// allows reports whether the review says that an object is written.
func (r *reviewed) allows(id string) bool {
	for _, o := range slices.Concat(r.Objects, r.Undo.Objects) {
		if o.ID == id && !slices.Contains([]string{"keep", "unchanged", "skip", "shared", "blocked"}, o.Action) {
			return true
		}
	}
	return false
}

// look is the review of a command.
func (f *forged) look(command []string) *reviewed {
	words := append(slices.Clone(command), "--preview", "-o", "json")
	if command[0] == "install" {
		words = append([]string{"preview", "-o", "json"}, command[1:]...)
	}
	words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "--receipt=") })
	var out, problem bytes.Buffer
	cmd := f.program(f.kubeconfig(), append(f.fill(words...), "-n", f.name)...)
	cmd.Stdout, cmd.Stderr = &out, &problem
	_ = cmd.Run() // the exit code is looked at
	r := &reviewed{code: cmd.ProcessState.ExitCode(), text: out.String() + problem.String()}
	if r.code == 0 {
		if err := json.Unmarshal(out.Bytes(), r); err != nil {
			f.find("the review: %v", err)
		}
	}
	return r
}

// play prepares, forges, and runs the command: reviewed, with --yes alone, and as
// the review approves it.
func (f *forged) play() {
	f.prepare()
	if len(f.findings) > 0 {
		return
	}
	f.row.forge(f)
	for _, command := range f.row.commands {
		before := f.written()
		review := f.look(command)
		if more := f.more(before, func(string) bool { return false }); len(more) > 0 {
			f.find("the review of %v wrote %v", command, more)
		}
		code, said := f.runAs(command, "--yes")
		f.judge(command, before, review, code)
		f.untouched(command)
		output := review.text + said
		if code == 5 && review.code == 0 {
			before = f.written()
			again, text := f.runAs(command, "--yes", "--approve", review.Digest, "--ruleset", strconv.Itoa(preview.Ruleset))
			f.judge(command, before, review, again)
			output += text
			f.story = append(f.story, fmt.Sprintf("approved: exit %d", again))
		}
		f.story = append(f.story, fmt.Sprintf("%s --yes: exit %d", command[0], code))
		if !regexp.MustCompile(f.row.says).MatchString(output) {
			f.find("%v says nowhere %q; exit %d\n%s", command, f.row.says, code, said)
		}
	}
}

func (f *forged) runAs(command []string, flags ...string) (code int, said string) {
	return f.run(f.program(f.kubeconfig(), append(f.fill(append(slices.Clone(command), flags...)...), "-n", f.name)...))
}

// more lists the writes since that a review does not allow.
func (f *forged) more(before map[string]int, allows func(id string) bool) []string {
	var out []string
	for id, n := range f.written() {
		if n > before[id] && !allows(id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// judge holds what a command wrote against its review.
func (f *forged) judge(command []string, before map[string]int, review *reviewed, code int) {
	allows := review.allows
	switch code {
	case 0, 3, 4:
	case 1, 5:
		allows = func(string) bool { return false }
	default:
		f.find("%v: exit %d", command, code)
	}
	if more := f.more(before, allows); len(more) > 0 {
		f.find("%v ended with %d and wrote %v, which its review does not say", command, code, more)
	}
}

// untouched holds what --yes alone may never do for a tenant.
func (f *forged) untouched(command []string) {
	for path, want := range map[string]int{
		"/api/v1/namespaces/kube-system/secrets":                                    http.StatusForbidden,
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/" + f.name + "-pwn": http.StatusForbidden,
	} {
		if status, _, err := f.tenant.Do(f.t.Context(), http.MethodGet, path, "", nil); err != nil || status != want {
			f.find("after %v the tenant's GET %s is answered with %d %v", command, path, status, err)
		}
	}
	precious := f.mustDo(f.admin, http.MethodGet, "/api/v1/namespaces/"+f.other+"/configmaps/precious", nil)
	other := f.mustDo(f.admin, http.MethodGet, "/api/v1/namespaces/"+f.other, nil)
	for _, body := range []map[string]any{precious, other} {
		if preview.String(body, "metadata", "deletionTimestamp") != "" {
			f.find("after %v %s is being deleted", command, preview.RefOf(body).ID())
		}
	}
}

// TestThreatModel holds the persons of the manual's threat model against the
// scripts that play them: none of either is missing.
func TestThreatModel(t *testing.T) {
	topic, _ := help.Find("security")
	var listed, played []string
	for _, match := range regexp.MustCompile("(?m)^\\| `(threat-[a-z]+)`").FindAllStringSubmatch(topic.Text, -1) {
		listed = append(listed, match[1])
	}
	scripts, err := filepath.Glob(filepath.Join(root(t), "testdata/script/cluster/threat-*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		played = append(played, strings.TrimSuffix(filepath.Base(path), ".txtar"))
	}
	slices.Sort(listed)
	if len(listed) == 0 || !slices.Equal(listed, played) {
		t.Errorf("the topic security has the rows %v, and the scripts play %v", listed, played)
	}
}
