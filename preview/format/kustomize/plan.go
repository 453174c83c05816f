package kustomize

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// Limits on what one build reads.
const (
	maxBuildFiles = 5000
	maxBuildBytes = 64 << 20
	maxLevels     = 32 // of kustomizations that refer to others
)

// build is everything that a build reads: its kustomizations as JSON, and the
// files they refer to, by their path in the content.
type build struct {
	Root  string            `json:"root"`
	Files map[string][]byte `json:"files"`
	// Variables are substituted in what is built; see [substitute].
	Variables map[string]string `json:"variables,omitempty"`

	file       string            // the kustomization at Root
	keepOrigin bool              // it asks for origin annotations itself
	rendered   map[string]string // files that charts rendered → the chart's files
	sources    []preview.Source  // that were fetched
	notes      []preview.Note    // of rendering charts
	texts      []format.Text     // that charts print
	// explain adds to an error of the build the command that would work.
	explain func(error) error
}

// planner follows the references of kustomizations within the content, and to
// directories of git repositories.
type planner struct {
	ctx     context.Context
	in      format.Input
	charts  format.Format // renders charts; nil where none may be
	content mounted
	advice  *format.Advice
	build   *build
	bytes   int64
	done    map[string]bool
	stack   []string
	// namespaces are those that the kustomizations of stack pass on to charts: their own,
	// or those that they got.
	namespaces []string
	// inherited has, by directory, the namespace that a kustomization passed on to charts
	// without one, in the directory or below it.
	inherited map[string]string
}

// plan returns what the kustomization in the directory root reads. A reference to
// anything but a file of the content, or a directory of a git repository by its commit,
// is an error that names the field.
func plan(ctx context.Context, in format.Input, charts format.Format, content fs.FS, root string) (*build, error) {
	p := &planner{
		ctx: ctx, in: in, charts: charts, advice: in.Advise(".", root), content: mounted{FS: content, at: map[string]fs.FS{}}, done: map[string]bool{}, inherited: map[string]string{},
		build: &build{Root: root, Files: map[string][]byte{}, rendered: map[string]string{}},
	}
	k, err := p.loaded(nil, root)
	if err != nil {
		return nil, p.advice.Complete(err)
	}
	if k == nil {
		own := &kustomization{file: path.Join(root, konfig.DefaultKustomizationFileName()), dir: root}
		return nil, p.advice.Complete(fmt.Errorf("%s has no kustomization; %s", root, p.listing(own, nil, root)))
	}
	p.build.file = k.file
	p.build.keepOrigin = slices.Contains(k.typed.BuildMetadata, types.OriginAnnotations)
	if !p.build.keepOrigin {
		wanted := []any{types.OriginAnnotations} // taken off again afterwards
		for _, option := range k.typed.BuildMetadata {
			wanted = append(wanted, option)
		}
		k.fields["buildMetadata"] = wanted
	}
	if err := p.follow(k); err != nil {
		return nil, p.advice.Complete(err)
	}
	p.build.explain = func(err error) error { return p.advice.Complete(p.advised(k, err)) }
	return p.build, nil
}

// fieldLocation is a field of a kustomization, for errors.
type fieldLocation struct {
	k     *kustomization
	field string
}

func (at fieldLocation) errorf(text string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", at.k.file, at.field, fmt.Errorf(text, args...))
}

func (at fieldLocation) index(i int, more string) fieldLocation {
	return fieldLocation{at.k, fmt.Sprintf("%s[%d]%s", at.field, i, more)}
}

// follow adds a kustomization and everything it refers to to the build.
func (p *planner) follow(k *kustomization) error {
	passed := ""
	if len(p.namespaces) > 0 {
		passed = p.namespaces[len(p.namespaces)-1]
	}
	if p.done[k.dir] {
		if before, used := p.inherited[k.dir]; used && before != passed {
			return fieldLocation{k, "helmCharts"}.errorf("kustomizations with the namespaces %.63q and %.63q refer to it, and its charts are rendered for one; give them a namespace", before, passed)
		}
		return nil
	}
	p.done[k.dir] = true
	p.stack, p.namespaces = append(p.stack, k.dir), append(p.namespaces, cmp.Or(k.typed.Namespace, passed))
	defer func() {
		p.stack, p.namespaces = p.stack[:len(p.stack)-1], p.namespaces[:len(p.namespaces)-1]
	}()
	if len(p.stack) > maxLevels {
		return p.advised(k, fmt.Errorf("%s: kustomizations refer to each other over more than %d levels", k.file, maxLevels))
	}
	if slices.Contains(k.typed.BuildMetadata, types.ManagedByLabelOption) {
		return p.advised(k, fieldLocation{k, "buildMetadata"}.errorf("%s would write the version of this program into every object", types.ManagedByLabelOption))
	}
	for _, step := range []func(*kustomization) error{p.bases, p.generated, p.patched, p.configured, p.plugins, p.inflated} {
		if err := step(k); err != nil {
			return p.advised(k, err)
		}
	}
	text, err := json.Marshal(k.fields) // with what the steps put in place of references
	if err != nil {
		return err
	}
	return p.add(k.file, text)
}

