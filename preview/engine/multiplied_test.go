package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// numbered matches what the objects of [manyKinds] are named after in a recording of one
// of each: its number, and the kind or plural of a CRD.
var numbered = regexp.MustCompile(`\b([iI]tem)([0-9]+)(s?)\b`)

// multiplied answers for so many objects of each kind what was recorded of one: a
// question about the seventh is that about the first, and a list that has the first has
// all of them.
type multiplied struct {
	copies int
	many   map[string]json.RawMessage // answers with lists, made once
}

// answer returns the answer to a question from those about the first objects; false if
// these lack it.
func (m *multiplied) answer(answers map[string]json.RawMessage, question string) (json.RawMessage, bool) {
	about := numbered.FindStringSubmatch(question)
	if about == nil {
		if made, ok := m.many[question]; ok {
			return made, true
		}
		recorded, ok := answers[question]
		if ok && numbered.Match(recorded) {
			recorded = m.repeat(recorded)
		}
		m.many[question] = recorded
		return recorded, ok
	}
	recorded, ok := answers[numbered.ReplaceAllString(question, "${1}0$3")]
	return renumber(recorded, about[2]), ok
}

func renumber(data json.RawMessage, number string) json.RawMessage {
	return numbered.ReplaceAll(data, []byte("${1}"+number+"$3"))
}

// repeat returns an answer that repeats the first object's item of a list for all
// objects.
func (m *multiplied) repeat(data json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		var out []json.RawMessage
		for _, item := range list {
			if !numbered.Match(item) {
				out = append(out, item)
				continue
			}
			for i := range m.copies {
				out = append(out, renumber(item, fmt.Sprint(i)))
			}
		}
		return encoded(out)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return data
	}
	for key, value := range object {
		object[key] = m.repeat(value)
	}
	return encoded(object)
}

func encoded(value any) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // of parts of JSON
	}
	return data
}

// manyBefore is what rules ask about the namespace of the plan.
const manyBefore = `
{apiVersion: v1, kind: Namespace, metadata: {name: many, labels: {pod-security.kubernetes.io/enforce: baseline}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: some, namespace: many}, spec: {hard: {pods: "1000000"}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: some, namespace: many}, spec: {limits: [{type: Container, max: {memory: 1Gi}}]}}`

// manyWriter is a user who may write objects, and not hand over what roles give: the right
// to create anything.
const manyWriter = "writer"

const manyRights = `
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: may-patch}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch, patch]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: may-patch}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: may-patch}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: writer}]}`

// manyRelease is the release of the plan of [manyInCluster].
var manyRelease = preview.Release{Name: "r", Namespace: "many"}

