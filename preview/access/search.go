package access

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// stepTable has all steps, and the distinct rights that they need. A right is
// identified by its index in rights.
type stepTable struct {
	rights []right
	steps  []numberedStep
	by     map[int][]int // index of a right → indexes of the steps that need it
	role   roleRights
}

type numberedStep struct {
	step
	ids []int // indexes of its rights in stepTable.rights
}

var compiledSteps = sync.OnceValue(func() *stepTable {
	t := &stepTable{by: map[int][]int{}}
	for at, s := range steps() {
		numbered := numberedStep{step: s}
		for _, r := range s.rights {
			id := t.id(r)
			numbered.ids = append(numbered.ids, id)
			t.by[id] = append(t.by[id], at)
		}
		t.steps = append(t.steps, numbered)
	}
	t.role = newRoleRights(t)
	return t
})

func (t *stepTable) id(r right) int {
	at := slices.IndexFunc(t.rights, func(known right) bool { return known.equal(r) })
	if at < 0 {
		at, t.rights = len(t.rights), append(t.rights, r)
	}
	return at
}

func (r right) equal(o right) bool {
	return r.group == o.group && r.resource == o.resource && r.wide == o.wide && slices.Equal(r.verbs, o.verbs) &&
		slices.EqualFunc(r.or, o.or, right.equal)
}

// holding is a right that a subject holds in a namespace, or in the whole cluster if
// that is empty.
type holding struct {
	right     int
	namespace string
	names     []string // nil for any
	grant     preview.Grant
}

// subjectHoldings are the rights of a subject that steps need, and the roles that it is
// bound to. key is equal for subjects with the same rights and roles, number for those
// with the same rights.
type subjectHoldings struct {
	list   []holding
	bound  []boundRole
	key    string
	number int
}

// boundRole is a role that a subject is bound to in a namespace, or in the whole
// cluster if that is empty.
type boundRole struct {
	id, namespace string
	grant         preview.Grant
}

func (n *AccountGraph) holdingsOf(s preview.Subject) *subjectHoldings {
	known := n.holdings[s]
	if known == nil {
		known = n.newHoldings(n.held[s])
		n.holdings[s] = known
	}
	return known
}

func (n *AccountGraph) newHoldings(grants []preview.Grant) *subjectHoldings {
	out, seen := &subjectHoldings{}, map[string]bool{}
	var key, list strings.Builder
	for _, g := range grants {
		for id, r := range n.table.rights {
			names, ok := r.in(g)
			if !ok {
				continue
			}
			text := strconv.Itoa(id) + "\x00" + g.Namespace + "\x00" + strings.Join(names, "\x01") + "\x02"
			if !seen[text] {
				seen[text] = true
				key.WriteString(text)
				list.WriteString(text)
				out.list = append(out.list, holding{id, g.Namespace, names, g})
			}
		}
		for i := 0; i+1 < len(g.Via); i += 2 {
			id := ViaRef(g.Via[i]).ID()
			if text := id + "\x00" + g.Namespace + "\x02"; !seen[text] {
				seen[text] = true
				key.WriteString(text)
				out.bound = append(out.bound, boundRole{id, g.Namespace, g})
			}
		}
	}
	out.key = key.String()
	number, known := n.lists[list.String()]
	if !known {
		number = len(n.lists)
		n.lists[list.String()] = number
	}
	out.number = number
	return out
}

// origin is something that the search has gained, with the rights that led to it: an
// account, a role, control of nodes, or an extent.
type origin struct {
	step     *preview.Step // nil for the account that is searched from
	acts     bool          // the step acts as the subject, which is to be filled in
	rank     int           // place of the subject among the accounts, from 1; 0 for others
	subject  preview.Subject
	premises []premise
	depth    int
	gives    *subjectHoldings // rights of a role that it gave itself; nil for rights of subject
	rules    []preview.Grant  // rules of that role
	nodes    bool             // control of nodes was gained
}

// fact returns the step as data. It is made of few of all origins.
func (o *origin) fact() preview.Step {
	out := *o.step
	if o.acts {
		out.Namespace, out.Account = o.subject.Namespace, &o.subject
	}
	return out
}

// noRight is the right of a premise that is not in stepTable.rights.
const noRight = -1

// premise is a right that led to a gain, and the origin that holds the right.
type premise struct {
	grant preview.Grant
	by    *origin
	right int
}

type place struct {
	right     int
	namespace string
}

type gained struct {
	names []string
	premise
}

