package install

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// quotaAdvice returns what to do about object o, which exceeds the
// ResourceQuota that err names.
func quotaAdvice(o *preview.Object, err error) string {
	return fmt.Sprintf("raise the quota (kubectl edit resourcequota %s -n %s) or free what it counts, then ", quotaIn(err.Error()), o.Namespace)
}

// quotaIn returns the name of the ResourceQuota in the text of a
// [preview.Refusal] with reason quota.
func quotaIn(text string) string {
	_, rest, _ := strings.Cut(text, string(preview.ReasonQuota)+": ")
	name, _, _ := strings.Cut(rest, ",")
	return name
}
