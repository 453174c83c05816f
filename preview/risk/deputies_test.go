package risk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// custom returns a custom resource named x in namespace app.
func custom(apiVersion, kind, spec string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: x, namespace: app}\nspec: {" + spec + "}\n"
}

// Every kind of the table is judged in a permission and as an object, as its row
// says.
func TestEveryKindIsJudged(t *testing.T) {
	bySeverity, rules := map[preview.Severity]int{}, table()
	named := namedResources(rules)
	judge := func(p *preview.Plan) []preview.Finding {
		c := newScanBy(Input{Plan: p}, rules, named)
		c.judgeGrants()
		c.judgeObjects()
		c.judgeUnknownKinds()
		return c.findings(Input{})
	}
	for _, k := range deputy.Kinds() {
		group, plural, kind := strings.Replace(k.Group, "*", "x", 1), strings.Replace(k.Plural, "*", "things", 1), strings.Replace(k.Kind, "*", "Thing", 1)
		text := group + "/" + plural
		found := judge(grantsPlan(group + "|" + plural + "|create,get"))
		worst := preview.Info
		for _, f := range found {
			if f.Severity.Rank() < worst.Rank() {
				worst = f.Severity
			}
		}
		bySeverity[worst]++
		harmless := k.Effect == deputy.Plain
		if harmless != (worst == preview.Info) && !slices.Contains(elsewhere, text) {
			t.Errorf("writing %s (%s) is %s: %v", text, k.Effect, worst, ids(found))
		}
		if strings.Contains(k.Plural, "/") || k.Kind == "*" && k.Plural != "*" {
			continue
		}
		order := judge(planOf(t, custom(group+"/v1", kind, "a: b")))
		want := orderLevels[k.Order]
		if k.Effect == deputy.Scrapes && want == Low {
			want = None // but for tokens
		}
		if k.Effect == deputy.Elsewhere || k.Effect == deputy.Plain || k.Effect == deputy.Images {
			want = None
		}
		if k.Effect == deputy.Deletes && k.Namespaced && k.Does == "deletes the objects that it matches" {
			want = Medium // it is in the release's namespace
		}
		at := slices.IndexFunc(order, func(f preview.Finding) bool { return strings.HasPrefix(f.Rule, "order-") })
		switch {
		case want == None && at >= 0 || want != None && at < 0:
			t.Errorf("object %s (%s, %s): %v", text, k.Effect, k.Order, ids(order))
		case at >= 0 && order[at].Severity != want.Severity() && kind != "ClusterPolicy" && kind != "Policy":
			t.Errorf("object %s is %s, want %s", text, order[at].Severity, want.Severity())
		case at >= 0 && !strings.Contains(order[at].Evidence, k.Operator):
			t.Errorf("object %s: %s", text, order[at].Evidence)
		}
		if find(order, "unknown-kind") != nil {
			t.Errorf("%s is unknown", text)
		}
	}
	t.Logf("permissions to write: %v", bySeverity)
}

// elsewhere are harmless to write by the table and dangerous by rules of their own,
// or the other way round.
var elsewhere = []string{"project.openshift.io/projects"}

