package risk_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
)

// The matrix has each row of the tables in each disguise by each way in which a package is
// reviewed: the row is found at the severity that it has as it is, offline, or the cell is
// named with a reason.
type matrix struct {
	t      testing.TB
	ways   []reviewWay
	counts map[string]*count // by way
	named  map[string]int    // cells by the reason why they are not as severe
}

type count struct{ cells, found, named int }

// reviewWay is a way in which the objects of a cell are reviewed. It returns the plan, or
// why there is none.
type reviewWay struct {
	name string
	plan func(c cell) (*preview.Plan, string)
}

// cell is a row in one disguise.
type cell struct {
	row      risk.Row
	disguise string
	bodies   []map[string]any
	number   int
}

var release = preview.Release{Name: "op", Namespace: "app"}

// contentOf prepares objects as a version of a package.
func contentOf(of preview.Release, version string, bodies []map[string]any) (planned.Content, error) {
	var rendered []format.RenderedObject
	for _, body := range bodies {
		rendered = append(rendered, format.RenderedObject{Body: preview.CloneBody(body), Origin: preview.Origin{File: "all.yaml"}})
	}
	return planned.Prepare(of, planned.Material{
		Info: format.Info{Package: "op", Version: version, Format: "plain"}, Output: &format.Output{Objects: rendered},
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes([]byte(version))}},
	})
}

// schemas are read once: each time takes as long as ten plans.
var schemas = sync.OnceValue(k8s.NewSchemas)

func options() engine.Options {
	return engine.Options{Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: schemas()}
}

// reason is why a row is not as severe by a way. What then is found instead is the finding
// of a rule, at least of a severity; nothing where the rule is empty.
type reason struct {
	text, rule string
	least      preview.Severity
}

// reasons are by the rule of the row and the way.
var reasons = map[[2]string]reason{
	{"pod-security-relaxed", "--against"}:       {text: sameLevel},
	{"pod-security-relaxed", "cluster"}:         {text: sameLevel},
	{"pod-security-relaxed", "upgrade"}:         {text: sameLevel},
	{"pod-security-relaxed", "two releases"}:    {text: sameLevel},
	{"rbac-crds-write", "two releases"}:         {"the server is of another release, and pods of others are not read; the right is a warning", "rbac-crds-write", preview.Warning},
	{"crd-of-others-converted", "two releases"}: {"the server is of another release; that the CRD is of another operator is as severe", "crd-of-others", preview.Critical},
	{"token-stored", "two releases"}:            {"the account is of another release, which another rule says", "token-of-foreign-account", preview.Critical},
	{"access-reach", "two releases"}:            {"what the account reached may do is severe only with a server, as above; the right to enter its pods is a warning", "rbac-pods-exec", preview.Warning},
}

// of returns the text of a reason that holds for a plan, empty for none.
func (r reason) of(p *preview.Plan) string {
	if r.rule != "" && (p == nil || !slices.ContainsFunc(p.Findings, func(f preview.Finding) bool { return f.Rule == r.rule && f.Severity.Rank() <= r.least.Rank() })) {
		return ""
	}
	return r.text
}

const sameLevel = "it is about a change, and the namespace without labels, which is there before, has the same level"

// offline are the ways without a cluster. A second release is not seen there.
func offline(t testing.TB) []reviewWay {
	return []reviewWay{
		{"offline", func(c cell) (*preview.Plan, string) { return built(t, c.bodies, nil, options()) }},
		{"--against", func(c cell) (*preview.Plan, string) {
			newer, err := contentOf(release, "1.0.1", c.bodies)
			if err != nil {
				return nil, "refused: " + reasonOf(err)
			}
			older, err := contentOf(release, "1.0.0", olderOf(c))
			if err != nil {
				t.Fatalf("%s, %s: the older version: %v", c.row.Rule(), c.disguise, err)
			}
			p, err := engine.Compare([]planned.Content{newer}, []planned.Content{older}, preview.Baseline{Package: "op", Version: "1.0.0"}, options())
			if err != nil {
				t.Fatal(err)
			}
			return p, ""
		}},
	}
}

