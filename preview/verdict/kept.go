package verdict

import (
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Kept says what an uninstall leaves in the cluster, each with the flag that deletes it
// too, as the plan's verdict has it; none for another plan.
func Kept(p *preview.Plan) []string {
	list := keptIn(p.Verdict)
	if len(list) == 0 {
		list = kept(p, nil)
	}
	var lines []string
	for _, h := range list {
		lines = append(lines, h.Text)
	}
	return lines
}

// CountKept adds to the lines of CRDs that an uninstall leaves how many custom resources
// they have, in the words that count returns. The numbers are only displayed and no
// facts, because apply does not depend on them.
func CountKept(p *preview.Plan, count func(crd *preview.Object) (string, error)) error {
	if !keeps(p) || p.Verdict == nil {
		return nil
	}
	counts := map[string]string{}
	for i := range p.Objects {
		if o := &p.Objects[i]; keepsCRD(p, o) && o.LiveBody != nil && len(counts) < maxHighlights {
			counted, err := count(o)
			if err != nil {
				return fmt.Errorf("counting the objects of %s: %w", o.Name, err)
			}
			counts[o.Name] = counted
		}
	}
	setKept(p.Verdict, kept(p, counts))
	return nil
}

// keepCounts takes the lines about what an uninstall leaves from an earlier verdict on
// the same plan, which may have counted it.
func keepCounts(v, before *preview.Verdict) {
	if list := keptIn(before); len(list) > 0 {
		setKept(v, list)
	}
}

// keptIn returns the highlights of a verdict about what an uninstall leaves.
func keptIn(v *preview.Verdict) []preview.Highlight {
	if v == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Changes), func(h preview.Highlight) bool { return h.Topic != preview.TopicKept })
}

func setKept(v *preview.Verdict, list []preview.Highlight) {
	v.Changes = append(slices.DeleteFunc(slices.Clone(v.Changes), func(h preview.Highlight) bool { return h.Topic == preview.TopicKept }), list...)
}

func keeps(p *preview.Plan) bool {
	return p.Request.Action == preview.RequestUninstall && len(p.Objects) > 0
}

// keepsCRD reports whether an object is a CRD of the release alone that an uninstall
// leaves.
func keepsCRD(p *preview.Plan, o *preview.Object) bool {
	_, foreign := preview.ForeignOwner(o.LiveBody, p.Release)
	return o.Action == preview.ActionKeep && o.Is(preview.KindCustomResourceDefinition) && !foreign
}

// kept returns the highlights about what an uninstall leaves. counts has how many custom
// resources CRDs have, by the CRD's name.
func kept(p *preview.Plan, counts map[string]string) []preview.Highlight {
	if !keeps(p) {
		return nil
	}
	var crds, others, namespaces []string
	deleted := false // the namespace of the release
	for i := range p.Objects {
		switch o := &p.Objects[i]; {
		case keepsCRD(p, o):
			with := ", with its custom resources"
			if counted := counts[o.Name]; counted != "" {
				with += " (" + counted + ")"
			}
			crds = append(crds, "CRD "+o.Name+with+afterKept(p, o))
		case !o.Is(preview.KindNamespace) && o.Action == preview.ActionKeep:
			others = append(others, preview.IDLabel(o.ID)+", as it is")
		case !o.Is(preview.KindNamespace):
		case o.Action == preview.ActionKeep:
			namespaces = append(namespaces, o.Name)
		default:
			deleted = deleted || o.Name == p.Release.Namespace
		}
	}
	if !deleted && p.Release.Namespace != "" && !slices.Contains(namespaces, p.Release.Namespace) {
		namespaces = append(namespaces, p.Release.Namespace)
	}
	for i, name := range namespaces {
		namespaces[i] = "namespace " + name + ": --include-namespaces deletes it, if the release created it"
		if p.Options.IncludeNamespaces { // was given, and it stays nevertheless
			namespaces[i] = "namespace " + name + ", as it is"
		}
	}
	var list []preview.Highlight
	for _, what := range slices.Concat(crds, others, namespaces) {
		list = append(list, preview.Highlight{Topic: preview.TopicKept, What: what})
	}
	return bounded(list)
}

// afterKept returns what the line of a CRD that stays says behind its name: the flag that
// deletes it, or why none does.
func afterKept(p *preview.Plan, o *preview.Object) string {
	switch {
	case o.HelmKeeps():
		return ", as its annotation helm.sh/resource-policy asks"
	case p.Options.IncludeCRDs: // was given, and it stays nevertheless
		return ", as it is"
	}
	return ": --include-crds deletes them"
}
