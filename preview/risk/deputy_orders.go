package risk

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/orders"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// orderRules returns the rules about custom resources in the plan that controllers of
// others carry out.
func orderRules() []entry {
	effects := map[string][]deputy.Effect{}
	var out []entry
	for _, row := range effectRules {
		if row.order.Name == "" {
			continue
		}
		if effects[row.order.Name] == nil {
			out = append(out, entry{Rule: row.order})
		}
		effects[row.order.Name] = append(effects[row.order.Name], row.effect)
	}
	for i := range out {
		out[i].object = orderMatch(effects[out[i].Name])
	}
	return out
}

var orderLevels = map[string]Level{"critical": Critical, "high": High, "medium": Medium, "low": Low, "none": None}

// orderMatch returns a matcher for objects whose kind, annotations or labels make a
// controller do something with one of the effects.
func orderMatch(effects []deputy.Effect) objectMatch {
	return facts(func(c *scan, o *preview.Object) (Level, []preview.Seen) {
		if o.Planned == nil {
			return None, nil
		}
		if c.order.of != o {
			c.order = c.ordersOf(o)
		}
		worst, lines := None, []preview.Seen(nil)
		for _, order := range c.order.list {
			if slices.Contains(effects, order.effect) {
				worst, lines = max(worst, order.level), append(lines, order.lines...)
			}
		}
		return worst, lines
	})
}

// objectOrders are the orders of one object, which the rules of all effects ask for.
type objectOrders struct {
	of   *preview.Object
	list []order
}

// order is what a controller does because of an object: by its kind, or by an annotation
// or label.
type order struct {
	effect deputy.Effect
	level  Level
	lines  []preview.Seen
}

func (c *scan) ordersOf(o *preview.Object) objectOrders {
	out := objectOrders{of: o}
	if k, level, more := c.orderOf(o); level != None {
		out.list = append(out.list, order{k.Effect, level, append([]preview.Seen{words.Sentence.Of(k.Says())}, more...)})
	}
	for _, field := range []string{"annotations", "labels"} {
		for key, v := range preview.Map(o.Planned, "metadata", field) {
			if mark, known := deputy.MarkOf(key); known && !switchedOff(v) {
				out.list = append(out.list, order{mark.Effect, orderLevels[mark.Order], []preview.Seen{words.MarkDoes.Of(key, v, mark.Says())}})
			}
		}
	}
	return out
}

// switchedOff reports whether the value of an annotation or label means that its
// controller does nothing: no, or a list of triggers that are all paused.
func switchedOff(v any) bool {
	text, _ := v.(string)
	var triggers []struct{ Paused any }
	if json.Unmarshal([]byte(text), &triggers) == nil {
		return !slices.ContainsFunc(triggers, func(t struct{ Paused any }) bool { return t.Paused != true && t.Paused != "true" })
	}
	return text == "false" || text == "never"
}

// orderOf returns the row for the kind of an object that a controller acts on, its
// level, and further evidence. A kind that the plan itself brings has level None, as
// the permissions of its controller are judged; except where the controller applies
// objects or changes nodes, which its permissions do not show.
func (c *scan) orderOf(o *preview.Object) (deputy.Kind, Level, []preview.Seen) {
	ref := o.Ref()
	k, known := deputy.Of(ref.Group(), ref.Kind)
	if !known || content.BuiltIn(o.Planned) {
		return k, None, nil
	}
	if c.kinds.defines(ref.Group(), ref.Kind) && !slices.Contains([]deputy.Effect{deputy.Installs, deputy.RBAC, deputy.Node, deputy.Mutates}, k.Effect) {
		return k, None, nil
	}
	level, lines := orderLevels[k.Order], []preview.Seen(nil)
	switch {
	case k.Effect == deputy.Images:
		return k, None, nil // the content of such an object is what others ask for by name
	case orders.FollowsImages(o.GroupKind(), o.Planned):
		k.Effect, k.Does, level = deputy.Images, "runs each image that the stream gets later", High
	case o.Is("cert-manager.io/Certificate", "cert-manager.io/CertificateRequest"):
		level, lines = orders.CertificateLevel(o.Planned, level)
	case k.Effect == deputy.Scales && slices.Contains(sharedNamespaces, o.Namespace):
		level = max(level, Medium) // what runs there serves the cluster
	case (k.Effect == deputy.Cloud || k.Effect == deputy.IAM) && level < Critical && !c.clouds[o.Kind+"/"+o.Namespace+"/"+o.Name] && !c.clouds[o.Kind+"/"+o.Name]:
		if found := orders.Administrators(o.Planned["spec"]); len(found) > 0 {
			level, lines = Critical, []preview.Seen{words.ContentNames.Of(words.Series(found, "and"))}
		}
	case k.Effect == deputy.Scrapes && level == Low:
		level, lines = orders.TokenLevel(o.Planned)
	case o.Is("kyverno.io/ClusterPolicy", "kyverno.io/Policy") && !orders.ChangesObjects(o.Planned):
		k.Effect, k.Does, level = deputy.Refuses, "refuses objects that do not meet the policy", High
	case k.Effect == deputy.Deletes:
		if at, why, cleans := orders.Cleans(o, k.Namespaced, c.namespaces.foreign); cleans {
			level, lines = at, []preview.Seen{why}
		}
	default:
		level, lines = c.widened(o, level)
	}
	if opened, why := orders.Opens(o.GroupKind(), o.Planned); opened > level {
		level, lines = opened, append(lines, why)
	}
	if at, why := c.joined(o, k); at > level {
		level, lines = at, append(lines, why...)
	}
	if level >= High {
		lines = append(lines, orders.Sources(o.Planned)...)
		if hash, err := preview.Hash(o.Planned["spec"]); err == nil {
			lines = append(lines, words.SpecHash.Of(hash))
		}
	}
	return k, level, lines
}

