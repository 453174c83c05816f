package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// keptDefinitions are the CustomResourceDefinitions that left the set of a
// release that goes on. (An uninstall is refused while there are objects.)
func keptDefinitions(p *preview.Plan) []*preview.Object {
	var out []*preview.Object
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Is(preview.KindCustomResourceDefinition) && o.Action == preview.ActionKeep && o.LiveBody != nil && len(p.Packages) > 0 {
			out = append(out, o)
		}
	}
	return out
}

func servedBy(definition map[string]any) string {
	names := servedNames(definition)
	if len(names) == 0 {
		return "serves no version"
	}
	return "serves " + strings.Join(names, ", ")
}

// servedNames are the versions that a definition serves, the newest last.
func servedNames(definition map[string]any) []string {
	var names []string
	for _, v := range preview.Maps(preview.Map(definition, "spec"), "versions") {
		if v["served"] == true {
			names = append(names, preview.String(v, "name"))
		}
	}
	slices.SortFunc(names, version.CompareKubeAwareVersionStrings)
	return names
}

// countKept says of each definition that is kept how many objects it holds. It
// is for whoever looks at the plan now: objects come and go, and nothing that
// apply does depends on how many there are.
func countKept(ctx context.Context, p *preview.Plan, pager Pager) error {
	for _, o := range keptDefinitions(p) {
		counted, err := countStored(ctx, o.LiveBody, pager)
		if err != nil {
			return fmt.Errorf("counting the objects of %s: %w", o.Name, err)
		}
		for i := range p.Findings {
			if f := &p.Findings[i]; f.Rule == schema.RuleKept && f.Object == o.ID {
				f.Counted = counted
			}
		}
	}
	return nil
}

// countStored counts the objects of a definition, as a sentence; where that
// cannot be, the sentence says why. The error is that of ctx.
func countStored(ctx context.Context, definition map[string]any, pager Pager) (string, error) {
	group, kind := preview.String(definition, "spec", "group"), preview.String(definition, "spec", "names", "kind")
	const unknown = "how many objects are stored is unknown: "
	for _, name := range slices.Backward(servedNames(definition)) {
		n, more, err := countObjects(ctx, pager, group+"/"+name, kind)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case preview.ReasonOf(err) == preview.ReasonNotServed:
			continue
		case preview.ReasonOf(err) == preview.ReasonForbidden:
			return unknown + "they may not be listed", nil
		case err != nil:
			return unknown + clip(err.Error(), 300), nil
		case more:
			return fmt.Sprintf("at least %d objects are stored", n), nil
		case n == 1:
			return "1 object is stored", nil
		}
		return fmt.Sprintf("%d objects are stored", n), nil
	}
	return unknown + "the cluster serves none of its versions", nil
}

// countObjects counts the objects of a kind: those of the first page, and as
// many as the server says remain. Where it does not say, the pages are counted,
// and more reports that they go on beyond [schema.MaxChecked] objects.
func countObjects(ctx context.Context, pager Pager, apiVersion, kind string) (n int, more bool, err error) {
	err = pager.Pages(ctx, apiVersion, kind, func(objects []map[string]any, remaining int) bool {
		n += len(objects) + remaining
		more = n >= schema.MaxChecked && remaining == 0
		return remaining == 0 && !more
	})
	return n, more, err
}