// manyInCluster returns n objects of each of [manyKinds] with the names of a recording.
func manyInCluster(t testing.TB, n int, change ...string) planned.Content {
	t.Helper()
	docs := []string{`{apiVersion: v1, kind: Service, metadata: {name: all, namespace: many}, spec: {selector: {app: a}, ports: [{port: 80}]}}`}
	for i, name := range slices.Sorted(maps.Keys(manyKinds)) {
		kind := strings.NewReplacer("namespace: n}", "namespace: many}", "namespace: n,", "namespace: many,", "a%[1]ds", "item%[1]ds", "a%[1]d", fmt.Sprintf("k%d-item%%[1]d", i), "A%[1]d", "Item%[1]d").Replace(manyKinds[name])
		for j := range n {
			docs = append(docs, strings.NewReplacer(change...).Replace(fmt.Sprintf(kind, j)))
		}
	}
	content, err := planned.Prepare(manyRelease, material(t, strings.Join(docs, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// manyRecorded returns what a cluster answers a user that has the first object of each
// kind as the version before left it.
func manyRecorded(t *testing.T, user string) *recording {
	t.Helper()
	name, docs := "many", manyBefore
	if user != "" {
		name, docs = name+"-"+user, docs+manyRights
	}
	r := recorded(t, name, docs)
	if r.box == nil {
		return r
	}
	changes := []string{"x: {type: integer}", "x: {type: integer}, was: {type: string}", "example.com/a:1", "example.com/a:0"}
	if user != "" { // roles and bindings change too
		changes = append(changes, "verbs: [create]", "verbs: [get]", "subjects: [", "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: before}, ")
	}
	before := manyInCluster(t, 1, changes...)
	applyDefinitions(t, r.box, before)
	client := connected(t, r.box)
	for i := range before.Objects {
		o := &before.Objects[i]
		if o.Is(preview.KindCustomResourceDefinition) {
			continue
		}
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: o.Planned}); err != nil {
			t.Fatalf("%s: %v", o.ID, err)
		}
	}
	return r
}

// planInCluster plans n objects of each kind by the answers that were recorded of one for
// a user, and makes the reads of the plan again.
func planInCluster(t *testing.T, n int, user string) *preview.Plan {
	t.Helper()
	return planOn(t, n, multipliedCluster(t, n, user))
}

// multipliedCluster answers a user for n objects of each kind what was recorded of one.
func multipliedCluster(t *testing.T, n int, user string) engine.Cluster {
	t.Helper()
	r := manyRecorded(t, user)
	if r.box == nil {
		r.multiplied = &multiplied{copies: n, many: map[string]json.RawMessage{}}
	}
	return r.cluster(user)
}

func planOn(t *testing.T, n int, client engine.Cluster) *preview.Plan {
	t.Helper()
	plan, err := engine.Build(t.Context(), []planned.Content{manyInCluster(t, n)}, client, engine.Options{
		Tool: "test", Release: manyRelease, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
	if err != nil {
		t.Fatal(err)
	}
	readAgain(t, client, plan)
	return plan
}

// The recording of one object of each kind answers for many, and the plan shows each
// like the one.
func TestARecordingOfOneObjectAnswersForMany(t *testing.T) {
	for _, user := range []string{"", manyWriter} {
		t.Run("for the user "+user, func(t *testing.T) {
			one := planInCluster(t, 1, user)
			if *update {
				return
			}
			many := planInCluster(t, 5, user)
			if got, want := len(many.Objects)-1, 5*(len(one.Objects)-1); got != want { // the Service is one
				t.Errorf("%d objects, want %d", got, want)
			}
			actions := func(p *preview.Plan) map[preview.Action]int {
				out := map[preview.Action]int{}
				for _, o := range p.Objects {
					if numbered.MatchString(o.ID) {
						out[o.Action]++
					}
				}
				return out
			}
			t.Logf("actions %v, %d findings, %d reads, %d rights missing", actions(one), len(one.Findings), len(one.Reads), len(one.Access.Installer.Missing))
			for action, n := range actions(one) {
				if got := actions(many)[action]; got != 5*n {
					t.Errorf("%d objects with action %s, want %d", got, action, 5*n)
				}
			}
		})
	}
}

// askedRights counts the questions that ask for a new right: each takes a round trip.
type askedRights struct {
	engine.Cluster
	known map[preview.Right]bool
	trips int
}

func (c *askedRights) May(ctx context.Context, rights []preview.Right) []preview.RightAnswer {
	before := len(c.known)
	for _, r := range rights {
		c.known[r] = true
	}
	if len(c.known) > before {
		c.trips++
	}
	return c.Cluster.May(ctx, rights)
}

// The rights that the user lacks are asked for together, however many objects are refused
// for want of them.
func TestRightsOfRefusedObjectsAreAskedForTogether(t *testing.T) {
	if *update {
		t.Skip("recorded by TestARecordingOfOneObjectAnswersForMany")
	}
	trips := func(n int) int {
		c := &askedRights{Cluster: multipliedCluster(t, n, manyWriter), known: map[preview.Right]bool{}}
		planOn(t, n, c)
		t.Logf("%d rights in %d questions for %d objects of each kind", len(c.known), c.trips, n)
		return c.trips
	}
	if one, many := trips(1), trips(20); many > one {
		t.Errorf("%d round trips, %d for many objects", one, many)
	}
}
