package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// recording holds what a control plane answered to the questions of the engine, so
// that its decisions are tested without one. With -update the questions go to a
// control plane, and its answers to testdata/reads.
//
// A question is a user, a method and its arguments. The engine fails a test when it
// asks what the recording lacks; then it is recorded anew.
type recording struct {
	t       *testing.T
	path    string
	box     *sandbox.Sandbox // nil when answers come from the file
	mu      sync.Mutex
	answers map[string]json.RawMessage
	// multiplied answers for many objects what was recorded of one; nil for those alone.
	multiplied *multiplied
}

// line is a line of a recording: an answer, and the questions that it was given to.
type line struct {
	Questions []string        `json:"questions"`
	Answer    json.RawMessage `json:"answer"`
}

// recorded returns the recording of testdata/reads/NAME.jsonl. With -update it is made
// anew, on a control plane with the objects of docs.
func recorded(t *testing.T, name, docs string) *recording {
	t.Helper()
	if !*update {
		return readRecording(t, name)
	}
	r := newRecording(t, name)
	r.box = sandboxtest.Record(t)
	apply(t, r.box, docs)
	t.Cleanup(r.write)
	return r
}

func newRecording(t *testing.T, name string) *recording {
	return &recording{t: t, path: filepath.Join("testdata", "reads", name+".jsonl"), answers: map[string]json.RawMessage{}}
}

func readRecording(t *testing.T, name string) *recording {
	t.Helper()
	r := newRecording(t, name)
	file, err := os.Open(r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := json.NewDecoder(file); lines.More(); {
		var l line
		if err := lines.Decode(&l); err != nil {
			t.Fatalf("%s: %v", r.path, err)
		}
		for _, question := range l.Questions {
			r.answers[question] = l.Answer
		}
	}
	return r
}

func (r *recording) write() {
	lines := map[string]*line{}
	for question, answer := range r.answers {
		l := lines[string(answer)]
		if l == nil {
			l = &line{Answer: answer}
			lines[string(answer)] = l
		}
		l.Questions = append(l.Questions, question)
	}
	var sorted []*line
	for _, l := range lines {
		slices.Sort(l.Questions)
		sorted = append(sorted, l)
	}
	slices.SortFunc(sorted, func(a, b *line) int { return strings.Compare(a.Questions[0], b.Questions[0]) })
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, l := range sorted {
		if err := encoder.Encode(l); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path, out.Bytes(), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// cluster returns the recorded cluster as a user sees it; the empty name is the
// administrator.
func (r *recording) cluster(user string) engine.Cluster {
	c := &recordedCluster{recording: r, user: user}
	switch {
	case r.box == nil:
	case user == "":
		c.live = connected(r.t, r.box)
	default:
		c.live = as(r.t, r.box, user)
	}
	return c
}

// recordedCluster is an [engine.Cluster] of one user.
type recordedCluster struct {
	*recording
	user string
	live engine.Cluster // nil when answers come from the file
}

// reply answers a question from the recording. Missing answers are asked live with
// -update, once: two dry runs of one object have two uids.
func reply[T any](c *recordedCluster, question string, live func() T) T {
	question = c.user + ": " + question
	recorded, known := c.known(question)
	if !known && c.live != nil {
		data, err := json.Marshal(live())
		if err != nil {
			c.t.Error(err)
		}
		c.mu.Lock()
		c.answers[question] = data
		c.mu.Unlock()
		recorded, known = data, true
	}
	var answer T
	if !known {
		c.t.Errorf("%s has no answer to %s: run the test with -update", c.path, question)
		return answer
	}
	if err := utiljson.Unmarshal(recorded, &answer); err != nil { // numbers as a client has them
		c.t.Errorf("%s: %s: %v", c.path, question, err)
	}
	return answer
}

// known returns the answer that the recording has; false if it has none.
func (r *recording) known(question string) (json.RawMessage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.multiplied != nil {
		return r.multiplied.answer(r.answers, question)
	}
	recorded, known := r.answers[question]
	return recorded, known
}

func question(method string, arguments ...any) string {
	data, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // strings, refs and parsed manifests
	}
	return method + string(data)
}

// failure is an error of a client in a recording. The engine looks at the reason of
// a Refusal, and prints the rest.
type failure struct {
	Refused bool               `json:"refused,omitempty"`
	Reason  preview.Reason     `json:"reason,omitempty"`
	Message string             `json:"message"`
	Fields  []preview.Conflict `json:"conflicts,omitempty"`
}

func failureOf(err error) *failure {
	var refusal *preview.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		return &failure{true, refusal.Reason, refusal.Message, refusal.Conflicts}
	}
	return &failure{Message: err.Error()}
}

func (f *failure) err() error {
	switch {
	case f == nil:
		return nil
	case f.Refused:
		return &preview.Refusal{Reason: f.Reason, Message: f.Message, Conflicts: f.Fields}
	}
	return errors.New(f.Message)
}

// answer is what a method returned.
type answer[T any] struct {
	Value T        `json:"value"`
	Err   *failure `json:"err,omitempty"`
}

func answerOf[T any](value T, err error) answer[T] { return answer[T]{value, failureOf(err)} }

func (a answer[T]) split() (T, error) { return a.Value, a.Err.err() }

// target is a Target with what no saved plan has.
type target struct {
	preview.Target
	Groups        []string `json:"groups"`
	Authenticated string   `json:"authenticated"`
}

var targetQuestion = question("target")

func (c *recordedCluster) Target(ctx context.Context) (preview.Target, error) {
	found, err := reply(c, targetQuestion, func() answer[target] {
		live, err := c.live.Target(ctx)
		return answerOf(target{live, live.Groups, live.Authenticated}, err)
	}).split()
	found.Target.Groups, found.Target.Authenticated = found.Groups, found.Authenticated
	return found.Target, err
}

func (c *recordedCluster) Kind(ctx context.Context, apiVersion, kind string) (bool, error) {
	return reply(c, question("kind", apiVersion, kind), func() answer[bool] { return answerOf(c.live.Kind(ctx, apiVersion, kind)) }).split()
}

func (c *recordedCluster) Plural(ctx context.Context, apiVersion, kind string) (string, error) {
	return reply(c, question("plural", apiVersion, kind), func() answer[string] { return answerOf(c.live.Plural(ctx, apiVersion, kind)) }).split()
}

func (c *recordedCluster) APIVersions(ctx context.Context) ([]string, error) {
	return reply(c, question("apiVersions"), func() answer[[]string] { return answerOf(c.live.APIVersions(ctx)) }).split()
}

func (c *recordedCluster) Served(ctx context.Context) (preview.Discovery, error) {
	return reply(c, question("served"), func() answer[preview.Discovery] { return answerOf(c.live.Served(ctx)) }).split()
}

func (c *recordedCluster) ServedVersion(ctx context.Context, group, kind string) (string, error) {
	return reply(c, question("servedVersion", group, kind), func() answer[string] { return answerOf(c.live.ServedVersion(ctx, group, kind)) }).split()
}

func (c *recordedCluster) Residents(ctx context.Context, namespace string) ([]map[string]any, error) {
	return reply(c, question("residents", namespace), func() answer[[]map[string]any] { return answerOf(c.live.Residents(ctx, namespace)) }).split()
}

func (c *recordedCluster) List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error) {
	return reply(c, question("list", apiVersion, kind, namespace, selector), func() answer[[]map[string]any] {
		return answerOf(c.live.List(ctx, apiVersion, kind, namespace, selector, fields...))
	}).split()
}

