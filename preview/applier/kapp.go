package applier

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // as kapp does; nothing is protected by it
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cppforlife/go-patch/patch"
	yaml "gopkg.in/yaml.v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// AppGroup is the API group of kapp-controller.
const AppGroup = "kappctrl.k14s.io"

// The marks and annotations of kapp (carvel.dev/kapp v0.64.2, pkg/kapp/resources,
// pkg/kapp/diff/resource_with_history.go and pkg/kapp/clusterapply).
const (
	kappManager     = "kapp"
	kappController  = "kapp-controller"
	kappLabel       = "kapp.k14s.io/app"
	kappAssociation = "kapp.k14s.io/association"
	kappIsApp       = "kapp.k14s.io/is-app"
	kappIdentity    = "kapp.k14s.io/identity"
	kappOriginalSum = "kapp.k14s.io/original-diff-md5"
	kappNonce       = "kapp.k14s.io/nonce"
	kappRecord      = ".apps.k14s.io" // the end of the name of a record that says so
	// kappChosen stands for a value that kapp chooses by its clock.
	kappChosen = "chosen-by-kapp"
)

// Kapp applies the objects of an app as kapp deploy does, which kapp-controller runs for an
// App: an object that differs from what was applied last, or whose live state differs from
// what became of that, is replaced by the content with some fields of the live one.
type Kapp struct {
	about    preview.Applier
	key, app string // of the label of its objects
	config   kappConfig
	sent     map[string]map[string]any // by id, as kapp has them before it writes
	versions kappVersions
}

// kappMeta is what the record of an app says.
type kappMeta struct {
	LabelKey, LabelValue string
	LastChange           struct {
		Successful *bool
		Namespaces []string
	}
	UsedGKs []struct{ Group, Kind string }
}

// FindKapp returns kapp for the app that an App of kapp-controller asks for, whose objects the
// live ones are, or, if always is true, that has the name of the release. It is nil if there is
// none.
func FindKapp(ctx context.Context, cluster Cluster, asked Controlled, release preview.Release, objects []Rendered, always bool) (*Found, error) {
	k := &Kapp{key: kappLabel, sent: map[string]map[string]any{}, about: preview.Applier{
		Tool: preview.ApplierKapp, Method: preview.MethodUpdate, Manager: kappManager, Overwrites: true,
	}}
	if asked.Body == nil && !always && !mayBeKapp(objects) {
		return nil, nil
	}
	record, found, err := k.findRecord(ctx, cluster, asked, release, objects)
	if err != nil || !found && asked.Body == nil && !always {
		return nil, err
	}
	var meta kappMeta
	if record != nil {
		if meta, err = readKappMeta(record); err != nil {
			return nil, fmt.Errorf("reading the record of kapp in ConfigMap %s: %w", preview.RefOf(record).Name, err)
		}
		k.key, k.app, k.about.Record = meta.LabelKey, meta.LabelValue, preview.UID(record)
		if ok := meta.LastChange.Successful; ok != nil {
			k.about.State = map[bool]string{true: "succeeded", false: "failed"}[*ok]
		}
	}
	k.app = cmp.Or(k.app, kappChosen)
	if err := k.controller(ctx, cluster, asked, record); err != nil {
		return nil, err
	}
	members, err := k.members(ctx, cluster, meta, objects)
	if err != nil {
		return nil, err
	}
	out := &Found{Tool: k, Content: map[int][]map[string]any{}}
	for _, live := range members {
		body, _ := kappOriginal(live)
		out.Earlier = append(out.Earlier, Earlier{Ref: preview.RefOf(live), Body: body})
	}
	return out, k.prepare(objects, members, out)
}

// mayBeKapp reports whether objects may be those of an app: one has the label of kapp, or none
// exists, as where each has another name in each version.
func mayBeKapp(objects []Rendered) bool {
	live := func(o Rendered) bool { return o.Live != nil }
	return !slices.ContainsFunc(objects, live) ||
		slices.ContainsFunc(objects, func(o Rendered) bool { return preview.String(o.Live, "metadata", "labels", kappLabel) != "" })
}

