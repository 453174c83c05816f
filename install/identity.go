package install

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
)

func uidOf(body map[string]any) string { return preview.String(body, "metadata", "uid") }

func versionOf(body map[string]any) string {
	return preview.String(body, "metadata", "resourceVersion")
}
