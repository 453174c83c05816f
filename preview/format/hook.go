package format

import (
	"errors"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// NameHook gives a Job with generateName a name with the hash of its content: the same
// Job gets the same name, and a changed one another, so that it runs again.
func NameHook(body map[string]any) error {
	meta := preview.Map(body, "metadata")
	prefix := preview.String(meta, "generateName")
	if prefix == "" || preview.String(meta, "name") != "" || preview.String(body, "kind") != "Job" {
		return nil
	}
	digest, err := preview.HashObject(body, "")
	if err != nil {
		return err
	}
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 10 {
		return errors.New("a hook without a digest")
	}
	delete(meta, "generateName")
	meta["name"] = prefix[:min(len(prefix), 50)] + hex[:10]
	return nil
}