func (c *recordedCluster) Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult {
	out := make([]preview.ReadResult, len(refs))
	for i, ref := range refs {
		body, err := reply(c, question("read", ref), func() answer[map[string]any] {
			found := c.live.Read(ctx, []preview.Ref{ref})[0]
			return answerOf(found.Body, found.Err)
		}).split()
		out[i] = preview.ReadResult{Ref: ref, Body: body, Err: err}
	}
	return out
}

func (c *recordedCluster) May(ctx context.Context, rights []preview.Right) []preview.RightAnswer {
	out := make([]preview.RightAnswer, len(rights))
	for i, right := range rights {
		allowed, err := reply(c, question("may", right), func() answer[bool] {
			found := c.live.May(ctx, []preview.Right{right})[0]
			return answerOf(found.Allowed, found.Err)
		}).split()
		out[i] = preview.RightAnswer{Allowed: allowed, Err: err}
	}
	return out
}

// outcome is a DryRunResult without its error.
type outcome struct {
	Body     map[string]any `json:"body,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

func (c *recordedCluster) DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult {
	out := make([]preview.DryRunResult, len(items))
	for i, item := range items {
		out[i] = c.dryRun(question("dryRun", item), func() preview.DryRunResult { return c.live.DryRun(ctx, []preview.DryRun{item})[0] })
	}
	return out
}

func (c *recordedCluster) Merge(ctx context.Context, live map[string]any, item preview.DryRun) preview.DryRunResult {
	return c.dryRun(question("merge", live, item), func() preview.DryRunResult { return c.live.Merge(ctx, live, item) })
}

func (c *recordedCluster) dryRun(question string, live func() preview.DryRunResult) preview.DryRunResult {
	found, err := reply(c, question, func() answer[outcome] {
		result := live()
		return answerOf(outcome{result.Body, result.Warnings}, result.Err)
	}).split()
	return preview.DryRunResult{Body: found.Body, Warnings: found.Warnings, Err: err}
}

// page is what one call of each was given.
type page struct {
	Objects   []map[string]any `json:"objects"`
	Remaining int              `json:"remaining,omitempty"`
}

func (c *recordedCluster) Pages(ctx context.Context, apiVersion, kind string, each func(objects []map[string]any, remaining int) bool) error {
	pages, err := reply(c, question("pages", apiVersion, kind), func() answer[[]page] {
		var pages []page
		err := c.live.Pages(ctx, apiVersion, kind, func(objects []map[string]any, remaining int) bool {
			pages = append(pages, page{objects, remaining})
			return true
		})
		return answerOf(pages, err)
	}).split()
	for _, p := range pages {
		if !each(p.Objects, p.Remaining) {
			return nil
		}
	}
	return err
}

var _ engine.Cluster = (*recordedCluster)(nil)

// A recording is of the Kubernetes that the control plane is: a newer one is recorded
// anew.
func TestClusterRecordingsAreOfThisKubernetes(t *testing.T) {
	now, err := connected(t, sandboxtest.Start(t)).Target(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "reads", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		r, targets := readRecording(t, name), 0
		for question := range r.answers {
			user, asked := strings.CutSuffix(question, ": "+targetQuestion)
			if !asked {
				continue
			}
			targets++
			then, err := r.cluster(user).Target(t.Context())
			if err != nil || then.Version != now.Version {
				t.Errorf("%s is of Kubernetes %s, and the control plane is %s (%v): run the tests that read it with -update", file, then.Version, now.Version, err)
			}
		}
		if targets == 0 {
			t.Errorf("%s does not say of which Kubernetes it is", file)
		}
	}
}
