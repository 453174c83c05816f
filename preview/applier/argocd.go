package applier

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// ArgoGroup is the API group of Argo CD.
const ArgoGroup = "argoproj.io"

// The marks and the field manager of Argo CD (argo-cd v3.2.1, common/common.go).
const (
	argoManager      = "argocd-controller"
	argoTracking     = "argocd.argoproj.io/tracking-id"
	argoInstallation = "argocd.argoproj.io/installation-id"
	argoInstance     = "app.kubernetes.io/instance"
	argoOptions      = "argocd.argoproj.io/sync-options"
	argoHook         = "argocd.argoproj.io/hook"
)

// ArgoCD applies the objects of an Application as Argo CD's application controller does:
// by the code of kubectl apply with a field manager of its own, or by what its options and
// those of an object say. It overwrites what others set, and takes any object for its own.
type ArgoCD struct {
	about   preview.Applier
	app     map[string]any
	options []string // of the Application
	sent    map[string]map[string]any
	method  string // of tracking
}

// FindArgoCD returns Argo CD for the objects of an Application, which is asked for by a file;
// with none, for those of the Application that the live objects name. It is nil if they name
// none, or one that does not exist.
func FindArgoCD(ctx context.Context, cluster Cluster, asked map[string]any, release preview.Release, objects []Rendered) (*Found, error) {
	ref, ok := preview.RefOf(asked), asked != nil
	if !ok {
		var err error
		if ref, ok = trackedBy(objects); !ok {
			ref, ok, err = statedBy(ctx, cluster, objects)
		}
		if !ok || err != nil {
			return nil, err
		}
	}
	live, hidden, err := readApplication(ctx, cluster, ref)
	hidden = hidden && asked == nil
	switch {
	case err != nil:
		return nil, err
	case hidden:
		asked = applicationByMarks(ref, release, objects)
	case asked == nil && live == nil:
		return nil, nil
	case asked == nil:
		asked = live
	}
	a := &ArgoCD{app: asked, sent: map[string]map[string]any{}}
	a.options = preview.Texts(preview.List(asked, "spec", "syncPolicy", "syncOptions"))
	a.about = preview.Applier{
		Tool: preview.ApplierArgoCD, Controller: "argocd-application-controller", Object: preview.RefOf(asked).ID(),
		Method: preview.MethodThreeWay, Manager: argoManager, Overwrites: true, Record: preview.UID(live),
		State: preview.String(live, "status", "sync", "status"),
	}
	switch {
	case a.has("Replace=true"):
		a.about.Method = preview.MethodUpdate
	case a.has("ServerSideApply=true"):
		a.about.Method = preview.MethodApply
	}
	if history := preview.Maps(live, "status", "history"); len(history) > 0 {
		if id, err := strconv.Atoi(fmt.Sprint(history[len(history)-1]["id"])); err == nil {
			a.about.Revision = id + 1 // they count from 0
		}
	}
	if hidden {
		a.limit(preview.LimitNotRead, a.about.Object, "")
	}
	if err := a.readSettings(ctx, cluster, objects); err != nil {
		return nil, err
	}
	a.limits(objects, release)
	if err := a.readProject(ctx, cluster); err != nil {
		return nil, err
	}
	besides, err := a.ownNamespace(ctx, cluster)
	return &Found{Tool: a, Earlier: argoEarlier(live), Besides: besides}, err
}

// ownNamespace returns the Namespace that Argo CD makes besides the content, nil if it makes
// none: one that is missing, or whose labels and annotations the Application has (argo-cd
// v3.2.1, controller/sync_namespace.go). It is not tracked.
func (a *ArgoCD) ownNamespace(ctx context.Context, cluster Cluster) ([]map[string]any, error) {
	ref := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: preview.String(a.app, "spec", "destination", "namespace")}
	if !a.has("CreateNamespace=true") || ref.Name == "" || a.sent[ref.ID()] != nil {
		return nil, nil
	}
	r := cluster.Read(ctx, []preview.Ref{ref})[0]
	managed := preview.Map(a.app, "spec", "syncPolicy", "managedNamespaceMetadata")
	if err := unlessAnswered(r.Err); err != nil || r.Err != nil || r.Body != nil && managed == nil {
		return nil, err
	}
	body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ref.Name}}
	if managed != nil {
		for _, field := range []string{"labels", "annotations"} {
			for key, v := range preview.Map(managed, field) {
				preview.SetMetadata(body, field, key, fmt.Sprint(v))
			}
		}
		preview.SetMetadata(body, "annotations", argoOptions, "ServerSideApply=true")
	}
	a.sent[ref.ID()] = body
	return []map[string]any{body}, nil
}

