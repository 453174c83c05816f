package risk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// unknownRule names what could not be read. It is not in the table: its
// findings come from the plan's unknowns.
func unknownRule() Rule {
	return Rule{
		Name: "unknown", Title: "could not be read",
		Why:    "What apply would do with it is not known; accepted, the object is sent as new, and an existing one stops the apply.",
		Reduce: "Preview with rights to read it.",
	}
}

func planRules() []entry {
	return []entry{
		{Rule: Rule{
			"object-blocked", "", Critical, "is in the way of the plan",
			"It belongs to somebody else, who would change it back; or it is being deleted; or it would have to be deleted, with what it holds or against its finalizers.",
			"Settle what the finding names, then preview again; or install elsewhere.",
		}, object: acted(preview.ActionBlocked, func(c *scan, o *preview.Object) (Level, string) {
			return Critical, c.blockedBy(o)
		})},
		{Rule: Rule{
			"field-conflict", "", Critical, "has fields that somebody else manages",
			"Taking a field over ends what its manager does with it; left to it, the object is not what the package says.", "Decide with --conflicts.",
		}, object: conflicts},
		{Rule: Rule{
			"hot-fix-overwritten", "", High, "loses what others have changed since",
			"Going back sets these fields to the values of the earlier revision; what another manager set there, such as a hot fix by kubectl set image, is gone afterwards.",
			"Leave the fields as they are with rollback --conflicts leave.",
		}, object: takenBack},
		{Rule: Rule{
			"object-replaced", "BIND-10", Critical, "is deleted and made anew",
			"A field that cannot be changed differs; what hangs on the object is gone in between.", "",
		}, object: acted(preview.ActionReplace, replaced)},
		{Rule: Rule{
			"object-deleted", "", Critical, "is deleted",
			"It is not in the set any more.", "Keep it by hand, or keep it in the package.",
		}, object: acted(preview.ActionDelete, deleted)},
		{Rule: Rule{
			"object-kept", "", Notice, "stays, as it asks of Helm",
			"It was rendered by Helm with the annotation helm.sh/resource-policy: keep, so nothing deletes it, neither an upgrade nor uninstall.",
			"Delete it by hand once nothing needs it.",
		}, object: acted(preview.ActionKeep, keptByPolicy)},
		{Rule: Rule{
			"object-adopted", "", High, "is taken over",
			"It exists and was made by somebody else. No dry run shows what the apply makes of it before its owner has let go; the result is compared by the fields that the plan sets.", "",
		}, object: acted(preview.ActionAdopt, func(*scan, *preview.Object) (Level, string) { return High, "exists already" })},
		{Rule: Rule{
			"hostile-text", "", High, "holds text that hides or forges what is shown",
			"Control, bidirectional, zero-width or look-alike characters have no place in honest manifests.", "Ask the publisher.",
		}, object: hostileText},
	}
}

// blockedBy says what is in the way of an object, in the words of the gate where
// those are known.
func (c *scan) blockedBy(o *preview.Object) string {
	if c.in.Blocked != nil {
		return c.in.Blocked(o)
	}
	return preview.WhyBlocked(o, c.plan.Release)
}

func acted(action preview.Action, judge func(c *scan, o *preview.Object) (Level, string)) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []string) {
		if o.Action != action {
			return None, nil
		}
		level, text := judge(c, o)
		if text == "" {
			return None, nil
		}
		return level, []string{text}
	}
}

// isRBAC: permissions come and go with the roles' generated names; what that
// means for access is told by the grants.
func isRBAC(o *preview.Object) bool { return o.Ref().Group() == rbacGroup }

func replaced(_ *scan, o *preview.Object) (Level, string) {
	if isRBAC(o) {
		return Medium, "deleted and created again"
	}
	if o.Is(preview.KindJob) {
		return Medium, "deleted and created again" // what it did is done
	}
	return Critical, "deleted and created again"
}