func TestPermissionsOnForeignKinds(t *testing.T) {
	for name, test := range map[string]struct {
		grant, rule string
		want        preview.Severity // empty: none
	}{
		"a wildcard is as its worst kind":                    {"argoproj.io|*|create", "rbac-installers-write", preview.Critical},
		"of a wildcard the worst kind alone is said":         {"argoproj.io|*|create", "rbac-pod-makers-write", ""},
		"a plural in every group":                            {"*|clusterpolicies|create", "rbac-node-orders-write", preview.Critical},
		"every verb":                                         {"kyverno.io|clusterpolicies|*", "rbac-mutators-write", preview.Critical},
		"a policy deleted":                                   {"kyverno.io|clusterpolicies|delete", "rbac-mutators-write", preview.Critical},
		"policies deleted together":                          {"kyverno.io|clusterpolicies|deletecollection", "rbac-mutators-write", preview.Critical},
		"a name that a new object cannot have":               {"argoproj.io|applications|create|a", "rbac-installers-write", ""},
		"one name restricts nothing, as its content decides": {"argoproj.io|applications|patch|a", "rbac-installers-write", preview.Critical},
		"one name of what only moves traffic is one less":    {"networking.istio.io|gateways|patch|a", "rbac-traffic-write", preview.Info},
		"programs in every proxy of a mesh":                  {"networking.istio.io|envoyfilters|create", "rbac-traffic-write", preview.Critical},
		"routes of a mesh":                                   {"networking.istio.io|virtualservices|create", "rbac-traffic-write", preview.Warning},
		"EndpointSlices, which every Service has":            {"discovery.k8s.io|endpointslices|patch", "rbac-endpoints-write", preview.Critical},
		"Endpoints, which few Services follow":               {"|endpoints|patch", "rbac-endpoints-write", preview.Warning},
		"one of the EndpointSlices":                          {"discovery.k8s.io|endpointslices|patch|a", "rbac-endpoints-write", preview.Warning},
		"consoles of any kind":                               {"example.com|things/console|get", "rbac-custom-exec", preview.Warning},
		"consoles of every kind of a group":                  {"example.com|*/exec|create", "rbac-custom-exec", preview.Warning},
		"a console of Kubernetes' own is none":               {"apps|deployments/exec|create", "rbac-custom-exec", ""},
		"USB of machines":                                    {"subresources.kubevirt.io|virtualmachineinstances/usbredir|get", "rbac-custom-exec", preview.Warning},
		"Secrets copied to a store of its own":               {"external-secrets.io|pushsecrets,secretstores|create", "rbac-exporters-write", preview.Critical},
		"the same by two rules":                              {"external-secrets.io|pushsecrets|create & external-secrets.io|clustersecretstores|patch|a", "rbac-exporters-write", preview.Critical},
		"Secrets copied to stores of others":                 {"external-secrets.io|pushsecrets|create", "rbac-exporters-write", preview.Warning},
		"Secrets whose copies are deleted, and stores":       {"external-secrets.io|pushsecrets|delete & external-secrets.io|secretstores|create", "rbac-exporters-write", preview.Warning},
		"backups made and downloaded":                        {"velero.io|backups|create & velero.io|downloadrequests|create", "rbac-exporters-write", preview.Critical},
		"backups of others, found and downloaded":            {"velero.io|backups|list & velero.io|downloadrequests|create", "rbac-exporters-write", preview.Critical},
		"backups made":                                       {"velero.io|backups|create", "rbac-exporters-write", preview.Warning},
		"Secrets of every namespace copied out":              {"external-secrets.io|clusterpushsecrets|create", "rbac-exporters-write", preview.Critical},
		"memory of machines":                                 {"subresources.kubevirt.io|virtualmachines/memorydump|update", "rbac-exporters-write", preview.Warning},
		"whose tokens log in":                                {"authentication.concierge.pinniped.dev|jwtauthenticators|create", "rbac-secret-sources-write", preview.Critical},
		"Terraform with cloud credentials":                   {"infra.contrib.fluxcd.io|terraforms|create", "rbac-cloud-resources-write", preview.Critical},
		"cloud permissions in a group of many":               {"eks.services.k8s.aws|accessentries|create", "rbac-cloud-iam-write", preview.Critical},
		"and not the others of it":                           {"eks.services.k8s.aws|clusters|create", "rbac-cloud-iam-write", ""},
		"namespaced resources of Crossplane":                 {"iam.aws.m.upbound.io|roles|create", "rbac-cloud-iam-write", preview.Critical},
		"a console by the name of its machine":               {"subresources.kubevirt.io|virtualmachineinstances/console|create|vm", "rbac-custom-exec", preview.Warning},
		"a sample in a console":                              {"console.openshift.io|consoleyamlsamples|create", "rbac-traffic-write", ""},
		"a group that nothing is known of":                   {"example.com|things|create", "rbac-unknown-kind", preview.NotKnown},
		"its every kind":                                     {"example.com|*|patch", "rbac-unknown-kind", preview.NotKnown},
		"reading it":                                         {"example.com|things|get,list,watch", "rbac-unknown-kind", ""},
		"its status":                                         {"example.com|things/status|update", "rbac-unknown-kind", ""},
		"a group that ends as one of Kubernetes":             {"evil.k8s.io|things|create", "rbac-unknown-kind", preview.NotKnown},
		"a group of Kubernetes":                              {"resource.k8s.io|resourceclaims|create", "rbac-unknown-kind", ""},
		"a group that Kubernetes had":                        {"extensions|things|create", "rbac-unknown-kind", ""},
		"who may do everything may do this":                  {"*|*|*", "rbac-unknown-kind", ""},
		"a kind by which nothing happens":                    {"wgpolicyk8s.io|policyreports|create", "rbac-unknown-kind", ""},
		"credentials in custom resources that can be listed": {"machineconfiguration.openshift.io|machineconfigs|list", "rbac-custom-credentials-read", preview.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: grantsPlan(strings.Split(test.grant, " & ")...)})
			f := find(findings, test.rule)
			if (f != nil) != (test.want != "") || f != nil && f.Severity != test.want {
				t.Errorf("%s: %+v among %v", test.grant, f, ids(findings))
			}
		})
	}
}

