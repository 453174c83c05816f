package cli_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/cli"
	_ "github.com/kubectl-operator/kubectl-operator/cmd/internal/headroom" // as the program has it
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/shutdown"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// The scripts of testdata/script drive the real Main. testscript runs this
// test binary under the program's name.
func TestMain(m *testing.M) {
	planning.RunFormatChild()
	testscript.Main(manyAtATime{m}, map[string]func(){
		"kubectl-operator": func() {
			shutdown.AbortWhenBroken()
			ctx, stop := shutdown.Signals(context.Background())
			defer stop()
			code := cli.MainBreaking(ctx, os.Args[1:], cli.Options{
				Version: "v0.0.0-test", Getenv: os.Getenv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
			}, os.Getenv(breakAt))
			reportPeak()
			os.Exit(code)
		},
		"kubectl-operator-breaks": breaks,
	})
}

// atATime is the number of parallel tests of this package: they wait
// for screens, rollouts and locks of dead processes more than they compute. Most of them have a control plane of 0.9 GB.
const atATime = 4

type manyAtATime struct{ *testing.M }

// Run is not reached by the programs that are this binary under another name:
// their arguments are not ours to read.
func (m manyAtATime) Run() int { return sandboxtest.Run(m.M, atATime) }

// Scripts that contact no cluster. With -short one that plans and one of the quickest.
func TestSlowOfflineScripts(t *testing.T) {
	t.Parallel()
	params := testscript.Params{Setup: setup(t), Cmds: commands(t), Condition: conditions(t)}
	if slowtest.Short(t) {
		for _, name := range []string{"preview", "schema"} {
			params.Files = append(params.Files, filepath.Join(scripts(t, "offline"), name+".txtar"))
		}
	} else {
		params.Files = scriptsOfTheTurn(t, "offline")
	}
	testscript.Run(t, params)
}

// Scripts that read from gs:// as well, of fake-gcs-server: that is built between
// the short tests and the others.
func TestSlowBucketScripts(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests against fake-gcs-server")
	if _, err := os.Stat(gcsServer(t)); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no fake-gcs-server: %v; run \"make gcs\"", err)
		}
		t.Skip("skipped: fake-gcs-server is not built; run \"make gcs\"")
	}
	testscript.Run(t, testscript.Params{
		Dir: scripts(t, "gcs"), Setup: setup(t), Cmds: commands(t), Condition: conditions(t),
	})
}

// Scripts that keep to namespaces and their own names share a control plane. Those that
// read its audit log or look at all of it have one for themselves, see below.
func TestClusterSharedScripts(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Borrow(t) // other tests leave records that cannot be read
	testscript.Run(t, testscript.Params{
		Files: scriptsOfTheTurn(t, "shared"), Cmds: commands(t), Condition: conditions(t),
		Setup: func(env *testscript.Env) error { return setupOn(t, env, box) },
	})
}

// Scripts against the embedded control plane, which each has for itself while it runs.
func TestClusterScripts(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests against the embedded control plane")
	sandboxtest.Binary(t) // skips or fails visibly
	testscript.Run(t, testscript.Params{
		Files: scriptsOfTheTurn(t, "cluster"), Setup: setupCluster(t), Cmds: commands(t), Condition: conditions(t),
	})
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func scripts(t testing.TB, name string) string {
	return filepath.Join(root(t), "testdata", "script", name)
}

// scriptsOfTheTurn returns the scripts of a folder whose turn it is.
func scriptsOfTheTurn(t testing.TB, name string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(scripts(t, name), "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts in %s: %v", name, err)
	}
	// Scripts with a fault of the sandbox come first: a rollout is given up only after half a
	// minute, and the others run meanwhile.
	var faulty, others []string
	for i, file := range all {
		if !slowtest.Turn(t, i) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("sandbox-fault")) {
			faulty = append(faulty, file)
		} else {
			others = append(others, file)
		}
	}
	return append(faulty, others...)
}

// conditions adds [corpus]: the real bundles are there; and [runner]: the programs that
// runners of pipelines have.
func conditions(t testing.TB) func(string) (bool, error) {
	return func(name string) (bool, error) {
		switch name {
		case "corpus":
			return corpusDir(t) != "", nil
		case "runner": // what the runners of pipelines have, and the scripts of the actions take
			for _, program := range []string{"bash", "curl", "jq"} {
				if _, err := exec.LookPath(program); err != nil {
					return false, nil
				}
			}
			return true, nil
		}
		return false, fmt.Errorf("unknown condition %q", name)
	}
}

// gcsServer is the program fake-gcs-server.
func gcsServer(t testing.TB) string {
	if name := os.Getenv("FAKE_GCS_SERVER"); name != "" {
		return name
	}
	return filepath.Join(root(t), "bin", "fake-gcs-server")
}

// corpusDir is the folder of real bundles, empty when it is missing.
func corpusDir(t testing.TB) string {
	dir := os.Getenv("CORPUS")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the corpus is missing: %v", err)
		}
		return ""
	}
	return dir
}

