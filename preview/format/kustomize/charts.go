package kustomize

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Limits on the charts of one kustomization, and the size of a values file.
const (
	maxCharts = 50
	maxValues = 1 << 20
)

// chartsDir is the directory, next to a kustomization, of its rendered charts.
const chartsDir = ".helmCharts"

// definitions matches the files of a chart that "helm template" leaves out without
// --include-crds.
var definitions = lazyregexp.New(`^(charts/[^/]+/)*crds/`)

// chartName matches the names of charts that no program takes for a flag.
var chartName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,249}$`)

// inflated renders the field helmCharts, in this program and from charts of the content
// alone, and makes what they render resources of the kustomization. As with "helm
// template", no cluster is asked.
func (p *planner) inflated(k *kustomization) error {
	if len(k.typed.HelmCharts) > maxCharts {
		return unbuiltError{fieldLocation{k, "helmCharts"}.errorf("%d charts are more than %d", len(k.typed.HelmCharts), maxCharts), byKubectlHelm}
	}
	resources := list(k.fields["resources"])
	for i := range k.typed.HelmCharts {
		at := fieldLocation{k, "helmCharts"}.index(i, "")
		files, err := p.inflate(at, &k.typed.HelmCharts[i], i)
		if err != nil {
			return err
		}
		resources = append(resources, files...)
	}
	delete(k.fields, "helmCharts")
	delete(k.fields, "helmGlobals")
	if len(resources) > 0 {
		k.fields["resources"] = resources
	}
	return nil
}

// inflate renders one chart into files, and returns their paths from the kustomization.
func (p *planner) inflate(at fieldLocation, c *types.HelmChart, i int) ([]any, error) {
	if p.charts == nil {
		return nil, unbuiltError{at.errorf("%s", noCharts), byKubectlHelm}
	}
	dir, err := p.chart(at, c)
	if err != nil {
		return nil, err
	}
	if c.ReleaseName == "" || c.NameTemplate != "" {
		return nil, at.errorf("helm would invent the name of the release; %s",
			p.edited(at, "name: "+c.Name, "name: "+c.Name+", releaseName: "+c.Name, nil))
	}
	values, err := p.chartValues(at, c, dir)
	if err != nil {
		return nil, err
	}
	chart, err := fs.Sub(p.content, dir)
	if err != nil {
		return nil, err
	}
	namespace := c.Namespace
	if namespace == "" {
		namespace = cmp.Or(p.chartNamespace(at.k), "default") // as helm template has it
	}
	in := format.Input{
		Content: chart, Whole: p.content, Path: dir, Info: format.Info{Package: c.Name}, Source: p.in.Source, Peers: p.in.Peers, Again: p.advice.Words(),
		Release: preview.Release{Name: c.ReleaseName, Namespace: namespace},
		Params:  format.Params{Values: preview.FileNumbers(values), KubeVersion: c.KubeVersion, APIVersions: slices.Concat(c.ApiVersions, p.in.Params.APIVersions)},
	}
	if in.Params.KubeVersion == "" {
		in.Params.KubeVersion = p.in.Params.KubeVersion
	}
	out, err := p.charts.Render(p.ctx, in)
	if err != nil {
		return nil, at.errorf("chart %s: %w", dir, err)
	}
	p.build.sources = append(p.build.sources, out.Sources...)
	p.keepNotes(out)
	for _, text := range out.Texts {
		text.File = path.Join(dir, text.File)
		p.build.texts = append(p.build.texts, text)
	}
	return p.addRendered(at.k, c, out, dir, i)
}

// chartNamespace returns the namespace of a chart that names none: from its
// kustomization, or from the nearest one that refers to it and has one.
func (p *planner) chartNamespace(k *kustomization) string {
	namespace := p.namespaces[len(p.namespaces)-1]
	if k.typed.Namespace == "" {
		for i := len(p.stack) - 1; i >= 0; i-- {
			p.inherited[p.stack[i]] = namespace
			if i > 0 && p.namespaces[i-1] != namespace {
				break // it is that one's own
			}
		}
	}
	return namespace
}

// chart returns the directory of a chart in the content, where kustomize would look for
// it.
func (p *planner) chart(at fieldLocation, c *types.HelmChart) (string, error) {
	home := types.HelmDefaultHome
	if g := at.k.typed.HelmGlobals; g != nil && g.ChartHome != "" {
		home = g.ChartHome
	}
	if !chartName.MatchString(c.Name) {
		return "", at.errorf("%.100q is not the name of a chart", c.Name)
	}
	if c.Version != "" && c.Repo != "" {
		home = path.Join(home, c.Name+"-"+c.Version)
	}
	dir, err := p.resolve(at, path.Join(home, c.Name))
	if err != nil {
		return "", err
	}
	if info, err := fs.Stat(p.content, dir); err == nil && info.IsDir() {
		return dir, nil
	}
	pull := c.Name + " --repo " + commandline.ShellWord(c.Repo)
	switch {
	case c.Repo == "":
		pull = commandline.ShellWord(c.Name)
	case strings.HasPrefix(c.Repo, "oci://"):
		pull = commandline.ShellWord(strings.TrimRight(c.Repo, "/") + "/" + c.Name)
	}
	if c.Version != "" {
		pull += " --version " + commandline.ShellWord(c.Version)
	}
	return "", at.errorf("chart %s is not in the content, and is not downloaded; helm pull %s --untar --untardir %s && %s",
		c.Name, pull, commandline.ShellWord(p.advice.Path(path.Dir(dir))), p.advice.Preview())
}

// chartValues merges the values of a chart as kustomize does: values of valuesFile with
// the inline ones, overridden by additionalValuesFiles.
func (p *planner) chartValues(at fieldLocation, c *types.HelmChart, dir string) (map[string]any, error) {
	values := map[string]any{}
	base := path.Join(dir, "values.yaml")
	if c.ValuesFile != "" {
		var err error
		if base, err = p.resolve(at, c.ValuesFile); err != nil {
			return nil, err
		}
	}
	file, err := p.valuesFile(at, base, c.ValuesFile == "")
	if err != nil {
		return nil, err
	}
	switch c.ValuesMerge {
	case "", "override":
		if c.ValuesFile != "" {
			merge(values, file)
		}
		merge(values, c.ValuesInline)
	case "merge":
		merge(values, c.ValuesInline)
		merge(values, file)
	case "replace":
		merge(values, c.ValuesInline)
	default:
		return nil, at.errorf("valuesMerge %.40q is none of merge, override and replace", c.ValuesMerge)
	}
	for _, name := range c.AdditionalValuesFiles {
		target, err := p.resolve(at, name)
		if err != nil {
			return nil, err
		}
		more, err := p.valuesFile(at, target, false)
		if err != nil {
			return nil, err
		}
		merge(values, more)
	}
	return values, nil
}

func (p *planner) valuesFile(at fieldLocation, name string, optional bool) (map[string]any, error) {
	if _, err := fs.Stat(p.content, name); err != nil && optional {
		return nil, nil
	} else if err != nil {
		return nil, missing(at, name, err)
	}
	data, err := format.ReadFile(p.content, name, maxValues)
	if err != nil {
		return nil, err
	}
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(docs) == 0 {
		return nil, nil
	}
	values, ok := docs[0].(map[string]any)
	if !ok || len(docs) > 1 {
		return nil, fmt.Errorf("%s: want one mapping", name)
	}
	return values, nil
}

// merge merges values into others: mappings are merged, all other values replaced.
func merge(into, from map[string]any) {
	for key, v := range from {
		below, isMap := v.(map[string]any)
		existing, was := into[key].(map[string]any)
		if !isMap {
			into[key] = v
			continue
		}
		if !was {
			existing = map[string]any{}
			into[key] = existing
		}
		merge(existing, below)
	}
}

// addRendered adds what a chart rendered to the build, a file for each of its templates.
func (p *planner) addRendered(k *kustomization, c *types.HelmChart, out *format.Output, dir string, i int) ([]any, error) {
	var names []any
	texts, numbered := map[string][]byte{}, map[string]string{}
	objects := out.Objects
	if !c.SkipHooks {
		objects = slices.Concat(objects, out.Hooks)
	}
	for _, o := range objects {
		if !c.IncludeCRDs && definitions.MatchString(o.Origin.File) || c.SkipHooks && o.Hook != nil || c.SkipTests && isTest(o.Body) {
			continue
		}
		if err := markGenerated(o.Body); err != nil {
			return nil, err
		}
		text, err := json.Marshal(o.Body)
		if err != nil {
			return nil, err
		}
		// kustomize takes fewer characters in names than templates may have.
		name, known := numbered[o.Origin.File]
		if !known {
			name = fmt.Sprintf("%s/%d/%d.yaml", chartsDir, i, len(names))
			numbered[o.Origin.File], names = name, append(names, name)
		}
		texts[name] = append(append(texts[name], text...), "\n---\n"...)
		p.build.rendered[path.Join(k.dir, name)] = path.Join(dir, o.Origin.File)
	}
	for name, text := range texts {
		if err := p.add(path.Join(k.dir, name), text); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// markGenerated marks an object so that kustomize leaves its namespace as the chart has it,
// and takes the mark off afterwards.
func markGenerated(body map[string]any) error {
	meta := preview.Map(body, "metadata")
	if meta == nil {
		return nil // kustomize says what is wrong with it
	}
	annotations, isMap := meta["annotations"].(map[string]any)
	if !isMap && meta["annotations"] != nil {
		return fmt.Errorf("%s: its annotations are no mapping", preview.RefOf(body).ID())
	}
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	annotations[konfig.HelmGeneratedAnnotation] = "true"
	return nil
}

// isTest reports whether an object is a hook for "helm test".
func isTest(body map[string]any) bool {
	events := preview.String(body, "metadata", "annotations", "helm.sh/hook")
	return slices.ContainsFunc(strings.Split(events, ","), func(event string) bool { return strings.HasPrefix(strings.TrimSpace(event), "test") })
}

// keepNotes keeps the notes about what a chart rendered, by their rule: the kustomization
// may give its objects other names.
func (p *planner) keepNotes(out *format.Output) {
	for _, n := range out.Notes {
		if n.Rule == rules.HookNotRun.Name || n.Rule == rules.HookKept.Name {
			continue // kustomize has no hooks: they are resources like the others
		}
		n.Text = n.Object + ": " + n.Text
		n.Object = "package/" + p.in.Info.Package
		j := slices.IndexFunc(p.build.notes, func(other preview.Note) bool { return other.Rule == n.Rule })
		if j < 0 {
			p.build.notes = append(p.build.notes, n)
			continue
		}
		p.build.notes[j].Text += "; " + n.Text
	}
}