// findRecord returns the record of the app, and whether there is one; it is nil for one that may
// not be read.
func (k *Kapp) findRecord(
	ctx context.Context, cluster Cluster, asked Controlled, release preview.Release, objects []Rendered,
) (record map[string]any, found bool, err error) {
	apps := map[string]bool{}
	for _, o := range objects {
		if app := preview.String(o.Live, "metadata", "labels", kappLabel); app != "" && kappIdentified(o.Live) {
			apps[app], k.app = true, app
		}
	}
	name, namespace := release.Name, release.Namespace
	if asked.Body != nil {
		name, namespace = asked.Ref.Name+".app", cmp.Or(asked.Ref.Namespace, namespace)
	}
	ref := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name}
	qualified := ref
	qualified.Name += kappRecord
	for _, r := range cluster.Read(ctx, []preview.Ref{qualified, ref}) {
		if err := unlessAnswered(r.Err); err != nil {
			return nil, false, err
		}
		if annotatedApp(r.Body) {
			return r.Body, true, nil
		}
		if r.Err != nil {
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitNotRead, Object: r.Ref.ID()})
		}
	}
	if asked.Body != nil || len(apps) != 1 {
		k.app = ""
		return nil, false, nil
	}
	all, err := cluster.List(ctx, "v1", "ConfigMap", "", kappIsApp, "data")
	if err != nil {
		return nil, true, unlessAnswered(err)
	}
	for _, body := range all {
		if meta, err := readKappMeta(body); err == nil && meta.LabelKey == kappLabel && meta.LabelValue == k.app {
			return body, true, nil
		}
	}
	return nil, true, nil
}

func annotatedApp(body map[string]any) bool {
	_, is := preview.Map(body, "metadata", "labels")[kappIsApp]
	return is
}

func readKappMeta(record map[string]any) (kappMeta, error) {
	var meta kappMeta
	err := json.Unmarshal([]byte(preview.String(record, "data", "spec")), &meta)
	if err == nil && (meta.LabelKey == "" || meta.LabelValue == "") {
		err = fmt.Errorf("it names no label")
	}
	return meta, err
}

// controller finds the App whose kapp-controller runs kapp, and what that says.
func (k *Kapp) controller(ctx context.Context, cluster Cluster, asked Controlled, record map[string]any) error {
	if asked.Body == nil {
		of := preview.RefOf(record)
		name, is := strings.CutSuffix(strings.TrimSuffix(of.Name, kappRecord), ".app")
		if !is {
			return nil
		}
		asked.Ref = preview.Ref{APIVersion: AppGroup + "/v1alpha1", Kind: "App", Namespace: of.Namespace, Name: name}
		r := cluster.Read(ctx, []preview.Ref{asked.Ref})[0]
		if r.Body == nil {
			return unlessAnswered(r.Err)
		}
		asked.Body = r.Body
	}
	k.about.Controller, k.about.Object = kappController, asked.Ref.ID()
	for _, field := range []string{"paused", "canceled"} {
		if set, _ := preview.Map(asked.Body, "spec")[field].(bool); set {
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitSuspended})
		}
	}
	k.unplanned(preview.Map(asked.Body, "spec"))
	return nil
}

// unplanned adds as limits what an App says that changes what kapp writes and is not planned:
// options of kapp that do more than wait, log and show differences, and kbld, which
// annotates objects with where their images are from.
func (k *Kapp) unplanned(spec map[string]any) {
	for _, template := range preview.Maps(spec, "template") {
		if _, runs := template["kbld"]; runs {
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitOption, Detail: "kbld"})
		}
	}
	for _, deploy := range preview.Maps(spec, "deploy") {
		for _, option := range preview.Texts(preview.Map(deploy, "kapp")["rawOptions"]) {
			name, _, _ := strings.Cut(strings.TrimLeft(option, "-"), "=")
			if !kappShows.MatchString(name) {
				addLimit(&k.about, preview.ApplierLimit{What: preview.LimitOption, Detail: textsafe.Clip(option, maxOption)})
			}
		}
	}
}

// maxOption is how many cells of an option are shown.
const maxOption = 80

// kappShows are options of kapp deploy that change nothing of what it writes (carvel-dev/kapp-controller
// v0.54.0, pkg/deploy/kapp_restrict.go has those that an App may have).
var kappShows = lazyregexp.New(`^(column|debug|json|tty|kube-api-qps|kube-api-burst|logs|logs-all|app-changes-max-to-keep|` +
	`diff-(changes|context|line-numbers|mask|summary|anchored)|apply-(check-interval|concurrency|timeout)|` +
	`wait(-check-interval|-concurrency|-ignored|-timeout)?|exit-early-on-(apply|wait)-error|existing-non-labeled-resources-check-concurrency)$`)

