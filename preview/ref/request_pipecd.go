package ref

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// The directories of content that is a chart and the directory of the configuration,
// which has its value files.
const (
	pipecdChart = "chart"
	pipecdFiles = "application"
)

// pipecdNamespace is where objects go that name no namespace, in an application that names
// none: PipeCD runs kubectl without --namespace then, which takes the context's.
const pipecdNamespace = "default"

// pipecdApplication reads the configuration of an application of PipeCD.
func (r *reader) pipecdApplication(f *strictReader) {
	app := pipecd.Read(f.At("spec"), r.asked.Kind)
	if f.Failed() {
		return
	}
	r.Release, r.noAnnotations = app.Name, true
	if app.Own.Set() {
		r.Namespace = app.Own.At("namespace").Text()
		r.ownContent(app.Own, "spec", "plugins", pipecd.Plugin)
		for i := range r.Sources {
			r.Sources[i].Confined = true
		}
		return
	}
	r.Namespace, r.OneNamespace = cmp.Or(app.Namespace, pipecdNamespace), app.Namespace != ""
	if r.OneNamespace && !app.CreatesNamespace && app.Namespace != pipecdNamespace { // which every cluster has
		r.note(rules.RequestNamespaceCreated, app.Namespace)
	}
	if len(app.Stages) > 0 {
		r.note(rules.RequestStagesNotRun, strings.Join(app.Stages, ", "))
	}
	if len(app.Tools) > 0 {
		r.note(rules.RequestToolVersion, strings.Join(app.Tools, ", "))
	}
	in := app.Input
	if in.Chart != nil {
		r.pipecdChart(in.Chart)
		return
	}
	r.pipecdDirectory(in)
}

// beside adds the directory of the request file as a source.
func (r *reader) beside() *RequestSource {
	r.Sources = append(r.Sources, RequestSource{Reference: Reference{Kind: KindDirectory, Text: "./", Path: "./"}, Confined: true})
	r.pinEach(nil)
	return &r.Sources[len(r.Sources)-1]
}

// pipecdDirectory reads an application that is manifests, or a kustomization.
func (r *reader) pipecdDirectory(in *pipecd.Input) {
	r.beside()
	r.Path, r.Select = cleanSubdir(in.Dir), in.Files
}

// pipecdChart reads an application that is a chart: of the working tree, of a git
// repository, or of a registry.
func (r *reader) pipecdChart(c *pipecd.Chart) {
	r.Format, r.Path, r.NoHooks = "helm", pipecdChart, true
	if c.ReleaseName != "" {
		r.Release = c.ReleaseName
	}
	switch address := c.Repository.Text(); {
	case c.Git.Text() != "":
		r.remote(c.Git, gitText(c.Git, c.Git.Text(), c.Path.Text(), c.Ref.Text()))
		r.pinEach(func(p Pinned, i int) edit { return r.set(p.commit(i), keysOf(c.Ref.Path)...) })
	case strings.HasPrefix(address, "oci://"):
		r.remote(c.Repository, chartImage(strings.TrimRight(address, "/")+"/"+c.Name.Need(), c.Version.Text()))
		r.pinEach(func(p Pinned, _ int) edit { return r.set(p.Version, keysOf(c.Version.Path)...) })
	case address != "":
		c.Repository.Fail("%q is a repository that the piped knows by its own configuration; give the chart by itself, as chart+https://HOST/%s?version=%s", clip(address), clip(c.Name.Text()), clip(c.Version.Text()))
		return
	default:
		local := c.Path.Text()
		if !strings.HasPrefix(local, "./") && !strings.HasPrefix(local, "../") {
			local = "./" + local
		}
		if s := r.source(c.Path, local); s.Reference.Kind == KindDirectory || s.Reference.Kind == KindArchive {
			s.Confined = true
		}
		r.pinEach(nil)
	}
	r.Sources[0].Destination = pipecdChart
	r.KubeVersion, r.APIVersions = c.KubeVersion, c.APIVersions
	for _, key := range slices.Sorted(maps.Keys(c.SetValues)) {
		r.Set = append(r.Set, key+"="+c.SetValues[key])
	}
	for _, name := range c.ValueFiles {
		r.ValuesFiles = append(r.ValuesFiles, path.Join(pipecdFiles, name))
	}
	r.FileValues = map[string]string{}
	for key, name := range c.SetFiles {
		r.FileValues[key] = path.Join(pipecdFiles, name)
	}
	if len(r.ValuesFiles)+len(r.FileValues) > 0 {
		r.beside().Destination = pipecdFiles
	}
}

// keysOf returns the keys of a field's path, which has no lists.
func keysOf(field string) []any {
	var out []any
	for key := range strings.SplitSeq(field, ".") {
		out = append(out, key)
	}
	return out
}
