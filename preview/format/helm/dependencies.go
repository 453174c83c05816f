package helm

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/format/chartlock"
)

// missingDependency is a dependency that is enabled, and that charts/ does not have.
type missingDependency struct {
	Chart   string `json:"chart"` // names of the subcharts that lead to what depends on it, each with "/"; empty for the chart itself
	Name    string `json:"name"`  // or its alias
	Version string `json:"version"`
}

func (d missingDependency) String() string {
	return strings.TrimSpace(d.Chart + d.Name + " " + d.Version)
}

// missingError is the error for a chart whose dependencies are not all in charts/.
type missingError struct{ list []missingDependency }

func (e *missingError) Error() string {
	var names []string
	for _, d := range e.list {
		names = append(names, d.String())
	}
	return fmt.Sprintf("it depends on %s, which its charts/ does not have", strings.Join(names, ", "))
}

// missingDependencies returns the dependencies that are enabled and not in charts/,
// sorted.
func missingDependencies(c *chart.Chart, path string) []missingDependency {
	brought := map[string]bool{}
	var missing []missingDependency
	for _, d := range c.Dependencies() {
		brought[d.Name()] = true
		missing = append(missing, missingDependencies(d, path+d.Name()+"/")...)
	}
	for _, d := range c.Metadata.Dependencies {
		if d != nil && !brought[d.Name] {
			missing = append(missing, missingDependency{Chart: path, Name: d.Name, Version: d.Version})
		}
	}
	slices.SortFunc(missing, func(a, b missingDependency) int { return strings.Compare(a.String(), b.String()) })
	return missing
}

// addDependencies adds dependencies to charts/: from the content, where Chart.yaml says
// file://, else the very version that Chart.lock pins, fetched as a source of its own.
func (r *renderer) addDependencies(ctx context.Context, missing []missingDependency) error {
	root, err := chartRoot(r.in.Content)
	if err != nil {
		return err
	}
	content, err := fs.Sub(r.in.Content, root)
	if err != nil {
		return err
	}
	dependencies, err := chartlock.Read(content)
	if err != nil {
		return fmt.Errorf("%w; %s", err, r.helm("update"))
	}
	for _, m := range missing {
		if m.Chart != "" || r.added[m.Name] {
			return fmt.Errorf("%w; %s", &missingError{missing}, r.helm("build", strings.Split(m.Chart, "/")...))
		}
		d, err := dependencies.Find(m.Name)
		if err != nil {
			return err
		}
		if err := r.addDependency(ctx, d, root); err != nil {
			return err
		}
		if r.added == nil {
			r.added = map[string]bool{}
		}
		r.added[m.Name] = true
	}
	return nil
}

