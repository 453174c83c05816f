package registryv1

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// dropDuplicates keeps one object of each id. Equal objects are merged. If a
// manifest and the CSV define the same object, the later generator wins, as in
// OLM, which replaces a bundled webhook Service by its own; a note says so. Two
// different manifests of one object are an error.
func (b *bundle) dropDuplicates(out *format.Output) error {
	at := make(map[string]int, len(out.Objects))
	var kept []format.RenderedObject
	for _, o := range out.Objects {
		ref := preview.RefOf(o.Body)
		i, dup := at[ref.ID()]
		if !dup {
			at[ref.ID()] = len(kept)
			kept = append(kept, o)
			continue
		}
		first := kept[i]
		same, err := equal(first.Body, o.Body)
		if err != nil {
			return fmt.Errorf("rendering %s: %w", ref.ID(), err)
		}
		if same {
			continue
		}
		if !b.isGenerated(first) && !b.isGenerated(o) {
			return fmt.Errorf("the bundle holds %s twice with different content, in %s and in %s", ref.ID(), first.Origin.File, o.Origin.File)
		}
		kept[i] = o
		out.Notes = append(out.Notes, noteReplaced(ref, b.isGenerated(o)))
	}
	out.Objects = kept
	return nil
}

func noteReplaced(ref preview.Ref, byCSV bool) preview.Note {
	text := "the bundle's own manifest replaces the one made from the CSV"
	if byCSV {
		text = "the object made from the CSV replaces the bundle's own manifest"
	}
	return rules.ManifestReplaced.Note(ref.ID(), text)
}

// equal compares decoded values by their canonical form.
func equal(a, b any) (bool, error) {
	x, err := preview.Canonical(a)
	if err != nil {
		return false, err
	}
	y, err := preview.Canonical(b)
	return string(x) == string(y), err
}
