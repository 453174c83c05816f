package risk

import (
	"cmp"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// judgeContent finds pods, roles, bindings and manifests in the fields of other
// objects, and applies every rule about grants, objects and cloud permissions to them.
// A finding is about the object that carries them.
//
// What a custom resource carries is as severe as if it were in the plan: its controller
// applies it. What a ConfigMap, a Secret, metadata or the arguments of a container
// carry is a warning at most, as nothing says that it is ever applied.
func (c *scan) judgeContent() {
	finder, rbac := content.NewFinder(), access.NewRBACIndex(nil, nil)
	for i := range c.plan.Objects {
		o := &c.plan.Objects[i]
		if o.Planned == nil {
			continue
		}
		items, unread := finder.Find(o.Planned)
		if len(unread) > 0 {
			hit := c.carriedHit(o, saw(o.ID, sentences(unread)))
			hit.severity = preview.NotKnown
			c.hit(rules.ContentUnread, hit)
		}
		var applied, stored []content.Item
		for _, item := range items {
			if item.Inert || content.BuiltIn(o.Planned) && !handsOver(o) {
				stored = append(stored, item)
			} else {
				applied = append(applied, item)
			}
		}
		c.judgeItems(o, rbac, applied, Medium, Critical)
		c.judgeItems(o, rbac, stored, High, High)
	}
}

// handsOver reports whether a controller applies the manifests in a Secret: it has the
// type of Cluster API's ClusterResourceSet.
func handsOver(o *preview.Object) bool {
	return o.Is(preview.KindSecret) && preview.String(o.Planned, "type") == "addons.cluster.x-k8s.io/resource-set"
}

func (c *scan) carriedHit(o *preview.Object, evidence []preview.Piece) ruleHit {
	return ruleHit{object: o.ID, evidence: evidence, narrow: o.Namespace != "", known: o.Action == preview.ActionUnchanged, held: c.untouched(o)}
}

// judgeItems makes findings about the carrier of the matches of rules on its items.
// Matches below level least are left out; the others have level most at most. Of items
// without a kind, such as a pod template, rules about missing fields are left out: the
// controller may set them.
func (c *scan) judgeItems(carrier *preview.Object, rbac *access.RBACIndex, items []content.Item, least, most Level) {
	if len(items) == 0 {
		return
	}
	sub, places := c.contentScan(carrier, rbac, items)
	sub.judgeGrants()
	sub.judgeObjects()
	sub.judgeCloud()
	for _, m := range sub.found {
		if m.level < least || ofSurroundings[m.Rule] {
			continue
		}
		place := places[m.Object]
		if place.partial && ofLacks[m.Rule] {
			continue
		}
		hit := c.carriedHit(carrier, nil)
		hit.level, hit.cases = min(m.level, most), m.cases
		hit.claim = preview.Claim{Subject: preview.IDLabel(carrier.ID), Predicate: "its content " + m.rule.Worded(m.rule.CaseOf(m.cases)).Title}
		for _, piece := range m.lines {
			if piece.Object != "" && piece.Object != m.Object {
				piece = preview.Piece{What: words.Piece(piece)} // of another object in the content
			}
			piece.Object, piece.At = carrier.ID, cmp.Or(preview.EvidenceName(place.path), ".")
			hit.evidence = append(hit.evidence, piece)
		}
		c.hit(m.rule, hit)
	}
}

// ofSurroundings are the rules that compare an object with others of the plan or the
// cluster. They are left out for objects inside of other objects.
var ofSurroundings = map[string]bool{
	rules.BindingForeignAccount.Name: true, rules.BindingUnknownRole.Name: true, rules.HostileText.Name: true, rules.ImageNotListed.Name: true,
	rules.PodSecurityRelaxed.Name: true,
}

// ofLacks are the rules that a pod meets by a field that it does not set.
var ofLacks = map[string]bool{rules.PodRoot.Name: true}

// contentPlace is the position of an item in the object that carries it.
type contentPlace struct {
	path    string
	partial bool // the item has no kind
}

// contentScan returns a scan of the items as if they were a plan of their own, and the
// position of each in the carrier, by object id.
func (c *scan) contentScan(carrier *preview.Object, rbac *access.RBACIndex, items []content.Item) (*scan, map[string]contentPlace) {
	places := map[string]contentPlace{}
	p := &preview.Plan{Release: c.plan.Release}
	var bodies, whole []map[string]any
	bound := map[string]bool{}
	for _, item := range items {
		ref := preview.RefOf(item.Body)
		if ref.Namespace == "" && !ref.Is(preview.KindClusterRole, preview.KindClusterRoleBinding) {
			ref.Namespace = carrier.Namespace
		}
		if ref.Name == "" {
			ref.Name = item.Path
		}
		body := named(item.Body, ref)
		id := ref.ID()
		if _, twice := places[id]; twice {
			id += "#" + item.Path
		}
		places[id] = contentPlace{item.Path, !item.Whole}
		p.Objects = append(p.Objects, preview.Object{
			ID: id, APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Action: preview.ActionCreate, Planned: body,
		})
		bodies = append(bodies, body)
		if item.Whole {
			whole = append(whole, body)
		}
		if ref.Is(preview.KindRoleBinding, preview.KindClusterRoleBinding) {
			bound[access.RoleOf(body).ID()] = true
		}
	}
	p.Access.Grants = append(rbac.Compute(bodies), unboundGrants(bodies, bound)...)
	for i := range p.Access.Grants {
		p.Access.Grants[i].Change = preview.GrantNew
	}
	p.Cloud = cloud.Delta(preview.Cloud{}, cloud.Scan(cloud.Input{Objects: whole}))
	return c.scanOf(p), places
}

// named returns a copy of an object with the name and namespace of ref.
func named(body map[string]any, ref preview.Ref) map[string]any {
	out, meta := map[string]any{}, map[string]any{}
	for key, v := range body {
		out[key] = v
	}
	for key, v := range preview.Map(body, "metadata") {
		meta[key] = v
	}
	meta["name"] = ref.Name
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	out["metadata"] = meta
	return out
}

// unboundGrants returns grants for the rules of roles that no binding among the items
// names. Their subject is "bound to ROLE", in place of the subjects that the controller
// will bind.
func unboundGrants(bodies []map[string]any, bound map[string]bool) []preview.Grant {
	var out []preview.Grant
	for _, body := range bodies {
		ref := preview.RefOf(body)
		if !ref.Is(preview.KindRole, preview.KindClusterRole) || bound[ref.ID()] {
			continue
		}
		for _, g := range access.Rules(body) {
			g.Subject, g.Scope, g.Via = preview.Subject{Kind: "bound to " + ref.Kind, Name: ref.Name}, preview.ScopeCluster, []string{ref.Kind + "/" + ref.Name}
			if ref.Is(preview.KindRole) {
				g.Scope, g.Namespace, g.Via = preview.ScopeNamespace, ref.Namespace, []string{ref.Kind + "/" + ref.Namespace + "/" + ref.Name}
			}
			out = append(out, g)
		}
	}
	return out
}

// scanOf returns a scan of plan p with the rules of this scan. The objects of this
// scan's plan count as p's own.
func (c *scan) scanOf(p *preview.Plan) *scan {
	sub := newScanBy(Input{Plan: p}, c.rules, c.kinds.named)
	sub.kinds, sub.accounts = c.kinds, c.accounts
	return sub
}
