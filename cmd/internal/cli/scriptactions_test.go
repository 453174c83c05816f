package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// A compositeAction is what an action.yml of .github/actions says.
type compositeAction struct {
	Name, Description string
	Inputs            map[string]struct {
		Description string
		Default     string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	ID, Name, If, Shell, Run, Uses string
	Env, With                      map[string]string
}

func readAction(dir string) (compositeAction, error) {
	var action compositeAction
	data, err := os.ReadFile(filepath.Join(dir, "action.yml"))
	if err == nil {
		err = yaml.UnmarshalStrict(data, &action)
	}
	return action, err
}

var actionExpression = regexp.MustCompile(`\$\{\{ *([a-zA-Z0-9._-]+) *\}\}`)

// Outside input reaches a script by the environment: as a part of its text it would be
// run. Every input is read, and every step has an interpreter.
func TestActionsRunNoInput(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(root(t), ".github", "actions", "*"))
	if err != nil || len(dirs) < 2 {
		t.Fatalf("%v, %v", dirs, err)
	}
	for _, dir := range dirs {
		action, err := readAction(dir)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		used := ""
		for _, step := range action.Runs.Steps {
			if strings.Contains(step.Run, "${{") || (step.Run != "") != (step.Shell == "bash") {
				t.Errorf("%s: step %q runs an expression, or has no interpreter", dir, step.Name)
			}
			used += step.If + fmt.Sprint(step.Env, step.With)
		}
		for name, input := range action.Inputs {
			if !strings.Contains(used, "inputs."+name) || input.Description == "" {
				t.Errorf("%s: input %s is not used, or not described", dir, name)
			}
		}
	}
}

// action DIR [INPUT=VALUE...] runs a composite action as a runner does: bash, and of the
// environment only what the runner sets; no home, locale or terminal. Then out_NAME are its
// outputs (with _ for -), summary.md is the summary of the job, and uses.txt lists the steps
// that are other actions. PULL is the number of the pull request.
func actionCommand(ts *testscript.TestScript, neg bool, args []string) {
	action, err := readAction(ts.MkAbs(args[0]))
	ts.Check(err)
	r := &actionRunner{ts: ts, dir: ts.MkAbs(args[0]), values: map[string]string{
		"github.token": "ghs_secret", "github.event.pull_request.number": ts.Getenv("PULL"),
	}}
	for name, input := range action.Inputs {
		r.values["inputs."+name] = r.expand(input.Default)
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		if _, ok := action.Inputs[name]; !ok {
			ts.Fatalf("no input is called %s", name)
		}
		r.values["inputs."+name] = strings.ReplaceAll(value, `\n`, "\n")
	}
	ts.Check(os.MkdirAll(ts.MkAbs("runner"), 0o700))
	err = r.run(action.Runs.Steps)
	for name, output := range action.Outputs {
		ts.Setenv("out_"+strings.ReplaceAll(name, "-", "_"), r.expand(output.Value))
	}
	ts.Check(os.WriteFile(ts.MkAbs("uses.txt"), []byte(r.uses.String()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("log.txt"), []byte(r.log.String()), 0o600))
	if (err != nil) != neg {
		ts.Fatalf("the action: %v\n%s", err, r.log.String())
	}
}

// actionRunner runs the steps of one action.
type actionRunner struct {
	ts        *testscript.TestScript
	dir       string
	values    map[string]string // of expressions
	uses, log strings.Builder
}

// expand replaces expressions by their values; an unknown one is empty, as in GitHub Actions.
func (r *actionRunner) expand(text string) string {
	return actionExpression.ReplaceAllStringFunc(text, func(found string) string {
		return r.values[actionExpression.FindStringSubmatch(found)[1]]
	})
}

func (r *actionRunner) run(steps []actionStep) error {
	for _, step := range steps {
		if step.If != "" {
			name, want, _ := strings.Cut(step.If, " == ")
			if r.values[name] != strings.Trim(want, "'") {
				continue
			}
		}
		if step.Uses != "" {
			fmt.Fprintf(&r.uses, "%s\n", step.Uses)
			for _, name := range slices.Sorted(maps.Keys(step.With)) {
				fmt.Fprintf(&r.uses, "%s=%s\n", name, r.expand(step.With[name]))
			}
			continue
		}
		if err := r.script(step); err != nil {
			return fmt.Errorf("step %s: %w", step.Name, err)
		}
	}
	return nil
}

func (r *actionRunner) script(step actionStep) error {
	ts := r.ts
	output := ts.MkAbs("runner/output")
	ts.Check(os.WriteFile(output, nil, 0o600))
	c := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
	c.Dir = ts.MkAbs(".")
	c.Env = []string{
		"PATH=" + ts.Getenv("PATH"), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH=" + r.dir, "GITHUB_OUTPUT=" + output,
		"GITHUB_STEP_SUMMARY=" + ts.MkAbs("summary.md"), "GITHUB_PATH=" + ts.MkAbs("path.txt"), "GITHUB_API_URL=" + ts.Getenv("API"),
		"GITHUB_REPOSITORY=team/cluster", "RUNNER_TEMP=" + ts.MkAbs("runner"), "RUNNER_OS=Linux", "KUBECONFIG=" + ts.Getenv("KUBECONFIG"),
	}
	for name, value := range step.Env {
		c.Env = append(c.Env, name+"="+r.expand(value))
	}
	c.Stdout, c.Stderr = &r.log, &r.log
	err := c.Run()
	data, readErr := os.ReadFile(output)
	ts.Check(readErr)
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			ts.Fatalf("step %s has the output %q", step.Name, line)
		}
		r.values["steps."+step.ID+".outputs."+name] = value
	}
	return err
}