func built(t testing.TB, bodies []map[string]any, cluster engine.Cluster, opts engine.Options) (*preview.Plan, string) {
	t.Helper()
	content, err := contentOf(release, "1.0.1", bodies)
	if err != nil {
		return nil, "refused: " + reasonOf(err)
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, cluster, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p, ""
}

// reasonOf returns the last part of an error, which names no object.
func reasonOf(err error) string {
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+1:]
}

// olderOf returns the objects of an older version in which the danger is not yet what it
// is: one value of each object is another. Of a right that is the role, which gives none.
func olderOf(c cell) []map[string]any {
	var out []map[string]any
	for i, from := range c.bodies {
		body := preview.CloneBody(from)
		if ref := preview.RefOf(body); strings.HasPrefix(ref.APIVersion, "rbac.authorization.k8s.io/") && strings.HasSuffix(ref.Kind, "Role") {
			delete(body, "rules")
			delete(body, "aggregationRule")
		} else if !changeOne(body, c.number+i) {
			meta := preview.Map(body, "metadata")
			delete(meta, "labels")
			meta["annotations"] = map[string]any{"example.com/version": "older"}
		}
		out = append(out, body)
	}
	return out
}

// changeOne changes one text, number or boolean outside of what names the object; at says
// which. It returns false where there is none.
func changeOne(body map[string]any, at int) bool {
	var changes []func()
	var walk func(in map[string]any)
	var items func(list []any)
	set := func(value any, put func(any)) {
		switch v := value.(type) {
		case map[string]any:
			walk(v)
		case []any:
			items(v)
		case string:
			changes = append(changes, func() { put(v + "x") })
		case bool:
			changes = append(changes, func() { put(!v) })
		case int64:
			changes = append(changes, func() { put(v + 1) })
		}
	}
	items = func(list []any) {
		for i := range list {
			set(list[i], func(v any) { list[i] = v })
		}
	}
	walk = func(in map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(in)) {
			set(in[key], func(v any) { in[key] = v })
		}
	}
	for _, key := range slices.Sorted(maps.Keys(body)) {
		if key != "apiVersion" && key != "kind" && key != "metadata" {
			set(body[key], func(v any) { body[key] = v })
		}
	}
	if len(changes) == 0 {
		return false
	}
	changes[at%len(changes)]()
	return true
}

// run judges the cells that are taken, by the numbers of the row and the disguise, and
// fails for one that is a hole.
func (m *matrix) run(taken func(row, disguise int) bool) {
	m.counts, m.named = map[string]*count{}, map[string]int{}
	from, to := slowtest.Runs(m.t, 1)
	rows, wants := risk.Rows(m.t), map[int]preview.Severity{}
	// All rows in one disguise follow each other, so that what the disguise adds may stay.
	for k, disguise := range risk.Disguises() {
		for i, row := range rows {
			if _, known := wants[i]; !known && taken(i, k) {
				wants[i] = m.asItIs(row)
			}
			for run := from; run < to && wants[i] != "" && taken(i, k); run++ {
				number := run*1_000_003 + i*len(risk.Disguises()) + k
				bodies, writing := row.Hidden(m.t, k, number)
				if bodies == nil {
					continue
				}
				for _, way := range m.ways {
					m.judge(cell{row: row, disguise: disguise, bodies: bodies, number: number}, way, wants[i], writing)
				}
			}
		}
	}
}

// asItIs returns the severity that a row has offline and without a disguise; empty where it
// is refused, which is named.
func (m *matrix) asItIs(row risk.Row) preview.Severity {
	p, refused := offline(m.t)[0].plan(cell{row: row, bodies: row.Bodies()})
	if p == nil {
		m.named["as it is: "+refused]++
		return ""
	}
	want := row.Worst(p.Findings)
	if want == "" {
		m.t.Errorf("%s: the row itself is not found", row.Rule())
	}
	return want
}

