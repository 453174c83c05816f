// Package external renders content with a program of the user's own: an
// executable kubectl-operator-format-NAME that reads a ResourceList of the KRM
// functions protocol (config.kubernetes.io/v1) from standard input and writes
// one to standard output.
//
// A program runs with the user's rights and is not sandboxed, so only the user names
// one, on the command line or in the configuration; content never does. The program that
// runs is a private copy of the bytes whose digest the plan seals.
package external

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// SourceKind is the kind of the source that pins a format program in a plan.
const SourceKind = "format"

// Format is a [format.Format] that an external program renders.
type Format struct{ program *program.Program }

var _ format.Format = (*Format)(nil)

// New returns the format that a program renders.
func New(p *program.Program) *Format { return &Format{program: p} }

// Source returns the program as a source of the plan with its digest, because the
// objects depend on the program as much as on the content.
func (f *Format) Source() preview.Source {
	return preview.Source{Kind: SourceKind, Reference: f.program.Name, Digest: f.program.Digest}
}

// Detect accepts any content, because the user chose the format. It returns no
// package name, since the program is not asked for one.
func (f *Format) Detect(fs.FS) (*format.Info, error) {
	return &format.Info{Format: "external/" + f.program.Name}, nil
}

// Render runs the program twice and uses the first answer. A field that differs between
// the answers, because the program reads a clock or a random source, gets a note.
func (f *Format) Render(ctx context.Context, in format.Input) (*format.Output, error) {
	input, err := encode(in)
	if err != nil {
		return nil, err
	}
	answer, err := ask(ctx, f.program, input)
	if err != nil {
		return nil, err
	}
	second, err := ask(ctx, f.program, input)
	if err != nil {
		return nil, fmt.Errorf("the second time, after it rendered once: %w", err)
	}
	about := "package/" + in.Info.Package
	out := &format.Output{
		Objects: answer.objects,
		Resolved: preview.Parameters{
			InstallMode: in.Params.InstallMode, WatchNamespaces: in.Params.WatchNamespaces,
			Certs: in.Params.Certs, KubeVersion: in.Params.KubeVersion,
		},
		Notes:     []preview.Note{rules.ExternalFormat.Note(about, rules.ExternalFormat.NoteText(f.program.File, f.program.Digest))},
		Isolation: "none: an external program, with an environment and a directory that are empty",
	}
	// One note of each rule: a finding goes by rule and object.
	if text := answer.text(warning); text != "" {
		out.Notes = append(out.Notes, rules.ExternalFormatWarning.Note(about, text))
	}
	if text := answer.text(info); text != "" {
		out.Notes = append(out.Notes, rules.ExternalFormatSays.Note(about, text))
	}
	out.Notes = append(out.Notes, format.NoteDifferences(answer.objects, second.objects, in.Release.Namespace)...)
	return out, nil
}
