package cloud

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// certaintyOf returns how sure cloud access is, by its origin: an object or annotation
// declares it, an example or document of the package shows it, or it is inferred from how objects use
// credentials.
func certaintyOf(origin string) string {
	if strings.Contains(origin, Examples) || inDocument(origin) {
		return preview.CloudExample
	}
	for _, sign := range []string{"label ", "annotation iam.", "token for ", "variable ", "key ", RunTime, "static credentials in "} {
		if strings.HasPrefix(origin, sign) {
			return preview.CloudInferred
		}
	}
	return preview.CloudDeclared
}