// trackedBy returns the Application that alone the live objects name; ok is false if there is
// none, or several. One of another namespace is named NAMESPACE_NAME.
func trackedBy(objects []Rendered) (ref preview.Ref, ok bool) {
	names := map[string]bool{}
	for _, o := range objects {
		if text := preview.String(o.Live, "metadata", "annotations", argoTracking); text != "" {
			name, _, _ := strings.Cut(text, ":")
			names[name] = true
		}
	}
	if len(names) == 0 { // tracked by label
		for _, o := range objects {
			if name := preview.String(o.Live, "metadata", "labels", argoInstance); name != "" && appliedByArgo(o.Live) {
				names[name] = true
			}
		}
	}
	if len(names) != 1 {
		return preview.Ref{}, false
	}
	for name := range names {
		ref = preview.Ref{APIVersion: ArgoGroup + "/v1alpha1", Kind: "Application", Name: name}
		if namespace, short, found := strings.Cut(name, "_"); found {
			ref.Namespace, ref.Name = namespace, short
		}
	}
	return ref, true
}

// statedBy returns the Application that alone has one of the objects in its status, where
// Argo CD applied one, and the mark was taken off, as kubectl apply does.
func statedBy(ctx context.Context, cluster Cluster, objects []Rendered) (ref preview.Ref, ok bool, err error) {
	ids := map[string]bool{}
	for _, o := range objects {
		if appliedByArgo(o.Live) && preview.String(o.Live, "metadata", "annotations", argoTracking) == "" {
			ids[o.Ref.ID()] = true
		}
	}
	if len(ids) == 0 {
		return ref, false, nil
	}
	all, err := cluster.List(ctx, ArgoGroup+"/v1alpha1", "Application", "", "", "status.resources")
	if err != nil {
		return ref, false, unlessAnswered(err)
	}
	for _, app := range all {
		if !slices.ContainsFunc(argoEarlier(app), func(e Earlier) bool { return ids[e.Ref.ID()] }) {
			continue
		}
		if ok {
			return ref, false, nil
		}
		ref, ok = preview.RefOf(app), true
		ref.APIVersion, ref.Kind = ArgoGroup+"/v1alpha1", "Application"
	}
	return ref, ok, nil
}

// appliedByArgo reports whether Argo CD is a field manager of an object.
func appliedByArgo(live map[string]any) bool {
	return slices.ContainsFunc(preview.Maps(live, "metadata", "managedFields"), func(entry map[string]any) bool {
		return preview.String(entry, "manager") == argoManager
	})
}

// applicationByMarks is an Application that may not be read, as far as the objects that it
// has tell: that it is applied, and how.
func applicationByMarks(ref preview.Ref, release preview.Release, objects []Rendered) map[string]any {
	policy := map[string]any{"automated": map[string]any{}}
	if slices.ContainsFunc(objects, func(o Rendered) bool {
		return slices.ContainsFunc(preview.Maps(o.Live, "metadata", "managedFields"), func(entry map[string]any) bool {
			return preview.String(entry, "manager") == argoManager && preview.String(entry, "operation") == "Apply"
		})
	}) {
		policy["syncOptions"] = []any{"ServerSideApply=true"}
	}
	return map[string]any{
		"apiVersion": ref.APIVersion, "kind": ref.Kind, "metadata": map[string]any{"name": ref.Name, "namespace": cmp.Or(ref.Namespace, "argocd")},
		"spec": map[string]any{"syncPolicy": policy, "destination": map[string]any{"namespace": release.Namespace}},
	}
}

