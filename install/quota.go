package install

import (
	"errors"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// quotaAdvice returns what to do about object o, which exceeds the ResourceQuota of a
// [preview.Refusal].
func quotaAdvice(o *preview.Object, err error) string {
	var refusal *preview.Refusal
	if !errors.As(err, &refusal) {
		return ""
	}
	return fmt.Sprintf("raise the quota (kubectl edit resourcequota %s -n %s) or free what it counts, then ", refusal.Quota, o.Namespace)
}