func TestDeputiesAreNamedInTheEvidence(t *testing.T) {
	f := find(evaluate(t, Input{Plan: grantsPlan("argoproj.io|applications,appprojects|create")}), "rbac-installers-write")
	if f == nil || !strings.Contains(f.Evidence, "applications.argoproj.io: Argo CD fetches manifests and applies them with its own permissions") {
		t.Errorf("%+v", f)
	}
}

// What the plan brings is its own where one of its accounts acts on it; a definition alone
// can be a copy, and a wildcard reaches the rest of the group.
func TestKindsOfThePlanAreItsOwn(t *testing.T) {
	writer := func(resources string) string {
		return "---\n" + roleHead + "}\nrules: [{apiGroups: [kyverno.io, example.com], resources: [" + resources + "], verbs: [create]}]\n" + binding
	}
	copied := "---\n" + crdOf("kyverno.io", "clusterpolicies") + "---\n" + strings.Replace(crdOf("example.com", "things"), "plural: things", "plural: things, kind: Thing", 1)
	own := copied + "---\n" + holding("app", "actor", "", "kyverno.io|clusterpolicies/status|patch") + granting("b", "app", "actor", "", "example.com|things/finalizers|update")
	for name, test := range map[string]struct {
		text, rule string
		want       bool
	}{
		"a kind of another":                {writer("clusterpolicies"), "rbac-mutators-write", true},
		"the plan's kind":                  {own + writer("clusterpolicies"), "rbac-mutators-write", false},
		"all of the group":                 {own + writer("'*'"), "rbac-mutators-write", true},
		"an unknown kind":                  {writer("things"), "rbac-unknown-kind", true},
		"an unknown kind that it brings":   {own + writer("things"), "rbac-unknown-kind", false},
		"another unknown kind of a group":  {own + writer("others"), "rbac-unknown-kind", true},
		"an object of an unknown kind":     {custom("example.com/v1", "Thing", "a: b"), "unknown-kind", true},
		"one of a kind that it brings":     {own + "---\n" + custom("example.com/v1", "Thing", "a: b"), "unknown-kind", false},
		"a kind that it only defines":      {copied + writer("clusterpolicies"), "rbac-mutators-write", true},
		"an unknown kind of that sort":     {copied + writer("things"), "rbac-unknown-kind", true},
		"one of a kind of that sort":       {copied + "---\n" + custom("example.com/v1", "Thing", "a: b"), "unknown-kind", true},
		"an object of Kubernetes":          {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: app}\n", "unknown-kind", false},
		"a policy whose kind it brings":    {crdOf("postgresql.cnpg.io", "poolers") + "---\n" + custom("kyverno.io/v2", "ClusterCleanupPolicy", "a: b"), "order-deletes", true},
		"content of a kind that it brings": {strings.Replace(crdOf("argoproj.io", "applications"), "plural: applications", "plural: applications, kind: Application", 1) + "---\n" + custom("argoproj.io/v1alpha1", "Application", "a: b"), "order-installs", true},
	} {
		t.Run(name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			if f := find(findings, test.rule); (f != nil) != test.want {
				t.Errorf("%s: %v", test.rule, ids(findings))
			}
		})
	}
}