// sampled takes each nth cell, in a soak all.
func sampled(nth int) func(row, disguise int) bool {
	return func(row, disguise int) bool { return slowtest.InSample(2*row+disguise, nth) }
}

func (m *matrix) judge(c cell, way reviewWay, want preview.Severity, writing string) {
	n := m.counts[way.name]
	if n == nil {
		n = &count{}
		m.counts[way.name] = n
	}
	p, reason := way.plan(c)
	if p == nil && reason == "" {
		return // there is no such cell
	}
	n.cells++
	got := preview.Severity("")
	if p != nil {
		got = c.row.Worst(p.Findings)
	}
	if p != nil && c.disguise == "split over two accounts" && slices.ContainsFunc(p.Findings, func(f preview.Finding) bool { return f.Severity.Rank() <= want.Rank() && ofTheTwo(f) }) {
		reason = cmp.Or(reason, "what one of the two accounts has, or both together, is found by other rules, as severe")
	}
	if got != "" && got.Rank() <= want.Rank() {
		n.found++
		return
	}
	if named := reasons[[2]string{c.row.Rule(), way.name}].of(p); reason == "" && named != "" {
		reason = c.row.Rule() + ": " + named
	}
	if reason == "" {
		m.t.Errorf("%s, hidden %s, %s, %s: severity %q, want %s: %v", c.row.Rule(), c.disguise, writing, way.name, got, want, texts(p))
		return
	}
	n.named++
	m.named[way.name+": "+reason]++
}

// ofTheTwo reports whether a finding is about one of the accounts over which rights are
// split, or about a path that they have together.
func ofTheTwo(f preview.Finding) bool {
	return slices.ContainsFunc(f.Subjects, func(s preview.Subject) bool {
		return s.Kind == preview.SubjectServiceAccount && s.Namespace == "app" && (s.Name == "op" || s.Name == "op2")
	})
}

func texts(p *preview.Plan) []string {
	var out []string
	for _, f := range p.Findings {
		out = append(out, fmt.Sprintf("%s %s (%s)", f.Severity, f.ID, f.AlsoIn))
	}
	return out[:min(len(out), 6)]
}

func (m *matrix) log() {
	for _, way := range slices.Sorted(maps.Keys(m.counts)) {
		n := m.counts[way]
		m.t.Logf("%s: %d rows, %d disguises: %d cells, %d found, %d named", way, len(risk.Rows(m.t)), len(risk.Disguises()), n.cells, n.found, n.named)
	}
	for _, reason := range slices.Sorted(maps.Keys(m.named)) {
		m.t.Logf("%d × %s", m.named[reason], reason)
	}
}

// TestSlowMatrix hides each row in a tenth of the disguises, a soak in all, and each run of
// one in other writings.
func TestSlowMatrix(t *testing.T) {
	slowtest.Skip(t, "every row of the tables in every disguise, by every way of a review")
	m := &matrix{t: t, ways: offline(t)}
	m.run(sampled(10))
	m.log()
}

// BenchmarkMatrix prints how many cells there are, and how many are found: each 20th of the
// ways without a cluster, each 200th of those with one, and all with
// KUBECTL_OPERATOR_SOAK_RUNS=1.
func BenchmarkMatrix(b *testing.B) {
	for _, of := range []struct {
		ways []reviewWay
		nth  int
	}{{offline(b), 20}, {onCluster(b), 200}} {
		for _, way := range of.ways {
			b.Run(strings.ReplaceAll(way.name, " ", "-"), func(b *testing.B) {
				m := &matrix{t: b, ways: []reviewWay{way}}
				for b.Loop() {
					m.run(sampled(of.nth))
				}
				n := m.counts[way.name]
				b.ReportMetric(float64(len(risk.Rows(b))), "rows")
				b.ReportMetric(float64(len(risk.Disguises())), "disguises")
				b.ReportMetric(float64(n.cells), "cells")
				b.ReportMetric(float64(n.found), "found")
				b.ReportMetric(float64(n.named), "named")
				b.ReportMetric(float64(n.cells-n.found-n.named), "holes")
			})
		}
	}
}