// search is the search from one account: all that it may act as, and the extents that
// it reaches.
type search struct {
	*AccountGraph
	held     map[place][]gained
	bound    map[string][]gainedRole
	boundIDs []string                 // keys of bound, sorted
	binds    []gainedRoles            // what is not in bound yet
	visited  map[string]bool          // by subject, for those that are no account, and by role
	seen     []bool                   // accounts that were visited, by index
	added    map[int]bool             // numbers of the lists of holdings that were added
	grouped  map[preview.Subject]bool // kinds and namespaces of subjects whose groups were visited
	dirty    map[place]bool
	next     []*origin
	crowds   []crowd // to be visited after the round
	origins  []*origin
	own      map[Extent]*origin // extents reached with the account's own rights
	reached  map[Extent]*origin // extents reached as other accounts
	admin    map[string]bool    // namespaces where it acts as any account or reads all Secrets
	holds    bool               // a rule about single grants judges the account's own rights
	mayGrant bool               // holds a right to bind or escalate

	plain Extent // see plainRights; empty until it is asked for

	start  int       // index of the account that it began with; -1 for several, or no account
	again  []*origin // how others with the same rights act as that account; at most one
	listed bool      // gained is complete
	gained []Gained  // see AccountGraph.Gained

	unfinished bool
}

// gainedRoles are the roles that an origin is bound to.
type gainedRoles struct {
	list []boundRole
	by   *origin
}

type gainedRole struct {
	namespace string
	premise
}

// crowd are accounts that a step acts as.
type crowd struct {
	accounts []int
	running  bool // only those that pods can run as
	step     *preview.Step
	by       []premise
	depth    int
}

// search returns the search from an account. Accounts with the same rights share one,
// as acting as each other adds nothing. The roles that they are bound to matter only if
// the search gains a right to bind roles or to write rights into them.
func (n *AccountGraph) search(from preview.Subject) *search {
	subjects := append(groupsOfAccount(from), from)
	var rights, roles strings.Builder
	for _, of := range subjects {
		h := n.holdingsOf(of)
		rights.WriteString(strconv.Itoa(h.number) + "\x03")
		roles.WriteString(h.key + "\x03")
	}
	known := n.found[rights.String()]
	if known != nil && known.mayGrant {
		known = n.found[roles.String()]
	}
	if known != nil {
		return known
	}
	s := n.newSearch([]preview.Subject{from})
	s.run()
	if n.found[rights.String()] == nil {
		n.found[rights.String()] = s
	}
	n.found[roles.String()] = s
	return s
}

// newSearch returns a search that begins with the rights of all the accounts.
func (n *AccountGraph) newSearch(accounts []preview.Subject) *search {
	s := &search{
		AccountGraph: n, held: map[place][]gained{}, bound: map[string][]gainedRole{}, visited: map[string]bool{}, seen: make([]bool, len(n.accounts)),
		added: map[int]bool{}, grouped: map[preview.Subject]bool{}, dirty: map[place]bool{}, own: map[Extent]*origin{}, reached: map[Extent]*origin{}, admin: map[string]bool{}, start: -1,
	}
	for _, from := range accounts {
		start := &origin{subject: from}
		if at, ok := n.order[from]; ok {
			start.rank, s.seen[at] = at+1, true
			if len(accounts) == 1 {
				s.start = at
			}
		} else {
			s.visited[subjectKey(from)] = true
		}
		s.next = append(s.next, start)
	}
	return s
}

// run takes steps until everything is reached, or nothing more is gained.
func (s *search) run() {
	for ; len(s.next) > 0 && !s.done(); s.gather() {
		if s.left <= 0 {
			s.unfinished = true
			break
		}
		s.round()
	}
	s.forget()
}

// done reports whether nothing higher can be found.
func (s *search) done() bool {
	return s.reached[ClusterAdmin] != nil || s.holds && s.own[ClusterAdmin] != nil
}

// forget frees what only a running search needs. A plan may have thousands of searches.
func (s *search) forget() {
	s.held, s.bound, s.binds, s.boundIDs, s.visited = nil, nil, nil, nil, nil
	s.seen, s.added, s.grouped, s.dirty, s.next, s.crowds = nil, nil, nil, nil, nil, nil
}