// readApplication reads a live Application, nil if there is none, or if its kind is gone or
// may not be read, which is hidden then. One without a namespace is searched in all.
func readApplication(ctx context.Context, cluster Cluster, ref preview.Ref) (body map[string]any, hidden bool, err error) {
	if ref.Namespace == "" {
		all, err := cluster.List(ctx, ref.APIVersion, ref.Kind, "", "", "metadata")
		if err != nil {
			return nil, preview.ReasonOf(err) == preview.ReasonForbidden, unlessAnswered(err)
		}
		for _, body := range all {
			if found := preview.RefOf(body); found.Name == ref.Name {
				if ref.Namespace != "" {
					return nil, false, nil // two Argo CDs have one of that name
				}
				ref.Namespace = found.Namespace
			}
		}
		if ref.Namespace == "" {
			return nil, false, nil
		}
	}
	r := cluster.Read(ctx, []preview.Ref{ref})[0]
	return r.Body, preview.ReasonOf(r.Err) == preview.ReasonForbidden, unlessAnswered(r.Err)
}

// unlessAnswered returns an error that is no answer of the API server.
func unlessAnswered(err error) error {
	if preview.Answered(err) {
		return nil
	}
	return err
}

// argoEarlier returns what the Application has in the cluster, without bodies: Argo CD keeps
// none.
func argoEarlier(app map[string]any) []Earlier {
	var out []Earlier
	for _, item := range preview.Maps(app, "status", "resources") {
		group, version := preview.String(item, "group"), preview.String(item, "version")
		if hook, _ := item["hook"].(bool); hook || version == "" {
			continue
		}
		ref := preview.Ref{APIVersion: path.Join(group, version), Kind: preview.String(item, "kind"), Name: preview.String(item, "name")}
		ref.Namespace = preview.String(item, "namespace")
		out = append(out, Earlier{Ref: ref})
	}
	return out
}

// readSettings reads how Argo CD tracks objects, and computes what it sends.
func (a *ArgoCD) readSettings(ctx context.Context, cluster Cluster, objects []Rendered) error {
	meta := preview.Map(a.app, "metadata")
	home, name := preview.String(meta, "namespace"), preview.String(meta, "name")
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: home, Name: "argocd-cm"}
	r := cluster.Read(ctx, []preview.Ref{ref})[0]
	if err := unlessAnswered(r.Err); err != nil {
		return err
	}
	if r.Body == nil && r.Err == nil && home != "argocd" { // Applications may be in any namespace
		ref.Namespace = "argocd"
		if r = cluster.Read(ctx, []preview.Ref{ref})[0]; r.Body != nil {
			name = home + "_" + name
		}
		if err := unlessAnswered(r.Err); err != nil {
			return err
		}
	}
	if r.Err != nil {
		a.limit(preview.LimitNotRead, ref.ID(), "")
	}
	settings := preview.Map(r.Body, "data")
	a.method = preview.String(settings, "application.resourceTrackingMethod")
	annotated := func(o Rendered) bool { return preview.String(o.Live, "metadata", "annotations", argoTracking) != "" }
	if r.Body == nil && !slices.ContainsFunc(objects, annotated) &&
		slices.ContainsFunc(objects, func(o Rendered) bool {
			return appliedByArgo(o.Live) && preview.String(o.Live, "metadata", "labels", argoInstance) == name
		}) {
		a.method = "label"
	}
	label := cmp.Or(preview.String(settings, "application.instanceLabelKey"), argoInstance)
	installation := preview.String(settings, "installationID")
	for _, o := range objects {
		body := preview.CloneBody(o.Body)
		a.track(o.Ref, body, name, label, installation)
		a.sent[o.Ref.ID()] = body
	}
	return nil
}

// track adds what Argo CD finds an object by, as it writes it (argo-cd v3.2.1,
// util/argo/resource_tracking.go): cluster-scoped objects get the namespace of the
// destination, and CRDs nothing.
func (a *ArgoCD) track(ref preview.Ref, body map[string]any, name, label, installation string) {
	if ref.Kind == "CustomResourceDefinition" && ref.Group() == "apiextensions.k8s.io" {
		return
	}
	namespace := cmp.Or(ref.Namespace, preview.String(a.app, "spec", "destination", "namespace"))
	id := fmt.Sprintf("%s:%s/%s:%s/%s", name, ref.Group(), ref.Kind, namespace, ref.Name)
	if a.method != "label" {
		preview.SetMetadata(body, "annotations", argoTracking, id)
		if installation != "" {
			preview.SetMetadata(body, "annotations", argoInstallation, installation)
		}
	}
	if a.method == "label" || a.method == "annotation+label" {
		preview.SetMetadata(body, "labels", label, strings.TrimRight(name[:min(len(name), 63)], "-_."))
	}
}