func (r *renderer) addDependency(ctx context.Context, d chartlock.Dependency, root string) error {
	files, is, err := r.dependency(ctx, d, root)
	if err != nil {
		return err
	}
	if is.name != d.Name || !d.Allows(is.version) {
		return fmt.Errorf("it depends on %s %s, and %s is %s %s; %s", d.Name, cmp.Or(d.Version, d.Range), d.Repository, is.name, is.version, r.helm("update"))
	}
	dir := path.Join("charts", d.Name+"-"+is.version) + "/"
	left := int64(maxChartBytes)
	for _, f := range r.request.Files {
		left -= int64(len(f.Data))
		if strings.HasPrefix(f.Name, dir) {
			return nil // by another alias
		}
	}
	for _, f := range files {
		if left -= int64(len(f.Data)); left < 0 || len(r.request.Files) == maxChartFiles {
			return fmt.Errorf("the chart and its dependencies have more than %d MiB or %d files", maxChartBytes>>20, maxChartFiles)
		}
		f.Name = dir + f.Name
		r.request.Files = append(r.request.Files, f)
	}
	slices.SortFunc(r.request.Files, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// dependency returns the files of a dependency, and what its Chart.yaml says that it is.
func (r *renderer) dependency(ctx context.Context, d chartlock.Dependency, root string) ([]file, metadata, error) {
	content, err := r.openDependency(ctx, d, root)
	if err != nil {
		return nil, metadata{}, err
	}
	at, err := chartRoot(content)
	if err != nil || at == "" {
		return nil, metadata{}, fmt.Errorf("it depends on %s of %s, which is no chart: it has no %s", d.Name, d.Repository, chartFile)
	}
	is, err := readMetadata(content, path.Join(at, chartFile))
	if err != nil {
		return nil, metadata{}, fmt.Errorf("its dependency %s: %w", d.Name, err)
	}
	files, err := readChart(content)
	if err != nil {
		return nil, metadata{}, fmt.Errorf("its dependency %s: %w", d.Name, err)
	}
	return files, is, nil
}

// openDependency returns the content of a dependency: of the same content, or fetched.
func (r *renderer) openDependency(ctx context.Context, d chartlock.Dependency, root string) (fs.FS, error) {
	if local, ok := d.Local(); ok {
		return r.beside(d, local, root)
	}
	reference, err := d.Reference()
	if err != nil {
		return nil, fmt.Errorf("it depends on %s %s, which its charts/ does not have: %w; %s", d.Name, d.Range, err, r.helm("update"))
	}
	if r.in.Peers == nil {
		return nil, fmt.Errorf("it depends on %s %s, which its charts/ does not have and which is not fetched; %s", d.Name, d.Version, r.helm("build"))
	}
	content, source, err := r.in.Peers.Open(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("fetching its dependency %s %s: %w; %s", d.Name, d.Version, err, r.helm("build"))
	}
	r.sources = append(r.sources, source)
	return content, nil
}

// beside returns the directory of the content to which a dependency leads by file://.
func (r *renderer) beside(d chartlock.Dependency, local, root string) (fs.FS, error) {
	whole, target := r.in.Content, path.Join(root, local)
	if r.in.Whole != nil {
		whole, target = r.in.Whole, path.Join(r.in.Path, root, local)
	}
	if path.IsAbs(local) || !fs.ValidPath(target) {
		return nil, fmt.Errorf("it depends on %s of file://%s, which lies outside of the content; %s", d.Name, local, r.widen(d, local))
	}
	if info, err := fs.Stat(whole, target); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("it depends on %s of file://%s, which the content does not have; %s", d.Name, local, r.without(d))
	}
	return fs.Sub(whole, target)
}

// helm returns the command that brings the dependencies of the chart, or of a subchart,
// into its charts/ and previews it then.
func (r *renderer) helm(verb string, below ...string) string {
	at := r.in.Path
	if r.advice.InCopy() && r.in.Again == nil {
		at = "." // a copy of a chart is its directory alone
	}
	for _, name := range below {
		if name != "" {
			at = path.Join(at, "charts", name)
		}
	}
	command := commandline.Join("helm", "dependency", verb, r.advice.Path(at)) + " && " + r.advice.Preview()
	if r.advice.InCopy() {
		return "in a copy of it: " + command
	}
	return command
}

// widen returns the command that previews a directory which holds the chart and what it
// refers to, and what helps where there is none: only the content is known here.
func (r *renderer) widen(d chartlock.Dependency, local string) string {
	place := path.Join(r.in.Source.Reference, r.in.Path)
	ups := 0
	for part := range strings.SplitSeq(local, "/") {
		if part == ".." {
			ups++
		}
	}
	wide, known := r.advice.PreviewWider(place, ups, "")
	if !known || path.IsAbs(local) {
		return r.without(d)
	}
	return fmt.Sprintf("%s; or, if %s is there: %s", r.without(d), commandline.Path(path.Join(place, local)), wide)
}

// without returns the command that previews the chart where nothing has a dependency that
// lies beside it: without it if a value turns it off, else with a copy of it in charts/.
func (r *renderer) without(d chartlock.Dependency) string {
	if d.Condition != "" {
		return "leave it out: " + r.advice.PreviewWith("--set", d.Condition+"=false")
	}
	at := r.in.Path
	if r.advice.InCopy() && r.in.Again == nil {
		at = "."
	}
	charts := r.advice.Path(path.Join(at, "charts"))
	command := commandline.Join("mkdir", "-p", charts) + " && " + commandline.Join("cp", "-r", "CHART", charts+"/"+d.Name) + " && " + r.advice.Preview()
	if r.advice.InCopy() {
		return "in a copy of it, with the directory of that chart as CHART: " + command
	}
	return "with the directory of that chart as CHART: " + command
}
