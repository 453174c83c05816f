package risk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

func planRules() []entry {
	return []entry{
		{Rule: rules.ObjectBlocked, object: forAction(preview.ActionBlocked, func(c *scan, o *preview.Object) (Level, string) {
			return Critical, c.blockedBy(o)
		})},
		{Rule: rules.FieldConflict, object: conflicts},
		{Rule: rules.HotFixOverwritten, object: takenBackFields},
		{Rule: rules.ObjectReplaced, object: forAction(preview.ActionReplace, replaced)},
		{Rule: rules.ObjectDeleted, object: forAction(preview.ActionDelete, deleted)},
		{Rule: rules.ObjectKept, object: forAction(preview.ActionKeep, keptByPolicy)},
		{Rule: rules.ObjectAdopted, object: forAction(preview.ActionAdopt, func(*scan, *preview.Object) (Level, string) { return High, "exists already" })},
		{Rule: rules.HostileText, object: hostileText},
	}
}

// blockedBy returns why an object is blocked.
func (c *scan) blockedBy(o *preview.Object) string {
	if c.in.Blocked != nil {
		return c.in.Blocked(o)
	}
	return preview.WhyBlocked(o, c.plan.Release)
}

func forAction(action preview.Action, judge func(c *scan, o *preview.Object) (Level, string)) objectMatch {
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
// means for access is reported by the grants.
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

// deleted matches deletions: Critical if data is deleted, Low if nothing is lost
// or everything is removed on request.
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

// conflicts matches field conflicts: Critical until the fields are left to their
// managers.
func conflicts(c *scan, o *preview.Object) (Level, []string) {
	if takesBack(c.plan, o) {
		return None, nil
	}
	lines := c.plan.ContestedEvidence(o)
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

// takenBackFields returns each field that a rollback takes back, with the value
// that is lost.
func takenBackFields(c *scan, o *preview.Object) (Level, []string) {
	if !takesBack(c.plan, o) {
		return None, nil
	}
	return None, c.plan.ContestedEvidence(o)
}

func takesBack(p *preview.Plan, o *preview.Object) bool {
	return p.ConflictsOf(o) == preview.ConflictsOwn && p.Takes(o)
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
	body := o.Planned
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

// anyHostile reports whether hostileText finds anything, without paths and
// order: nearly every object has nothing to report, and large ones should not
// cost more than reading them.
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
			w.add(path, excerpt(v))
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

// excerpt cuts a long text down to the first line with a hostile character.
func excerpt(text string) string {
	for line := range strings.Lines(text) {
		if textsafe.Hostile(line) {
			return strings.TrimRight(line, "\n")
		}
	}
	return text
}