// limit records what Argo CD does not do, or does besides.
func (a *ArgoCD) limit(what preview.Limit, object, detail string) {
	addLimit(&a.about, preview.ApplierLimit{What: what, Object: object, Detail: detail})
}

// limits records what the Application says of how it is synced.
func (a *ArgoCD) limits(objects []Rendered, release preview.Release) {
	automated := preview.Map(a.app, "spec", "syncPolicy", "automated")
	enabled, ok := automated["enabled"].(bool)
	if preview.Map(a.app, "spec", "syncPolicy")["automated"] == nil || ok && !enabled {
		a.limit(preview.LimitManual, "", "")
	}
	for _, ignored := range preview.Maps(a.app, "spec", "ignoreDifferences") {
		for _, key := range []string{"jsonPointers", "jqPathExpressions", "managedFieldsManagers"} {
			for _, text := range preview.Texts(ignored[key]) {
				a.limit(preview.LimitIgnored, "", text)
			}
		}
	}
	for _, o := range objects {
		id := o.Ref.ID()
		if a.optionOf(o.Body, o.Live, "Force=true") {
			a.limit(preview.LimitRecreates, id, "")
		}
		annotations := preview.Map(o.Body, "metadata", "annotations")
		if event := cmp.Or(preview.String(annotations, argoHook), preview.String(annotations, "helm.sh/hook")); event != "" {
			a.limit(preview.LimitHookRuns, id, event)
		}
		for _, owner := range preview.ForeignOwners(o.Live, release) {
			if owner.Tool != preview.ToolArgo || !a.named(owner.Name) {
				a.limit(preview.LimitOtherOwner, id, owner.String())
				break
			}
		}
	}
}

// readProject records the sync windows of the project.
func (a *ArgoCD) readProject(ctx context.Context, cluster Cluster) error {
	ref := preview.Ref{APIVersion: ArgoGroup + "/v1alpha1", Kind: "AppProject", Name: cmp.Or(preview.String(a.app, "spec", "project"), "default")}
	ref.Namespace = preview.String(a.app, "metadata", "namespace")
	r := cluster.Read(ctx, []preview.Ref{ref})[0]
	if preview.ReasonOf(r.Err) == preview.ReasonForbidden {
		a.limit(preview.LimitNotRead, ref.ID(), "")
	}
	for _, window := range preview.Maps(r.Body, "spec", "syncWindows") {
		if a.inWindow(window) {
			manual, _ := window["manualSync"].(bool)
			addLimit(&a.about, preview.ApplierLimit{What: preview.LimitWindow, Object: ref.ID(), Window: preview.SyncWindow{
				Kind: preview.String(window, "kind"), Schedule: preview.String(window, "schedule"), Duration: preview.String(window, "duration"),
				TimeZone: preview.String(window, "timeZone"), ManualSync: manual,
			}})
		}
	}
	return unlessAnswered(r.Err)
}

// inWindow reports whether a sync window is for the Application: by one of its patterns, or,
// with andOperator, by one of each list (argo-cd v3.2.1, pkg/apis/application/v1alpha1/types.go).
func (a *ArgoCD) inWindow(window map[string]any) bool {
	destination, lists, matched := preview.Map(a.app, "spec", "destination"), 0, 0
	for key, names := range map[string][]string{
		"applications": {preview.String(a.app, "metadata", "name")}, "namespaces": {preview.String(destination, "namespace")},
		"clusters": {preview.String(destination, "server"), preview.String(destination, "name")},
	} {
		patterns := preview.Texts(window[key])
		if len(patterns) == 0 {
			continue
		}
		lists++
		if slices.ContainsFunc(patterns, func(pattern string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return name != "" && globMatches(pattern, name) })
		}) {
			matched++
		}
	}
	if window["andOperator"] == true {
		return matched > 0 && matched == lists
	}
	return matched > 0
}

