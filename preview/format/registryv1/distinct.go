package registryv1

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// dropDuplicates leaves one object of each id. Equal objects become one. If a manifest
// and the CSV define the same object, the one generated last wins, with a note: as in
// OLM, a Service made for webhooks replaces the bundle's own. Two different manifests
// of one object are an error.
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

// equal reports whether two decoded values have the same canonical JSON.
func equal(a, b any) (bool, error) {
	x, err := preview.Canonical(a)
	if err != nil {
		return false, err
	}
	y, err := preview.Canonical(b)
	return string(x) == string(y), err
}
