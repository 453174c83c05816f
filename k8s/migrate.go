package k8s

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

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
	if out.Err == nil && len(item.Migrates) > 0 {
		out.Body, out.Err = c.tryMigrated(ctx, many, res, item, out.Body)
	}
	if out.Err == nil { // the API server keeps the preconditions there, too
		out.Err = keepLastApplied(out.Body, out.Body, item)
	}
	return out
}

// tryMigrated returns what a server-side apply makes of an object after the tool has
// migrated fields (csaupgrade): the apply is sent again then, and removes those that it
// lacks. A dry run stores no migrated managers, so that the second apply is merged here and
// tried as an update, by which the API server sets defaults.
func (c *Client) tryMigrated(ctx context.Context, many *Client, res resource, item preview.DryRun, first map[string]any) (map[string]any, error) {
	migrated, err := migrate(first, item)
	if err != nil {
		return nil, err
	}
	again := item
	again.Migrates, again.Force = nil, true // what conflicts is answered already
	result := c.Merge(ctx, migrated, again)
	if result.Err != nil {
		return nil, result.Err
	}
	if reflect.DeepEqual(withoutManagers(result.Body), withoutManagers(first)) {
		return first, nil
	}
	r, err := c.object("PUT", res, preview.RefOf(item.Body))
	if err != nil {
		return nil, err
	}
	if r, err = withBody(r, bound(withoutManagers(result.Body), item)); err != nil {
		return nil, err
	}
	r = r.Param("dryRun", metav1.DryRunAll).Param("fieldManager", managerOf(item))
	var body map[string]any
	err = c.retry(ctx, func() error {
		var err error
		body, _, err = many.sendBody(ctx, r)
		return err
	})
	return body, err
}

// migrate returns a copy of a live object whose fields of the migrated managers are those
// of the tool's own.
func migrate(live map[string]any, item preview.DryRun) (map[string]any, error) {
	if len(item.Migrates) == 0 {
		return live, nil
	}
	object := &unstructured.Unstructured{Object: preview.CloneBody(live)}
	if err := csaupgrade.UpgradeManagedFields(object, sets.New(item.Migrates...), managerOf(item)); err != nil {
		return nil, err
	}
	return object.Object, nil
}

func withoutManagers(body map[string]any) map[string]any {
	out := preview.CloneBody(body)
	delete(preview.Map(out, "metadata"), "managedFields")
	return out
}