// members returns the live objects that kapp applied for the app: those with its label that say
// that they are themselves, and no copies that a controller made with the label.
func (k *Kapp) members(ctx context.Context, cluster Cluster, meta kappMeta, objects []Rendered) ([]map[string]any, error) {
	if k.app == kappChosen {
		return nil, nil
	}
	kinds := map[[2]string]bool{}
	for _, used := range meta.UsedGKs {
		kinds[[2]string{used.Group, used.Kind}] = true
	}
	if len(meta.UsedGKs) == 0 {
		addLimit(&k.about, preview.ApplierLimit{What: preview.LimitNotRead, Object: "ConfigMap of kapp app " + k.app})
		for _, o := range objects {
			kinds[[2]string{o.Ref.Group(), o.Ref.Kind}] = true
		}
	}
	var out []map[string]any
	for kind := range kinds {
		version, err := cluster.ServedVersion(ctx, kind[0], kind[1])
		if err != nil {
			return nil, err
		}
		if version == "" {
			continue
		}
		live, err := cluster.List(ctx, version, kind[1], "", k.key+"="+k.app)
		if err != nil && !preview.Answered(err) {
			return nil, err
		}
		for _, namespace := range meta.LastChange.Namespaces {
			if err == nil {
				break
			}
			some, denied := cluster.List(ctx, version, kind[1], namespace, k.key+"="+k.app)
			if live = append(live, some...); denied != nil {
				addLimit(&k.about, preview.ApplierLimit{What: preview.LimitNotRead, Object: preview.Ref{APIVersion: version, Kind: kind[1], Namespace: namespace}.ID()})
			}
		}
		for _, body := range live {
			if kappIdentified(body) {
				out = append(out, body)
			}
		}
	}
	slices.SortFunc(out, func(a, b map[string]any) int { return cmp.Compare(preview.RefOf(a).ID(), preview.RefOf(b).ID()) })
	return out, nil
}

// kappKey is by what kapp knows an object: its name, without the version of its kind.
func kappKey(ref preview.Ref) string {
	return ref.Namespace + "/" + ref.Group() + "/" + ref.Kind + "/" + ref.Name
}

// kappIdentified reports whether a live object says that kapp wrote it, under its name.
func kappIdentified(live map[string]any) bool {
	parts := strings.Split(preview.String(live, "metadata", "annotations", kappIdentity), ";")
	return len(parts) == 3 && parts[0] == "v1" && parts[1] == kappKey(preview.RefOf(live))
}

// prepare computes what kapp makes of the content before it compares and writes: without its
// configuration, with its labels, and with versions in names.
func (k *Kapp) prepare(objects []Rendered, members []map[string]any, found *Found) error {
	if err := k.configure(objects); err != nil {
		return err
	}
	prepared := make([]kappObject, 0, len(objects))
	for _, o := range objects {
		found.Content[o.Index] = nil
		if o.Ref.APIVersion == kappConfigVersion {
			continue
		}
		body, err := asFloats(o.Body)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Ref.ID(), err)
		}
		if annotated(body, kappNonce) {
			preview.SetMetadata(body, "annotations", kappNonce, kappChosen)
		}
		labels := map[string]string{k.key: k.app, kappAssociation: "v1." + kappSum([]byte(kappKey(o.Ref)))}
		for key, value := range k.config.labels {
			labels[key] = value
		}
		label(body, k.config.owned, labels)
		label(body, k.config.scoped, map[string]string{k.key: k.app})
		prepared = append(prepared, kappObject{index: o.Index, body: body})
	}
	prepared, err := k.versioned(prepared, members)
	if err != nil {
		return err
	}
	for _, o := range prepared {
		ref := preview.RefOf(o.body)
		k.sent[ref.ID()] = o.body
		data, err := json.Marshal(o.body)
		if err != nil {
			return err
		}
		decoded, err := preview.DecodeJSON(data)
		if err != nil {
			return err
		}
		body, _ := decoded.(map[string]any)
		found.Content[o.index] = append(found.Content[o.index], body)
	}
	return nil
}

