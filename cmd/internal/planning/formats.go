package planning

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/carvel"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/format/external"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/format/kustomize"
	"github.com/kubectl-operator/kubectl-operator/preview/format/plain"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// formatRow is one built-in format, with its name for --format.
type formatRow struct {
	name   string // as --format takes it
	format format.Format
}

// formats returns the built-in formats, in the order in which they are tried:
// the first that recognises the content is its format.
func formats() []formatRow {
	bundles, charts, manifests := registryv1.New(), helm.New(), plain.New()
	kustomizations := kustomize.NewWithCharts(charts)
	return []formatRow{
		{"carvel", carvel.New(bundles, charts, kustomizations, manifests)}, // it holds one of the others
		{"registryv1", bundles},
		{"helm", charts},
		{"kustomize", kustomizations},
		{plainName, manifests}, // anything with manifests is
	}
}

// plainName is the format of plain manifests, which recognises most content.
// Configured programs with file patterns are therefore tried before it.
const plainName = "plain"

// ContentOptions select a directory of the content, and its format.
type ContentOptions struct {
	Format string // empty is what the content looks like
	Path   string // within the content
}

// Formats returns the names of the built-in formats, in the order in which they are tried.
func Formats() []string {
	var names []string
	for _, b := range formats() {
		names = append(names, b.name)
	}
	return names
}

// FormatNames returns the built-in formats for messages and help.
func FormatNames() string { return strings.Join(Formats(), ", ") }

// builtinFormat returns the built-in format of a name, nil if there is none.
func builtinFormat(name string) format.Format {
	for _, b := range formats() {
		if b.name == name {
			return b.format
		}
	}
	return nil
}

// narrow restricts the content to its directory to; text is the reference as
// typed, for errors.
func (out *Resolution) narrow(to, text string) error {
	if to == "" {
		return nil
	}
	to = strings.TrimSuffix(strings.TrimPrefix(to, "./"), "/")
	if !fs.ValidPath(to) {
		return Usagef("--path %s: want a directory within the content, such as deploy/base", to)
	}
	if info, err := fs.Stat(out.content.FS, to); err != nil || !info.IsDir() {
		return fmt.Errorf("reading %s: it has no directory %s", text, to)
	}
	below, err := fs.Sub(out.content.FS, to)
	if err != nil {
		return fmt.Errorf("reading %s: %w", text, err)
	}
	content := *out.content.Content // others may hold the whole
	out.whole, out.at, content.FS = content.FS, to, below
	out.request.Path = to
	out.content.Content = &content
	return nil
}

// detect sets the format of the content: the one that the user named, else the first
// built-in one that recognises it, else a program from the user's configuration.
func (r *Resolver) detect(out *Resolution, want PlanRequest) error {
	if want.Format != "" {
		return r.forced(out, want)
	}
	for _, b := range formats() {
		if b.name == plainName {
			if found, err := r.configured(out, true); found || err != nil {
				return err
			}
		}
		info, err := b.format.Detect(out.content.FS)
		if err != nil {
			return fmt.Errorf("reading %s: %w", want.Text, err)
		}
		if info != nil {
			out.info, out.format = *info, b.format
			return nil
		}
	}
	if found, err := r.configured(out, false); found || err != nil {
		return err
	}
	return fmt.Errorf("reading %s: not a bundle: it is of none of the formats %s; --format NAME has a program read it", want.Text, FormatNames())
}

// configured sets the first configured format program that fits the content:
// with says, one whose file patterns match; without, one that has no patterns.
// found is false if there is none.
func (r *Resolver) configured(out *Resolution, says bool) (found bool, err error) {
	configured, err := r.env.Config()
	if err != nil {
		return false, err
	}
	for _, entry := range configured.Formats {
		if says == (len(entry.Files) > 0) && matches(out.content.FS, entry.Files) {
			return true, r.program(out, entry.Name, &entry)
		}
	}
	return false, nil
}

// forced sets the format that the user named for the content.
func (r *Resolver) forced(out *Resolution, want PlanRequest) error {
	out.request.Format = want.Format
	if f := builtinFormat(want.Format); f != nil {
		info, err := f.Detect(out.content.FS)
		if err != nil {
			return fmt.Errorf("reading %s: %w", want.Text, err)
		}
		if info == nil {
			return fmt.Errorf("reading %s: it is not of the format %s", want.Text, want.Format)
		}
		out.info, out.format = *info, f
		return nil
	}
	if !want.programs {
		return Usagef("format %q is not built in, and a request file cannot name a program; say --format %s yourself", want.Format, want.Format)
	}
	if !program.IsName(want.Format) {
		return Usagef("--format %s: want one of %s, or the NAME of a program: at most 42 of a-z, 0-9 and -", want.Format, FormatNames())
	}
	configured, err := r.env.Config()
	if err != nil {
		return err
	}
	for _, entry := range configured.Formats {
		if entry.Name == want.Format {
			return r.program(out, entry.Name, &entry)
		}
	}
	return r.program(out, want.Format, nil)
}

// matches reports whether a file of the content matches one of the patterns.
// Without patterns it is true.
func matches(content fs.FS, patterns []string) bool {
	for _, pattern := range patterns {
		if found, err := fs.Glob(content, pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return len(patterns) == 0
}

// program sets a format program as the format of the content; entry is its
// configuration.
func (r *Resolver) program(out *Resolution, name string, entry *config.Format) error {
	var pinned *programEntry
	if entry != nil {
		pinned = &programEntry{entry.Path, entry.SHA256}
	}
	p, err := r.env.program(program.Format, name, pinned)
	if err != nil {
		return err
	}
	f := external.New(p)
	info, err := f.Detect(out.content.FS)
	if err != nil {
		return err
	}
	out.info, out.format, out.tools = *info, f, append(out.tools, f.Source())
	return nil
}

// setDefaultName sets the package name of content that has none: the release
// name, else the last part of the reference.
func (out *Resolution) setDefaultName(want PlanRequest, reference ref.Reference) error {
	if out.info.Package != "" {
		return nil
	}
	if out.info.Package = cmp.Or(want.Name, defaultName(reference)); out.info.Package == "" {
		return Usagef("%s states no package name; add one: NAME after the reference", want.Text)
	}
	return nil
}

var (
	notInNames = lazyregexp.New(`[^a-z0-9]+`)
	archiveEnd = lazyregexp.New(`\.(tgz|tar|tar\.(gz|zst)|zip)$`)
)

// defaultName returns the last part of a reference, changed to be a valid label value.
func defaultName(r ref.Reference) string {
	last := archiveEnd.ReplaceAllString(strings.ToLower(r.BaseName()), "")
	last = strings.Trim(notInNames.ReplaceAllString(last, "-"), "-")
	if len(last) > 63 {
		last = strings.TrimRight(last[:63], "-")
	}
	return last
}

// RunFormatChild runs the sandboxed part of a format and exits, if this process was
// started for that. In any other process it returns at once. main must call it first.
func RunFormatChild() { child.Main(helm.Task(), kustomize.Task()) }