// deleted is Critical where data goes with the object, and Low where nothing
// is lost or all goes, which is what was asked for.
func deleted(c *scan, o *preview.Object) (Level, string) {
	if o.FormerOwner() {
		return Critical, "deleted so that it lets go of " + strings.Join(o.Adoption.Releases, ", ")
	}
	if o.Is(preview.KindNamespace, preview.KindCustomResourceDefinition, preview.KindPersistentVolumeClaim, preview.KindPersistentVolume) {
		return Critical, "deleted with the data in it"
	}
	if o.Is(preview.KindServiceAccount) || isRBAC(o) || c.removesAll() {
		return Low, "deleted"
	}
	return Medium, "deleted"
}

// removesAll reports whether the plan leaves nothing, as uninstall does.
func (c *scan) removesAll() bool { return c.around.empty }

// conflicts is Critical until the fields are left to their managers: taking
// them is never silent.
func conflicts(c *scan, o *preview.Object) (Level, []string) {
	var lines []string
	if takesBack(c.plan, o) {
		return None, nil
	}
	for _, conflict := range o.Conflicts {
		lines = append(lines, c.plan.Contested(o, conflict))
	}
	if c.plan.Takes(o) || len(c.plan.Unsettled(o)) > 0 {
		return None, lines
	}
	return High, lines
}

func keptByPolicy(_ *scan, o *preview.Object) (Level, string) {
	if !o.HelmKeeps() {
		return None, ""
	}
	return None, "helm.sh/resource-policy is keep"
}

// takenBack names each field that a rollback takes back, with what is lost.
func takenBack(c *scan, o *preview.Object) (Level, []string) {
	if !takesBack(c.plan, o) {
		return None, nil
	}
	var lines []string
	for _, conflict := range o.Conflicts {
		lines = append(lines, c.plan.Contested(o, conflict))
	}
	return None, lines
}

func takesBack(p *preview.Plan, o *preview.Object) bool {
	return p.Options.Conflicts == preview.ConflictsOwn && p.Takes(o)
}

// Limits on what is reported of hostile text in one object.
const (
	maxHostile   = 20
	maxTextDepth = 128
)

// hostileText looks at every key and text of an object except the data of
// Secrets and ConfigMaps, which is not shown as text.
func hostileText(_ *scan, o *preview.Object) (Level, []string) {
	w := textWalk{}
	if textsafe.Hostile(o.ID) {
		w.add("name", o.ID)
	}
	body := o.Sealed
	for _, key := range keysOf(body) {
		if o.Is(preview.KindSecret, preview.KindConfigMap) && slices.Contains([]string{"data", "binaryData", "stringData"}, key) {
			continue
		}
		if anyHostile(body[key], 0) {
			w.walk("."+key, body[key], 0)
		}
	}
	return None, w.lines
}

// anyHostile is the walk without paths and order: nearly every object has
// nothing to report, and large ones should not cost more than reading them.
func anyHostile(v any, depth int) bool {
	if depth > maxTextDepth {
		return false
	}
	switch v := v.(type) {
	case string:
		return textsafe.Hostile(v)
	case map[string]any:
		for key, item := range v {
			if textsafe.Hostile(key) || anyHostile(item, depth+1) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if anyHostile(item, depth+1) {
				return true
			}
		}
	}
	return false
}

type textWalk struct {
	lines []string
}

func (w *textWalk) add(path, text string) {
	if len(w.lines) < maxHostile {
		w.lines = append(w.lines, textsafe.Truncate(textsafe.Line(path), 120)+": "+textsafe.Truncate(textsafe.Line(text), 120))
	}
}

func (w *textWalk) walk(path string, v any, depth int) {
	if depth > maxTextDepth || len(w.lines) >= maxHostile {
		return
	}
	switch v := v.(type) {
	case string:
		if textsafe.Hostile(v) {
			w.add(path, around(v))
		}
	case map[string]any:
		for _, key := range keysOf(v) {
			if textsafe.Hostile(key) {
				w.add(path, key)
			}
			w.walk(path+"."+key, v[key], depth+1)
		}
	case []any:
		for i, item := range v {
			w.walk(path+"["+strconv.Itoa(i)+"]", item, depth+1)
		}
	}
}

// around cuts a long text down to the first line with a hostile character.
func around(text string) string {
	for line := range strings.Lines(text) {
		if textsafe.Hostile(line) {
			return strings.TrimRight(line, "\n")
		}
	}
	return text
}
