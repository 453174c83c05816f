package k8s

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// absentVersion is a resourceVersion that no object has. A server-side apply with it
// creates an object that does not exist (the API server drops the version then), and
// gets a 409 for one that was created meanwhile; otherwise it would merge into it.
const absentVersion = "1"

// DryRun sends each item as a server-side dry run, which persists nothing, and
// returns the results in the order of items.
func (c *Client) DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult {
	refs := make([]preview.Ref, len(items))
	for i, item := range items {
		refs[i] = preview.RefOf(item.Body)
	}
	types := c.locate(ctx, refs)
	many := c.many("dry-run")
	results := make([]preview.DryRunResult, len(items))
	var group tasks.Group
	group.SetLimit(flight.Most)
	for i, item := range items {
		group.Go(func() error {
			answer := types[typeKey{refs[i].APIVersion, refs[i].Kind}]
			if answer.err != nil {
				results[i].Err = answer.err
				return nil
			}
			results[i] = c.try(ctx, many, answer.resource, item)
			return nil
		})
	}
	_ = group.Wait() // each result carries its own error
	return results
}

// Apply writes one object by server-side apply and returns the stored object. With uid
// and resourceVersion it updates exactly that object, without them it creates one; an
// object that has changed is an error. The request is sent once: after an error with
// reason unavailable, the caller must read the object to learn whether it was written.
func (c *Client) Apply(ctx context.Context, item preview.DryRun) (map[string]any, error) {
	ref := preview.RefOf(item.Body)
	res, err := c.lookup(ctx, ref.APIVersion, ref.Kind)
	if err != nil {
		return nil, err
	}
	r, err := c.applyRequest(res, item)
	if err != nil {
		return nil, err
	}
	body, _, err := c.sendBody(ctx, r)
	return body, err
}

func (c *Client) sendBody(ctx context.Context, r *rest.Request) (map[string]any, []string, error) {
	data, warnings, err := c.do(ctx, r)
	if err != nil {
		return nil, warnings, err
	}
	body, err := decodeBody(data)
	return body, warnings, err
}

// applyRequest returns the PATCH of a server-side apply (KEP-555). Its body is the
// planned object plus the preconditions (section 1 of the package documentation).
func (c *Client) applyRequest(res resource, item preview.DryRun) (*rest.Request, error) {
	if (item.UID == "") != (item.ResourceVersion == "") {
		// A resourceVersion alone re-creates a deleted object; a uid alone does
		// not notice a change.
		return nil, errors.New("applying: uid and resourceVersion go together")
	}
	body := make(map[string]any, len(item.Body))
	for key, v := range item.Body {
		body[key] = v
	}
	meta := map[string]any{}
	for key, v := range preview.Map(item.Body, "metadata") {
		meta[key] = v
	}
	meta["resourceVersion"] = absentVersion
	if item.UID != "" {
		meta["uid"], meta["resourceVersion"] = item.UID, item.ResourceVersion
	}
	body["metadata"] = meta
	data, err := preview.Canonical(body)
	if err != nil {
		return nil, fmt.Errorf("applying %s: %w", preview.RefOf(item.Body).ID(), err)
	}
	r, err := c.object("PATCH", res, preview.RefOf(item.Body))
	if err != nil {
		return nil, err
	}
	return r.
		SetHeader("Content-Type", string(types.ApplyPatchType)).
		Param("fieldManager", managerOf(item)).
		Param("fieldValidation", metav1.FieldValidationStrict).
		Param("force", strconv.FormatBool(item.Force)).
		Body(data), nil
}

func managerOf(item preview.DryRun) string {
	if item.Manager != "" {
		return item.Manager
	}
	return preview.FieldManager
}

// Patch sends a JSON patch (RFC 6902), which has to test its own preconditions.
// As with Apply, the request is sent once.
func (c *Client) Patch(ctx context.Context, ref preview.Ref, ops []preview.PatchOp) (map[string]any, error) {
	res, err := c.lookup(ctx, ref.APIVersion, ref.Kind)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(ops)
	if err != nil {
		return nil, fmt.Errorf("patching %s: %w", ref.ID(), err)
	}
	r, err := c.object("PATCH", res, ref)
	if err != nil {
		return nil, err
	}
	body, _, err := c.sendBody(ctx, r.
		SetHeader("Content-Type", string(types.JSONPatchType)).
		Param("fieldManager", preview.FieldManager).
		Param("fieldValidation", metav1.FieldValidationStrict).
		Body(data))
	return body, err
}

// Delete deletes exactly the object with that uid and resourceVersion. If it was gone
// before, the error has the reason not found; if another object has its name,
// changed. gone is true if the API server says that it removed the object, which it
// does not say of every kind: false means that it is or will be. As with Apply, the
// request is sent once.
func (c *Client) Delete(ctx context.Context, ref preview.Ref, uid, resourceVersion string, dependents preview.Propagation) (gone bool, err error) {
	if uid == "" || resourceVersion == "" {
		return false, fmt.Errorf("deleting %s: uid and resourceVersion must be known", ref.ID())
	}
	res, err := c.lookup(ctx, ref.APIVersion, ref.Kind)
	if err != nil {
		return false, err
	}
	r, err := c.object("DELETE", res, ref)
	if err != nil {
		return false, err
	}
	// Some kinds orphan their dependents by default, so the policy is always said.
	policy := metav1.DeletionPropagation(dependents)
	preconditionUID := types.UID(uid)
	options, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &preconditionUID, ResourceVersion: &resourceVersion},
		PropagationPolicy: &policy,
	})
	if err != nil {
		return false, fmt.Errorf("deleting %s: %w", ref.ID(), err)
	}
	data, _, err := c.do(ctx, r.SetHeader("Content-Type", "application/json").Body(options))
	if isMissing(err) {
		return false, &preview.Refusal{Reason: preview.ReasonNotFound, Message: err.Error(), Err: err}
	}
	return err == nil && isRemoval(data), err
}

// isRemoval reports whether the answer to a DELETE says that the object is removed: a
// Status. One that waits for finalizers or for its end is answered as itself.
func isRemoval(data []byte) bool {
	var status metav1.Status
	err := json.Unmarshal(data, &status)
	return err == nil && status.APIVersion == "v1" && status.Kind == "Status" && status.Status == metav1.StatusSuccess
}
