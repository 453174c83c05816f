package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
)

// reportFlags are the flags that write the same plans to files, in other output
// forms than the printed one. Two commands would make two plans, of a cluster
// that may have changed between them.
type reportFlags struct {
	texts []string // FORM=FILE
	names []string // of forms that they take
	files []reportFile
}

// reportFile is an output form, and the file that the plans are written to in it.
type reportFile struct{ form, path string }

func (f *reportFlags) add(flags *pflag.FlagSet, scope report.Scope) {
	f.names = report.Names(scope)
	flags.StringArrayVar(&f.texts, "report", nil, "also write the plan in another form to a file, as FORM=FILE, such as sarif=review.sarif; FORM as for -o (repeatable)")
}

func (f *reportFlags) check() error {
	f.files = nil
	for _, text := range f.texts {
		form, path, ok := strings.Cut(text, "=")
		switch {
		case !ok || path == "":
			return usagef("--report %s: want FORM=FILE, such as sarif=review.sarif", text)
		case !slices.Contains(f.names, form):
			return usagef("--report %s: want %s before the =", text, report.OneOf(f.names))
		case slices.ContainsFunc(f.files, func(r reportFile) bool { return filepath.Clean(r.path) == filepath.Clean(path) }):
			return usagef("--report %s: another --report names the same file", text)
		}
		f.files = append(f.files, reportFile{form, path})
	}
	return nil
}

// single reports whether one of the output forms can have only one plan.
func (f *reportFlags) single() bool {
	return slices.ContainsFunc(f.files, func(r reportFile) bool {
		form, _ := report.FormOf(r.form)
		return form.Single()
	})
}

// save writes each of the files as a whole, as if to a pipe: without colour,
// and not wrapped to a terminal's width.
func (f *reportFlags) save(ctx context.Context, p *session, all []reviewedPlan) error {
	for _, file := range f.files {
		var text bytes.Buffer
		err := p.writeAll(ctx, all, file.form, &text, func(ctx context.Context, plan *preview.Plan, o report.Options) error {
			o.ASCII = p.app.streams.ASCII()
			part, err := interruptible(ctx, func() (*bytes.Buffer, error) {
				var part bytes.Buffer
				return &part, report.Write(&part, plan, o)
			})
			if err == nil {
				_, err = part.WriteTo(&text)
			}
			return err
		})
		if err == nil {
			err = atomicfile.Write(file.path, text.Bytes(), 0o644)
		}
		if err != nil {
			return fmt.Errorf("writing --report %s=%s: %w", file.form, file.path, err)
		}
	}
	return nil
}