// globMatches reports whether a pattern matches a name, whose slashes are no separators.
func globMatches(pattern, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return ok && err == nil
}

func (a *ArgoCD) has(option string) bool { return slices.Contains(a.options, option) }

// optionOf reports whether an object, planned or live, has a sync option.
func (a *ArgoCD) optionOf(body, live map[string]any, option string) bool {
	for _, of := range []map[string]any{body, live} {
		for _, text := range strings.Split(preview.String(of, "metadata", "annotations", argoOptions), ",") {
			if strings.TrimSpace(text) == option {
				return true
			}
		}
	}
	return false
}

// methodOf returns how Argo CD writes an object (gitops-engine, pkg/sync/sync_context.go,
// applyObject). Replacing comes before all.
func (a *ArgoCD) methodOf(body, live map[string]any) preview.WriteMethod {
	switch {
	case a.has("Replace=true") || a.optionOf(body, live, "Replace=true"):
		return preview.MethodUpdate
	case a.optionOf(body, nil, "ServerSideApply=false"):
		return preview.MethodThreeWay
	case a.has("ServerSideApply=true") || a.optionOf(body, nil, "ServerSideApply=true"):
		return preview.MethodApply
	}
	return preview.MethodThreeWay
}

// Describe returns what a plan records about Argo CD.
func (a *ArgoCD) Describe() *preview.Applier { return &a.about }

// Mark adds to an object what Argo CD adds: its marks, and the annotation of client-side
// apply.
func (a *ArgoCD) Mark(body map[string]any) {
	sent, ok := a.sent[preview.RefOf(body).ID()]
	if !ok {
		return
	}
	for _, field := range []string{"labels", "annotations"} {
		for key, v := range preview.Map(sent, "metadata", field) {
			if text, ok := v.(string); ok {
				preview.SetMetadata(body, field, key, text)
			}
		}
	}
	if a.methodOf(body, nil) == preview.MethodThreeWay {
		markLastApplied(body, sent)
	}
}

// Decide returns what Argo CD does with an object. It deletes what the content lacks only
// if it prunes, and if neither the Application nor the object keeps it.
func (a *ArgoCD) Decide(o *preview.Object) (action preview.Action, own bool) {
	own = o.LiveBody != nil && a.tracks(o)
	switch {
	case o.Planned == nil:
		return a.decideLeftover(o, own), own
	case o.LiveBody == nil:
		return preview.ActionCreate, false
	case isHook(o.Planned) || preview.String(o.Planned, "metadata", "annotations", argoHook) != "":
		return preview.ActionReplace, true
	case a.methodOf(o.Planned, o.LiveBody) == preview.MethodThreeWay && otherRole(o):
		a.limit(preview.LimitRecreates, o.ID, "") // kubectl auth reconcile does it first
		return preview.ActionReplace, own
	}
	return preview.ActionUpdate, own
}

// tracks reports whether a live object has the mark of the Application.
func (a *ArgoCD) tracks(o *preview.Object) bool {
	if a.method == "label" {
		return appliedByArgo(o.LiveBody)
	}
	if o.Is(preview.KindCustomResourceDefinition) && appliedByArgo(o.LiveBody) {
		return true // they have no mark
	}
	return a.named(preview.String(o.LiveBody, "metadata", "annotations", argoTracking))
}

// named reports whether a mark names the Application.
func (a *ArgoCD) named(mark string) bool {
	name, _, _ := strings.Cut(mark, ":")
	own := preview.String(a.app, "metadata", "name")
	return name == own || name == preview.String(a.app, "metadata", "namespace")+"_"+own
}

// decideLeftover returns what becomes of an object that the content lacks.
func (a *ArgoCD) decideLeftover(o *preview.Object, own bool) preview.Action {
	prune, _ := preview.Map(a.app, "spec", "syncPolicy", "automated")["prune"].(bool)
	switch {
	case o.LiveBody == nil || !own:
		return preview.ActionKeep
	case !prune:
		a.limit(preview.LimitNotPruned, o.ID, "")
		return preview.ActionKeep
	case slices.ContainsFunc([]string{"Prune=false", "Prune=confirm"}, func(option string) bool { return a.has(option) || a.optionOf(nil, o.LiveBody, option) }):
		a.limit(preview.LimitKept, o.ID, "")
		return preview.ActionKeep
	}
	return preview.ActionDelete
}