// configure reads the default configuration of kapp, and the Configs of the content.
func (k *Kapp) configure(objects []Rendered) error {
	k.config.labels = map[string]string{}
	values, err := preview.Decode(kappDefaults)
	if err != nil {
		return err
	}
	for _, v := range values {
		body, _ := v.(map[string]any)
		if err := k.config.add(body); err != nil {
			return err
		}
	}
	for _, o := range objects {
		body := o.Body
		if _, holds := preview.Map(body, "metadata", "labels")[kappConfigLabel]; holds {
			values, err := preview.Decode([]byte(preview.String(body, "data", "config.yml")))
			if err != nil || len(values) != 1 {
				return fmt.Errorf("%s is labelled as configuration of kapp, and its config.yml is none", o.Ref.ID())
			}
			body, _ = values[0].(map[string]any)
		} else if o.Ref.APIVersion != kappConfigVersion {
			continue
		}
		if err := k.config.add(body); err != nil {
			return fmt.Errorf("the configuration of kapp in %s cannot be read: %w", o.Ref.ID(), err)
		}
		if k.config.templates {
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitNotRead, Object: o.Ref.ID(), Detail: "ytt"})
		}
	}
	return nil
}

// asFloats returns an object as kapp decodes files, with every number a float.
func asFloats(body map[string]any) (map[string]any, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

// Describe returns what a plan records about kapp.
func (k *Kapp) Describe() *preview.Applier { return &k.about }

// Mark adds to an object the annotation that kapp recognises its objects by.
func (k *Kapp) Mark(body map[string]any) {
	ref := preview.RefOf(body)
	if _, sent := k.sent[ref.ID()]; sent {
		preview.SetMetadata(body, "annotations", kappIdentity, "v1;"+kappKey(ref)+";"+ref.APIVersion)
	}
}

// Decide returns what kapp does with an object. It takes over any that has no label of another
// app, where it fails, and deletes what the content lacks.
func (k *Kapp) Decide(o *preview.Object) (action preview.Action, own bool) {
	owner := preview.String(o.LiveBody, "metadata", "labels", k.key)
	own = owner == k.app
	sent := k.sent[o.ID]
	switch {
	case o.Planned == nil:
		return k.decideLeftover(o, own), own
	case annotated(sent, "kapp.k14s.io/noop"), annotated(sent, "kapp.k14s.io/exists"):
		if o.LiveBody == nil && annotated(sent, "kapp.k14s.io/exists") {
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitWaits, Object: o.ID})
		} else {
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitIgnored, Object: o.ID})
		}
		return preview.ActionSkip, own
	case o.LiveBody == nil:
		return preview.ActionCreate, false
	case owner != "" && !own:
		return preview.ActionBlocked, false
	}
	strategy := k.strategy(o)
	if strategy == "always-replace" || strategy == "skip" {
		if _, changed := k.change(o.LiveBody, sent); !changed {
			return preview.ActionUpdate, own
		}
		if strategy == "skip" {
			addLimit(&k.about, preview.ApplierLimit{What: preview.LimitIgnored, Object: o.ID})
			return preview.ActionSkip, own
		}
		addLimit(&k.about, preview.ApplierLimit{What: preview.LimitRecreates, Object: o.ID})
		return preview.ActionReplace, own
	}
	return preview.ActionUpdate, own
}

func (k *Kapp) strategy(o *preview.Object) string {
	return preview.String(k.sent[o.ID], "metadata", "annotations", "kapp.k14s.io/update-strategy")
}

// decideLeftover returns what becomes of an object that the content lacks. One with the strategy
// orphan stays, and loses the label of the app.
func (k *Kapp) decideLeftover(o *preview.Object, own bool) preview.Action {
	switch {
	case !own || !kappIdentified(o.LiveBody):
		return preview.ActionKeep
	case k.versions.kept[o.ID], preview.String(o.LiveBody, "metadata", "annotations", "kapp.k14s.io/delete-strategy") == "orphan",
		o.Is(preview.KindNamespace) && (o.Name == "default" || strings.HasPrefix(o.Name, "kube-")):
		addLimit(&k.about, preview.ApplierLimit{What: preview.LimitKept, Object: o.ID})
		return preview.ActionKeep
	}
	return preview.ActionDelete
}

// Recreates reports whether kapp deletes and creates an object anew that the API server refuses
// to update.
func (k *Kapp) Recreates(o *preview.Object) bool {
	if k.strategy(o) != "fallback-on-replace" {
		return false
	}
	addLimit(&k.about, preview.ApplierLimit{What: preview.LimitRecreates, Object: o.ID})
	return true
}