func setup(t testing.TB) func(*testscript.Env) error {
	return func(env *testscript.Env) error {
		home := filepath.Join(env.WorkDir, "home")
		env.Setenv("HOME", home)
		env.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
		env.Setenv("KUBECONFIG", filepath.Join(home, "no-kubeconfig"))
		env.Setenv("BUNDLES", filepath.Join(root(t), "testdata", "bundles"))
		env.Setenv("CATALOG", filepath.Join(root(t), "testdata", "catalogs", "demo"))
		env.Setenv("EXAMPLES", filepath.Join(root(t), "testdata", "examples"))
		env.Setenv("CORPUS", corpusDir(t))
		env.Setenv("RULESET", strconv.Itoa(preview.Ruleset))
		env.Setenv("FAKE_GCS_SERVER", gcsServer(t))
		env.Setenv("CI", "")
		env.Setenv("GOGC", os.Getenv("GOGC")) // of the programs that a script runs
		env.Setenv("ACTIONS", filepath.Join(root(t), ".github", "actions"))
		env.Values[registryKey{}] = new(scriptRegistry)
		env.Values[commentsKey{}] = new(commentHolder)
		env.Setenv("ESC", "\x1b[2J\u202e") // clears the screen, then turns the text around
		return os.MkdirAll(home, 0o700)
	}
}

type sandboxKey struct{}

func setupCluster(t testing.TB) func(*testscript.Env) error {
	return func(env *testscript.Env) error {
		box, err := sandboxtest.Lend(context.Background(), env.Defer)
		if err != nil {
			return err
		}
		return setupOn(t, env, box)
	}
}

// setupOn prepares a script that runs against a control plane.
func setupOn(t testing.TB, env *testscript.Env, box *sandbox.Sandbox) error {
	t.Helper()
	if err := setup(t)(env); err != nil {
		return err
	}
	env.Values[sandboxKey{}] = box
	env.Setenv("KUBECONFIG", box.Kubeconfig())
	env.Setenv("KUBECTL", sandboxtest.Kubectl(t))
	return nil
}

func commands(t testing.TB) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":      exitsCommand,
		"registry":   registryCommand,
		"web":        webCommand,
		"objects":    objectsCommand,
		"expand":     expandCommand,
		"same":       sameCommand,
		"layout":     layoutCommand,
		"spoil":      spoilCommand,
		"pushlayer":  pushLayerCommand,
		"push":       pushCommand,
		"imageindex": imageIndexCommand,
		"catalog":    catalogCommand,
		"publish":    publishCommand,
		"kubectl":    programCommand(t, sandboxtest.Kubectl),
		"helm":       programCommand(t, func(t testing.TB) string { return filepath.Join(root(t), "bin", "helm") }),
		"agecert":    ageCertCommand(t),
		"trusted":    trustedCommand(t),

		"pushcatalog": pushCatalogCommand,
		"catalogd":    catalogdCommand,
		"user":        userCommand,

		"stopregistry":  stopRegistryCommand,
		"loginregistry": loginRegistryCommand,
		"secondcluster": secondClusterCommand(t),
		"mutations":     mutationsCommand,
		"sentonly":      sentOnlyCommand,
		"lessone":       lessOneCommand(t),
		"lessread":      lessReadCommand(t),
		"capture":       captureCommand,
		"replace":       replaceCommand,
		"printable":     printableCommand,
		"fill":          fillCommand,
		"planschema":    planSchemaCommand(t),

		"agekey":     ageKeyCommand,
		"eventually": eventuallyCommand,
		"append":     appendCommand,
		"truncate":   truncateCommand,
		"editplan":   editPlanCommand,
		"login":      loginCommand,
		"planref":    planRefCommand,
		"signkey":    signKeyCommand,
		"needs":      needsCommand,
		"approvers":  approversCommand,
		"artifact":   artifactCommand,
		"stage":      stageCommand,
		"args":       argsCommand,
		"action":     actionCommand,
		"component":  componentCommand,
		"commentapi": commentAPICommand,
		"comments":   commentsCommand,
		"olm":        olmCommand(t),
		"unpacked":   unpackedCommand(t),
	}
}

// exits CODE COMMAND... runs a command and asserts its exit code.
func exitsCommand(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// tampering changes the last byte of each blob on its way out.
func tampering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") {
			next.ServeHTTP(w, r)
			return
		}
		recorder := httptest.NewRecorder()
		next.ServeHTTP(recorder, r)
		body := recorder.Body.Bytes()
		if len(body) > 0 {
			body[len(body)-1] ^= 1
		}
		for key, values := range recorder.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(body)
	})
}

