package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
)

// The fields of a CRD do not flood a report: what is taken away is listed first,
// descriptions and the rest are counted.
// objectLines returns the lines of a plan's one object.
func objectLines(o *preview.Object) []string {
	s := review.Of(&preview.Plan{Objects: []preview.Object{*o}}).Section(review.Objects)
	lines, _ := layout{width: 100}.body(*s)
	return lines[1:] // without the action
}

func TestSchemaChangesAreBounded(t *testing.T) {
	var all []preview.Change
	for i := range 100 {
		all = append(all,
			preview.Change{Path: fmt.Sprintf(".spec.a%d.type", i), Op: "add", To: "string"},
			preview.Change{Path: fmt.Sprintf(".spec.a%d.description", i), Op: "add", To: "words"})
	}
	all = append(all, preview.Change{Path: ".spec.z.type", Op: "remove", From: "string"})
	o := &preview.Object{
		ID: "apiextensions.k8s.io/CustomResourceDefinition/-/a.b", APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "a.b",
		Action: preview.ActionUpdate, Changes: all,
	}
	lines := objectLines(o)
	text := strings.Join(lines, "\n")
	if !strings.Contains(lines[1], "- .spec.z.type") || len(lines) != 2+40 || strings.Contains(text, ".description") ||
		!strings.Contains(text, "… 61 more fields, 100 descriptions: the screen and -o json have all") {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	o.APIVersion, o.Kind = "apps/v1", "Deployment"
	if lines := objectLines(o); len(lines) != 1+len(all) {
		t.Errorf("%d lines of a Deployment", len(lines))
	}
}
