package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

const rbac = "rbac.authorization.k8s.io"

// apply writes objects as the administrator, each namespace first.
func apply(t *testing.T, box *sandbox.Sandbox, docs string) {
	t.Helper()
	client := connected(t, box)
	for _, body := range parseAll(t, docs) {
		if _, err := client.Apply(t.Context(), preview.DryRun{Body: body}); err != nil {
			t.Fatalf("%s: %v", preview.RefOf(body).ID(), err)
		}
	}
}

func as(t *testing.T, box *sandbox.Sandbox, user string) *k8s.Client {
	t.Helper()
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sandboxtest.User(t, box, user)})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func unknownOf(p *preview.Plan, object string) string {
	for _, u := range p.Unknowns {
		if u.Object == object {
			return u.Why
		}
	}
	return ""
}

// readAgain reads what a plan rests on as a resumed run does, which has no
// bodies: nothing moved.
func readAgain(t *testing.T, client engine.Cluster, p *preview.Plan) {
	t.Helper()
	recorded := *p
	recorded.Reads = slices.Clone(p.Reads)
	for i := range recorded.Reads {
		recorded.Reads[i].Body = nil
	}
	if moved, err := engine.StaleReads(t.Context(), &recorded, client); err != nil || len(moved) > 0 {
		t.Errorf("read again: %v, %v", moved, err)
	}
}

func heldBy(p *preview.Plan, binding string) *preview.Grant {
	for i := range p.Access.Grants {
		if g := &p.Access.Grants[i]; g.Held && slices.Contains(g.Via, binding) {
			return g
		}
	}
	return nil
}

// heldBefore is what a cluster may hold before an install: bindings of both kinds to the
// account that is still to come, one of them in its own namespace.
const heldBefore = `
{apiVersion: v1, kind: Namespace, metadata: {name: held}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: held-elsewhere}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: held-wide}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-proxier}, subjects: [{kind: ServiceAccount, name: op, namespace: held}, {apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: held-group, namespace: held}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:serviceaccounts:held"}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: held-far, namespace: held-elsewhere}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{kind: ServiceAccount, name: op, namespace: held}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: held-local}, rules: [
  {apiGroups: [""], resources: [namespaces, serviceaccounts, configmaps], verbs: [get, list, create, patch]},
  {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles, clusterrolebindings, roles], verbs: [get, list]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: held-local}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: held-local}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: held-local}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: held-local, namespace: held}, rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [get, list]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: held-local, namespace: held}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: held-local}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: held-local}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: held-none}, rules: [{apiGroups: [""], resources: [namespaces, serviceaccounts, configmaps], verbs: [get, list, create, patch]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: held-none}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: held-none}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: held-none}]}
`

