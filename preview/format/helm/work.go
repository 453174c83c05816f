package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// request is the complete input of a rendering.
type request struct {
	Files       []file                     `json:"files"`
	Values      json.RawMessage            `json:"values"`
	Release     preview.Release            `json:"release"`
	Upgrade     bool                       `json:"upgrade"`
	KeepsNulls  bool                       `json:"keepsNulls,omitempty"`
	Revision    int                        `json:"revision"`
	KubeVersion string                     `json:"kubeVersion"`
	APIVersions []string                   `json:"apiVersions"`
	Answers     map[string]json.RawMessage `json:"answers"` // by lookup name
	Seed        []byte                     `json:"seed"`
	Now         time.Time                  `json:"now"`
	Probe       bool                       `json:"probe"`               // with another clock and other random values
	SameTexts   bool                       `json:"sameTexts,omitempty"` // a probe with the same random texts
}

// response is the output of a rendering. The field Asked holds the lookups that have no
// answer yet; if there are any, the rest of the response is provisional, including its
// error.
type response struct {
	Error string `json:"error,omitempty"`
	// Missing are the dependencies that the chart's charts/ does not have.
	Missing []missingDependency `json:"missing,omitempty"`
	Asked   []string            `json:"asked,omitempty"`
	Read    capabilityReads     `json:"read"`
	Files   []file              `json:"files"` // rendered templates, sorted by name
	CRDs    []file              `json:"crds"`  // of crds/, sorted by name
	Texts   []format.Text       `json:"texts"` // rendered notes, sorted by name
	// Chance is set where a template asked the clock, or for a random number or order.
	// Random texts do not count: charts make them as defaults of what the user has set.
	Chance bool `json:"chance,omitempty"`
}

// work is the function of [Task]: it renders a request, both as JSON.
func work(input []byte) ([]byte, error) {
	var req request
	if err := json.Unmarshal(input, &req); err != nil {
		return nil, err
	}
	// Libraries log what they skip; it is not read, and it may hold values.
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	time.Local = time.UTC
	return json.Marshal(render(&req))
}

// render renders a request. An error in the chart becomes part of the response.
func render(req *request) *response {
	answer := &response{}
	err := answer.render(req)
	if err != nil {
		answer.Error = err.Error()
	}
	if missing, ok := errors.AsType[*missingError](err); ok {
		answer.Missing = missing.list
	}
	return answer
}

func (r *response) render(req *request) error {
	c, err := load(req.Files)
	if err != nil {
		return err
	}
	caps, err := newCapabilities(req.KubeVersion, req.APIVersions, &r.Read)
	if err != nil {
		return err
	}
	if err := checkKubeVersion(c, caps); err != nil {
		return err
	}
	decoded, err := preview.DecodeExactJSON(req.Values)
	if err != nil {
		return fmt.Errorf("values: %w", err)
	}
	values, ok := decoded.(map[string]any)
	if !ok {
		return errors.New("values: want a mapping")
	}
	top, err := compose(c, values, req, caps)
	if err != nil {
		return err
	}
	random, err := newSource(req)
	if err != nil {
		return err
	}
	funcs := random.funcs()
	funcs["lookup"] = r.lookup(req.Answers)
	rendered, err := engine.Engine{CustomTemplateFuncs: funcs}.RenderWithContext(context.Background(), c, top)
	caps.done()
	r.Chance = random.chance
	if err != nil {
		return oneLine(err)
	}
	templates := templatesOf(c)
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if strings.HasSuffix(name, notesFile) {
			r.Texts = append(r.Texts, format.Text{File: inChart(c, name), Text: rendered[name], Template: templates[name]})
			continue
		}
		r.Files = append(r.Files, file{Name: inChart(c, name), Data: []byte(rendered[name])})
	}
	for _, crd := range c.CRDObjects() {
		r.CRDs = append(r.CRDs, file{Name: inChart(c, crd.Filename), Data: crd.File.Data})
	}
	slices.SortFunc(r.CRDs, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// notesFile is the end of the names of the templates that Helm prints after an install,
// and does not apply.
const notesFile = "NOTES.txt"

// templatesOf returns the templates of a chart and its subcharts, by the names that they
// have when they are rendered.
func templatesOf(c *chart.Chart) map[string]string {
	out := map[string]string{}
	for _, t := range c.Templates {
		out[path.Join(c.ChartFullPath(), t.Name)] = string(t.Data)
	}
	for _, below := range c.Dependencies() {
		maps.Copy(out, templatesOf(below))
	}
	return out
}

// inChart returns a file name without Helm's prefix, the chart's name.
func inChart(c *chart.Chart, name string) string { return strings.TrimPrefix(name, c.Name()+"/") }

// load parses the files of a chart and its subcharts. A library chart, which has
// nothing to install, is an error.
func load(files []file) (*chart.Chart, error) {
	buffered := make([]*archive.BufferedFile, 0, len(files))
	for _, f := range files {
		buffered = append(buffered, &archive.BufferedFile{Name: f.Name, Data: f.Data})
	}
	c, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, oneLine(err)
	}
	if c.Metadata.Type == "library" {
		return nil, fmt.Errorf("chart %s is a library: it has templates for other charts and nothing to install", c.Name())
	}
	// Helm merges values into maps of the chart as it goes, and charts that are
	// loaded from a map come in any order.
	sortDependencies(c)
	return c, nil
}

