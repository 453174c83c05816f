package k8s

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// tryAgain returns what a server-side apply makes of an object after the tool has migrated
// fields (csaupgrade): the apply is sent again then, and removes those that it lacks. A dry
// run stores no migrated managers, so that the second apply is merged here and tried as an
// update, so that the API server sets defaults.
func (c *Client) tryAgain(ctx context.Context, many *Client, res resource, item preview.DryRun, first map[string]any) (map[string]any, error) {
	migrated, err := migrate(first, item)
	if err != nil {
		return nil, err
	}
	again := item
	again.Force = true // what conflicts is answered already
	again.Takes = &preview.FieldTaking{KeepsLastApplied: item.Takes.KeepsLastApplied}
	result := c.Merge(ctx, migrated, again)
	if result.Err != nil {
		return nil, result.Err
	}
	if reflect.DeepEqual(withoutManagers(result.Body), withoutManagers(first)) {
		return first, nil
	}
	update := preview.DryRun{
		Body: withoutManagers(result.Body), Method: preview.MethodUpdate, Manager: item.Manager, UID: item.UID, ResourceVersion: item.ResourceVersion,
	}
	tried := c.try(ctx, many, res, update)
	return tried.Body, tried.Err
}

// migrate returns a copy of a live object that gives the fields of the migrated managers
// to the tool's manager.
func migrate(live map[string]any, item preview.DryRun) (map[string]any, error) {
	if !item.Takes.Again() {
		return live, nil
	}
	object := &unstructured.Unstructured{Object: preview.CloneBody(live)}
	if err := csaupgrade.UpgradeManagedFields(object, sets.New(item.Takes.Updated...), managerOf(item)); err != nil {
		return nil, err
	}
	return object.Object, nil
}

func withoutManagers(body map[string]any) map[string]any {
	out := preview.CloneBody(body)
	delete(preview.Map(out, "metadata"), "managedFields")
	return out
}
