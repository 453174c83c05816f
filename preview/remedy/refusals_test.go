package remedy

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// What is refused now stays refused, unless the plan changes what it is judged by. A right may
// be given, and a webhook may answer, by the time of the apply.
func TestRefusalsThatAnApplyMeetsAgain(t *testing.T) {
	thing := preview.Object{ID: "example.com/Thing/a/t", APIVersion: "example.com/v1", Kind: "Thing", Namespace: "a", Name: "t", Action: preview.ActionUnknown, Planned: map[string]any{}}
	definition := func(action preview.Action, kind string) preview.Object {
		return preview.Object{
			ID: "apiextensions.k8s.io/CustomResourceDefinition/-/things.example.com", APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things.example.com", Action: action,
			Planned: map[string]any{"spec": map[string]any{"group": "example.com", "names": map[string]any{"kind": kind}}},
		}
	}
	webhooks := preview.Object{ID: "admissionregistration.k8s.io/MutatingWebhookConfiguration/-/w", APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration", Name: "w", Action: preview.ActionUpdate, Planned: map[string]any{}}
	quota := preview.Object{ID: "core/ResourceQuota/a/q", APIVersion: "v1", Kind: "ResourceQuota", Namespace: "a", Name: "q", Action: preview.ActionUpdate, Planned: map[string]any{}}
	for name, tt := range map[string]struct {
		reason preview.Reason
		beside []preview.Object
		want   int
	}{
		"an invalid value":                               {preview.ReasonInvalid, nil, 1},
		"a kind that is not served":                      {preview.ReasonNotServed, nil, 1},
		"an invalid value of a kind that stays":          {preview.ReasonInvalid, []preview.Object{definition(preview.ActionUnchanged, "Thing")}, 1},
		"an invalid value beside another kind":           {preview.ReasonInvalid, []preview.Object{definition(preview.ActionUpdate, "Other")}, 1},
		"an invalid value of a kind that is changed":     {preview.ReasonInvalid, []preview.Object{definition(preview.ActionUpdate, "Thing")}, 0},
		"an invalid value that a webhook may set":        {preview.ReasonInvalid, []preview.Object{webhooks}, 0},
		"a namespace that does not exist":                {preview.ReasonNamespaceMissing, nil, 1},
		"a quota":                                        {preview.ReasonQuota, nil, 1},
		"a quota that the plan changes":                  {preview.ReasonQuota, []preview.Object{quota}, 0},
		"a policy":                                       {preview.ReasonPolicy, nil, 1},
		"a webhook":                                      {preview.ReasonWebhook, nil, 1},
		"a webhook, and the plan changes admission":      {preview.ReasonWebhook, []preview.Object{webhooks}, 0},
		"a webhook that does not answer":                 {preview.ReasonWebhookDown, nil, 0},
		"a right that is missing":                        {preview.ReasonForbidden, nil, 0},
		"what was not asked of the API server at all":    {"", nil, 0},
		"a kind not served beside a webhook of the plan": {preview.ReasonNotServed, []preview.Object{webhooks}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := &preview.Plan{Objects: append([]preview.Object{thing}, tt.beside...), Unknowns: []preview.Unknown{{Object: thing.ID, Reason: tt.reason, Why: "why"}}}
			got := Refused(p)
			if len(got) != tt.want {
				t.Fatalf("%d obstacles, want %d: %v", len(got), tt.want, got)
			}
			for _, o := range got {
				if o.Object != thing.ID || o.Remedy == "" {
					t.Errorf("the obstacle %+v has no way out", o)
				}
			}
		})
	}
}
