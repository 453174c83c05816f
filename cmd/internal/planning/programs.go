package planning

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview/program"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// programEntry is what the configuration says of a program: where it is, empty for the
// PATH, and its digest.
type programEntry struct{ path, sha256 string }

// program opens a program by its name: the one that the configuration pins, whose digest
// is then compared, else that of the PATH.
func (e Environment) program(kind program.Kind, name string, pinned *programEntry) (*program.Program, error) {
	var at string
	if pinned != nil {
		at = pinned.path
	}
	if at == "" {
		var err error
		if at, err = kind.Find(name, e.Getenv("PATH")); err != nil {
			return nil, err
		}
	}
	p, err := kind.Open(name, at, kind.Limits())
	if err != nil || pinned == nil {
		return p, err
	}
	if err := p.Hold(pinned.sha256); err != nil {
		return nil, Refuse(err.Error(), fmt.Sprintf("if you updated the program yourself, change %ss in the configuration", kind))
	}
	return p, nil
}

// sourceProgram opens the program of a source.
func (r *Resolver) sourceProgram(name string) (*program.Program, error) {
	configured, err := r.env.Config()
	if err != nil {
		return nil, err
	}
	var pinned *programEntry
	for _, entry := range configured.Sources {
		if entry.Name == name {
			pinned = &programEntry{entry.Path, entry.SHA256}
		}
	}
	p, err := r.env.program(program.Source, name, pinned)
	if err == nil {
		r.progress(p.Announcement())
	}
	return p, err
}

// forTyped returns a resolver for a reference that the user typed: it runs the program
// that the reference names. For any other it is r.
func (r *Resolver) forTyped(reference ref.Reference, want PlanRequest) (*Resolver, error) {
	if reference.Kind != ref.KindProgram {
		return r, nil
	}
	if want.File != nil {
		return nil, Usagef("%s: %s: a program fetches it, and a request file cannot name one; name it on the command line, or a source that is built in", want.File.Object, reference.Text)
	}
	with := *r
	with.fetcher = r.fetcher.WithPrograms(r.sourceProgram)
	if r.cached != nil {
		with.cached = r.cached.WithPrograms(r.sourceProgram)
	}
	return &with, nil
}

// noteProgram adds the program that fetched the content, if one did, to what the plan
// pins, and says so.
func (out *Resolution) noteProgram() {
	if by := out.content.Program; by != nil {
		out.tools = append(out.tools, *by)
		out.note(rules.ExternalSource, rules.ExternalSource.NoteText(program.Source.Prefix()+by.Reference, by.Digest))
	}
}