// A store of Secrets of this cluster is judged by whose rights it reads them with.
func TestStoresThatReadThisCluster(t *testing.T) {
	const others = "provider: {kubernetes: {remoteNamespace: kube-system, auth: {serviceAccount: {name: external-secrets, namespace: external-secrets}}}}"
	for name, test := range map[string]struct {
		spec string
		want preview.Severity
	}{
		"as an account of others":      {others, preview.Critical},
		"by the address of the server": {strings.Replace(others, "auth:", "server: {url: 'https://kubernetes.default.svc'}, auth:", 1), preview.Critical},
		"as an account of its own":     {strings.Replace(others, "namespace: external-secrets", "namespace: app", 1), preview.Warning},
		"of another cluster":           {strings.Replace(others, "auth:", "server: {url: 'https://other.example.com'}, auth:", 1), preview.Warning},
		"of a vault":                   {"provider: {vault: {server: 'https://vault.example.com'}}", preview.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, custom("external-secrets.io/v1", "ClusterSecretStore", test.spec))}), "order-credentials")
			if f == nil || f.Severity != test.want || test.want == preview.Critical && !strings.Contains(f.Evidence, "it reads Secrets of namespace kube-system as ServiceAccount external-secrets/external-secrets") {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestCertificatesAreJudgedByWhomTheyName(t *testing.T) {
	for name, test := range map[string]struct {
		spec string
		want preview.Severity
	}{
		"a server":                         {"dnsNames: [a.app.svc], issuerRef: {name: a}", ""},
		"an administrator":                 {"subject: {organizations: [system:masters]}, usages: [client auth]", preview.Critical},
		"an administrator, for any usage":  {"subject: {organizations: [a, 'system:masters']}, usages: [any]", preview.Critical},
		"an account of the control plane":  {"commonName: 'system:kube-controller-manager', usages: ['client auth']", preview.Critical},
		"a literal subject":                {"literalSubject: 'CN=a,O=system:masters', usages: ['client auth']", preview.Critical},
		"a system user without that usage": {"commonName: 'system:node:a'", preview.Warning},
		"an authority":                     {"isCA: true, commonName: a", preview.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, custom("cert-manager.io/v1", "Certificate", strings.ReplaceAll(test.spec, "[system:masters]", "['system:masters']")))}), "order-credentials")
			if (f != nil) != (test.want != "") || f != nil && f.Severity != test.want {
				t.Errorf("%+v", f)
			}
		})
	}
}

// What an order amounts to depends on where it is and on what it says.
func TestOrdersAreJudgedByTheirContent(t *testing.T) {
	in := func(namespace, text string) string {
		return strings.Replace(text, "namespace: app", "namespace: "+namespace, 1)
	}
	const location = "---\napiVersion: velero.io/v1\nkind: BackupStorageLocation\nmetadata: {name: away, namespace: velero}\nspec: {provider: aws}\n"
	monitor := func(file string) string {
		return custom("monitoring.coreos.com/v1", "ServiceMonitor", "endpoints: [{bearerTokenFile: "+file+"}]")
	}
	backup := func(spec string) string { return in("velero", custom("velero.io/v1", "Backup", spec)) }
	policy := func(path string) string {
		return custom("redhatcop.redhat.io/v1alpha1", "Policy", `policy: "path \"`+path+`\" {capabilities = [\"read\"]}"`)
	}
	for name, test := range map[string]struct {
		text, rule string
		want       preview.Severity
	}{
		"a filter for proxies of the namespace":     {custom("networking.istio.io/v1alpha3", "EnvoyFilter", "a: b"), "order-traffic", preview.Warning},
		"a filter for every proxy of the mesh":      {in("istio-system", custom("networking.istio.io/v1alpha3", "EnvoyFilter", "a: b")), "order-traffic", preview.Critical},
		"a route in the root namespace of the mesh": {in("istio-system", custom("networking.istio.io/v1", "VirtualService", "a: b")), "order-traffic", preview.Warning},
		"traffic of all pods of a node":             {custom("cilium.io/v2", "CiliumLocalRedirectPolicy", "a: b"), "order-traffic", preview.Critical},
		"all Secrets to a location of the package":  {backup("storageLocation: away") + location, "order-exports", preview.Critical},
		"those of other namespaces by name":         {backup("storageLocation: away, includedNamespaces: [app, shop]") + location, "order-exports", preview.Critical},
		"its own namespace to that location":        {backup("storageLocation: away, includedNamespaces: [app]") + location, "order-exports", preview.Warning},
		"all but Secrets to that location":          {backup("storageLocation: away, excludedResources: [secrets]") + location, "order-exports", preview.Warning},
		"all Secrets to a location of the cluster":  {backup("a: b"), "order-exports", preview.Warning},
		"on a schedule":                                 {in("velero", custom("velero.io/v1", "Schedule", "template: {storageLocation: away}")) + location, "order-exports", preview.Critical},
		"where all backups go":                          {strings.Replace(location[len("---\n"):], "name: away", "name: default", 1), "order-installs", preview.Critical},
		"where some backups go":                         {location[len("---\n"):], "order-installs", preview.Warning},
		"a server of Vault that opens it to all":        {custom("vault.banzaicloud.com/v1alpha1", "Vault", `externalConfig: {policies: [{rules: "path \"*\" {capabilities = [\"sudo\"]}"}]}`), "order-pods", preview.Critical},
		"the proxy and the authorities of all machines": {custom("config.openshift.io/v1", "Proxy", "a: b"), "order-traffic", preview.Critical},
		"from where images are pulled by tag":           {custom("config.openshift.io/v1", "ImageTagMirrorSet", "a: b"), "order-nodes", preview.Critical},
		"from where images are pulled by digest":        {custom("config.openshift.io/v1", "ImageDigestMirrorSet", "a: b"), "order-nodes", preview.Warning},
		"a policy that is root of Vault":                {policy("*"), "order-grants", preview.Critical},
		"a policy about policies of Vault":              {policy("sys/policies/acl/*"), "order-grants", preview.Critical},
		"a policy about its own secrets":                {policy("secret/data/app/*"), "order-grants", preview.Warning},
		"the token of Prometheus, as many do":           {monitor("/var/run/secrets/kubernetes.io/serviceaccount/token"), "order-monitors", preview.Info},
		"another file of Prometheus":                    {monitor("/etc/prometheus/secrets/remote-write/password"), "order-monitors", preview.Warning},
		"no file of Prometheus":                         {custom("monitoring.coreos.com/v1", "ServiceMonitor", "endpoints: [{port: metrics}]"), "order-monitors", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, test.text)}), test.rule)
			if (f != nil) != (test.want != "") || f != nil && f.Severity != test.want {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestMarksAreOrders(t *testing.T) {
	for name, test := range map[string]struct {
		text, rule string
		want       bool
	}{
		"a Secret copied":             {"apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: app, annotations: {replicator.v1.mittwald.de/replicate-from: kube-system/root}}\n", "order-exports", true},
		"a snippet":                   {"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: x, namespace: app, annotations: {nginx.ingress.kubernetes.io/configuration-snippet: 'return 200;'}}\n", "order-traffic", true},
		"a policy in a label":         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: app, labels: {openpolicyagent.org/policy: rego}}\n", "order-refuses", true},
		"another annotation":          {"apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: app, annotations: {example.com/replicate-from: a}}\n", "order-exports", false},
		"a mark that is switched off": {"apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: app, annotations: {reflector.v1.k8s.emberstack.com/reflection-auto-enabled: 'false'}}\n", "order-exports", false},
	} {
		t.Run(name, func(t *testing.T) {
			if f := find(evaluate(t, Input{Plan: planOf(t, test.text)}), test.rule); (f != nil) != test.want || f != nil && f.Severity != preview.Warning {
				t.Errorf("%+v", f)
			}
		})
	}
}

