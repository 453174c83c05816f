package rollout

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// The API server's texts for a denial by admission. Controllers repeat them in
// conditions and events; a failed write has them too.
var (
	webhookDenied      = lazyregexp.New(`admission webhook "[^"]*" denied the request`)
	webhookUnreachable = lazyregexp.New(`failed calling webhook "[^"]*"`)
	policyDenied       = lazyregexp.New(`ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request`)
	outsideLimitRange  = lazyregexp.New(`(minimum|maximum) \S+ usage per (Container|Pod|PersistentVolumeClaim) is |limit to request ratio per (Container|Pod) is`)
	quotaSums          = lazyregexp.New(`exceeded quota: [^,]*, requested: (\S+), used: (\S+), limited: (\S+)`)
	mayNot             = lazyregexp.New(`is forbidden: User "([^"]+)" cannot [a-z]+ resource "[^"]+"`)
	absent             = lazyregexp.New(`(?i)(secret|configmap|serviceaccount|persistentvolumeclaim|priorityclass[a-z. ]*|references non-existent [a-z]+ key)s?\b[^:]{0,80}(not found|was found)`)
)

// RefusalCause returns why the API server refused an object, from its message;
// empty if the message is not a known one. final is true if trying again
// without a change is useless.
func RefusalCause(text string) (cause Cause, final bool) {
	switch {
	// Those of a webhook or policy come first: they may quote the others.
	case webhookDenied.MatchString(text):
		return WebhookDenied, true
	case policyDenied.MatchString(text):
		return PolicyDenied, true
	case webhookUnreachable.MatchString(text):
		return WebhookUnreachable, false
	case strings.Contains(text, "exceeded quota:"):
		return Quota, exceedsQuota(text)
	case strings.Contains(text, "failed quota:"):
		return Quota, true // the quota asks for a field that is not set
	case strings.Contains(text, `violates PodSecurity "`):
		return PodSecurity, true
	case outsideLimitRange.MatchString(text):
		return LimitRange, true
	case strings.Contains(text, "error looking up service account"), strings.Contains(text, "no PriorityClass with name"):
		return MissingReference, false
	case mayNot.MatchString(text):
		return Forbidden, false
	}
	return "", false
}

// exceedsQuota reports whether, by the message, a request is larger than the
// whole quota, so that freeing resources would not help.
func exceedsQuota(text string) bool {
	sums := quotaSums.FindStringSubmatch(text)
	if sums == nil {
		return false
	}
	requested, limited := quantities(sums[1]), quantities(sums[3])
	for name, want := range requested {
		if limit, ok := limited[name]; ok && want.Cmp(limit) > 0 {
			return true
		}
	}
	return false
}

// quantities reads NAME=QUANTITY,NAME=QUANTITY.
func quantities(text string) map[string]resource.Quantity {
	out := map[string]resource.Quantity{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		if q, err := resource.ParseQuantity(value); err == nil {
			out[name] = q
		}
	}
	return out
}

// predicates returns the reasons in the scheduler's message "0/3 nodes are
// available: 1 Insufficient cpu, 2 node(s) had …", without the numbers of nodes.
func predicates(message string) string {
	_, reasons, ok := strings.Cut(message, "nodes are available: ")
	if !ok {
		return message
	}
	for _, end := range []string{". preemption:", ". no new claims", ". "} {
		reasons, _, _ = strings.Cut(reasons, end)
	}
	list := strings.Split(reasons, ", ")
	for i, reason := range list {
		list[i] = strings.TrimLeft(strings.TrimSuffix(reason, "."), "0123456789 ")
	}
	return strings.Join(list, ", ")
}

// imageCause returns why an image cannot be pulled. texts are the kubelet's messages,
// from the pod's status and from events: older kubelets give the reason only there.
func imageCause(reason string, texts ...string) (cause Cause, final bool) {
	if reason == "InvalidImageName" {
		return ImageInvalid, true
	}
	for _, text := range texts {
		text = strings.ToLower(text)
		for _, word := range []string{
			"unauthorized", "403 forbidden", "authorization failed", "failed to authorize", "no basic auth credentials",
			"pull access denied", "authentication required", "is denied",
		} {
			if strings.Contains(text, word) {
				return ImageUnauthorized, true
			}
		}
		for _, word := range []string{": not found", "manifest unknown", "name unknown", "404 not found"} {
			if strings.Contains(text, word) {
				return ImageNotFound, true
			}
		}
	}
	return ImagePull, false
}

// forbiddenLine returns the first log line that says that the API server denied
// something to the pod's own ServiceAccount; empty if there is none.
func forbiddenLine(lines []string, account string) string {
	for _, line := range lines {
		if m := mayNot.FindStringSubmatch(line); m != nil && m[1] == account {
			return line
		}
	}
	return ""
}
