package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// refusal is a case where the program names commands: in an error, an obstacle or the
// evidence of a finding.
type refusal struct {
	name   string // a sentence
	before string // a script that brings it about; NS is a namespace of the case's own
	line   string // what is refused
	says   string // a pattern of its words, whose groups are the commands
	// with are pairs: a placeholder for the reader's value, and its value here.
	with []string
	// flags are the further ones of a script, which is not asked.
	flags string
	code  int    // that the last command ends with
	shows string // a pattern of what it prints
	then  string // a script that holds afterwards
}

// refusals are the cases where the program names commands next to the reviews of
// packages. The kubeconfig names a cluster that is not there, so that a command without
// the --context of what was refused ($C) does nothing that it claims.
func refusals() []refusal {
	return []refusal{
		{
			name: "a release that is not there",
			line: `kubectl operator status nosuch $C`,
			says: `; see (kubectl operator list .*)$`, shows: `^NAME`,
		},
		{
			name:   "a release whose newest record is gone",
			before: `kubectl operator install ./one web -n NS $C --yes && kubectl operator upgrade web ./two -n NS $C --yes && kubectl $C delete secret kubectl-operator.web -n NS`,
			line:   `kubectl operator status web $C -n NS`,
			says:   `takes its objects over: (kubectl operator install .*)$`, with: []string{"REF", "./two"}, flags: " --yes",
			code: 5, shows: `critical finding record-chain-broken`, then: `kubectl operator list $C -n NS`,
		},
		{
			name:   "a record that cannot be decoded",
			before: `kubectl operator install ./one web -n NS $C --yes && kubectl $C patch secret kubectl-operator.web -n NS --type=merge -p '{"data":{"record":"AAAA"}}'`,
			line:   `kubectl operator status web $C -n NS`,
			says:   `look at it: (kubectl get .*?); if .* its objects: (kubectl delete .*)$`, with: []string{"REF", "./one"}, flags: " --yes",
			then: `kubectl operator status web $C -n NS`,
		},
		{
			name:   "a record in a list that cannot be decoded",
			before: `kubectl operator install ./one web -n NS $C --yes && kubectl $C patch secret kubectl-operator.web -n NS --type=merge -p '{"data":{"record":"AAAA"}}'`,
			line:   `kubectl operator list -n NS $C`,
			says:   `inspect it alone: (kubectl operator status .*?)$`, code: 1, shows: `look at it: kubectl get secret`,
			then: `kubectl $C delete secret kubectl-operator.web -n NS`,
		},
		{
			name: "a record of an earlier revision that was exchanged",
			before: `install() { kubectl operator install ./$1 web -n NS $C --yes && kubectl operator upgrade web ./$2 -n NS $C --yes; }
				install one two && kubectl $C get secret kubectl-operator.web.v1.0 -n NS -o 'jsonpath={.data}' >other.json &&
				kubectl operator uninstall web -n NS $C --yes && kubectl $C delete secret --all -n NS && install two one &&
				kubectl $C patch secret kubectl-operator.web.v1.0 -n NS --type=merge -p "{\"data\":$(cat other.json)}"`,
			line: `kubectl operator rollback web --to 1 -n NS $C --yes`,
			says: `see (kubectl operator history .*)$`, shows: `does not hold`, code: 1,
		},
		{
			name:   "a rollout that failed",
			before: `true`,
			line:   `kubectl operator install ./failing web -n NS $C --yes`,
			says:   `look at it with (kubectl operator status .*?--context=\S+)`, code: 3, shows: `revision 1 failed \(stage deploy\)`,
		},
		{
			name:   "a rollout that is not over in time",
			before: `true`,
			line:   `kubectl operator install ./slow web -n NS $C --yes --rollout-timeout 1s`,
			says:   `the cluster keeps trying; resume it: (kubectl operator install .*?--rollout-timeout=1s)`, flags: " --no-wait", shows: `DONE`,
			then: `kubectl operator history web -n NS $C | grep -c applied`,
		},
		{
			name:   "a release that came from no catalog",
			before: `kubectl operator install ./one web -n NS $C --yes`,
			line:   `kubectl operator upgrade web -n NS $C --stage-timeout 61s --preview`,
			says:   `say what to upgrade to: (kubectl operator upgrade .*?) See`, with: []string{"REF", "./two"}, shows: `(?s)upgrade web.*--stage-timeout=1m1s`,
		},
		{
			name:   "a release whose catalog the configuration has no more",
			before: `eval "$(kubectl operator preview mongodb web -n NS $C --catalog './our catalog'\''s' --ca-file 'the ca'\''s.pem' --version 1.9.0 --certs none | grep -- ' --yes --approve ') --no-wait"`,
			line:   `kubectl operator upgrade web -n NS $C --ca-file 'the ca'\''s.pem' --preview`,
			says:   `to name a catalog: (kubectl operator upgrade .*?) See`, shows: `upgrade mongodb 1.9.0 -> `,
		},
		{
			name:   "a release whose values are secret",
			before: `kubectl operator install ./chart web -n NS $C --set password=hunter2 --yes`,
			line:   `kubectl operator upgrade web ./chart -n NS $C --stage-timeout 61s --preview`,
			says:   `or drop all values: (kubectl operator upgrade .*)$`, shows: `(?s)upgrade web.*--stage-timeout=1m1s`,
		},
		{
			name:   "options on record that the new version refuses",
			before: `kubectl operator install ./chart web -n NS $C --set replicas=two --yes`,
			line:   `kubectl operator upgrade web ./stricter -n NS $C --stage-timeout 61s --preview`,
			says:   `--reset-options all: (kubectl operator upgrade .*)$`, shows: `(?s)upgrade web.*--stage-timeout=1m1s`,
		},
		{
			name: "a name without any catalog",
			line: `kubectl operator preview web $C`,
			says: `as it is: kubectl operator catalog add .* (kubectl operator install \./bundle .*?) See`, with: []string{"./bundle", "./one web -n NS"}, flags: " --yes",
			then: `kubectl operator status web -n NS $C`,
		},
		{
			name: "a name that is the one of what a controller follows",
			before: `kubectl $C apply -f followed.yaml && kubectl $C wait --for=condition=Established crd/apps.kappctrl.k14s.io &&
				kubectl $C create namespace NS && kubectl $C apply -n NS -f app.yaml`,
			line: `kubectl operator preview followed $C -n NS`,
			says: `asks for: (kubectl get .*? \| kubectl operator preview .*?) See`, shows: `applied by +kapp kapp-controller`,
			then: `kubectl $C delete -f followed.yaml`,
		},
		{
			name: "a public catalog that is named, by another in its place",
			line: `kubectl operator preview web $C --cache-dir here`,
			says: `as it is: (kubectl operator catalog add .*?) kubectl`, with: []string{"quay.io/operatorhubio/catalog:latest", "./catalog"},
			then: `kubectl operator search mongodb-a $C && kubectl operator catalog remove operatorhub`,
		},
		{
			name: "a name that many packages are near to",
			line: `kubectl operator preview mongodb $C --catalog ./catalog`,
			says: `and 2 more: (kubectl operator search .*)$`, shows: `mongodb-g`,
		},
		{
			name: "a directory without a path",
			line: `kubectl operator preview one web -n NS $C --stage-timeout 61s`,
			says: `of that name: (kubectl operator preview \./one .*?) as a package`, shows: `--stage-timeout=1m1s`,
		},
		{
			name: "what is said of the name beside a directory, for the same cluster",
			line: `kubectl operator preview one web -n NS $C`,
			says: `as a package: .*(kubectl operator install \./bundle .*?) See`, with: []string{"./bundle", "./one web"}, flags: " --yes",
			then: `kubectl operator status web -n NS $C`,
		},
		{
			name:   "a directory without objects, as a request file",
			before: `mkdir -p chart-only && cp -r chart chart-only/web`,
			line:   `kubectl operator preview -f chart-only $C --stage-timeout 61s`,
			says:   `or content without: (kubectl operator preview .*)$`, with: []string{"./chart-only", "./chart-only/web web"}, shows: `--stage-timeout=1m1s`,
		},
		{
			name:   "a file without a request",
			before: `true`,
			line:   `kubectl operator preview -f one/a.yaml $C --stage-timeout 61s`,
			says:   `named without -f: (kubectl operator preview .*)$`, with: []string{"./DIR", "./one web"}, shows: `--stage-timeout=1m1s`,
		},
		{
			name:   "a file with a catalog of the cluster, by a directory in its place",
			before: `printf 'apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: hub}\nspec: {source: {type: Image, image: {ref: "quay.io/operatorhubio/catalog:latest"}}}\n' >hub.yaml`,
			line:   `kubectl operator preview -f hub.yaml $C --cache-dir here`,
			says:   `is a catalog: (kubectl operator catalog add hub .*)$`, with: []string{"oci://quay.io/operatorhubio/catalog:latest", "./catalog"},
			then: `kubectl operator search mongodb-a $C && kubectl operator catalog remove hub`,
		},
		{
			name: "a Kustomization of Flux whose content is made in the cluster",
			line: `kubectl operator preview -f flux.yaml $C --stage-timeout 61s`,
			says: `which it is copied from: (kubectl operator preview .*)$`, shows: `--stage-timeout=1m1s`,
		},
		{
			name: "a saved plan that this user may not apply",
			before: `kubectl $C create clusterrole reads --verb=get,list --resource='*.*' && kubectl $C create clusterrolebinding reads --clusterrole=reads --user=jane &&
				kubectl operator preview ./one web -n NS $C --out may.tgz`,
			line: `kubectl operator install --plan may.tgz $C --as jane --yes`,
			says: `\((kubectl operator show .*?) prints the roles\)`, shows: `kind: ClusterRole`,
		},
		{
			name:   "a saved plan that was applied",
			before: `kubectl operator preview ./one web -n NS $C --out applied.tgz`,
			line:   `kubectl operator install --plan applied.tgz $C --yes`,
			says:   `status (kubectl operator status .*?) rollback (kubectl operator uninstall .*)`, flags: " --yes",
			then: `! kubectl operator status web -n NS $C`,
		},
		{
			name:   "a request file that leads to other content than was reviewed",
			before: `kubectl operator preview -f request.yaml $C -o request >pinned.yaml && cp two/a.yaml moving/a.yaml`,
			line:   `kubectl operator install -f pinned.yaml $C --stage-timeout 61s --yes`,
			says:   `; (kubectl operator preview .*) updates the pin in the file`, flags: " >again.yaml",
			then: `kubectl operator install -f again.yaml $C --yes && cp one/a.yaml moving/a.yaml`,
		},
		{
			name:   "a kubeconfig without a context",
			before: `kubectl config view --raw >nocontext && KUBECONFIG=nocontext kubectl config unset current-context`,
			line:   `export KUBECONFIG=nocontext; kubectl operator list`,
			says:   `choose one with "(kubectl config use-context)"`, with: []string{"kubectl config", "export KUBECONFIG=nocontext; kubectl config"}, flags: " kubectl-operator-sandbox",
			then: `export KUBECONFIG=nocontext; kubectl operator list`,
		},
		{
			name:   "an object that Helm has a record of",
			before: `kubectl $C create namespace NS && kubectl $C create secret generic sh.helm.release.v1.old.v1 -n NS && kubectl $C label secret sh.helm.release.v1.old.v1 -n NS owner=helm name=old && ` + marked("annotate", "meta.helm.sh/release-name=old meta.helm.sh/release-namespace=NS"),
			line:   `kubectl operator preview ./one web -n NS $C --adopt`,
			says:   `after the install: (kubectl .*? -n NS)`,
			then:   `! kubectl $C get secret sh.helm.release.v1.old.v1 -n NS`,
		},
		{
			name:   "an object that waits for its deletion",
			before: marked("patch", `--type=merge -p '{"metadata":{"finalizers":["example.com/a"]}}'`) + ` && kubectl $C delete configmap a -n NS --wait=false`,
			line:   `kubectl operator preview ./one web -n NS $C`,
			says:   `preview again: (kubectl wait .*?--context=\S+)`, with: []string{"kubectl wait", `kubectl $C patch configmap a -n NS --type=merge -p '{"metadata":{"finalizers":null}}' && kubectl wait`},
			then: `kubectl operator install ./one web -n NS $C --yes`,
		},
		{
			name:   "an object of another release",
			before: `kubectl operator install ./one other -n NS $C --yes`,
			line:   `kubectl operator preview ./one web -n NS $C`,
			says:   `under other names: (kubectl operator uninstall .*?--context=\S+)`, flags: " --yes",
			then: `kubectl operator install ./one web -n NS $C --yes`,
		},
		{
			name:   "a definition that another release has in another form",
			before: `kubectl operator install ./thing other -n NS $C --yes`,
			line:   `kubectl operator preview ./thing2 web -n NS $C`,
			says:   `same definition: (kubectl operator upgrade .*?--context=\S+)`, with: []string{"upgrade other", "upgrade other ./thing2"}, flags: " --yes",
			then: `kubectl operator install ./thing2 web -n NS $C --yes && kubectl $C delete crd things.example.com`,
		},
		{
			name:   "a definition that is not as the release left it",
			before: `kubectl operator install ./thing other -n NS $C --yes && kubectl $C patch crd things.example.com --type=json -p '[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"x"}]'`,
			line:   `kubectl operator preview ./thing web -n NS $C`,
			says:   `left it; (kubectl operator status .*?--context=\S+) shows where it differs; .*?: (kubectl operator upgrade .*?--context=\S+)`,
			with:   []string{"upgrade other", "upgrade other ./thing", "kubectl operator status", "! kubectl operator status"}, flags: " --conflicts take --preview", shows: `update: 1 CustomResourceDefinition`,
			then: `kubectl $C delete crd things.example.com`,
		},
		{
			name:   "a release whose record may not be read",
			before: `kubectl operator install ./thing other -n NS $C --yes && kubectl $C create clusterrole reader --verb=get,list --resource=configmaps,namespaces,customresourcedefinitions && kubectl $C create clusterrolebinding reader --clusterrole=reader --user=reader`,
			line:   `kubectl operator preview ./thing web -n NS $C --as reader`,
			says:   `preview again: (kubectl auth .*?--context=\S+)`, code: 1, shows: `no`,
			then: `kubectl $C delete crd things.example.com`,
		},
		{
			name:   "a claim whose class changes",
			before: `kubectl operator install ./claim web -n NS $C --yes --no-wait`,
			line:   `kubectl operator preview ./claim2 web -n NS $C`,
			says:   `preview again: (kubectl delete .*?--context=\S+)`, flags: " --wait=false",
			then: `kubectl $C patch pvc data -n NS --type=merge -p '{"metadata":{"finalizers":null}}'; kubectl operator install ./claim2 web -n NS $C --yes --no-wait`,
		},
		{
			name:   "a release that Helm owns",
			before: `"$HELM" install web ./chart -n NS --create-namespace --kube-context kubectl-operator-sandbox`,
			line:   `kubectl operator preview ./chart web -n NS $C`,
			says:   `with this program instead: (kubectl operator preview .*?--context=\S+)`, shows: `\^ 1 adopt`,
			then: `kubectl operator preview ./chart web -n NS $C | grep -q 'APPLIED BY HELM'`,
		},
		{
			name:   "an install of what Helm owns",
			before: `"$HELM" install web ./chart -n NS --create-namespace --kube-context kubectl-operator-sandbox`,
			line:   `kubectl operator install ./chart web -n NS $C --yes`,
			says:   `belongs to Helm release web; upgrade it with helm, which this previews: (kubectl operator preview .*?--context=\S+?);`, shows: `applied by  Helm`,
		},
		{
			name: "an object that does not fit its schema",
			line: `kubectl operator preview ./misfit web -n NS $C`,
			says: `what its fields take: (kubectl explain .*?--context=\S+)`, shows: `targetPort`,
		},
		{
			name:   "a kind that nothing serves",
			before: `kubectl operator catalog add near ./catalog`,
			line:   `kubectl operator preview ./unserved web -n NS $C`,
			says:   `brings the CRD of .*?: (kubectl operator search .*?--context=\S+)`, shows: `mongodb-a`,
			then: `kubectl operator catalog remove near`,
		},
		{
			name:   "an object that a policy of the cluster refuses",
			before: `kubectl $C apply --server-side -f policy.yaml && for try in $(seq 300); do kubectl operator preview ./refused web -n NS $C | grep -q 'CANNOT BE APPLIED' && break; done`,
			line:   `kubectl operator preview ./refused web -n NS $C`,
			says:   `leave out the namespace: (kubectl get .*?--context=\S+)`, shows: `never in house`,
			then: `kubectl $C delete -f policy.yaml`,
		},
		{
			name:   "an object whose namespace does not exist",
			before: `mkdir -p away && printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NS-away}}' >away/a.yaml`,
			line:   `kubectl operator preview ./away web -n NS $C`,
			says:   `then preview again: (kubectl create namespace \S+ --context=\S+)`, shows: `created`,
			then: `kubectl operator preview ./away web -n NS $C | grep 'APPLY THIS PLAN'`,
		},
		{
			name: "an object that a quota leaves no room for",
			before: `kubectl $C create namespace NS && kubectl $C create quota small -n NS --hard=count/services=0 &&
				kubectl $C wait resourcequota/small -n NS --for=jsonpath='{.status.used.count/services}'=0`,
			line: `kubectl operator preview ./service web -n NS $C`,
			says: `free what it counts, then preview again: (kubectl describe resourcequota small -n \S+ --context=\S+)`, shows: `count/services`,
		},
		{
			name: "an object that a policy denies",
			before: `kubectl $C create namespace NS && kubectl $C apply --server-side -f policy.yaml &&
				for try in $(seq 300); do kubectl operator preview ./refused web -n NS $C | grep -q 'CANNOT BE APPLIED' && break; done`,
			line: `kubectl operator preview ./refused web -n NS $C`,
			says: `then preview again: (kubectl get validatingadmissionpolicybindings -o wide --context=\S+)`, shows: `never`,
			then: `kubectl $C delete -f policy.yaml`,
		},
		{
			name: "an uninstall that the release's own policy refuses",
			before: `mkdir -p freeze && sed s/SPACE/NS/ frozen.yaml >freeze/a.yaml && kubectl operator install ./freeze web -n NS $C --yes &&
kubectl $C patch validatingadmissionpolicybinding freeze --type=merge -p '{"spec":{"validationActions":["Deny"]}}' &&
for try in $(seq 300); do printf '{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: probe, namespace: NS}}' | kubectl $C create --dry-run=server -f - 2>&1 | grep -q frozen && break; done`,
			line: `kubectl operator uninstall web -n NS $C --yes`,
			says: `none is asked about itself: (kubectl delete validatingadmissionpolicybinding/freeze .*?--context=\S+); then run`, shows: `deleted`,
			then: `for try in $(seq 300); do kubectl operator uninstall web -n NS $C --yes && break; done`,
		},
		{
			name:   "a history that does not hold, by the advice of its finding",
			before: `kubectl operator install ./one web -n NS $C --yes && kubectl operator upgrade web ./two -n NS $C --yes && kubectl $C delete secret kubectl-operator.web.v1.0 -n NS`,
			line:   `kubectl operator uninstall web -n NS $C --preview`,
			says:   `which revisions hold: (kubectl operator history .*?--context=\S+?)\. Find out who wrote the record: (kubectl .*?) Install`,
			with:   []string{"kubectl operator history", "! kubectl operator history", "--show-managed-fields.", "--show-managed-fields"}, shows: `managedFields`,
		},
		{ // as all read it who review the plan; forms for readers name the cluster
			name:   "a namespace that an uninstall keeps, in the finding itself",
			before: `kubectl $C create namespace NS && kubectl operator install ./one web -n NS $C --yes`,
			line:   `kubectl operator uninstall web -n NS $C --include-namespaces --preview -o json`,
			says:   `By hand: (kubectl delete namespace NS)`, with: []string{"kubectl delete", "kubectl $C delete"}, flags: " --wait=false", shows: `deleted`,
		},
		{
			name:   "a binding to a role that the cluster does not have",
			before: `kubectl $C create namespace NS && kubectl $C create role a -n NS --verb=get --resource=pods`,
			line:   `kubectl operator preview ./bound web -n NS $C`,
			says:   `with (kubectl \S* ?describe clusterrole NAME) or (kubectl \S* ?describe role NAME)`, with: []string{"clusterrole NAME", "clusterrole view", "role NAME", "role a -n NS"}, shows: `pods`,
		},
		{
			name:   "an object that exists in another version than its content has",
			before: crates("true", "true", "") + ` && kubectl operator install ./crate web -n NS $C --yes && ` + crates("true", "false", "") + ` && until ! kubectl $C get --raw /apis/NS.example.com/v1beta1; do :; done`,
			line:   `kubectl operator upgrade web ./crate -n NS $C --yes`,
			says:   `to NS.example.com/v1, as the cluster has it: (kubectl get crate\.NS\.example\.com a -n NS -o yaml --context=[^;\s]+)`, shows: `apiVersion: refused-..\.example\.com/v1\n`,
			then: `kubectl operator uninstall web -n NS $C --yes && ! kubectl $C get crates.NS.example.com a -n NS && kubectl $C delete crd crates.NS.example.com`,
		},
		{
			name:   "a kind of which its CRD serves no version",
			before: crates("true", "true", "") + ` && kubectl operator install ./crate web -n NS $C --yes && ` + crates("false", "false", "") + ` && until ! kubectl $C get --raw /apis/NS.example.com/v1beta1; do :; done`,
			line:   `kubectl operator uninstall web -n NS $C --yes`,
			says:   `then preview again: (kubectl get crds .*? --context=[^;\s]+)`, shows: `crates\.refused-..\.example\.com +v1,v1beta1 +false,false`,
			then: crates("true", "false", "") + ` && until kubectl $C get crates.NS.example.com; do :; done &&
				kubectl operator uninstall web -n NS $C --yes && ! kubectl $C get crates.NS.example.com a -n NS && kubectl $C delete crd crates.NS.example.com`,
		},
		{
			name: "a definition whose conversion an uninstall breaks",
			before: `mkdir -p turned && printf 'apiVersion: v1\nkind: Service\nmetadata: {name: turner}\nspec: {ports: [{port: 443}]}\n' >turned/service.yaml &&
				kubectl $C create namespace NS && ` +
				crates("true", "true", `, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: NS, name: turner}}}}`) + ` &&
				cp crates.yaml turned && kubectl $C delete -f crates.yaml && kubectl operator install ./turned web -n NS $C --yes --no-wait`,
			line: `kubectl operator uninstall web -n NS $C --preview`,
			says: `after the removal: (kubectl \S+ patch crd crates\.NS\.example\.com \S+ -p \S+)`, shows: `patched`,
			then: `kubectl operator uninstall web -n NS $C --yes && until kubectl $C create -f crate/a.yaml -n NS; do :; done; kubectl $C delete crd crates.NS.example.com`,
		},
	}
}

