package k8s

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// try sends one dry run.
func (c *Client) try(ctx context.Context, many *Client, res resource, item preview.DryRun) (out preview.DryRunResult) {
	if item.Refused != nil {
		out.Err = item.Refused
		return out
	}
	r, err := c.tryRequest(ctx, res, item)
	if err != nil || r == nil {
		return preview.DryRunResult{Body: item.Live(), Err: err}
	}
	out.Err = c.retry(ctx, func() error {
		var err error
		out.Body, out.Warnings, err = many.sendBody(ctx, r)
		return err
	})
	if out.Err == nil && item.Takes.Again() {
		out.Body, out.Err = c.tryAgain(ctx, many, res, item, out.Body)
	}
	if out.Err == nil && item.Then != nil {
		item.Then(out.Body)
	}
	if out.Err == nil { // the API server keeps the preconditions there, too
		out.Err = keepLastApplied(out.Body, out.Body, item)
	}
	return out
}

// tryRequest returns the request of a dry run: a server-side apply, or another tool's
// request; nil if that tool sends nothing. A patch is bound to the live object that it
// was computed from.
func (c *Client) tryRequest(ctx context.Context, res resource, item preview.DryRun) (*rest.Request, error) {
	item, err := c.taken(ctx, item)
	if err != nil {
		return nil, err
	}
	ref := preview.RefOf(item.Body)
	var r *rest.Request
	switch item.Method {
	case "", preview.MethodApply:
		if r, err = c.applyRequest(res, item); err != nil {
			return nil, err
		}
		return r.Param("dryRun", metav1.DryRunAll), nil
	case preview.MethodCreate:
		r, err = withBody(c.rest.Post().AbsPath(res.path).Resource(res.plural).NamespaceIfScoped(ref.Namespace, res.namespaced), item.Body)
	case preview.MethodUpdate:
		if r, err = c.object("PUT", res, ref); err == nil {
			r, err = withBody(r, bound(item.Body, item))
		}
	case preview.MethodThreeWay:
		if r, err = c.patchRequest(res, item); err != nil {
			return nil, &preview.Refusal{Reason: preview.ReasonOther, Message: truncateMessage(err.Error()), Err: err}
		}
	case preview.MethodNone:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trying %s: %w", ref.ID(), err)
	}
	if r == nil {
		return nil, nil
	}
	if item.Strict {
		r = r.Param("fieldValidation", metav1.FieldValidationStrict)
	}
	return r.Param("dryRun", metav1.DryRunAll).Param("fieldManager", managerOf(item)), nil
}

// patchRequest returns the PATCH of a three-way merge, nil if it is empty.
func (c *Client) patchRequest(res resource, item preview.DryRun) (*rest.Request, error) {
	made, err := threeWayPatch(item)
	if made == nil || err != nil {
		return nil, err
	}
	decoded, err := preview.DecodeJSON(made.data)
	if err != nil {
		return nil, err
	}
	fields, _ := decoded.(map[string]any) // the patch of an object is one
	data, err := preview.Canonical(bound(fields, item))
	if err != nil {
		return nil, err
	}
	r, err := c.object("PATCH", res, preview.RefOf(item.Body))
	if err != nil {
		return nil, err
	}
	return r.SetHeader("Content-Type", string(made.kind)).Body(data), nil
}

// bound returns a copy of a body or patch that fits only the live object of a dry run.
func bound(body map[string]any, item preview.DryRun) map[string]any {
	out := make(map[string]any, len(body)+1)
	for key, v := range body {
		out[key] = v
	}
	meta := map[string]any{"uid": item.UID, "resourceVersion": item.ResourceVersion}
	for key, v := range preview.Map(body, "metadata") {
		meta[key] = v
	}
	out["metadata"] = meta
	return out
}

func withBody(r *rest.Request, body map[string]any) (*rest.Request, error) {
	data, err := preview.Canonical(body)
	if err != nil {
		return nil, err
	}
	return r.SetHeader("Content-Type", "application/json").Body(data), nil
}