// widened returns the level of an object that reaches further than others of its kind,
// and why.
func (c *scan) widened(o *preview.Object, level Level) (Level, []preview.Seen) {
	var reads *preview.Seen
	if o.Is("external-secrets.io/ClusterSecretStore") {
		reads = orders.ReadsOthers(o.Planned, c.namespaces.owned)
	}
	switch {
	case orders.MeshWide(o.GroupKind()) && o.Namespace == orders.MeshRoot && !c.namespaces.owned(orders.MeshRoot):
		return level.Raise(), []preview.Seen{words.InNamespaceItHoldsForEvery.Of(orders.MeshRoot)}
	case o.Is("velero.io/Backup", "velero.io/Schedule") && orders.BacksUpSecrets(o.Planned, c.namespaces.owned, c.brought):
		return Critical, []preview.Seen{words.SecretsOfOtherNamespacesGoTo.Of()}
	case o.Is("velero.io/BackupStorageLocation") && !c.namespaces.owned(o.Namespace) && (o.Name == "default" || preview.Value(o.Planned, "spec", "default") == true):
		return Critical, []preview.Seen{words.BackupsThatNameNoLocationThose.Of()}
	case reads != nil:
		return Critical, []preview.Seen{*reads}
	case level < Critical && orders.OpensVault(o.Planned["spec"]):
		return Critical, []preview.Seen{words.ItsPolicyOpensEveryPathOf.Of()}
	}
	return level, nil
}

// brought reports whether the plan has an object.
func (c *scan) brought(ref preview.Ref) bool { return c.objects[ref.ID()] != nil }

// judgeUnknownKinds makes findings of custom resources whose controller is in no table:
// one for each kind of object in the plan, and one for each
// API group that the plan's accounts can write.
func (c *scan) judgeUnknownKinds() {
	first, acting := map[string]string{}, map[string]bool{}
	for _, read := range c.plan.Reads {
		if a, ok := deputy.ActingOf(read); ok {
			acting[a.Group+"/"+a.Kind], acting[a.Group+"/"+a.Resource] = true, true
		}
	}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		ref := o.Ref()
		if o.Planned == nil || content.BuiltIn(o.Planned) || c.kinds.defines(ref.Group(), ref.Kind) {
			continue
		}
		kind := ref.Group() + "/" + ref.Kind
		if _, known := deputy.Of(ref.Group(), ref.Kind); known || acting[kind] {
			continue
		}
		acts := []preview.Seen(nil) // said once
		if first[kind] == "" {
			first[kind] = o.ID
			acts = c.gains.actsOn(ref.Group(), ref.Kind, deputy.PluralOf(ref.Group(), ref.Kind))
		}
		hit := c.carriedHit(o, words.Saw(append([]preview.Seen{words.Name.Of(o.ID)}, acts...)...))
		hit.object, hit.severity = first[kind], preview.NotKnown
		if holdsNumbersAlone(o.Planned) {
			hit.severity = preview.Warning
		}
		c.hit(rules.UnknownKind, hit)
	}
	for _, g := range c.plan.Access.Grants {
		if g.Change != preview.GrantRemoved && !c.held.admin(g) && !c.judgedByBinding(g) {
			c.unknownGroups(g, acting)
		}
	}
}

// holdsNumbersAlone reports whether an object has numbers, and nothing else but nulls: it
// names no code, account, path or host, and switches nothing on.
func holdsNumbersAlone(body map[string]any) bool {
	numbers := 0
	var only func(v any) bool
	only = func(v any) bool {
		switch v := v.(type) {
		case nil:
		case int64, float64:
			numbers++
		case map[string]any:
			for _, item := range v {
				if !only(item) {
					return false
				}
			}
		case []any:
			return !slices.ContainsFunc(v, func(item any) bool { return !only(item) })
		default:
			return false
		}
		return true
	}
	content := maps.Clone(body)
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		delete(content, field)
	}
	return only(content) && numbers > 0
}