// commentAPI speaks the part of the APIs of GitHub and GitLab that comments take.
type commentAPI struct {
	mu       sync.Mutex
	comments []apiComment
	denied   bool // the token may read alone
	writes   int
}

type apiComment struct {
	ID     int    `json:"id"`
	Body   string `json:"body"`
	System bool   `json:"system"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"`
	Author struct {
		Username string `json:"username"`
	} `json:"author"`
}

func (c *commentAPI) add(author, body string) apiComment {
	comment := apiComment{ID: 1000 + len(c.comments), Body: body}
	comment.User.Login, comment.Author.Username = author, author
	c.comments = append(c.comments, comment)
	return comment
}

func (c *commentAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /repos/team/cluster/issues/7/comments", c.list)
	mux.HandleFunc("POST /repos/team/cluster/issues/7/comments", c.create)
	mux.HandleFunc("PATCH /repos/team/cluster/issues/comments/{id}", c.update)
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"username":"github-actions[bot]"}`) })
	mux.HandleFunc("GET /projects/31/merge_requests/7/notes", c.list)
	mux.HandleFunc("POST /projects/31/merge_requests/7/notes", c.create)
	mux.HandleFunc("PUT /projects/31/merge_requests/7/notes/{id}", c.update)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer ghs_secret" && r.Header.Get("PRIVATE-TOKEN") != "ghs_secret":
			w.WriteHeader(http.StatusUnauthorized)
		case c.denied && r.Method != http.MethodGet:
			w.WriteHeader(http.StatusForbidden)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

func (c *commentAPI) list(w http.ResponseWriter, r *http.Request) {
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	if size < 1 || size > 100 || page < 1 {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	from := min((page-1)*size, len(c.comments))
	_ = json.NewEncoder(w).Encode(append([]apiComment{}, c.comments[from:min(from+size, len(c.comments))]...))
}

// maxComment is how many characters a comment of GitHub may have.
const maxComment = 65536

func (c *commentAPI) create(w http.ResponseWriter, r *http.Request) {
	var given struct{ Body string }
	if json.NewDecoder(r.Body).Decode(&given) != nil || given.Body == "" || len(given.Body) > maxComment {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	c.writes++
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(c.add("github-actions[bot]", given.Body))
}

func (c *commentAPI) update(w http.ResponseWriter, r *http.Request) {
	var given struct{ Body string }
	id, _ := strconv.Atoi(r.PathValue("id"))
	i := slices.IndexFunc(c.comments, func(one apiComment) bool { return one.ID == id })
	if i < 0 || json.NewDecoder(r.Body).Decode(&given) != nil || given.Body == "" || len(given.Body) > maxComment {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	c.writes++
	c.comments[i].Body = given.Body
	_ = json.NewEncoder(w).Encode(c.comments[i])
}

type commentsKey struct{}

// commentapi N starts the API with N comments of others, and sets API to its URL.
// "commentapi deny" forbids writes from then on.
func commentAPICommand(ts *testscript.TestScript, _ bool, args []string) {
	if args[0] == "deny" {
		api := ts.Value(commentsKey{}).(*commentHolder).api
		api.mu.Lock()
		api.denied = true
		api.mu.Unlock()
		return
	}
	api := &commentAPI{}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for i := range n {
		api.add("alice", fmt.Sprintf("<!-- kubectl-operator preview --> comment %d that looks like ours", i))
	}
	server := httptest.NewServer(api.handler())
	ts.Defer(server.Close)
	ts.Value(commentsKey{}).(*commentHolder).api = api
	ts.Setenv("API", server.URL)
}

type commentHolder struct{ api *commentAPI }

// comments COUNT WRITES FILE asserts how many comments there are and how often one was
// written, and writes the newest to a file.
func commentsCommand(ts *testscript.TestScript, _ bool, args []string) {
	api := ts.Value(commentsKey{}).(*commentHolder).api
	api.mu.Lock()
	defer api.mu.Unlock()
	if got := fmt.Sprint(len(api.comments), " ", api.writes); got != args[0]+" "+args[1] {
		ts.Fatalf("%s comments and writes, want %s %s", got, args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(api.comments[len(api.comments)-1].Body), 0o600))
}

var componentInput = regexp.MustCompile(`\$\[\[ inputs\.([a-z-]+) \]\]`)

// component FILE [INPUT=VALUE...] runs the script of a component of GitLab as a runner
// does: sh, and of the environment only what GitLab and the job set. A variable that is
// not expanded is checked to say so.
func componentCommand(ts *testscript.TestScript, neg bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	head, body, ok := strings.Cut(string(data), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]struct{ Default, Description, Regex string }
		}
	}
	ts.Check(yaml.UnmarshalStrict([]byte(head), &spec))
	inputs := map[string]string{}
	for name, input := range spec.Spec.Inputs {
		inputs[name] = input.Default
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		if _, known := inputs[name]; !known || !ok {
			ts.Fatalf("no input is called %s", name)
		}
		inputs[name] = strings.ReplaceAll(value, `\n`, "\n")
	}
	type component struct {
		Script    []string
		Variables map[string]struct {
			Value  string
			Expand *bool
		}
	}
	var jobs map[string]component
	ts.Check(yaml.Unmarshal([]byte(body), &jobs))
	for _, job := range jobs {
		script := strings.Join(job.Script, "\n")
		if strings.Contains(script, "$[[") {
			ts.Fatalf("the script has an input in its text")
		}
		c := exec.Command("sh", "-c", script)
		c.Dir = ts.MkAbs(".")
		c.Env = []string{
			"PATH=" + ts.Getenv("PATH"), "CI=true", "GITLAB_CI=true", "CI_API_V4_URL=" + ts.Getenv("API"), "CI_PROJECT_ID=31",
			"CI_MERGE_REQUEST_IID=" + ts.Getenv("PULL"), "GITLAB_TOKEN=ghs_secret", "KUBECONFIG=" + ts.Getenv("KUBECONFIG"),
		}
		for name, variable := range job.Variables {
			if variable.Expand == nil || *variable.Expand {
				ts.Fatalf("variable %s is expanded", name)
			}
			value := componentInput.ReplaceAllStringFunc(variable.Value, func(found string) string {
				return inputs[componentInput.FindStringSubmatch(found)[1]]
			})
			c.Env = append(c.Env, name+"="+value)
		}
		out, err := c.CombinedOutput()
		ts.Check(os.WriteFile(ts.MkAbs("log.txt"), out, 0o600))
		if (err != nil) != neg {
			ts.Fatalf("the job: %v\n%s", err, out)
		}
	}
}
