package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// flyteKind is the kind under which what the cluster has already of an engine's
// plugins is recorded as a read: a plan whose review said that a part is there
// moves when the part goes. It is served nowhere: it is this tool's own.
const flyteKind = "FlyteEngine"

// readFlyte looks in the cluster for the parts of plugins that the plan does not
// bring, and counts what is left of those that it turns off.
func (d *decider) readFlyte(ctx context.Context) error {
	for _, e := range flyteEngines(d.plan) {
		var used, off []flytePlugin
		forgets := false
		for _, plugin := range flytePlugins() {
			switch {
			case !e.gone && e.after.uses(plugin.id):
				used = append(used, plugin)
			case e.turnsOff(plugin):
				off = append(off, plugin)
			}
			forgets = forgets || e.forgets(d.plan, plugin)
		}
		if len(used)+len(off) == 0 && !forgets {
			continue
		}
		d.tell("looking for what the cluster has of the plugins of ConfigMap %s", e.config.Name)
		fields := map[string]any{}
		if err := d.readFlyteOperators(ctx, used, off, fields); err != nil {
			return err
		}
		if err := d.readFlyteEngine(ctx, e, used, fields); err != nil {
			return err
		}
		if err := d.noteOwn(flyteKind, e.config.ID, fields); err != nil {
			return err
		}
	}
	return nil
}

// readFlyteOperators records how the definitions stand that used plugins need and
// the plan does not bring, and how many objects those have that are turned off.
func (d *decider) readFlyteOperators(ctx context.Context, used, off []flytePlugin, fields map[string]any) error {
	operators, left := map[string]any{}, map[string]any{}
	used = slices.DeleteFunc(slices.Clone(used), func(plugin flytePlugin) bool { return definesResource(d.plan, plugin) })
	asked := slices.Concat(used, off)
	refs := make([]preview.Ref, 0, len(asked))
	for _, plugin := range asked {
		refs = append(refs, flyteDefinition(plugin))
	}
	for i, r := range d.cluster.Read(ctx, refs) {
		state := flyteEstablished
		switch {
		case r.Err != nil && !answered(r.Err):
			return fmt.Errorf("reading %s: %w", refs[i].ID(), r.Err)
		case r.Err != nil:
			state = flyteHidden
		case r.Body == nil, d.deletes(refs[i]):
			state = flyteAbsent
		case !isEstablished(r.Body):
			state = flyteUnready
		}
		if i < len(used) {
			operators[asked[i].id] = state
			continue
		}
		what, err := d.countLeft(ctx, state, r.Body)
		if err != nil {
			return err
		}
		left[asked[i].id] = what
	}
	fields["operators"], fields["left"] = operators, left
	return nil
}

func (d *decider) deletes(ref preview.Ref) bool {
	o := d.plan.Object(ref.ID())
	return o != nil && o.Action == preview.ActionDelete
}

func isEstablished(definition map[string]any) bool {
	return slices.ContainsFunc(preview.Maps(definition, "status", "conditions"), func(c map[string]any) bool {
		return c["type"] == "Established" && c["status"] == "True"
	})
}

// countLeft words how many objects there are of a plugin that is turned off.
func (d *decider) countLeft(ctx context.Context, state string, definition map[string]any) (string, error) {
	switch {
	case state == flyteHidden:
		return uncounted + "their definition may not be read", nil
	case definition == nil, state == flyteAbsent: // or what goes with the definition, which says so itself
		return noOperands, nil
	}
	what, err := d.operands(ctx, definition)
	switch {
	case err != nil && answered(err):
		return uncounted + "they may not be listed", nil
	case err != nil:
		return "", fmt.Errorf("counting the objects of %s: %w", preview.String(definition, "metadata", "name"), err)
	}
	return what, nil
}

// readFlyteEngine records the accounts and the rights of an engine that the plan
// does not bring, and what its namespace has of configuration and templates.
func (d *decider) readFlyteEngine(ctx context.Context, e flyteEngine, used []flytePlugin, fields map[string]any) error {
	if !d.namespaces[e.config.Namespace] || e.gone {
		return nil
	}
	if len(mountingAccounts(flyteWorkloads(d.plan), e.config)) == 0 {
		deployments, err := d.listBeside(ctx, "apps/v1", "Deployment", e.config.Namespace)
		if err != nil {
			return err
		}
		accounts := mountingAccounts(deployments, e.config)
		fields["accounts"] = anyList(accounts)
		if err := d.readFlyteRights(ctx, e.config.Namespace, accounts, used, fields); err != nil {
			return err
		}
	}
	configs, err := d.listBeside(ctx, "v1", "ConfigMap", e.config.Namespace)
	if err != nil {
		return err
	}
	projects := map[string]any{}
	var configured []string
	for _, plugin := range flytePlugins() {
		if plugin.account != "" && slices.Contains(used, plugin) {
			projects[plugin.id] = anyList(projectObjects(configs, plugin.account))
		}
		if e.forgets(d.plan, plugin) && slices.ContainsFunc(configs, func(body map[string]any) bool {
			tasks, ok := flyteConfig(body)
			return ok && tasks.uses(plugin.id)
		}) {
			configured = append(configured, plugin.id)
		}
	}
	fields["projects"], fields["configured"] = projects, anyList(configured)
	return nil
}

// listBeside lists the objects of a kind in a namespace that the plan neither
// writes nor deletes; none where they may not be listed.
func (d *decider) listBeside(ctx context.Context, apiVersion, kind, namespace string) ([]map[string]any, error) {
	list, err := d.cluster.List(ctx, apiVersion, kind, namespace, "")
	if err != nil && !answered(err) {
		return nil, fmt.Errorf("listing the %ss of namespace %s: %w", kind, namespace, err)
	}
	return d.others(list), nil
}

// readFlyteRights records what the cluster lets an engine's accounts do with the
// custom resources in every namespace: the plan's own grants are not among it.
func (d *decider) readFlyteRights(ctx context.Context, namespace string, accounts []string, used []flytePlugin, fields map[string]any) error {
	if len(accounts) == 0 || len(used) == 0 {
		return nil
	}
	roles, seesRoles, err := d.listRBAC(ctx, "ClusterRole")
	if err != nil {
		return err
	}
	bindings, seesBindings, err := d.listRBAC(ctx, "ClusterRoleBinding")
	if err != nil {
		return err
	}
	fields["rightsHidden"] = !seesRoles || !seesBindings
	in := access.Input{Existing: slices.Concat(d.others(roles), d.others(bindings))}
	for _, account := range accounts {
		in.Accounts = append(in.Accounts, map[string]any{
			"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": account, "namespace": namespace},
		})
	}
	grants := access.Compute(in)
	rights := map[string]any{}
	for _, account := range accounts {
		subject := preview.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: account}
		byPlugin := map[string]any{}
		for _, plugin := range used {
			byPlugin[plugin.id] = anyList(slices.DeleteFunc(flyteVerbs(), func(verb string) bool {
				return !access.Allows(grants, subject, access.Request{Verb: verb, Group: plugin.group, Resource: plugin.resource})
			}))
		}
		rights[account] = byPlugin
	}
	fields["rights"] = rights
	return nil
}
