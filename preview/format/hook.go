package format

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// NameHook gives a hook with generateName a name with the hash of its content: the same
// hook gets the same name, and a changed one another, so that it runs again.
func NameHook(body map[string]any) error {
	meta := preview.Map(body, "metadata")
	prefix := preview.String(meta, "generateName")
	if prefix == "" || preview.String(meta, "name") != "" {
		return nil
	}
	digest, err := preview.HashObject(body, "")
	if err != nil {
		return err
	}
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 10 {
		return errors.New("a hook without a digest")
	}
	delete(meta, "generateName")
	meta["name"] = prefix[:min(len(prefix), 50)] + hex[:10]
	return nil
}

// DropHooks takes the hooks out of the objects, because who asks for them renders none.
// Each of them becomes a note.
func (o *Output) DropHooks() {
	kept := o.Objects[:0]
	for _, object := range o.Objects {
		if object.Hook == nil {
			kept = append(kept, object)
			continue
		}
		o.Notes = append(o.Notes, rules.HookNotRun.Note(preview.RefOf(object.Body).ID(), "it is a hook, which the request leaves out; it is not installed"))
	}
	o.Objects = kept
}

// PlainHooks makes the hooks objects like all others, because who asks for them applies what
// Helm's templates make.
func (o *Output) PlainHooks() {
	for i := range o.Objects {
		o.Objects[i].Hook = nil
	}
	o.Objects, o.Hooks = append(o.Objects, o.Hooks...), nil
	o.Notes = slices.DeleteFunc(o.Notes, func(n preview.Note) bool { return n.Rule == rules.HookNotRun.Name || n.Rule == rules.HookKept.Name })
}

// MoveTo sets the namespace of the objects that name another.
func (o *Output) MoveTo(namespace string) {
	for _, object := range o.Objects {
		if meta := preview.Map(object.Body, "metadata"); preview.String(meta, "namespace") != "" {
			meta["namespace"] = namespace
		}
	}
}