// crates is a script that makes the kind Crate of a group with the case's name, with the
// given served versions, and its content ./crate in v1beta1.
func crates(v1, v1beta1, more string) string {
	const version = `{name: %s, served: %s, storage: %s, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`
	versions := fmt.Sprintf(version+`, `+version, "v1", v1, "true", "v1beta1", v1beta1, "false")
	return `mkdir -p crate && printf 'apiVersion: NS.example.com/v1beta1\nkind: Crate\nmetadata: {name: a}\n' >crate/a.yaml &&
printf '%s\n' 'apiVersion: apiextensions.k8s.io/v1' 'kind: CustomResourceDefinition' 'metadata: {name: crates.NS.example.com}' \
'spec: {group: NS.example.com, scope: Namespaced, names: {kind: Crate, plural: crates}, versions: [` + versions + `]` + more + `}' >crates.yaml &&
kubectl $C apply -f crates.yaml && kubectl $C wait --for=condition=Established crd/crates.NS.example.com && { kubectl $C create clusterrole crates.NS --verb=update --resource=crates.NS.example.com &&
kubectl $C create clusterrolebinding crates.NS --clusterrole=crates.NS --serviceaccount=NS:default || true; }`
}

// marked returns a script that creates the ConfigMap of ./one next to the release, and
// marks it.
func marked(verb, words string) string {
	return "{ kubectl $C get namespace NS || kubectl $C create namespace NS; } && kubectl $C create configmap a -n NS && kubectl $C " + verb + " configmap a -n NS " + words
}