func sortDependencies(c *chart.Chart) {
	below := slices.Clone(c.Dependencies())
	slices.SortFunc(below, func(a, b *chart.Chart) int {
		return strings.Compare(a.Name()+" "+a.Metadata.Version, b.Name()+" "+b.Metadata.Version)
	})
	c.SetDependencies(below...)
	for _, d := range below {
		sortDependencies(d)
	}
}

// checkKubeVersion returns an error if the Kubernetes version is not in the range that
// Chart.yaml requires. It is not recorded as a read, because it decides only whether
// the chart can be installed.
func checkKubeVersion(c *chart.Chart, caps *capabilities) error {
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.version.String()) {
		return fmt.Errorf("chart %s requires Kubernetes %.200s, and this is %s; --kube-version names another", c.Name(), want, caps.version.Version)
	}
	return nil
}

// compose returns the data that templates get: the user's values merged over the
// chart's and validated, and what is known of release and cluster.
func compose(c *chart.Chart, values map[string]any, req *request, caps *capabilities) (common.Values, error) {
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return nil, oneLine(err)
	}
	if missing := missingDependencies(c, ""); len(missing) > 0 {
		return nil, &missingError{missing}
	}
	options := common.ReleaseOptions{
		Name: req.Release.Name, Namespace: req.Release.Namespace, Revision: req.Revision,
		IsInstall: !req.Upgrade, IsUpgrade: req.Upgrade,
	}
	// Helm's own check of schemas would fetch what they refer to.
	top, err := commonutil.ToRenderValuesWithSchemaValidation(c, values, options, nil, true)
	if err != nil {
		return nil, oneLine(err)
	}
	merged, ok := top["Values"].(common.Values)
	if !ok {
		return nil, errors.New("its values are no mapping")
	}
	if req.KeepsNulls {
		keepNulls(c, merged)
	}
	if err := checkSchemas(c, merged, ""); err != nil {
		return nil, err
	}
	top["Capabilities"] = caps
	return top, nil
}

// keepNulls adds to merged values the nulls of the chart's own and of its dependencies'.
func keepNulls(c *chart.Chart, merged map[string]any) {
	addNulls(c.Values, merged)
	for _, dependency := range c.Dependencies() {
		if values, ok := merged[dependency.Name()].(map[string]any); ok {
			keepNulls(dependency, values)
		}
	}
}

func addNulls(own, merged map[string]any) {
	for key, value := range own {
		has, known := merged[key]
		if value == nil && !known {
			merged[key] = nil
		}
		below, isMap := value.(map[string]any)
		if in, ok := has.(map[string]any); ok && isMap {
			addNulls(below, in)
		}
	}
}

// lookup returns the template function lookup. It returns the answer that was read
// before; a lookup without one is recorded in Asked and gets an empty value.
func (r *response) lookup(answers map[string]json.RawMessage) func(apiVersion, kind, namespace, name string) (map[string]any, error) {
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		ref := preview.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
		if err := preview.CheckLookup(ref); err != nil {
			return nil, err
		}
		body, empty := map[string]any{}, map[string]any{}
		recorded, known := answers[preview.LookupName(ref)]
		switch {
		case !known && len(r.Asked) < maxLookups:
			r.Asked = append(r.Asked, preview.LookupName(ref))
			slices.Sort(r.Asked)
			r.Asked = slices.Compact(r.Asked)
			return empty, nil
		case !known:
			return nil, fmt.Errorf("it looks up more than %d objects", maxLookups)
		}
		if err := json.Unmarshal(recorded, &body); err != nil || body == nil {
			return empty, err
		}
		return body, nil
	}
}

// maxLine is the most bytes of a template's error that are shown; charts can make it
// pages long.
const maxLine = 600

// oneLine returns an error of Helm on one line of at most [maxLine] bytes.
func oneLine(err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > maxLine { // where it began, and what it came to
		text = strings.ToValidUTF8(text[:maxLine/3]+" … "+text[len(text)-maxLine*2/3:], "")
	}
	return errors.New(text)
}