// An order that was accepted is not accepted with other content.
func TestAnOrdersFingerprintCoversItsContent(t *testing.T) {
	of := func(spec string) *preview.Finding {
		return find(evaluate(t, Input{Plan: planOf(t, custom("argoproj.io/v1alpha1", "Application", spec))}), "order-installs")
	}
	a, b := of("source: {repoURL: 'https://a.example', path: a}"), of("source: {repoURL: 'https://a.example', path: b}")
	if a == nil || b == nil || a.Fingerprint == b.Fingerprint || !strings.Contains(a.Evidence, "names https://a.example") {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestUnknownKindsAreSaidOnce(t *testing.T) {
	text := custom("example.com/v1", "Thing", "a: b") + "---\n" + strings.Replace(custom("example.com/v2", "Thing", "a: b"), "name: x", "name: z", 1) + "---\n" + custom("example.com/v1", "Other", "a: b")
	n := 0
	for _, f := range evaluate(t, Input{Plan: planOf(t, text)}) {
		if f.Rule == "unknown-kind" {
			n++
			if f.Severity != preview.NotKnown || f.Object == "example.com/Thing/app/x" && !strings.Contains(f.Evidence, "app/z") {
				t.Errorf("%+v", f)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d findings of two kinds", n)
	}
}

func TestManyOrdersTakeLinearTime(t *testing.T) {
	p := &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}}
	for i := range 2000 {
		body := planOf(t, custom("argoproj.io/v1alpha1", "Application", "source: {repoURL: 'https://a.example'}")).Objects[0].Planned
		preview.Map(body, "metadata")["name"] = fmt.Sprint("x", i)
		p.Objects = append(p.Objects, object(body))
	}
	start := time.Now()
	evaluate(t, Input{Plan: p})
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Logf("it took %v", took)
	}
}