// refusalFiles are the packages of the cases.
var refusalFiles = map[string]string{
	"service/a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n",
	"one/a.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: one}\n",
	"two/a.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: two}\n",
	"moving/a.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: one}\n",
	"followed.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.kappctrl.k14s.io}
spec:
  group: kappctrl.k14s.io
  scope: Namespaced
  names: {kind: App, plural: apps, singular: app, listKind: AppList}
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`,
	"app.yaml": `apiVersion: kappctrl.k14s.io/v1alpha1
kind: App
metadata: {name: followed}
spec:
  fetch: [{inline: {paths: {all.yaml: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"}}}]
  template: [{ytt: {}}]
  deploy: [{kapp: {}}]
`,
	"failing/a.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  progressDeadlineSeconds: 1
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}, annotations: {kubectl-operator/sandbox-fault: image-pull}}
    spec: {containers: [{name: a, image: "registry.example.com/a@sha256:0000000000000000000000000000000000000000000000000000000000000002"}]}
`,
	"slow/a.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}, annotations: {kubectl-operator/sandbox-fault: pending}}
    spec: {containers: [{name: a, image: "registry.example.com/a@sha256:0000000000000000000000000000000000000000000000000000000000000002"}]}
`,
	"chart/Chart.yaml":          "apiVersion: v2\nname: web\nversion: 1.0.0\n",
	"chart/values.yaml":         "password: \"\"\nreplicas: 1\n",
	"chart/templates/a.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {replicas: \"{{ .Values.replicas }}\"}\n{{- if .Values.password }}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: \"{{ .Values.password }}\"}\n{{- end }}\n",
	"stricter/Chart.yaml":       "apiVersion: v2\nname: web\nversion: 2.0.0\n",
	"stricter/values.yaml":      "replicas: 1\n",
	"stricter/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {replicas: \"{{ if kindIs \"string\" .Values.replicas }}{{ fail \"replicas is a number\" }}{{ end }}{{ .Values.replicas }}\"}\n",
	"request.yaml":              "apiVersion: kubectl-operator/v1alpha1\nkind: Request\nmetadata: {name: moved, namespace: moved}\nspec:\n  format: plain\n  sources: [{reference: ./moving, destination: manifests}]\n",
	"flux.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: flux-system}\nspec: {sourceRef: {kind: ExternalArtifact, name: apps}, path: ./}\n---\n" +
		"apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: all, namespace: flux-system}\nspec:\n  sources: [{alias: mono, kind: GitRepository, name: fleet}]\n  artifacts: [{name: apps, copy: [{from: '@mono/one/**', to: '@artifact/'}]}]\n",
	"thing/a.yaml":    thingOf("one"),
	"thing2/a.yaml":   thingOf("two"),
	"claim/a.yaml":    claimOf("a"),
	"claim2/a.yaml":   claimOf("b"),
	"misfit/a.yaml":   "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: 3}\n",
	"unserved/a.yaml": "apiVersion: apps/v1\nkind: Mongodb\nmetadata: {name: a}\n",
	"bound/a.yaml":    "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nosuch}\nsubjects: [{kind: ServiceAccount, name: a}]\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n",
	"refused/a.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n",
	"frozen.yaml": `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: freeze}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [coordination.k8s.io], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [leases]}]}
  validations: [{expression: "false", message: it is frozen}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: freeze}
spec: {policyName: freeze, validationActions: [Audit], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: SPACE}}}}
`,
	"policy.yaml": `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: never}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "object.metadata.name != 'refused'", message: never in house}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: never}