// pushlayer NAME:TAG KIND pushes an image whose one layer is malicious.
func pushLayerCommand(ts *testscript.TestScript, _ bool, args []string) {
	header := tar.Header{Typeflag: tar.TypeReg, Name: "manifests/x.yaml", Mode: 0o644}
	var content []byte
	switch args[1] {
	case "parent":
		header.Name = "../../x.yaml"
	case "absolute":
		header.Name = "/etc/x.yaml"
	case "symlink":
		header.Typeflag, header.Linkname = tar.TypeSymlink, "/etc/passwd"
	case "device":
		header.Typeflag = tar.TypeChar
	case "bomb":
		content = make([]byte, 512<<20)
	case "huge":
		content = make([]byte, 48<<20)
		for i := range content { // does not compress, so that the size cap decides and not the ratio
			content[i] = byte(i * i >> 7)
		}
	default:
		ts.Fatalf("no layer of kind %s", args[1])
	}
	header.Size = int64(len(content))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	ts.Check(w.WriteHeader(&header))
	_, err := w.Write(content)
	ts.Check(errors.Join(err, w.Close()))
	_, err = source.PushLayers(context.Background(), ts.Getenv("REGISTRY")+"/"+args[0], nil, source.Options{PlainHTTP: true}, b.Bytes())
	ts.Check(err)
}

// push NAME:TAG DIR pushes a bundle directory and sets DIGEST.
func pushCommand(ts *testscript.TestScript, _ bool, args []string) {
	digest, err := source.PushDir(context.Background(), ts.Getenv("REGISTRY")+"/"+args[0], os.DirFS(ts.MkAbs(args[1])), nil, source.Options{PlainHTTP: true})
	ts.Check(err)
	ts.Setenv("DIGEST", digest)
}

// catalog DIR copies the demo catalog into DIR and pushes its bundles, so that
// the catalog names them in the script's registry.
func catalogCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(pushCatalog(context.Background(), ts.Getenv("REGISTRY"), ts.Getenv("BUNDLES"), ts.Getenv("CATALOG"), ts.MkAbs(args[0])))
}

func pushCatalog(ctx context.Context, registry, bundles, catalog, to string) error {
	found, err := filepath.Glob(filepath.Join(bundles, "*", "*"))
	if err != nil {
		return err
	}
	var pairs []string
	for _, dir := range found {
		name, version := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		repository := registry + "/demo/" + name
		digest, err := source.PushDir(ctx, repository+":v"+version, os.DirFS(dir), nil, source.Options{PlainHTTP: true})
		if err != nil {
			return err
		}
		pairs = append(pairs, "localhost/demo/"+name+":v"+version, repository+"@"+digest)
	}
	if err := os.CopyFS(to, os.DirFS(catalog)); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(to, "*", "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(strings.NewReplacer(pairs...).Replace(string(data))), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// kubectl runs the kubectl that is built together with the control plane.
func programCommand(t testing.TB, path func(testing.TB) string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		program := path(t)
		err := ts.Exec(program, args...)
		if (err != nil) != neg {
			ts.Fatalf("%s %v: %v", filepath.Base(program), args, err)
		}
	}
}

// secondcluster takes another control plane and sets SECOND_KUBECONFIG.
func secondClusterCommand(t testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		sandboxtest.Binary(t) // skips or fails visibly
		box, err := sandboxtest.Lend(context.Background(), ts.Defer)
		ts.Check(err)
		ts.Setenv("SECOND_KUBECONFIG", box.Kubeconfig())
	}
}

// user NAME [GROUP...] makes another user and sets NAME_KUBECONFIG to its kubeconfig.
func userCommand(ts *testscript.TestScript, _ bool, args []string) {
	box := ts.Value(sandboxKey{}).(*sandbox.Sandbox)
	kubeconfig, err := box.User(args[0], args[1:]...)
	ts.Check(err)
	ts.Setenv(args[0]+"_KUBECONFIG", kubeconfig)
}

// mutations USER N asserts how many requests of a user were persisted so far.
// "+" instead of N remembers the count, "same" compares with it.
func mutationsCommand(ts *testscript.TestScript, _ bool, args []string) {
	box := ts.Value(sandboxKey{}).(*sandbox.Sandbox)
	events, err := box.Mutations(args[0])
	ts.Check(err)
	n, last := len(events), ""
	if n > 0 {
		last = events[n-1].Verb + " " + events[n-1].RequestURI
	}
	want := args[1]
	switch want {
	case "+":
		ts.Setenv("MUTATIONS_"+args[0], strconv.Itoa(n))
		return
	case "same":
		want = ts.Getenv("MUTATIONS_" + args[0])
	}
	if strconv.Itoa(n) != want {
		ts.Fatalf("%s made %d persisted mutations, want %s; the last: %s", args[0], n, want, last)
	}
}

// capture VAR PREFIX sets a variable to the rest of the line of stdout that
// begins with PREFIX.
func captureCommand(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile("stdout")
	_, rest, found := strings.Cut("\n"+text, "\n"+args[1])
	if !found {
		ts.Fatalf("no line of stdout begins with %q", args[1])
	}
	value, _, _ := strings.Cut(rest, "\n")
	ts.Setenv(args[0], strings.Trim(value, ` ",`))
}

// replace FILE OLD NEW edits a file.
func replaceCommand(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(data), args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(data), args[1], args[2])), 0o600))
}