// Request returns the request that kapp sends for an object, none if nothing changed.
func (k *Kapp) Request(o *preview.Object, body map[string]any) (preview.DryRun, error) {
	applied, ok := k.sent[o.ID]
	if !ok {
		applied = body
	}
	applied = without(historyless(applied), k.config.ignored)
	out := preview.DryRun{Body: applied, Method: preview.MethodCreate, Then: func(result map[string]any) { k.remember(result, applied) }}
	if o.LiveBody != nil {
		out.Method = preview.MethodUpdate
		changed := false
		if out.Body, changed = k.change(o.LiveBody, applied); !changed || k.versions.unchanged[o.ID] {
			return preview.DryRun{Body: o.LiveBody, Method: preview.MethodNone}, nil
		}
		if last, _ := kappOriginal(o.LiveBody); last != nil {
			out.ThreeWay = &preview.ThreeWay{Earlier: k.config.rebased(last, k.unidentified(o.LiveBody)), Live: o.LiveBody}
		}
	}
	out.Body = preview.CloneBody(out.Body)
	k.Mark(out.Body)
	return out, nil
}

// change returns what kapp sends in place of a live object, and whether it sends that: if it
// differs from what was applied last, as long as the live object is what that became, and from
// the live object itself otherwise.
func (k *Kapp) change(live, applied map[string]any) (to map[string]any, changed bool) {
	live = k.unidentified(live)
	from := live
	if last, sum := kappOriginal(live); last != nil && k.sum(live, last) == sum {
		from = k.config.rebased(last, live)
	}
	from = without(historyless(from), k.config.ignored)
	to = k.config.rebased(without(historyless(applied), k.config.ignored), live)
	return to, !sameJSON(from, to)
}

// unidentified returns a live object without the annotation that is written with each update.
func (k *Kapp) unidentified(live map[string]any) map[string]any {
	if !kappIdentified(live) {
		return live
	}
	live = preview.CloneBody(live)
	delete(preview.Map(live, "metadata", "annotations"), kappIdentity)
	return live
}

// historyless returns an object without what kapp remembers in it.
func historyless(body map[string]any) map[string]any {
	out := preview.CloneBody(body)
	annotations := preview.Map(out, "metadata", "annotations")
	for _, key := range []string{preview.KappOriginal, kappOriginalSum, "kapp.k14s.io/original-diff", "kapp.k14s.io/original-diff-full"} {
		delete(annotations, key)
	}
	return out
}

// kappOriginal returns what was applied last, by its annotation, and the sum of how the live
// object differed then; nil if there is none.
func kappOriginal(live map[string]any) (body map[string]any, sum string) {
	annotations := preview.Map(live, "metadata", "annotations")
	sum = preview.String(annotations, kappOriginalSum)
	decoded, err := preview.DecodeJSON([]byte(preview.String(annotations, preview.KappOriginal)))
	if err != nil || sum == "" {
		return nil, ""
	}
	body, _ = decoded.(map[string]any)
	if body != nil {
		body, err = asFloats(body)
	}
	if err != nil {
		return nil, ""
	}
	return body, sum
}

// sum returns the MD5 of the operations that turn a live object into what was applied, as kapp
// writes them (pkg/kapp/diff/ops_diff.go).
func (k *Kapp) sum(live, applied map[string]any) string {
	from := without(historyless(without(live, k.config.appliedIgnored)), k.config.ignored)
	to := k.config.rebased(without(historyless(applied), k.config.ignored), from)
	operations, err := patch.NewOpDefinitionsFromOps(patch.Diff{Left: from, Right: to}.Calculate())
	if err != nil { // of an operation that a difference has none of
		return ""
	}
	text, err := yaml.Marshal(operations)
	if err != nil {
		return ""
	}
	return kappSum(text)
}

// remember adds to a written object what kapp writes with a second update: what it applied, and
// how the result differs.
func (k *Kapp) remember(result, applied map[string]any) {
	text, err := json.Marshal(applied)
	if err != nil || annotated(applied, "kapp.k14s.io/disable-original") || len(text) > maxAnnotations {
		return
	}
	sum := k.sum(k.unidentified(result), applied)
	preview.SetMetadata(result, "annotations", preview.KappOriginal, string(text))
	preview.SetMetadata(result, "annotations", kappOriginalSum, sum)
}

// sameJSON compares objects as JSON: 1 and 1.0 are the same.
func sameJSON(a, b map[string]any) bool {
	one, err := asFloats(a)
	if err != nil {
		return false
	}
	other, err := asFloats(b)
	return err == nil && reflect.DeepEqual(one, other)
}

// kappSum returns the sum that kapp puts in its annotations and labels.
func kappSum(text []byte) string {
	return fmt.Sprintf("%x", md5.Sum(text)) //nolint:gosec // as kapp does; nothing is protected by it
}