spec: {policyName: never, validationActions: [Deny], matchResources: {namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [default]}]}}}
`,
}

func thingOf(description string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, description: ` + description + `}}}]
`
}

func claimOf(class string) string {
	return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: " + class + "}\n"
}

// nearCatalog is a catalog of seven packages with names that are near to each other.
func nearCatalog(image string) string {
	var b strings.Builder
	for _, letter := range strings.Split("abcdefg", "") {
		b.WriteString(strings.NewReplacer("NAME", "mongodb-"+letter, "IMAGE", image).Replace(`---
schema: olm.package
name: NAME
defaultChannel: stable
---
schema: olm.channel
package: NAME
name: stable
entries: [{name: NAME.v1.10.0}]
---
schema: olm.bundle
package: NAME
name: NAME.v1.10.0
image: IMAGE
properties: [{type: olm.package, value: {packageName: NAME, version: 1.10.0}}]
`))
	}
	return b.String()
}

// TestClusterCommandsOfRefusals carries out the commands that the program names where it
// refuses something, as they are printed: they do what is said of them, on the cluster
// and with the flags of what was refused.
func TestClusterCommandsOfRefusals(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "the commands of refusals")
	p := newPrinting(t, elsewhere(t, sandboxtest.Borrow(t).Kubeconfig()))
	p.env = append(p.env, "KUBECTL="+sandboxtest.Kubectl(t), "HELM="+filepath.Join(root(t), "bin", "helm"), "C=--context=kubectl-operator-sandbox")
	for name, text := range refusalFiles {
		p.write(name, text)
	}
	p.fromRegistry()
	p.write("catalog/catalog.yaml", nearCatalog("registry.example.com/a@sha256:"+strings.Repeat("0", 64)))
	for i, c := range refusals() {
		if !slowtest.Turn(t, i) {
			continue
		}
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			here := *p
			here.t = t
			here.refused(c, "refused-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
		})
	}
}

