package flyte

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// Read looks in the cluster for what Flyte's plugins need and the plan does not
// contain, counts the custom resources of plugins that the plan turns off, and records
// the results.
func Read(ctx context.Context, to Recorder) error {
	x := newIndex(to.Plan())
	if len(enginesOf(x, to, func(engine) string { return "" })) == 0 {
		return nil
	}
	live, err := readGenerations(ctx, x, to)
	if err != nil {
		return err
	}
	for _, e := range enginesOf(x, to, func(engine) string { return live }) {
		r := &reader{Recorder: to, plan: x, e: e, found: record{Engines: live}}
		if e.installed {
			r.found.Before = e.before.record()
		}
		if err := r.read(ctx); err != nil {
			return err
		}
		if err := to.Note(recordKind, e.config.ID, r.found); err != nil {
			return err
		}
	}
	return nil
}

// readGenerations returns the generations of engines (v1, v2) whose CRDs the cluster
// has and the plan does not contain, separated by spaces.
func readGenerations(ctx context.Context, x *index, to Recorder) (string, error) {
	var found []string
	for generation, ref := range generations() {
		if x.objects[ref.ID()] != nil {
			continue
		}
		result := to.Read(ctx, []preview.Ref{ref})[0]
		switch {
		case result.Err != nil && !preview.Answered(result.Err):
			return "", fmt.Errorf("reading %s: %w", ref.ID(), result.Err)
		case result.Body != nil:
			found = append(found, generation)
		}
	}
	slices.Sort(found)
	return strings.Join(found, " "), nil
}

// reader reads from the cluster what one engine's plugins need, into a [record].
type reader struct {
	Recorder
	plan      *index
	e         engine
	used, off []taskPlugin
	found     record
	configs   []map[string]any // from the engine's namespace, in addition to the plan's
	local     []map[string]any // RoleBindings of the engine's namespace and the projects'
	listed    bool             // whether local was read
}

func (r *reader) read(ctx context.Context) error {
	forgets := false
	for _, plugin := range r.plan.plugins {
		if r.e.asks(r.plan, plugin) {
			r.used = append(r.used, plugin)
		}
		if r.e.turnsOff(plugin) || losesResource(r.plan, plugin) && r.e.mayHaveUsed(plugin) {
			r.off = append(r.off, plugin)
		}
		forgets = forgets || r.e.forgets(r.plan, plugin)
	}
	r.findLeaving()
	if len(r.used)+len(r.off) == 0 && !forgets && (!r.e.installed || sameTasks(r.e.before, r.e.after)) {
		return nil
	}
	r.Report("looking for the plugins of ConfigMap %s in the cluster", r.e.config.Name)
	if err := r.readOperators(ctx); err != nil {
		return err
	}
	// A namespace that is to come holds no engine.
	if !r.Exists(r.e.config.Namespace) {
		return nil
	}
	if err := r.readConfigs(ctx); err != nil {
		return err
	}
	if len(r.used) > 0 {
		if err := r.readProjects(ctx); err != nil {
			return err
		}
	}
	return r.readEngine(ctx)
}

// findLeaving adds the plugins whose declaration this plan deletes to those that are turned off.
// A plan that was loaded from a file has them on record already.
func (r *reader) findLeaving() {
	for _, plugin := range append(slices.Clip(r.plan.leaving), r.e.seen.leaving()...) {
		if r.found.Leaving[plugin.id] != "" || !r.e.turnsOff(plugin) && (!losesResource(r.plan, plugin) || !r.e.mayHaveUsed(plugin)) {
			continue
		}
		if r.found.Leaving == nil {
			r.found.Leaving = map[string]string{}
		}
		r.found.Leaving[plugin.id] = plugin.definition()
		r.off = append(r.off, plugin)
	}
}

// readOperators records whether the cluster has the CRDs of plugins that the engine
// will use and whose CRD is not in the plan, and how many custom resources there are of
// plugins that the plan turns off.
func (r *reader) readOperators(ctx context.Context) error {
	operators, left := map[string]string{}, map[string]string{}
	used := slices.DeleteFunc(slices.Clone(r.used), func(plugin taskPlugin) bool { return r.plan.objects[definitionRef(plugin).ID()] != nil })
	asked := slices.Concat(used, r.off)
	refs := make([]preview.Ref, 0, len(asked))
	for _, plugin := range asked {
		refs = append(refs, definitionRef(plugin))
	}
	for i, result := range r.Read(ctx, refs) {
		state := stateEstablished
		switch {
		case result.Err != nil && !preview.Answered(result.Err):
			return fmt.Errorf("reading %s: %w", refs[i].ID(), result.Err)
		case result.Err != nil:
			state = stateHidden
		case result.Body == nil, r.deletes(refs[i]):
			state = stateAbsent
		case !isEstablished(result.Body):
			state = stateUnready
		}
		if i < len(used) {
			operators[asked[i].id] = state
			continue
		}
		what, err := r.countLeft(ctx, state, result.Body)
		if err != nil {
			return err
		}
		left[asked[i].id] = what
	}
	r.found.Operators, r.found.Left = operators, left
	return nil
}