// judgeKindsOfOthers makes a finding for each API group of a widely used operator where
// the plan defines kinds, and none of its accounts acts on any kind of the group, or may
// bind roles to one that will.
func (c *scan) judgeKindsOfOthers() {
	first, binds := map[string]string{}, newShape(rbac, "rolebindings clusterrolebindings", write)
	if slices.ContainsFunc(c.plan.Access.Grants, func(g preview.Grant) bool { _, may := binds.cut(g); return may && g.Change != preview.GrantRemoved }) {
		return
	}
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		group, _, _ := definedBy(o.Planned)
		if o.Planned == nil || !o.Is(preview.KindCustomResourceDefinition) || builtInGroup(group) || !deputy.KnownGroup(group) || c.kinds.changed.HasAny(group) {
			continue
		}
		if first[group] == "" {
			first[group] = o.ID
		}
		hit := c.carriedHit(o, words.Saw(words.Name.Of(o.ID)))
		if hit.object, hit.level = first[group], High; fieldsOf(o.Planned) < fewestFields {
			hit.level, hit.evidence = Critical, saw(o.ID, []preview.Seen{words.SchemaKeepsNothing.Of()})
		}
		c.hit(rules.CRDOfOthers, hit)
	}
}

// fewestFields is fewer fields than a definition has that is made of Go types: apiVersion,
// kind, metadata, and one more.
const fewestFields = 4

// fieldsOf returns how many fields the schemas of a CRD keep at most, fewestFields where
// one keeps what it does not name.
func fieldsOf(crd map[string]any) int {
	var count func(schema map[string]any, depth int) int
	count = func(schema map[string]any, depth int) int {
		if schema["x-kubernetes-preserve-unknown-fields"] == true || depth > fewestFields {
			return fewestFields
		}
		n := 0
		for _, of := range preview.Map(schema, "properties") {
			if of, ok := of.(map[string]any); ok && n < fewestFields {
				n += 1 + count(of, depth+1)
			}
		}
		return n
	}
	most := 0
	for _, version := range preview.Maps(crd, "spec", "versions") {
		most = max(most, count(preview.Map(version, "schema", "openAPIV3Schema"), 0))
	}
	return most
}

// actsOn returns lines that say which accounts of the plan act on a resource, by their
// rights on its status or finalizers, and what they come to. The lines have the name of
// its kind, or of the resource where that is not known.
func (n *gains) actsOn(group, name, resource string) []preview.Seen {
	if n.actors == nil {
		n.actors = deputy.ActorsOf(n.c.plan.Access.Grants)
	}
	var lines []preview.Seen
	for _, subject := range n.actors.Of(group, resource) {
		amount := n.c.graph().Amount(subject)
		account := preview.Account{Subject: subject, Extent: string(amount.Extent)}
		if !amount.Own {
			account.Steps = amount.Path.Steps
		}
		line := words.MayChangeStatus.Of(group, name, subjectName(subject))
		if text := verdict.ExtentText(account); text != "" {
			line = words.With(line, words.Permits.Of(text))
		}
		lines = append(lines, line)
	}
	return lines
}

// unknownGroups adds to the findings the API groups of a grant that may be written and
// whose resources have no controller in a table. acting holds the
// GROUP/RESOURCE that the plan found a controller for.
func (c *scan) unknownGroups(g preview.Grant, acting map[string]bool) {
	verbs := shape{verbs: strings.Fields(write)}.usable(g, g.Resources)
	if len(verbs) == 0 {
		return
	}
	for _, group := range g.APIGroups {
		if group == all || content.BuiltInGroup(group) || deputy.KnownGroup(group) {
			continue
		}
		part := shape{groups: []string{group}, verbs: verbs}
		for _, resource := range g.Resources {
			if !strings.Contains(resource, "/") && !(c.kinds.ours(group, resource) && c.kinds.changed.Has(group, resource)) && !acting[group+"/"+resource] {
				part.resources = append(part.resources, resource)
			}
		}
		if len(part.resources) == 0 {
			continue
		}
		evidence := []preview.Piece{rightPiece(g, part)}
		for _, resource := range part.resources {
			evidence = append(evidence, words.Saw(c.gains.actsOn(group, resource, resource)...)...)
		}
		severity := preview.NotKnown
		if g.Scope == preview.ScopeNamespace {
			// Whatever a kind is for, where the namespace is the release's own it is no more
			// than that.
			if level := c.namespaces.lower(g.Namespace, Critical); level < Critical {
				severity = level.Severity()
			}
		}
		c.hit(rules.RBACUnknownKind, ruleHit{
			object: group + "/*/-/*", claim: preview.Claim{Subject: "API group " + group}, evidence: evidence, severity: severity,
			narrow: g.Scope != preview.ScopeCluster, known: isUnchanged(g), held: g.Change == preview.GrantSame,
		})
	}
}