// refused carries one case out in a namespace.
func (p *printing) refused(c refusal, namespace string) {
	p.t.Helper()
	in := func(text string) string { return strings.ReplaceAll(text, "NS", namespace) }
	if got := p.sh(in(c.before)); got.code != 0 {
		p.t.Fatalf("before: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	got := p.sh(in(c.line))
	said := strings.Join(strings.Fields(got.stdout+" "+got.stderr), " ")
	commands := regexp.MustCompile(in(c.says)).FindStringSubmatch(said)
	if commands == nil {
		p.t.Fatalf("%s says\n%s%s\nand not %s", c.line, got.stdout, got.stderr, c.says)
	}
	pairs := make([]string, len(c.with))
	for i := range pairs {
		pairs[i] = in(c.with[i])
	}
	for i, command := range commands[1:] {
		line, want := strings.NewReplacer(pairs...).Replace(command), 0
		if i == len(commands)-2 {
			line, want = line+c.flags, c.code
		}
		got = p.sh(line)
		if got.code != want {
			p.t.Fatalf("%s: exit code %d, want %d\n%s%s", line, got.code, want, got.stdout, got.stderr)
		}
	}
	if !regexp.MustCompile(c.shows).MatchString(got.stdout + got.stderr) {
		p.t.Errorf("%q prints\n%s%s\nand not %s", commands[1:], got.stdout, got.stderr, c.shows)
	}
	if got := p.sh(in(c.then)); got.code != 0 {
		p.t.Errorf("afterwards: %s: exit code %d\n%s%s", c.then, got.code, got.stdout, got.stderr)
	}
}

func (p *printing) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// elsewhere returns a kubeconfig with the contexts of another, whose own context is of a
// cluster that is not there.
func elsewhere(t *testing.T, kubeconfig string) string {
	t.Helper()
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"set-cluster", "elsewhere", "--server=https://127.0.0.1:1"},
		{"set-context", "elsewhere", "--cluster=elsewhere"},
		{"use-context", "elsewhere"},
	} {
		if out, err := exec.Command(sandboxtest.Kubectl(t), append([]string{"--kubeconfig", path, "config"}, words...)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", words, err, out)
		}
	}
	return path
}

