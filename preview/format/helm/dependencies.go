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
	// Condition is the value that turns it on or off; empty for none.
	Condition string `json:"condition,omitempty"`
}

// key returns what [missingDependency.Chart] is of the dependencies of the dependency.
func (d missingDependency) key() string { return d.Chart + d.Name + "/" }

// inValues returns the path of a value of a subchart in the values of the chart itself.
func inValues(chart, value string) string { return strings.ReplaceAll(chart, "/", ".") + value }

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
			m := missingDependency{Chart: path, Name: d.Name, Version: d.Version}
			if first, _, _ := strings.Cut(d.Condition, ","); first != "" {
				m.Condition = inValues(path, strings.TrimSpace(first))
			}
			missing = append(missing, m)
		}
	}
	slices.SortFunc(missing, func(a, b missingDependency) int { return strings.Compare(a.String(), b.String()) })
	return missing
}

// chartPlace is where a chart lies: the chart itself, or a dependency that was added to it.
type chartPlace struct {
	content fs.FS       // with its Chart.yaml at the root
	at      string      // its directory in [renderer.whole]; empty for one that was fetched
	files   string      // the directory of its files in the chart, such as "charts/db-1.2.3/"
	parent  *chartPlace // nil for the chart itself
}

// below returns the path in the content that file:// leads to from the chart; false if
// the chart was fetched, or the path leads out.
func (p *chartPlace) below(local string) (string, bool) {
	target := path.Join(p.at, local)
	return target, p.at != "" && !path.IsAbs(local) && fs.ValidPath(target)
}

// whole returns the content with all that lies next to the chart, and the path of the
// directory in it that is rendered.
func (r *renderer) whole() (fs.FS, string) {
	if r.in.Whole != nil {
		return r.in.Whole, r.in.Path
	}
	return r.in.Content, "."
}