// otherRole reports whether a live binding is to another role, which cannot be changed.
func otherRole(o *preview.Object) bool {
	planned, live := preview.Map(o.Planned, "roleRef"), preview.Map(o.LiveBody, "roleRef")
	other := planned["kind"] != live["kind"] || planned["name"] != live["name"]
	return o.Ref().Group() == "rbac.authorization.k8s.io" && planned != nil && other
}

// Request returns the request by which Argo CD writes an object.
func (a *ArgoCD) Request(o *preview.Object, body map[string]any) (preview.DryRun, error) {
	if sent, ok := a.sent[o.ID]; ok {
		body = a.respecting(o, sent)
	}
	strict := !a.has("Validate=false") && !a.optionOf(body, nil, "Validate=false")
	switch a.methodOf(body, o.LiveBody) {
	case preview.MethodApply:
		out := preview.DryRun{Body: body, Strict: strict}
		if o.LiveBody == nil {
			return out, nil
		}
		out.Takes = &preview.FieldTaking{Updated: lastAppliers(o.LiveBody)}
		if !a.has("ClientSideApplyMigration=false") && !slices.Contains(out.Takes.Updated, kubectlClientSide) {
			out.Takes.Updated = append(out.Takes.Updated, kubectlClientSide)
		}
		return out, nil
	case preview.MethodUpdate:
		out := preview.DryRun{Body: body, Method: preview.MethodUpdate, Strict: strict}
		if o.LiveBody == nil {
			out.Method = preview.MethodCreate
		}
		if o.LiveBody == nil && o.Ref().Group() == "rbac.authorization.k8s.io" { // which is created before by "auth reconcile"
			out.Refused = &preview.Refusal{
				Reason: preview.ReasonOther, Message: "Argo CD fails to create it with Replace=true, for it reconciles roles and bindings before",
			}
		}
		return out, nil
	}
	out := clientSide(o, body)
	out.Strict = strict
	return out, nil
}

// respecting returns what is sent with the live values of ignored fields, if the Application
// says that a sync respects them. Fields that are not named by a JSON pointer are left.
func (a *ArgoCD) respecting(o *preview.Object, sent map[string]any) map[string]any {
	if o.LiveBody == nil || !a.has("RespectIgnoreDifferences=true") {
		return sent
	}
	out := preview.CloneBody(sent)
	for _, ignored := range preview.Maps(a.app, "spec", "ignoreDifferences") {
		if !ignores(ignored, o) {
			continue
		}
		for _, pointer := range preview.Texts(ignored["jsonPointers"]) {
			copyAt(o.LiveBody, out, pointerTokens(pointer))
		}
	}
	return out
}

// ignores reports whether an entry of ignoreDifferences is about an object.
func ignores(entry map[string]any, o *preview.Object) bool {
	for key, own := range map[string]string{"group": o.Ref().Group(), "kind": o.Kind, "name": o.Name, "namespace": o.Namespace} {
		want := preview.String(entry, key)
		if want != "" && want != "*" && want != own {
			return false
		}
	}
	return true
}

// copyAt sets in to what from has at a path, and makes mappings on the way there. What from lacks
// stays as it is in to, as Argo CD leaves it; Flux removes it: [keepLive].
func copyAt(from, to any, tokens []string) {
	token := tokens[0]
	switch source := from.(type) {
	case map[string]any:
		target, ok := to.(map[string]any)
		v, has := source[token]
		switch {
		case !ok || !has:
		case len(tokens) == 1:
			target[token] = v
		default:
			if target[token] == nil {
				if _, isMap := v.(map[string]any); !isMap {
					return
				}
				target[token] = map[string]any{}
			}
			copyAt(v, target[token], tokens[1:])
		}
	case []any:
		target, ok := to.([]any)
		if i, err := strconv.Atoi(token); ok && err == nil && i >= 0 && i < min(len(source), len(target)) {
			if len(tokens) == 1 {
				target[i] = source[i]
				return
			}
			copyAt(source[i], target[i], tokens[1:])
		}
	}
}