// The plan shows the permissions that the cluster already gives the account, from both
// kinds of bindings, as far as the user may list them. The rest is unknown.
func TestWhatTheClusterAlreadyGivesIsPlanned(t *testing.T) {
	before := recorded(t, "bindings", heldBefore)
	const account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}"
	both := rbac + "/RoleBinding/-/*"
	for _, test := range []struct {
		name, user     string
		seen, unseen   []string
		roles, cluster string // why RoleBindings and ClusterRoleBindings are unknown
	}{
		{"a user who may list all", "", []string{"ClusterRoleBinding/held-wide", "RoleBinding/held/held-group", "RoleBinding/held-elsewhere/held-far"}, nil, "", ""},
		{"a user who may list those of the release's namespace", "held-local",
			[]string{"ClusterRoleBinding/held-wide", "RoleBinding/held/held-group"}, []string{"RoleBinding/held-elsewhere/held-far"},
			"what the cluster already gives the plan's accounts: forbidden; read only those in namespace held", ""},
		{"a user who may list none", "held-none", nil, []string{"ClusterRoleBinding/held-wide", "RoleBinding/held/held-group"},
			"what the cluster already gives the plan's accounts: forbidden", "what the cluster already gives the plan's accounts: forbidden"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := before.cluster(test.user)
			p := planFrom(t, client, "held", account)
			for _, binding := range test.seen {
				if g := heldBy(p, binding); g == nil || g.Change != preview.GrantSame {
					t.Errorf("%s: %+v", binding, g)
				}
			}
			for _, binding := range test.unseen {
				if heldBy(p, binding) != nil {
					t.Errorf("%s was seen", binding)
				}
			}
			if why := unknownOf(p, both); why != test.roles {
				t.Errorf("RoleBindings are unknown: %q, want %q", why, test.roles)
			}
			if why := unknownOf(p, rbac+"/ClusterRoleBinding/-/*"); why != test.cluster {
				t.Errorf("ClusterRoleBindings are unknown: %q, want %q", why, test.cluster)
			}
			if p.Complete != (test.roles == "") {
				t.Errorf("complete %v: %v", p.Complete, p.Unknowns)
			}
			readAgain(t, client, p)
			again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
			if err != nil || again.Digest != p.Digest {
				t.Errorf("planned again: %v, %v", err, engine.FactChanges(p, again, k8s.NewSchemas()))
			}
		})
	}
	p := planFrom(t, before.cluster("held-local"), "held", account+"\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: held-elsewhere}}")
	if why := unknownOf(p, both); !strings.HasSuffix(why, "in namespace held, but not in held-elsewhere") {
		t.Errorf("a namespace whose bindings may not be listed: %s", why)
	}
}

// waysBefore is the cluster of the ways: accounts of another namespace (one leads to an
// account of kube-system that may do everything), and one that does not exist.
const waysBefore = `
{apiVersion: v1, kind: Namespace, metadata: {name: ways}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ways-team}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: builder, namespace: ways-team}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: ways-root, namespace: kube-system}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: ways-ghost}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: a-ghost, namespace: ways-team}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: ways-root}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: ways-root, namespace: kube-system}, {apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: builder, namespace: kube-system}, rules: [{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create], resourceNames: [ways-root]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: builder, namespace: kube-system}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: builder}, subjects: [{kind: ServiceAccount, name: builder, namespace: ways-team}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: ways-user}, rules: [
  {apiGroups: ["", apps, rbac.authorization.k8s.io], resources: [namespaces, deployments, clusterroles, clusterrolebindings, roles, rolebindings], verbs: [get, list, create, patch]},
  {apiGroups: [""], resources: [pods], verbs: [create]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: ways-user}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ways-user}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ways-user}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: ways-user, namespace: ways}, rules: [{apiGroups: [""], resources: [serviceaccounts], verbs: [get, list, create, patch]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: ways-user, namespace: ways}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ways-user}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ways-user}]}
`

// climber is an account with one right, in a namespace or everywhere.
func climber(namespace, rule string) string {
	kind, meta := "ClusterRoleBinding", "{name: ways-op}"
	if namespace != "" {
		kind, meta = "RoleBinding", "{name: ways-op, namespace: "+namespace+"}"
	}
	return "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}\n---\n" +
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: ways-op}, rules: [" + rule + "]}\n---\n" +
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: " + meta +
		", roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ways-op}, subjects: [{kind: ServiceAccount, name: op, namespace: ways}]}"
}

const reachOfWays = "access-reach/core/ServiceAccount/ways/op"

const podsRule = `{apiGroups: [""], resources: [pods], verbs: [create]}`