// gather visits the accounts that the steps of the last round act as. To do so after
// the round saves all of them where the round was the last one.
func (s *search) gather() {
	if s.done() {
		return
	}
	for _, c := range s.crowds {
		for _, at := range c.accounts {
			to := s.accounts[at]
			if s.seen[at] && (at != s.start || len(s.again) > 0) || c.running && s.idle[to] {
				continue
			}
			o := &origin{step: c.step, acts: true, rank: at + 1, subject: to, premises: c.by, depth: c.depth}
			if at == s.start {
				s.again = append(s.again, o)
				continue
			}
			s.seen[at], s.next = true, append(s.next, o)
		}
	}
	s.crowds = nil
}

// round adds the rights of everything that the last round gained, and takes every step
// that is then possible.
func (s *search) round() {
	now := s.next
	s.next = nil
	slices.SortStableFunc(now, func(a, b *origin) int { return cmp.Compare(a.rank, b.rank) })
	for _, o := range now {
		s.origins = append(s.origins, o)
		s.take(o)
	}
	for _, at := range s.open() {
		s.left--
		s.try(s.table.steps[at.right], at.namespace)
	}
	if s.mayGrant {
		s.giveRoles()
	}
	s.readTokens()
	s.dirty = map[place]bool{}
	for _, o := range now {
		if o.nodes {
			s.everyone("", true, &preview.Step{Key: words.StepUsesTokenOnNode.Name}, []premise{{by: o, right: noRight}}, o.depth+1)
		}
	}
}

// take adds the rights of o, an account, group or role that the search has gained.
func (s *search) take(o *origin) {
	if o.gives != nil {
		s.add(o.gives, o)
		return
	}
	if o.nodes {
		return
	}
	s.add(s.holdingsOf(o.subject), o)
	of := preview.Subject{Kind: o.subject.Kind, Namespace: o.subject.Namespace}
	if s.grouped[of] {
		return
	}
	s.grouped[of] = true
	for _, group := range groupsOfAccount(o.subject) {
		if key := subjectKey(group); !s.visited[key] {
			s.visited[key] = true
			s.add(s.holdingsOf(group), o)
		}
	}
}

