package applier

import (
	"cmp"
	"errors"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The field managers of kubectl apply (k8s.io/kubectl v0.37.2, pkg/cmd/apply/apply.go).
const (
	kubectlClientSide = "kubectl-client-side-apply"
	kubectlServerSide = "kubectl"
)

// maxAnnotations is the most bytes that the API server lets the annotations of an object have.
const maxAnnotations = 256 << 10

// Kubectl applies objects as kubectl apply does. Without --server-side, it sends a patch of
// the annotation in which it keeps what it applied last, what it applies now, and the live
// object. It takes any object for its own and deletes none.
type Kubectl struct {
	about preview.Applier
	sent  map[string]map[string]any // by id, as the content has them
}

// FindKubectl returns kubectl for the objects of a release: as it applied them last, by the
// newest mark on one that no other tool owns, or, if there is none and always is true,
// without --server-side, which is its default. Without either the result is nil.
func FindKubectl(release preview.Release, objects []Rendered, always bool) *Found {
	k := &Kubectl{about: preview.Applier{Tool: preview.ApplierKubectl}, sent: make(map[string]map[string]any, len(objects))}
	var newest kubectlMark
	for _, o := range objects {
		k.sent[o.Ref.ID()] = o.Body
		mark := kubectlMarkOf(o.Live)
		owner, foreign := preview.ForeignOwner(o.Live, release)
		switch {
		case foreign:
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitOtherOwner, Object: o.Ref.ID(), Detail: owner.String()})
		case mark.manager != "" && mark.time >= newest.time:
			newest = mark
		}
	}
	switch {
	case newest.manager == "" && !always:
		return nil
	case newest.serverSide:
		k.about.Method, k.about.Manager = preview.MethodApply, newest.manager
	default:
		k.about.Method, k.about.Manager = preview.MethodThreeWay, cmp.Or(newest.manager, kubectlClientSide)
	}
	return &Found{Tool: k}
}

// kubectlMark says how kubectl applied a live object last; the zero value is that it did not.
type kubectlMark struct {
	manager, time string
	serverSide    bool
}

// kubectlMarkOf returns the newest mark of kubectl on an object. Other tools write the
// annotation too, each as a field manager of its own, and --field-manager names any other.
func kubectlMarkOf(live map[string]any) kubectlMark {
	var out kubectlMark
	for _, entry := range preview.Maps(live, "metadata", "managedFields") {
		mark := kubectlMark{manager: preview.String(entry, "manager"), time: preview.String(entry, "time")}
		switch operation := preview.String(entry, "operation"); {
		case preview.String(entry, "subresource") != "":
			continue
		case operation == "Apply" && mark.manager == kubectlServerSide:
			mark.serverSide = true
		case operation != "Update" || mark.manager == argoManager:
			continue
		case mark.manager == kubectlClientSide:
		case !setsLastApplied(entry) || strings.HasPrefix(mark.manager, "kubectl-"): // as kubectl annotate does
			continue
		}
		if mark.time >= out.time {
			out = mark
		}
	}
	return out
}

// setsLastApplied reports whether an entry of managedFields has the annotation of client-side
// apply.
func setsLastApplied(entry map[string]any) bool {
	_, ok := preview.Map(entry, "fieldsV1", "f:metadata", "f:annotations")["f:"+preview.LastApplied]
	return ok
}

// lastAppliers returns the managers whose updates set the annotation of client-side apply.
// kubectl gives their fields to its own manager with a server-side apply.
func lastAppliers(live map[string]any) []string {
	var out []string
	for _, entry := range preview.Maps(live, "metadata", "managedFields") {
		if preview.String(entry, "operation") == "Update" && setsLastApplied(entry) {
			out = append(out, preview.String(entry, "manager"))
		}
	}
	return out
}

// Describe returns what a plan records about kubectl.
func (k *Kubectl) Describe() *preview.Applier { return &k.about }

// Mark adds to an object the annotation of client-side apply.
func (k *Kubectl) Mark(body map[string]any) {
	if k.about.Method == preview.MethodApply {
		return
	}
	if sent, ok := k.sent[preview.RefOf(body).ID()]; ok {
		markLastApplied(body, sent)
	}
}

// markLastApplied sets the annotation of client-side apply to sent.
func markLastApplied(body, sent map[string]any) {
	if text, err := preview.LastAppliedText(sent, true); err == nil { // of JSON: cannot fail
		preview.SetMetadata(body, "annotations", preview.LastApplied, text)
	}
}

// Decide returns what kubectl does with an object: it creates or updates each,
// whatever its owner, and knows no others.
func (k *Kubectl) Decide(o *preview.Object) (action preview.Action, own bool) {
	switch {
	case o.Planned == nil:
		return preview.ActionKeep, false
	case o.LiveBody == nil:
		return preview.ActionCreate, false
	}
	return preview.ActionUpdate, kubectlMarkOf(o.LiveBody).manager != ""
}

// Request returns the request by which kubectl writes an object. It sends what was rendered,
// with what the planned object leaves out, and has unknown fields refused.
func (k *Kubectl) Request(o *preview.Object, body map[string]any) (preview.DryRun, error) {
	if sent, ok := k.sent[o.ID]; ok {
		body = sent
	}
	if k.about.Method == preview.MethodApply {
		return preview.DryRun{Body: body, Takes: &preview.FieldTaking{Updated: lastAppliers(o.LiveBody), KeepsLastApplied: true}, Strict: true}, nil
	}
	return clientSide(o, body), nil
}

// clientSide returns the request by which kubectl, and what uses its code, applies body
// without server-side apply.
func clientSide(o *preview.Object, body map[string]any) preview.DryRun {
	body = preview.CloneBody(body)
	markLastApplied(body, body)
	out := preview.DryRun{Body: body, Method: preview.MethodThreeWay, Strict: true}
	if size := annotationBytes(body); size > maxAnnotations {
		out.Refused = &preview.Refusal{
			Reason: preview.ReasonInvalid, Message: "metadata.annotations: they have more than 262144 bytes with " + preview.LastApplied,
		}
		return out
	}
	if o.LiveBody == nil {
		out.Method = preview.MethodCreate
		dropNulls(body)
		return out
	}
	earlier, err := lastApplied(o.LiveBody)
	if err != nil {
		out.Refused = &preview.Refusal{
			Reason: preview.ReasonOther, Message: "the annotation " + preview.LastApplied + " of the live object is no object in JSON", Err: err,
		}
		return out
	}
	out.ThreeWay = &preview.ThreeWay{Earlier: earlier, Live: o.LiveBody}
	return out
}

// lastApplied returns the object in the annotation of client-side apply, empty if there is
// none.
func lastApplied(live map[string]any) (map[string]any, error) {
	text := preview.String(live, "metadata", "annotations", preview.LastApplied)
	if text == "" {
		return map[string]any{}, nil
	}
	decoded, err := preview.DecodeJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	body, ok := decoded.(map[string]any)
	if !ok {
		return nil, errors.New("it is no object")
	}
	return body, nil
}

func annotationBytes(body map[string]any) int {
	size := 0
	for key, v := range preview.Map(body, "metadata", "annotations") {
		text, _ := v.(string)
		size += len(key) + len(text)
	}
	return size
}

// dropNulls drops the nulls of maps, as kubectl does of an object that it creates.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if item == nil {
				delete(v, key)
			}
			dropNulls(item)
		}
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	}
}
