// Package helm renders Helm charts with the engine of Helm 4.
//
// Templates are programs of strangers, so they run in a confined child process
// (package child): work is a pure function from a request (the chart's files,
// values, capabilities, recorded lookups, a clock and a seed) to rendered
// files. It has no network, no files and no environment, and is ended when it
// takes too long or too much.
//
// The parent sends a template's requests to the cluster. A rendering that looks up
// something it has no answer for notes the question and goes on with an empty one; the
// parent reads the answers, records them, and renders again until nothing new is asked.
// The last rendering is then repeated with another clock and other random values: fields
// that differ are nondeterministic.
package helm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Name is the format's name in plans.
const Name = "helm"

// DefaultKubeVersion is the version that a chart is rendered for when neither
// the user nor a cluster names one.
const DefaultKubeVersion = "v1.37.0"

// New returns the format.
func New() format.Format { return chartFormat{} }

// Task is the task of a sandboxed process that renders a chart.
func Task() child.Task { return child.Task{Name: Name, Work: work} }

// chartFormat is the format of Helm charts. Only tests set other limits for the
// sandboxed process.
type chartFormat struct {
	time   time.Duration
	memory int64
}

// Detect recognises a chart by Chart.yaml at the root or in the only directory of
// the content, as in archives.
func (chartFormat) Detect(content fs.FS) (*format.Info, error) {
	root, err := chartRoot(content)
	if err != nil || root == "" {
		return nil, err
	}
	meta, err := readMetadata(content, path.Join(root, chartFile))
	if err != nil {
		return nil, err
	}
	if meta.kind == "library" {
		return nil, fmt.Errorf("chart %s is a library: it has templates for other charts and nothing to install", meta.name)
	}
	return &format.Info{Format: Name, Package: meta.name, Version: meta.version, Bundle: meta.name + "-" + meta.version}, nil
}

// Render renders a chart in a sandboxed process, as often as its lookups need, and once
// more to find fields that differ.
func (f chartFormat) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	others := in.Params
	others.Values = nil
	if err := others.None("a chart"); err != nil {
		return nil, err
	}
	files, err := readChart(in.Content)
	if err != nil {
		return nil, err
	}
	caps, err := chooseCapabilities(ctx, in)
	if err != nil {
		return nil, err
	}
	if in.Params.Values == nil {
		in.Params.Values = map[string]any{}
	}
	values, err := preview.ExactJSON(in.Params.Values)
	if err != nil {
		return nil, err
	}
	req := &request{
		Files: files, Values: values, Release: in.Release, Upgrade: in.Upgrade, KeepsNulls: in.KeepsNulls, Revision: max(in.Revision, 1),
		KubeVersion: caps.kubeVersion, APIVersions: caps.apiVersions,
		Answers: map[string]json.RawMessage{}, Seed: make([]byte, seedSize), Now: time.Now().UTC().Truncate(time.Second),
	}
	if _, err := rand.Read(req.Seed); err != nil {
		return nil, err
	}
	r := &renderer{format: f, in: in, caps: caps, request: req, advice: in.Advise(cmp.Or(in.Info.Package, "chart"), "")}
	out, err := r.render(ctx)
	return out, r.advice.Complete(err)
}

// notDocuments are the directories of a chart, and of those below its charts/, whose
// files are templates, objects or values for tests (chart-testing).
var notDocuments = []string{"templates", "crds", "ci"}

// renderer holds the state of one call of Render.
type renderer struct {
	format    chartFormat
	in        format.Input
	caps      clusterCaps
	request   *request
	lookups   []preview.ClusterRead
	places    map[string]*chartPlace // the chart and what was added to charts/, by [missingDependency.key]
	sources   []preview.Source       // of those that were fetched
	isolation string
	advice    *format.Advice
}

func (r *renderer) render(ctx context.Context) (*format.Output, error) {
	first, err := r.settle(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := r.objects(first)
	if err != nil {
		return nil, err
	}
	second, err := r.renderAgain(ctx, func(req *request) { req.Probe = true })
	if err != nil {
		return nil, err
	}
	out := &format.Output{Objects: objects.kept, Hooks: objects.hooks, Texts: first.Texts, Notes: objects.notes, Sources: r.sources, Isolation: r.isolation}
	out.CloudDocuments = format.CloudDocuments(r.in.Info.Package, r.in.Content, func(dir string) bool { return slices.Contains(notDocuments, path.Base(dir)) })
	if err := r.noteDeprecated(out); err != nil {
		return nil, err
	}
	chance, err := r.noteChance(ctx, first, objects, second)
	if err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, chance...)
	lookups, err := r.noteLookups(ctx, objects.kept)
	if err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, lookups...)
	out.Resolved.KubeVersion = r.in.Params.KubeVersion
	if first.Read.KubeVersion {
		out.Resolved.KubeVersion = r.caps.kubeVersion
	}
	out.Resolved.ClusterReads = r.clusterReads(first.Read)
	if note := r.dependsOnCluster(out.Resolved.ClusterReads); note != "" {
		out.Notes = append(out.Notes, rules.ContentDependsOnCluster.Note("package/"+r.in.Info.Package, note))
	}
	return out, nil
}

// noteDeprecated adds a note if Chart.yaml says that the chart is deprecated.
func (r *renderer) noteDeprecated(out *format.Output) error {
	root, err := chartRoot(r.in.Content)
	if err != nil {
		return err
	}
	meta, err := readMetadata(r.in.Content, path.Join(root, chartFile))
	if err == nil && meta.deprecated {
		out.Notes = append(out.Notes, rules.Deprecated.Note("package/"+r.in.Info.Package, "its "+chartFile+" says that the chart is deprecated"))
	}
	return err
}

// renderAgain renders another time, with another clock or other random values, and returns
// the objects. A chart that fails only then depends on them, and is refused.
func (r *renderer) renderAgain(ctx context.Context, change func(*request)) (*objects, error) {
	probe := *r.request
	change(&probe)
	answer, err := r.run(ctx, &probe)
	if err != nil {
		return nil, fmt.Errorf("rendering it a second time, with another clock and other random values: %w", err)
	}
	objects, err := r.objects(answer)
	if err != nil {
		return nil, fmt.Errorf("rendering it a second time, with another clock and other random values: %w", err)
	}
	return objects, nil
}

// maxRounds is how many renderings may be needed because lookups lead to further
// lookups.
const maxRounds = 8

// settle renders until every lookup of the templates is answered, and returns that
// rendering.
func (r *renderer) settle(ctx context.Context) (*response, error) {
	for range maxRounds {
		answer, err := r.run(ctx, r.request)
		if err != nil {
			return nil, err
		}
		if len(answer.Missing) > 0 {
			if err := r.addDependencies(ctx, answer.Missing); err != nil {
				return nil, err
			}
			continue
		}
		if len(answer.Asked) == 0 {
			if answer.Error != "" {
				return nil, errors.New(answer.Error)
			}
			return answer, nil
		}
		for _, name := range answer.Asked {
			if err := r.lookup(ctx, name); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("each of its lookups leads to another; after %d rounds it is not known what it would make", maxRounds)
}

// run renders once, in the sandboxed process.
func (r *renderer) run(ctx context.Context, req *request) (*response, error) {
	input, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	result, err := child.Run(ctx, child.Request{Task: Name, Input: input, Time: r.format.time, Memory: r.format.memory})
	if err != nil {
		return nil, err
	}
	var answer response
	if err := json.Unmarshal(result.Output, &answer); err != nil {
		return nil, errors.New("its confined process answered something unreadable")
	}
	r.isolation = result.Isolation
	if req.Probe && answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return &answer, nil
}