func (s *search) add(h *subjectHoldings, by *origin) {
	if len(h.bound) > 0 {
		s.binds = append(s.binds, gainedRoles{h.bound, by})
	}
	s.left -= len(h.list)
	if s.added[h.number] {
		return
	}
	s.added[h.number] = true
	for _, one := range h.list {
		at := place{one.right, one.namespace}
		if slices.ContainsFunc(s.held[at], func(g gained) bool { return g.names == nil || one.names != nil && subset(one.names, g.names) }) {
			continue
		}
		s.held[at] = append(s.held[at], gained{one.names, premise{one.grant, by, one.right}})
		s.dirty[at] = true
		s.mayGrant = s.mayGrant || s.table.role.grants(one.right)
	}
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// open returns the steps that new rights may complete, as the index of the step and the
// namespace to try it in. A right in the whole cluster can complete a step in each
// namespace where its other rights are held.
func (s *search) open() []place {
	todo := map[place]bool{}
	for at := range s.dirty {
		for _, number := range s.table.by[at.right] {
			todo[place{number, at.namespace}] = true
			if ids := s.table.steps[number].ids; at.namespace == "" && len(ids) > 1 {
				for other := range s.held {
					if slices.Contains(ids, other.right) {
						todo[place{number, other.namespace}] = true
					}
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(todo), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.right, b.right), strings.Compare(a.namespace, b.namespace))
	})
}

// in returns the holdings of a right in a namespace, with those in the whole cluster.
func (s *search) in(id int, namespace string) []gained {
	list := s.held[place{id, namespace}]
	if namespace != "" {
		list = slices.Concat(list, s.held[place{id, ""}])
	}
	return list
}

// try takes a step in a namespace, or in the whole cluster if that is empty, if all its
// rights are held there.
func (s *search) try(step numberedStep, namespace string) {
	if step.step.in != nil && !step.step.in(s.AccountGraph, namespace) {
		return
	}
	var with []premise
	for _, id := range step.ids[1:] {
		list := s.in(id, namespace)
		at := slices.IndexFunc(list, func(g gained) bool { return g.names == nil || step.named })
		if at < 0 {
			return
		}
		with = append(with, list[at].premise)
	}
	for _, first := range s.in(step.ids[0], namespace) {
		s.gain(step.step, namespace, first.names, append([]premise{first.premise}, with...))
	}
}

func (s *search) gain(of step, namespace string, names []string, by []premise) {
	depth := depthOf(by)
	how := preview.Step{Key: of.key.Name, Kind: of.kind, Namespace: namespace}
	whole := names == nil || of.accepts != nil && of.accepts(names, namespace) || of.accepts == nil && of.named
	switch of.gain {
	case gainEnd:
		if whole {
			s.end(of.extent, how, by, of.held)
		}
	case gainNodes:
		if whole {
			s.end(Nodes, how, by, of.held)
			s.visit("nodes", &origin{step: &how, premises: by, depth: depth + 1, nodes: true})
		}
	case gainAccounts:
		if whole {
			s.everyone(namespace, false, &how, by, depth+1)
		}
	case gainRunning:
		if names == nil {
			s.everyone(namespace, true, &how, by, depth+1)
		} else {
			s.podsNamed(namespace, names, &how, by, depth+1)
		}
	case gainScripts:
		s.scriptsNamed(namespace, names, of, by, depth+1)
	case gainNamed:
		if names == nil {
			s.everyone(namespace, false, &how, by, depth+1)
		}
		for _, name := range names {
			s.accountNamed(namespace, name, &how, by, depth+1)
		}
	case gainUsers, gainGroups:
		s.actAs(of, names, by, depth+1)
	}
}

func depthOf(by []premise) int {
	depth := 0
	for _, p := range by {
		depth = max(depth, p.by.depth)
	}
	return depth
}

func (s *search) visit(key string, o *origin) {
	if !s.visited[key] {
		s.visited[key] = true
		s.next = append(s.next, o)
	}
}

// everyone adds every account of a namespace, or of all if it is empty. running: only
// accounts that pods can run as, and not the control plane's.
func (s *search) everyone(namespace string, running bool, how *preview.Step, by []premise, depth int) {
	s.admin[namespace] = true
	s.left -= len(s.local[namespace])
	s.crowds = append(s.crowds, crowd{s.local[namespace], running, how, by, depth})
}

func (s *search) accountNamed(namespace, name string, how *preview.Step, by []premise, depth int) {
	s.left -= len(s.local[namespace])
	for i, at := range s.local[namespace] {
		if s.accounts[at].Name == name {
			s.crowds = append(s.crowds, crowd{s.local[namespace][i : i+1], false, how, by, depth})
		}
	}
}

// podsNamed adds the accounts of known workloads whose pods may have one of the names.
func (s *search) podsNamed(namespace string, names []string, how *preview.Step, by []premise, depth int) {
	for in, workloads := range s.running {
		if namespace != "" && in != namespace {
			continue
		}
		for workload, account := range workloads {
			if slices.ContainsFunc(names, func(name string) bool { return name == workload || strings.HasPrefix(name, workload+"-") }) {
				s.accountNamed(in, account, how, by, depth)
			}
		}
	}
}

// actAs adds the users or groups that a step acts as. If they may be any, ClusterAdmin
// is reached.
func (s *search) actAs(of step, names []string, by []premise, depth int) {
	kind := preview.SubjectUser
	if of.gain == gainGroups {
		kind = preview.SubjectGroup
	}
	as := func(to preview.Subject) preview.Step { return preview.Step{Key: of.key.Name, Account: &to} }
	if names == nil {
		s.end(ClusterAdmin, as(preview.Subject{Kind: kind}), by, of.held)
	}
	for _, name := range names {
		to := preview.Subject{Kind: kind, Name: name}
		switch {
		case kind == preview.SubjectGroup && name == groupMasters:
			s.end(ClusterAdmin, as(to), by, of.held)
		case !strings.HasPrefix(name, "system:serviceaccount:"):
			s.visit(subjectKey(to), &origin{step: &preview.Step{Key: of.key.Name}, acts: true, subject: to, premises: by, depth: depth})
		}
	}
}

// readTokens adds the accounts whose tokens are in Secrets that may be read.
func (s *search) readTokens() {
	read, change := s.table.role.secretsRead, s.table.role.secretsChange
	for at := range s.dirty {
		if at.right != read && at.right != change {
			continue
		}
		for namespace := range s.secrets {
			if at.namespace != "" && at.namespace != namespace {
				continue
			}
			s.readTokensIn(namespace, read, change)
		}
		if at.right == read {
			for _, g := range s.held[at] {
				if g.names == nil {
					s.admin[at.namespace] = true
				}
			}
		}
	}
}

func (s *search) readTokensIn(namespace string, read, change int) {
	for _, secret := range s.secrets[namespace] {
		names := func(g gained) bool { return g.names == nil || slices.Contains(g.names, secret.name) }
		readable := s.in(read, namespace)
		at := slices.IndexFunc(readable, names)
		if at < 0 {
			continue
		}
		by := []premise{readable[at].premise}
		s.accountNamed(namespace, secret.account, &preview.Step{Key: words.StepReadsToken.Name, Kind: "Secret", Name: secret.name}, by, depthOf(by)+1)
		changeable := s.in(change, namespace)
		if at := slices.IndexFunc(changeable, names); at >= 0 {
			by = append(by, changeable[at].premise)
			s.everyone(namespace, false, &preview.Step{Key: words.StepTurnsIntoToken.Name, Kind: "Secret", Name: secret.name}, by, depthOf(by)+1)
		}
	}
}

// end records that an extent is reached. Only the first time counts, which is by the
// shortest path.
func (s *search) end(extent Extent, how preview.Step, by []premise, held bool) {
	o := &origin{step: &how, premises: by, depth: depthOf(by)}
	to := s.reached
	if o.depth == 0 {
		to, s.holds = s.own, s.holds || held
	}
	if to[extent] == nil {
		to[extent] = o
	}
}

// heldRights returns the rights of an account itself that reach an extent. The search
// may be for another account with the same rights by other bindings.
func (n *AccountGraph) heldRights(o *origin, from preview.Subject) []HeldRight {
	var out []HeldRight
	for _, p := range o.premises {
		if p.right == noRight {
			continue
		}
		r, one := n.table.rights[p.right], HeldRight{Grant: n.ownGrant(p, from)}
		for _, of := range append(slices.Clone(r.or), r) {
			if _, ok := of.in(one.Grant); ok && of.resource != "" {
				one.Resources = append(one.Resources, of.resource)
			}
		}
		out = append(out, one)
	}
	return out
}

// ownGrant returns the grant that gives an account the right of a premise; the premise's
// own grant if it is of a group.
func (n *AccountGraph) ownGrant(p premise, from preview.Subject) preview.Grant {
	if p.grant.Subject != p.by.subject || p.by.subject == from {
		return p.grant
	}
	if p.right == noRight { // of a role that the account is bound to
		for _, b := range n.holdingsOf(from).bound {
			if b.namespace == p.grant.Namespace && slices.ContainsFunc(p.grant.Via, func(via string) bool { return ViaRef(via).ID() == b.id }) {
				return b.grant
			}
		}
		return p.grant
	}
	names, _ := n.table.rights[p.right].in(p.grant)
	for _, h := range n.holdingsOf(from).list {
		if h.right == p.right && h.namespace == p.grant.Namespace && slices.Equal(h.names, names) {
			return h.grant
		}
	}
	return p.grant
}

// walk calls visit for something that was gained and for all that it rests on, each once,
// after what it rests on itself.
func (o *origin) walk(visit func(at *origin)) {
	seen := map[*origin]bool{}
	var walk func(*origin)
	walk = func(at *origin) {
		if seen[at] {
			return
		}
		seen[at] = true
		for _, p := range at.premises {
			walk(p.by)
		}
		visit(at)
	}
	walk(o)
}

// used returns the grants that an account gains something with, its own among them.
func (n *AccountGraph) used(o *origin, from preview.Subject) []preview.Grant {
	var out []preview.Grant
	o.walk(func(at *origin) {
		for _, p := range at.premises {
			switch {
			case len(p.grant.Verbs) == 0:
			case p.by.step == nil:
				out = append(out, n.ownGrant(p, from))
			default:
				out = append(out, p.grant)
			}
		}
	})
	return out
}

// path returns the steps to what was gained, in the order they are taken.
func (o *origin) path(extent Extent) EscalationPath {
	out := EscalationPath{Extent: extent}
	o.walk(func(at *origin) {
		if at.step == nil {
			out.From = append(out.From, at.subject)
			return
		}
		fact := at.fact()
		out.Steps, out.Facts = append(out.Steps, words.Step(fact)), append(out.Facts, fact)
		if at.subject.Kind == preview.SubjectServiceAccount {
			out.Accounts = append(out.Accounts, at.subject)
		}
		for _, p := range at.premises {
			if p.by.step != nil && len(p.grant.Verbs) > 0 {
				out.Grants = append(out.Grants, p.grant)
			}
		}
	})
	return out
}

// administered returns the namespaces where the account may act as every account or
// reads all Secrets, sorted.
func (s *search) administered() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.admin)), func(namespace string) bool { return namespace == "" })
}