// TestTheCommandsOfPluginSetsWork installs files twice, and carries out what the review
// and the install print: to install exactly that, and to go back.
func TestTheCommandsOfPluginSetsWork(t *testing.T) {
	t.Parallel()
	p := newPrinting(t, filepath.Join(t.TempDir(), "none"))
	p.write("set.yaml", "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: host}\nspec: {plugins: [{output: run, reference: ./run}]}\n")
	for n, text := range []string{"one", "two"} {
		p.write("run", text)
		review := p.sh("kubectl operator plugin preview -c set.yaml --location 'my tools'")
		install := regexp.MustCompile(`kubectl operator plugin install .*`).FindString(review.stdout)
		installed := p.sh(install)
		if installed.code != 0 {
			t.Fatalf("%q: exit code %d\n%s%s", install, installed.code, review.stdout+installed.stdout, review.stderr+installed.stderr)
		}
		if n == 0 {
			continue
		}
		back := regexp.MustCompile(`kubectl operator plugin rollback .*`).FindString(installed.stdout)
		if got := p.sh(back + " --yes"); got.code != 0 || p.sh("cat 'my tools'/run").stdout != "one" {
			t.Errorf("%q: exit code %d\n%s%s", back, got.code, got.stdout, got.stderr)
		}
	}
}
