package risk

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/quota"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// UnreadID returns the id of the read that records, in a plan, that the objects of a
// kind in a namespace could not be listed for want of a right.
func UnreadID(kind, namespace string) string { return "unread/" + kind + "/" + namespace }

// judgeQuotas checks the pods of every namespace against its ResourceQuotas and
// LimitRanges. The amounts in use change all the time, so it reports only pods that
// would not fit an empty namespace.
func (c *scan) judgeQuotas() {
	limits, unread := map[string][]map[string]any{}, map[string][]preview.Seen{}
	limit := func(body map[string]any) {
		if kind := preview.String(body, "kind"); kind == "ResourceQuota" || kind == "LimitRange" {
			namespace := preview.String(body, "metadata", "namespace")
			limits[namespace] = append(limits[namespace], body)
		}
	}
	for i := range c.plan.Objects {
		limit(c.plan.Objects[i].Planned)
	}
	for _, read := range c.plan.Reads {
		limit(read.Body)
		if rest, ok := strings.CutPrefix(read.ID, "unread/"); ok {
			kind, namespace, _ := strings.Cut(rest, "/")
			unread[namespace] = append(unread[namespace], words.KindNotListed.Of(kind))
		}
	}
	workloads := c.around.workloads
	for _, namespace := range slices.Sorted(maps.Keys(workloads)) {
		if lines := unread[namespace]; len(lines) > 0 {
			c.hit(rules.QuotaUnread, ruleHit{object: namespaceID(namespace), evidence: saw(namespaceID(namespace), lines), narrow: true})
		}
		if lines := quota.Misfits(limits[namespace], workloads[namespace]); len(lines) > 0 {
			c.hit(rules.QuotaRefused, ruleHit{
				object: namespaceID(namespace), evidence: rules.Said(lines...), narrow: true,
				claim: preview.Claim{Predicate: "the pods of the plan do not fit in the quota or limits of namespace " + namespace},
			})
		}
	}
}