func (r *reader) deletes(ref preview.Ref) bool {
	o := r.plan.objects[ref.ID()]
	return o != nil && o.Action == preview.ActionDelete
}

func isEstablished(definition map[string]any) bool {
	return slices.ContainsFunc(preview.Maps(definition, "status", "conditions"), func(c map[string]any) bool {
		return c["type"] == "Established" && c["status"] == "True"
	})
}

// countLeft returns as text how many custom resources a turned-off plugin has. state is
// how its CRD, definition, was found in the cluster.
func (r *reader) countLeft(ctx context.Context, state string, definition map[string]any) (string, error) {
	switch {
	case state == stateHidden:
		return schema.Uncounted + "their definition may not be read", nil
	case definition == nil, state == stateAbsent: // or what goes with the definition, which says so itself
		return schema.NoObjects, nil
	}
	what, err := r.CountObjects(ctx, definition)
	switch {
	case err != nil && preview.Answered(err):
		return schema.Uncounted + "they may not be listed", nil
	case err != nil:
		return "", fmt.Errorf("counting the objects of %s: %w", preview.String(definition, "metadata", "name"), err)
	}
	return what, nil
}

// readConfigs reads the other ConfigMaps in the engine's namespace, which may
// enable plugins, contain templates, or define how project namespaces are named.
func (r *reader) readConfigs(ctx context.Context) (err error) {
	if r.configs, err = r.list(ctx, "configs", "v1", "ConfigMap", r.e.config.Namespace); err != nil {
		return err
	}
	var configured []string
	for _, plugin := range r.plan.plugins {
		if r.e.forgets(r.plan, plugin) && slices.ContainsFunc(r.configs, func(body map[string]any) bool {
			tasks, ok := configOf(body)
			return ok && tasks.uses(plugin.id)
		}) {
			configured = append(configured, plugin.id)
		}
	}
	r.found.Configured = strings.Join(configured, " ")
	return nil
}

// readEngine records the workloads, ServiceAccounts and permissions of an engine whose
// workloads are not in the plan, and which other ConfigMaps with plugins they mount.
func (r *reader) readEngine(ctx context.Context) error {
	workloads := r.plan.workloads(r.e.config)
	if len(workloads) == 0 {
		deployments, err := r.list(ctx, "workloads", "apps/v1", "Deployment", r.e.config.Namespace)
		if err != nil {
			return err
		}
		workloads = mountingWorkloads(deployments, r.e.config.Ref())
		var names []string
		for _, body := range workloads {
			names = append(names, preview.RefOf(body).Name)
		}
		slices.Sort(names)
		r.found.Workloads = strings.Join(names, " ")
		accounts := accountsOf(workloads)
		r.found.Accounts = strings.Join(accounts, " ")
		if err := r.readRights(ctx, accounts); err != nil {
			return err
		}
	}
	var beside []string
	for _, body := range workloads {
		pod, _ := preview.PodTemplate(body)
		for _, config := range r.configs {
			if _, ok := configOf(config); ok && mounts(pod, preview.RefOf(config)) {
				beside = append(beside, preview.RefOf(config).Name)
			}
		}
	}
	slices.Sort(beside)
	r.found.Beside = strings.Join(slices.Compact(beside), ", ")
	return nil
}

// list returns the objects of a kind in a namespace, empty for all, without those that
// the plan writes or deletes. If the user may not list them, that is recorded for the
// topic (such as "projects"): parts that could be among them are unknown instead of
// missing.
func (r *reader) list(ctx context.Context, topic, apiVersion, kind, namespace string) ([]map[string]any, error) {
	found, err := r.List(ctx, apiVersion, kind, namespace, "")
	switch {
	case err != nil && preview.Answered(err) && namespace != "":
		r.hide(topic, "the "+kind+"s of namespace "+namespace+" may not be listed")
		return nil, nil
	case err != nil && preview.Answered(err):
		r.hide(topic, "the "+kind+"s of the cluster may not be listed")
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing %ss: %w", kind, err)
	}
	return r.ExcludePlanned(found), nil
}

// listRBAC lists a kind of RBAC in the whole cluster; allowed is false if the user may
// not list it.
func (r *reader) listRBAC(ctx context.Context, kind string) (list []map[string]any, allowed bool, err error) {
	list, err = r.List(ctx, access.APIVersion, kind, "", "", access.Fields()...)
	switch {
	case err != nil && preview.Answered(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("listing %ss: %w", kind, err)
	}
	return list, true, nil
}

// hide records that the user may not read what, a text, which belongs to a topic such
// as "rights" or "projects".
func (r *reader) hide(topic, what string) {
	if r.found.Hidden == nil {
		r.found.Hidden = map[string]string{}
	}
	switch known := r.found.Hidden[topic]; {
	case known == "":
		r.found.Hidden[topic] = what
	case !strings.Contains(known, what):
		r.found.Hidden[topic] = known + ", and " + what
	}
}