// A way over accounts that only the cluster has is found and named, and what it
// rests on is among the reads: the plan is the same when it is loaded, and
// another one when the way is no more.
func TestWaysOverAccountsOfTheCluster(t *testing.T) {
	before := recorded(t, "accounts", waysBefore)
	client := before.cluster("")
	for _, test := range []struct{ name, namespace, rule, want string }{
		{"pods in kube-system", "kube-system", podsRule, "runs pods in namespace kube-system as ServiceAccount kube-system/ways-root, which can do everything"},
		{"pods everywhere", "", podsRule, "runs pods in namespace kube-system as ServiceAccount kube-system/ways-root, which can do everything"},
		{"over an account in between, not over one that does not exist", "ways-team", podsRule,
			"runs pods in namespace ways-team as ServiceAccount ways-team/builder, which obtains a token of ServiceAccount kube-system/ways-root, which can do everything"},
		{"in a namespace without accounts", "ways", podsRule, ""},
		{"a role that may be bound by its name", "", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind], resourceNames: [view, system:kube-controller-manager, cluster-admin]}, {apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings], verbs: [create]}`,
			"gives itself ClusterRole cluster-admin, which can do everything"},
		{"only harmless roles may be bound", "", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind], resourceNames: [view]}, {apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings], verbs: [create]}`, ""},
		{"a role of its own that it may write beyond its rights", "", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate, patch], resourceNames: [ways-op]}`,
			"writes any right into ClusterRole ways-op, which it is bound to, which can do everything"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planFrom(t, client, "ways", climber(test.namespace, test.rule))
			evidence := ""
			if f := findingOf(p, reachOfWays); f != nil {
				evidence = strings.TrimPrefix(f.Evidence, "core/ServiceAccount/ways/op: ")
			}
			if evidence != test.want {
				t.Errorf("got  %q\nwant %q", evidence, test.want)
			}
			readAgain(t, client, p)
			loaded := reload(t, encode(t, p))
			if _, _, err := engine.Verify(loaded, k8s.NewSchemas()); err != nil {
				t.Errorf("loaded: %v", err)
			}
			again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
			if err != nil || again.Digest != p.Digest {
				t.Errorf("planned again: %v, %v", err, engine.FactChanges(p, again, k8s.NewSchemas()))
			}
			for _, g := range p.Access.Grants {
				if g.Subject.Name != "op" {
					t.Errorf("what another account holds is listed: %+v", g)
				}
			}
		})
	}
	t.Run("a user who may not read the accounts", func(t *testing.T) {
		p := planFrom(t, before.cluster("ways-user"), "ways", climber("kube-system", podsRule))
		f := findingOf(p, "access-reach-unread/cluster/accounts")
		if f == nil || !strings.Contains(f.Evidence, "ServiceAccounts of namespace kube-system may not be read") || findingOf(p, reachOfWays) != nil {
			t.Errorf("%+v", f)
		}
	})
}

// A way that is no more makes the plan stale; an account that does not matter to it
// does not.
func TestClusterAWayThatIsNoMoreIsSeen(t *testing.T) {
	box := sandboxtest.Start(t)
	apply(t, box, waysBefore)
	client := connected(t, box)
	p := planFrom(t, client, "ways", climber("kube-system", podsRule))
	apply(t, box, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: ways-other, namespace: kube-system}}")
	if now, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas()); err != nil || now.Digest != p.Digest {
		t.Errorf("another account moved %v, %v", engine.FactChanges(p, now, k8s.NewSchemas()), err)
	}
	remove(t, box, rbac+"/v1", "clusterrolebindings", "", "ways-root")
	if now, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas()); err != nil || now.Digest == p.Digest {
		t.Errorf("the way is no more, and the digest is the same (%v)", err)
	}
	if moved, err := engine.StaleReads(t.Context(), p, client); err != nil || len(moved) != 1 || !strings.Contains(moved[0], "ways-root is gone") {
		t.Errorf("read again: %v, %v", moved, err)
	}
}

// A plan is shown while it is checked again, and two runs may check it at once: a check
// writes nothing into it. The race detector sees what does.
func TestAPlanIsCheckedAgainByTwoAtOnce(t *testing.T) {
	client := readRecording(t, "bindings").cluster("") // which the test above records
	p := planFrom(t, client, "held", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}")
	var group tasks.Group
	for range 4 {
		group.Go(func() error {
			again, err := engine.Recheck(t.Context(), p, client, k8s.NewSchemas())
			if err == nil && again.Digest != p.Digest {
				t.Error("planned again it has another digest")
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
