package k8s

import (
	"bytes"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// patch is the update request of a tool without server-side apply.
type patch struct {
	kind types.PatchType
	data []byte
	of   runtime.Object // an object of the kind's Go type; nil for a merge patch
}

// threeWayPatch returns the patch of what a tool applied before, what it applies now, and
// the live object, as Helm 3 and kubectl apply make it; nil if there is nothing to send.
func threeWayPatch(item preview.DryRun) (*patch, error) {
	var data [3][]byte
	for i, body := range []map[string]any{item.ThreeWay.Earlier, item.Body, item.ThreeWay.Live} {
		var err error
		if data[i], err = preview.Canonical(body); err != nil {
			return nil, err
		}
	}
	made, err := newPatch(item, data[0], data[1], data[2])
	if err != nil {
		return nil, fmt.Errorf("computing the patch of %s: %w", preview.RefOf(item.Body).ID(), err)
	}
	if made.data = bytes.TrimSpace(made.data); string(made.data) == "{}" || len(made.data) == 0 {
		return nil, nil
	}
	return made, nil
}

func newPatch(item preview.DryRun, earlier, planned, live []byte) (*patch, error) {
	out := &patch{kind: types.MergePatchType, of: typeOf(preview.RefOf(item.Body))}
	var err error
	switch {
	case out.of != nil:
		var meta strategicpatch.PatchMetaFromStruct
		if meta, err = strategicpatch.NewPatchMetaFromStruct(out.of); err != nil {
			return nil, err
		}
		out.kind = types.StrategicMergePatchType
		out.data, err = strategicpatch.CreateThreeWayMergePatch(earlier, planned, live, meta, true)
	case item.ThreeWay.CustomTwoWay:
		out.data, err = jsonpatch.CreateMergePatch(earlier, planned)
	default:
		out.data, err = jsonmergepatch.CreateThreeWayJSONMergePatch(earlier, planned, live)
	}
	return out, err
}

// apply returns an object with the patch, as the API server computes it before it sets
// defaults.
func (p *patch) apply(live []byte) ([]byte, error) {
	if p.of != nil {
		return strategicpatch.StrategicMergePatch(live, p.data, p.of)
	}
	return jsonpatch.MergePatch(live, p.data)
}

// typeOf returns an object of the Go type of a kind that is built in, or of a CRD; nil for
// other kinds, which have no strategic merge.
func typeOf(ref preview.Ref) runtime.Object {
	kind := runtimeschema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	if kind == apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
		return &apiextensionsv1.CustomResourceDefinition{}
	}
	typed, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil
	}
	return typed
}