// bases follows the references of the fields resources, bases and components.
func (p *planner) bases(k *kustomization) error {
	for i, name := range k.typed.Resources { // has the bases' at its end
		field := "resources"
		if first := len(k.typed.Resources) - len(list(k.fields["bases"])); i >= first {
			field, i = "bases", i-first
		}
		if err := p.entry(k, field, i, name, true); err != nil {
			return err
		}
	}
	for i, name := range k.typed.Components {
		if err := p.entry(k, "components", i, name, false); err != nil {
			return err
		}
	}
	return nil
}

// entry follows entry i of a list of bases. A remote one is replaced by its local
// directory.
func (p *planner) entry(k *kustomization, field string, i int, name string, mayBeFile bool) error {
	at := fieldLocation{k, field}.index(i, "")
	if !remote(name) {
		target, err := p.resolve(at, name)
		if err != nil {
			return err
		}
		if k.repo != nil && !p.content.holds(target) {
			if err := p.reach(k.repo, target); err != nil {
				return at.errorf("%q of the git repository %s cannot be read: %w", name, k.repo.base.Name(), err)
			}
		}
		return p.base(at, k.repo, name, target, mayBeFile)
	}
	target, repo, err := p.remoteBase(at, name)
	if err != nil {
		return err
	}
	if err := p.base(at, repo, name, target, mayBeFile); err != nil {
		return err
	}
	list(k.fields[field])[i], err = relative(k, target)
	return err
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// base follows a reference to a directory with a kustomization or, if allowed, to
// a file. repo is the git repository that has it; nil for the content.
func (p *planner) base(at fieldLocation, repo *repository, name, target string, mayBeFile bool) error {
	info, err := fs.Stat(p.content, target)
	if err != nil {
		return missing(at, name, err)
	}
	if !info.IsDir() {
		if !mayBeFile {
			return at.errorf("%q is a file; a component is a directory", name)
		}
		return p.file(at, name)
	}
	if slices.Contains(p.stack, target) {
		return at.errorf("%q leads back to where it is referred from", name)
	}
	k, err := p.loaded(repo, target)
	if err != nil {
		return err
	}
	if k == nil {
		return at.errorf("the directory %q has no kustomization; %s", name, p.listing(at.k, repo, target))
	}
	if k.component() == mayBeFile {
		return at.errorf("%q is of kind %s; components: takes components and resources: takes kustomizations", name, k.typed.Kind)
	}
	return p.follow(k)
}

// generated follows the references to files in configMapGenerator and secretGenerator.
func (p *planner) generated(k *kustomization) error {
	for i, g := range k.typed.ConfigMapGenerator {
		if err := p.sources(fieldLocation{k, "configMapGenerator"}.index(i, ""), g.KvPairSources); err != nil {
			return err
		}
	}
	for i, g := range k.typed.SecretGenerator {
		if err := p.sources(fieldLocation{k, "secretGenerator"}.index(i, ""), g.KvPairSources); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) sources(at fieldLocation, from types.KvPairSources) error {
	for _, source := range from.FileSources {
		name := source
		if key, file, keyed := strings.Cut(source, "="); keyed && !remote(source[:len(key)]) {
			name = file
		}
		if _, err := p.load(fieldLocation{at.k, at.field + ".files"}, name); err != nil {
			return err
		}
	}
	if from.EnvSource != "" {
		from.EnvSources = append(from.EnvSources, from.EnvSource)
	}
	for _, name := range from.EnvSources {
		if _, err := p.load(fieldLocation{at.k, at.field + ".envs"}, name); err != nil {
			return err
		}
	}
	return nil
}

// patched follows the references to files in patches and replacements.
func (p *planner) patched(k *kustomization) error {
	for i, patch := range k.typed.Patches {
		if err := p.optional(fieldLocation{k, "patches"}.index(i, ".path"), patch.Path); err != nil {
			return err
		}
	}
	for i, patch := range k.typed.PatchesJson6902 { //nolint:staticcheck // deprecated, and still built
		if err := p.optional(fieldLocation{k, "patchesJson6902"}.index(i, ".path"), patch.Path); err != nil {
			return err
		}
	}
	for i, patch := range k.typed.PatchesStrategicMerge { //nolint:staticcheck // deprecated, and still built
		if err := p.fileOrInline(fieldLocation{k, "patchesStrategicMerge"}.index(i, ""), string(patch)); err != nil {
			return err
		}
	}
	for i, r := range k.typed.Replacements {
		if err := p.optional(fieldLocation{k, "replacements"}.index(i, ".path"), r.Path); err != nil {
			return err
		}
	}
	return nil
}

// configured follows the references to files in crds, configurations and openapi.
func (p *planner) configured(k *kustomization) error {
	for i, name := range k.typed.Crds {
		if err := p.file(fieldLocation{k, "crds"}.index(i, ""), name); err != nil {
			return err
		}
	}
	for i, name := range k.typed.Configurations {
		if err := p.file(fieldLocation{k, "configurations"}.index(i, ""), name); err != nil {
			return err
		}
	}
	return p.optional(fieldLocation{k, "openapi.path"}, k.typed.OpenAPI["path"])
}

func (p *planner) optional(at fieldLocation, name string) error {
	if name == "" {
		return nil
	}
	return p.file(at, name)
}

// fileOrInline follows a reference to a file, unless the field has the file's text
// itself.
func (p *planner) fileOrInline(at fieldLocation, text string) error {
	if inline(text) {
		return nil
	}
	return p.file(at, text)
}

// inline reports whether a field has text in place of a file name: several lines, or
// JSON.
func inline(text string) bool {
	return strings.Contains(text, "\n") || strings.HasPrefix(strings.TrimSpace(text), "{")
}

// file adds a YAML or JSON file to the build. One with aliases is decoded as a check,
// because kustomize does not limit how far they expand.
func (p *planner) file(at fieldLocation, name string) error {
	data, err := p.load(at, name)
	if err != nil || !bytes.Contains(data, []byte("&")) || !bytes.Contains(data, []byte("*")) {
		return err
	}
	if _, err := preview.Decode(data); err != nil {
		return fmt.Errorf("%s: %w", path.Join(at.k.dir, name), err)
	}
	return nil
}

// load adds a file of the content to the build and returns its bytes. As in kustomize,
// it must be at or below the directory of its kustomization.
func (p *planner) load(at fieldLocation, name string) ([]byte, error) {
	target, err := p.resolve(at, name)
	if err != nil {
		return nil, err
	}
	if at.k.dir != "." && !strings.HasPrefix(target, at.k.dir+"/") {
		return nil, at.errorf("%q lies outside of the directory of its kustomization; kustomize reads only directories from there", name)
	}
	if data, known := p.build.Files[target]; known {
		return data, nil
	}
	info, err := fs.Stat(p.content, target)
	if err != nil {
		return nil, missing(at, name, err)
	}
	if info.IsDir() {
		return nil, at.errorf("%q is a directory where a file is wanted", name)
	}
	data, err := format.ReadFile(p.content, target, maxBuildBytes-p.bytes)
	if err != nil {
		return nil, err
	}
	return data, p.add(target, data)
}

func (p *planner) add(name string, data []byte) error {
	p.bytes += int64(len(data))
	p.build.Files[name] = data
	if len(p.build.Files) > maxBuildFiles || p.bytes > maxBuildBytes {
		return unbuiltError{fmt.Errorf("%s: a build reads at most %d files and %d MiB", p.build.file, maxBuildFiles, maxBuildBytes>>20), byKubectl}
	}
	return nil
}

func missing(at fieldLocation, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return at.errorf("%q does not exist in the content", name)
	}
	return at.errorf("%q: %v", name, err)
}

// resolve returns the path in the content that a reference of a kustomization means. A
// remote or absolute one, or one outside the content, is an error.
func (p *planner) resolve(at fieldLocation, name string) (string, error) {
	if remote(name) {
		return "", at.errorf("%q is remote, and nothing pins it; %s", name, p.vendored(at, name))
	}
	if path.IsAbs(name) {
		return "", at.errorf("%q is an absolute path; only files of the content itself are read", name)
	}
	target := path.Join(at.k.dir, name)
	if repo := at.k.repo; repo != nil && target != repo.dir && !strings.HasPrefix(target, repo.dir+"/") {
		return "", at.errorf("%q lies outside of its git repository", name)
	}
	if !fs.ValidPath(target) {
		return "", at.errorf("%q lies outside of the content; %s", name, p.widened(target))
	}
	return target, nil
}

// widened returns the command that previews a directory which holds the build and a path
// above its content.
func (p *planner) widened(target string) string {
	wide, known := p.advice.PreviewWider(p.in.Source.Reference, target, p.build.Root)
	if !known {
		return "name a directory that holds both, and this one with --path"
	}
	return "name a directory that holds both: " + wide
}