// addDependencies adds dependencies to charts/: from the content, where Chart.yaml says
// file://, else the very version that Chart.lock pins, fetched as its own source. So it
// does with the dependencies of what it added.
func (r *renderer) addDependencies(ctx context.Context, missing []missingDependency) error {
	if r.places == nil {
		root, err := chartRoot(r.in.Content)
		if err != nil {
			return err
		}
		content, err := fs.Sub(r.in.Content, root)
		if err != nil {
			return err
		}
		_, at := r.whole()
		r.places = map[string]*chartPlace{"": {content: content, at: path.Join(at, root)}}
	}
	for _, m := range missing {
		parent := r.places[m.Chart]
		if parent == nil || r.places[m.key()] != nil {
			return fmt.Errorf("%w; %s", &missingError{missing}, r.bring(m))
		}
		dependencies, err := chartlock.Read(parent.content)
		if err != nil {
			return fmt.Errorf("%w; %s", err, r.helm("update", parent))
		}
		d, err := dependencies.Find(m.Name)
		if err != nil {
			return err
		}
		if d.Condition != "" {
			d.Condition = inValues(m.Chart, d.Condition)
		}
		if r.places[m.key()], err = r.addDependency(ctx, d, parent); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) addDependency(ctx context.Context, d chartlock.Dependency, parent *chartPlace) (*chartPlace, error) {
	added, files, is, err := r.dependency(ctx, d, parent)
	if err != nil {
		return nil, err
	}
	if is.name != d.Name || !d.Allows(is.version) {
		return nil, fmt.Errorf("it depends on %s %s, and %s is %s %s; %s", d.Name, cmp.Or(d.Version, d.Range), d.Repository, is.name, is.version, r.helm("update", parent))
	}
	added.files = parent.files + path.Join("charts", d.Name+"-"+is.version) + "/"
	left := int64(maxChartBytes)
	for _, f := range r.request.Files {
		left -= int64(len(f.Data))
		if strings.HasPrefix(f.Name, added.files) {
			return added, nil // by another alias
		}
	}
	for _, f := range files {
		if left -= int64(len(f.Data)); left < 0 || len(r.request.Files) == maxChartFiles {
			return nil, fmt.Errorf("the chart and its dependencies have more than %d MiB or %d files", maxChartBytes>>20, maxChartFiles)
		}
		f.Name = added.files + f.Name
		r.request.Files = append(r.request.Files, f)
	}
	slices.SortFunc(r.request.Files, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return added, nil
}

// dependency returns where a dependency lies, its files, and what its Chart.yaml says that
// it is.
func (r *renderer) dependency(ctx context.Context, d chartlock.Dependency, parent *chartPlace) (*chartPlace, []file, metadata, error) {
	content, target, err := r.openDependency(ctx, d, parent)
	if err != nil {
		return nil, nil, metadata{}, err
	}
	at, err := chartRoot(content)
	if err != nil || at == "" {
		return nil, nil, metadata{}, fmt.Errorf("it depends on %s of %s, which is no chart: it has no %s", d.Name, d.Repository, chartFile)
	}
	is, err := readMetadata(content, path.Join(at, chartFile))
	if err != nil {
		return nil, nil, metadata{}, fmt.Errorf("its dependency %s: %w", d.Name, err)
	}
	files, err := readChart(content)
	if err != nil {
		return nil, nil, metadata{}, fmt.Errorf("its dependency %s: %w", d.Name, err)
	}
	added := &chartPlace{parent: parent}
	if target != "" {
		added.at = path.Join(target, at)
	}
	if added.content, err = fs.Sub(content, at); err != nil {
		return nil, nil, metadata{}, err
	}
	for above := parent; above != nil && added.at != ""; above = above.parent {
		if above.at == added.at {
			return nil, nil, metadata{}, fmt.Errorf("it depends on %s of %s, which depends on itself; take that out of its %s", d.Name, d.Repository, chartFile)
		}
	}
	return added, files, is, nil
}

// openDependency returns the content of a dependency: of the same content with the path in
// it, or fetched.
func (r *renderer) openDependency(ctx context.Context, d chartlock.Dependency, parent *chartPlace) (fs.FS, string, error) {
	if local, ok := d.Local(); ok {
		return r.beside(d, local, parent)
	}
	reference, err := d.Reference()
	if err != nil {
		return nil, "", fmt.Errorf("it depends on %s %s, which its charts/ does not have: %w; %s", d.Name, d.Range, err, r.helm("update", parent))
	}
	if r.in.Peers == nil {
		return nil, "", fmt.Errorf("it depends on %s %s, which its charts/ does not have and which is not fetched; %s", d.Name, d.Version, r.helm("build", parent))
	}
	content, source, err := r.in.Peers.Open(ctx, reference)
	if err != nil {
		return nil, "", fmt.Errorf("fetching its dependency %s %s: %w; %s", d.Name, d.Version, err, r.helm("build", parent))
	}
	r.sources = append(r.sources, source)
	return content, "", nil
}

// beside returns the directory of the content that a dependency's file:// leads to, and
// its path.
func (r *renderer) beside(d chartlock.Dependency, local string, parent *chartPlace) (fs.FS, string, error) {
	whole, _ := r.whole()
	target, inside := parent.below(local)
	if !inside {
		return nil, "", fmt.Errorf("it depends on %s of file://%s, which lies outside of the content; %s", d.Name, local, r.widen(d, local, parent))
	}
	if info, err := fs.Stat(whole, target); err != nil || !info.IsDir() {
		return nil, "", fmt.Errorf("it depends on %s of file://%s, which the content does not have; %s", d.Name, local, r.without(d, parent))
	}
	content, err := fs.Sub(whole, target)
	return content, target, err
}

// directory returns the directory of a chart, below the reference of the content; false
// for one that was fetched.
func (r *renderer) directory(p *chartPlace) (string, bool) {
	switch {
	case p.parent != nil:
		return p.at, p.at != ""
	case r.advice.InCopy() && r.in.Again == nil:
		return ".", true // a copy of a chart is its directory alone
	}
	return r.in.Path, true
}

// helm returns the command that brings the dependencies of the chart, or of one that was
// added to it, into its charts/ and previews it then. One that was fetched is brought in
// together with its parent.
func (r *renderer) helm(verb string, of *chartPlace) string {
	at, ok := r.directory(of)
	for ; !ok; at, ok = r.directory(of) {
		of = of.parent
	}
	return r.build(verb, at)
}

func (r *renderer) build(verb, at string) string {
	command := commandline.Join("helm", "dependency", verb, r.advice.Path(at)) + " && " + r.advice.Preview()
	if r.advice.InCopy() {
		return "in a copy of it: " + command
	}
	return command
}

// bring returns the command that previews the chart where one in the charts/ of another
// lacks a dependency: with it, if it is a directory, else without it.
func (r *renderer) bring(m missingDependency) string {
	chart, below := m.Chart, ""
	for r.places[chart] == nil {
		above, name := path.Split(strings.TrimSuffix(chart, "/"))
		chart, below = above, path.Join("charts", name, below)
	}
	parent := r.places[chart]
	info, err := fs.Stat(parent.content, path.Join(".", below))
	at, ok := r.directory(parent)
	switch isDirectory := err == nil && info.IsDir(); {
	case isDirectory && ok:
		return r.build("build", path.Join(at, below))
	case m.Condition != "":
		return "leave it out: " + r.advice.PreviewWith("--set", m.Condition+"=false")
	}
	return r.helm("update", parent)
}

// widen returns the command that previews a directory which holds the chart and what it
// refers to, and what helps where there is none: only the content is known here.
func (r *renderer) widen(d chartlock.Dependency, local string, parent *chartPlace) string {
	if parent.parent != nil {
		return r.without(d, parent)
	}
	place := path.Join(r.in.Source.Reference, r.in.Path)
	wide, known := r.advice.PreviewWider(place, local, "")
	if !known || path.IsAbs(local) {
		return r.without(d, parent)
	}
	return fmt.Sprintf("%s; or, if %s is there: %s", r.without(d, parent), commandline.Path(path.Join(place, local)), wide)
}

// without returns the command that previews the chart where nothing has a dependency that
// lies next to it: without it if a value turns it off, else with a copy of it in charts/.
func (r *renderer) without(d chartlock.Dependency, parent *chartPlace) string {
	if d.Condition != "" {
		return "leave it out: " + r.advice.PreviewWith("--set", d.Condition+"=false")
	}
	at, ok := r.directory(parent)
	if !ok {
		return r.helm("build", parent)
	}
	charts := r.advice.Path(path.Join(at, "charts"))
	command := commandline.Join("mkdir", "-p", charts) + " && " + commandline.Join("cp", "-r", "CHART", charts+"/"+d.Name) + " && " + r.advice.Preview()
	if r.advice.InCopy() {
		return "in a copy of it, with the directory of that chart as CHART: " + command
	}
	return "with the directory of that chart as CHART: " + command
}
