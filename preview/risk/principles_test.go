package risk

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// worstOfAll returns the worst severity among findings, empty if there are none.
func worstOfAll(findings []preview.Finding) preview.Severity {
	out := preview.Severity("")
	for _, f := range findings {
		if out == "" || f.Severity.Rank() < out.Rank() {
			out = f.Severity
		}
	}
	return out
}

// principle is a package by which a general rule is shown: what it comes to, and by
// which rule; empty for any.
type principle struct {
	name, text, rule string
	want             preview.Severity
}

func testPrinciples(t *testing.T, rows []principle) {
	t.Helper()
	for _, test := range rows {
		t.Run(test.name, func(t *testing.T) {
			findings := evaluate(t, Input{Plan: planOf(t, test.text)})
			got := worstOfAll(findings)
			if f := find(findings, test.rule); test.rule != "" {
				if got = ""; f != nil {
					got = f.Severity
				}
			}
			if got != test.want {
				t.Errorf("%q, want %q: %v", got, test.want, ids(findings))
			}
		})
	}
}

// What reaches the accounts and Secrets of a namespace of others is as severe there as in
// the whole cluster, whatever the namespace is called.
func TestNamespacesOfOthersCount(t *testing.T) { testPrinciples(t, namespacesOfOthersCount()) }

func namespacesOfOthersCount() []principle {
	in := func(namespace, rule string) string { return holding("app", "op", namespace, rule) }
	parts := "{apiVersion: v1, kind: Namespace, metadata: {name: parts}}\n---\n"
	runs := "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: parts}, spec: {containers: [{name: c, image: 'c@sha256:00'}]}}\n---\n"
	return []principle{
		{"Secrets of others", in("payments", "|secrets|get"), "rbac-secrets-read", preview.Critical},
		{"commands in pods of others", in("monitoring", "|pods/exec|create"), "rbac-pods-exec", preview.Critical},
		{"pods as accounts of others", in("harbor", "apps|deployments|patch"), "rbac-workloads-write", preview.Critical},
		{"tokens of others", in("prod", "|serviceaccounts/token|create"), "rbac-tokens-create", preview.Critical},
		{"administering a namespace of others", "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: shop}, roleRef: {kind: ClusterRole, name: edit}, subjects: [{kind: User, name: u}]}",
			"binding-admin", preview.Critical},
		{"that the package brings their Namespace excuses nothing", parts + in("parts", "|secrets|get"), "rbac-secrets-read", preview.Critical},
		{"one Secret of others by its name", in("payments", "|secrets|get|db"), "rbac-secrets-read", preview.Warning},
		{"Secrets of the release's namespace", in("app", "|secrets|get"), "rbac-secrets-read", preview.Warning},
		{"commands in pods of the release's namespace", in("app", "|pods/exec|create"), "rbac-pods-exec", preview.Warning},
		{"Secrets of a second namespace of the product", parts + runs + in("parts", "|secrets|get"), "rbac-secrets-read", preview.Warning},
	}
}

// A namespace that the user has the operator watch is not one of others.
func TestWatchedNamespacesAreTheUsersChoice(t *testing.T) {
	p := planOf(t, holding("app", "op", "orders", "|secrets|get"))
	p.Packages = []preview.Package{{Parameters: preview.Parameters{WatchNamespaces: []string{"orders"}}}}
	if f := find(evaluate(t, Input{Plan: p}), "rbac-secrets-read"); f == nil || f.Severity != preview.Warning {
		t.Errorf("%+v", f)
	}
}

// A name that is the target restricts nothing.
func TestNamesThatAreTheTarget(t *testing.T) { testPrinciples(t, namesThatAreTheTarget()) }

func namesThatAreTheTarget() []principle {
	return []principle{
		{"the password of Argo CD, wherever it is", holding("app", "op", "", "|secrets|get|argocd-initial-admin-secret"), "rbac-secrets-read", preview.Critical},
		{"the keys of the control plane", holding("app", "op", "", "|secrets|get|kubeadm-certs"), "rbac-secrets-read", preview.Critical},
		{"who may do what in Argo CD, wherever it is", holding("app", "op", "", "|configmaps|patch|argocd-rbac-cm"), "rbac-configmaps-write", preview.Critical},
		{"commands in etcd", holding("app", "op", "kube-system", "|pods/exec|create|etcd-control-plane-0"), "rbac-pods-exec", preview.Critical},
		{"commands in etcd, wherever it is", holding("app", "op", "", "|pods/exec|create|etcd-control-plane-0"), "rbac-pods-exec", preview.Critical},
		{"containers in the API server", holding("app", "op", "", "|pods/ephemeralcontainers|patch|kube-apiserver-node-1"), "rbac-ephemeral-containers", preview.Critical},
		{"commands in another pod of kube-system", holding("app", "op", "kube-system", "|pods/attach|create|agent-0"), "rbac-pods-exec", preview.Critical},
		{"a Secret that anyone may have, by its name", holding("app", "op", "", "|secrets|get|license"), "rbac-secrets-read", preview.Warning},
		{"commands in a pod by its name", holding("app", "op", "", "|pods/exec|create|etcdump-0"), "rbac-pods-exec", preview.Warning},
		{"a lease of its own in kube-system", holding("app", "op", "kube-system", "coordination.k8s.io|leases|update|op"), "rbac-leases-system", preview.Info},
	}
}

// Next to what rights reach stands what they destroy.
func TestDestructionIsCritical(t *testing.T) { testPrinciples(t, destructionIsCritical()) }

func destructionIsCritical() []principle {
	cleanup := func(kind, spec string) string {
		return "{apiVersion: kyverno.io/v2, kind: " + kind + ", metadata: {name: c, namespace: NS}, spec: {schedule: '0 * * * *', match: {any: [{resources: {" + spec + "}}]}}}"
	}
	in := func(namespace, text string) string { return strings.ReplaceAll(text, ", namespace: NS", namespace) }
	return []principle{
		{"every namespace", holding("app", "op", "", "|namespaces|delete"), "rbac-namespaces-delete", preview.Critical},
		{"every namespace at once", holding("app", "op", "", "|namespaces|deletecollection"), "rbac-namespaces-delete", preview.Critical},
		{"a namespace of others by its name", holding("app", "op", "", "|namespaces|delete|payments"), "rbac-namespaces-delete", preview.Critical},
		{"the release's namespace by its name", holding("app", "op", "", "|namespaces|delete|app"), "rbac-namespaces-delete", preview.Warning},
		{"every definition", holding("app", "op", "", "apiextensions.k8s.io|customresourcedefinitions|delete"), "rbac-crds-delete", preview.Critical},
		{"a definition of others by its name", holding("app", "op", "", "apiextensions.k8s.io|customresourcedefinitions|delete|certificates.cert-manager.io"), "rbac-crds-delete", preview.Critical},
		{"a definition of its own by its name", holding("app", "op", "", "apiextensions.k8s.io|customresourcedefinitions|delete|things.example.com"), "rbac-crds-delete", preview.Warning},
		{"claims and volumes", holding("app", "op", "", "|persistentvolumeclaims|delete") + granting("v", "app", "op", "", "|persistentvolumes|deletecollection"), "rbac-claims-write", preview.Critical},
		{"claims and snapshots", holding("app", "op", "", "|persistentvolumeclaims|*") + granting("v", "app", "op", "", "snapshot.storage.k8s.io|volumesnapshots|delete"), "rbac-claims-write", preview.Critical},
		{"claims alone", holding("app", "op", "", "|persistentvolumeclaims|delete"), "rbac-claims-write", preview.Warning},
		{"claims of its namespace, and volumes", holding("app", "op", "app", "|persistentvolumeclaims|delete") + granting("v", "app", "op", "", "|persistentvolumes|delete"), "rbac-claims-write", preview.Warning},
		{"snapshots alone", holding("app", "op", "", "snapshot.storage.k8s.io|volumesnapshots|delete"), "rbac-claims-write", preview.Warning},
		{"the order to delete claims everywhere", in("", cleanup("ClusterCleanupPolicy", "kinds: [PersistentVolumeClaim, Namespace]")), "order-deletes", preview.Critical},
		{"the order to delete anything", in("", cleanup("ClusterCleanupPolicy", "names: ['*']")), "order-deletes", preview.Critical},
		{"the order to delete Secrets of others", in(", namespace: shop", cleanup("CleanupPolicy", "kinds: [v1/Secret]")), "order-deletes", preview.Critical},
		{"the order in words of CEL", "{apiVersion: policies.kyverno.io/v1alpha1, kind: DeletingPolicy, metadata: {name: c}, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], resources: [persistentvolumeclaims]}]}}}", "order-deletes", preview.Critical},
		{"the right to order it", holding("app", "op", "", "kyverno.io|clustercleanuppolicies|create"), "rbac-deleters-write", preview.Critical},
		{"the order to delete pods that are done", in("", cleanup("ClusterCleanupPolicy", "kinds: [Pod, batch/v1/Job]")), "order-deletes", preview.Warning},
		{"the order to delete Secrets of the release", in("", cleanup("ClusterCleanupPolicy", "kinds: [Secret], namespaces: [app]")), "order-deletes", preview.Warning},
		{"the order in the release's namespace", in(", namespace: app", cleanup("CleanupPolicy", "kinds: [Secret]")), "order-deletes", preview.Warning},
	}
}

// A kind is the package's own where something in it acts on it.
func TestOwnKindsHaveAnActor(t *testing.T) { testPrinciples(t, ownKindsHaveAnActor()) }

func ownKindsHaveAnActor() []principle {
	const fields = "versions: [{name: v1, schema: {openAPIV3Schema: {properties: {apiVersion: {}, kind: {}, metadata: {}, spec: {properties: {secretName: {}}}}}}}]"
	certificates := strings.Replace(crdOf("cert-manager.io", "certificates"), "names: {plural: certificates}", "names: {plural: certificates, kind: Certificate}, "+fields, 1)
	cleanups := strings.Replace(crdOf("kyverno.io", "clustercleanuppolicies"), "plural: clustercleanuppolicies", "plural: clustercleanuppolicies, kind: ClusterCleanupPolicy", 1)
	order := "---\n{apiVersion: kyverno.io/v2, kind: ClusterCleanupPolicy, metadata: {name: c}, spec: {match: {any: [{resources: {kinds: [Secret]}}]}}}\n"
	return []principle{
		{"a definition of another operator", certificates, "crd-of-others", preview.Warning},
		{"a definition of another operator that keeps no field", strings.Replace(certificates, "apiVersion: {}, kind: {}, metadata: {}, ", "", 1), "crd-of-others", preview.Critical},
		{"that operator's own package", certificates + "---\n" + holding("app", "op", "", "cert-manager.io|certificates|patch"), "crd-of-others", ""},
		{"a definition of the publisher's", crdOf("example.com", "things"), "crd-of-others", ""},
		{"a copied definition excuses no order", cleanups + order, "order-deletes", preview.Critical},
		{"the order in the operator's own package", cleanups + order + "---\n" + holding("app", "op", "", "kyverno.io|clustercleanuppolicies/status|update"), "order-deletes", ""},
	}
}

// Orders are joined with where they point.
func TestOrdersAreJoinedWithTheirTargets(t *testing.T) {
	testPrinciples(t, ordersAreJoinedWithTheirTargets())
}

func ordersAreJoinedWithTheirTargets() []principle {
	const (
		token   = "/var/run/secrets/kubernetes.io/serviceaccount/token"
		outside = "---\n{apiVersion: external-secrets.io/v1, kind: ClusterSecretStore, metadata: {name: s}, spec: {provider: {webhook: {url: 'https://store.example.net/x'}}}}\n"
	)
	push := func(namespace string) string {
		return "{apiVersion: external-secrets.io/v1alpha1, kind: PushSecret, metadata: {name: p, namespace: " + namespace + "}, spec: {secretStoreRefs: [{kind: ClusterSecretStore, name: s}], selector: {secret: {selector: {}}}}}\n"
	}
	monitor := func(more string) string {
		return custom("monitoring.coreos.com/v1", "ServiceMonitor", "endpoints: [{port: web, bearerTokenFile: "+token+more+"}]")
	}
	route := func(more string) string {
		return custom("traefik.io/v1alpha1", "IngressRoute", "routes: [{kind: Rule, match: \"PathPrefix(`/`)\", services: [{kind: TraefikService, name: api@internal}]"+more)
	}
	virtual := func(host string) string {
		return custom("networking.istio.io/v1", "VirtualService", "hosts: [web.example.com], http: [{route: [{destination: {host: "+host+"}}]}]")
	}
	endpoints := "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: e, namespace: app}, addressType: IPv4, endpoints: [{addresses: [203.0.113.7]}]}\n"
	volume := func(attributes string) string {
		return pod("volumes: [{name: v, csi: {driver: csi.sharedresource.openshift.io, readOnly: true, volumeAttributes: {"+attributes+"}}}], ", "image: 'c@sha256:00'")
	}
	return []principle{
		{"Secrets of kube-system to a store of the package", push("kube-system") + outside, "order-exports", preview.Critical},
		{"Secrets of others to a store of the package", push("shop") + outside, "order-exports", preview.Critical},
		{"Secrets of the release to it", push("app") + outside, "order-exports", preview.Warning},
		{"Secrets of others to a store that the cluster has", push("shop"), "order-exports", preview.Warning},
		{"the token of Prometheus to another host", monitor(", relabelings: [{targetLabel: __address__, replacement: 'collect.example.net:443'}]"), "order-monitors", preview.Critical},
		{"by way of a proxy", monitor(", proxyUrl: 'https://collect.example.net'"), "order-monitors", preview.Critical},
		{"by a host that begins with a label", monitor(", relabelings: [{targetLabel: __address__, replacement: '${1}.collect.example.net'}]"), "order-monitors", preview.Critical},
		{"by endpoints of the package outside of the cluster", monitor("") + endpoints, "order-monitors", preview.Critical},
		{"the token of an agent to another host", custom("operator.victoriametrics.com/v1beta1", "VMStaticScrape", "targetEndpoints: [{targets: ['collect.example.net:443'], bearerTokenFile: "+token+"}]"), "order-monitors", preview.Critical},
		{"the token of Prometheus to another port", monitor(", relabelings: [{targetLabel: __address__, replacement: '$1:9100'}]"), "order-monitors", preview.Info},
		{"a Service of the cluster", monitor(", relabelings: [{targetLabel: __address__, replacement: 'metrics.app.svc:443'}]"), "order-monitors", preview.Info},
		{"another host without a token", custom("monitoring.coreos.com/v1", "ServiceMonitor", "endpoints: [{port: web, relabelings: [{targetLabel: __address__, replacement: 'collect.example.net:443'}]}]"), "order-monitors", ""},
		{"the API of the proxy for every host", route("}]"), "order-traffic", preview.Critical},
		{"the API of the proxy on its own port", route("}], entryPoints: [traefik]"), "order-traffic", preview.Warning},
		{"the API of the proxy behind a login", route(", middlewares: [{name: auth}]}]"), "order-traffic", preview.Warning},
		{"an API of the cluster", virtual("kubernetes.default.svc.cluster.local"), "order-traffic", preview.Critical},
		{"a Service of kube-system", virtual("kubernetes-dashboard.kube-system"), "order-traffic", preview.Critical},
		{"a Service of the release", virtual("web.app.svc.cluster.local"), "order-traffic", preview.Warning},
		{"a Secret of another namespace", volume("sharedSecret: pull"), "pod-volume-address", preview.Critical},
		{"a ConfigMap of another namespace", volume("sharedConfigMap: trust"), "pod-volume-address", preview.Warning},
	}
}

// A store that a package brought is the choice of a publisher, whichever release has it;
// one that the users of the cluster made, by hand or from their repository, is theirs.
func TestStoresOfOtherReleases(t *testing.T) {
	const id = "external-secrets.io/ClusterSecretStore/-/s"
	for key, want := range map[string]preview.Severity{
		preview.LabelRelease: preview.Critical, "meta.helm.sh/release-name": preview.Critical, "olm.owner": preview.Critical,
		"argocd.argoproj.io/instance": preview.Warning, "kustomize.toolkit.fluxcd.io/name": preview.Warning, "team": preview.Warning,
	} {
		p := planOf(t, "{apiVersion: external-secrets.io/v1alpha1, kind: PushSecret, metadata: {name: p, namespace: shop}, spec: {secretStoreRefs: [{kind: ClusterSecretStore, name: s}], selector: {secret: {selector: {}}}}}\n")
		p.Reads = append(p.Reads, preview.Read{ID: id, UID: "1", Body: map[string]any{"apiVersion": "external-secrets.io/v1", "kind": "ClusterSecretStore", "metadata": map[string]any{
			"name": "s", "labels": map[string]any{key: "first", preview.LabelPartOf: map[bool]string{true: "applyset-x"}[key == preview.LabelRelease]},
		}}})
		if f := find(evaluate(t, Input{Plan: p}), "order-exports"); f == nil || f.Severity != want || (want == preview.Critical) != strings.Contains(f.Evidence, " first, which a package chose") {
			t.Errorf("%s: %+v", key, f)
		}
	}
}

// A token that a monitor sends to endpoints outside of the cluster goes there, whichever
// release brought them; those that the users of the cluster made are theirs.
func TestEndpointsOfOtherReleasesLeadOutside(t *testing.T) {
	for key, want := range map[string]preview.Severity{preview.LabelRelease: preview.Critical, "meta.helm.sh/release-name": preview.Critical, "team": preview.Info} {
		p := planOf(t, custom("monitoring.coreos.com/v1", "ServiceMonitor", "endpoints: [{port: web, bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token}]"))
		p.Reads = append(p.Reads, preview.Read{ID: "core/Endpoints/app/s", UID: "1", Body: map[string]any{"apiVersion": "v1", "kind": "Endpoints", "spec": map[string]any{LeadsTo: []any{"203.0.113.9"}},
			"metadata": map[string]any{"name": "s", "namespace": "app", "labels": map[string]any{key: "first", preview.LabelPartOf: map[bool]string{true: "applyset-x"}[key == preview.LabelRelease]}}}})
		if f := find(evaluate(t, Input{Plan: p}), "order-monitors"); f == nil || f.Severity != want {
			t.Errorf("%s: %+v, want %s", key, f, want)
		}
	}
}

// A Service of the cluster leads to a server of the plan as one of the plan does.
func TestServicesOfOtherReleasesLeadToOpenServers(t *testing.T) {
	for _, test := range []struct {
		label string
		want  preview.Severity
	}{{"b", preview.Critical}, {"c", ""}} {
		workload, _, _ := strings.Cut(served("LoadBalancer", "args: ['--ServerApp.token=']"), "---\n")
		p := planOf(t, workload)
		p.Reads = append(p.Reads, preview.Read{ID: "core/Service/app/s", UID: "1", Body: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s", "namespace": "app"},
			"spec": map[string]any{"type": "LoadBalancer", "selector": map[string]any{"a": test.label}}}})
		got := preview.Severity("")
		if f := find(evaluate(t, Input{Plan: p}), "pod-open-server"); f != nil {
			got = f.Severity
		}
		if got != test.want {
			t.Errorf("a Service that selects %s: %q, want %q", test.label, got, test.want)
		}
	}
}

// Code may come from a mutable place without a download.
func TestCodeFromMutablePlaces(t *testing.T) { testPrinciples(t, codeFromMutablePlaces()) }

func codeFromMutablePlaces() []principle {
	const triggers = `[{"from": {"kind": "ImageStreamTag", "name": "web:latest"}, "fieldPath": "spec.template.spec.containers[0].image"PAUSED}]`
	annotated := func(key, value string) string {
		return strings.Replace(pod("", "image: 'c@sha256:00'"), "namespace: app}", "namespace: app, annotations: {"+key+": '"+value+"'}}", 1)
	}
	trigger := func(paused string) string {
		return annotated("image.openshift.io/triggers", strings.Replace(triggers, "PAUSED", paused, 1))
	}
	routed := served("ClusterIP", "args: [--auth, none]") + "---\n{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: app}, spec: {rules: [{host: web.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}]}}\n"
	copied := pod("volumes: [{name: v, emptyDir: {}}], initContainers: [{name: s, image: 'a.example.com/tool@sha256:00', command: [cp, /tool, /shared/tool], volumeMounts: [{name: v, mountPath: /shared}]}], ",
		"image: 'c@sha256:00', command: [/shared/tool], volumeMounts: [{name: v, mountPath: /shared}]")
	nfs := pod("volumes: [{name: v, nfs: {server: files.example.com, path: /}}], ", "image: 'c@sha256:00', command: [python, /jobs/main.py], volumeMounts: [{name: v, mountPath: /jobs}]")
	return []principle{
		{"a program that git-sync fetches", synced("command: [/code/run.sh]", "--ref=main"), "pod-volume-program", preview.Warning},
		{"a script that it fetches", synced("command: [sh, -c, 'exec /code/current/run']", "--ref=main"), "pod-volume-program", preview.Warning},
		{"by a variable", synced("env: [{name: DIR, value: /code}], command: [sh, -c], args: ['. $DIR/run']", "--ref=main"), "pod-volume-program", preview.Warning},
		{"a script beside the working directory", synced("workingDir: /code/app, command: [node, main.js]", "--ref=main"), "pod-volume-program", preview.Warning},
		{"modules that it fetches", synced("env: [{name: PYTHONPATH, value: '/opt:/code/lib'}]", "--ref=main"), "pod-volume-program", preview.Warning},
		{"workflows that it fetches", synced("env: [{name: AIRFLOW__CORE__DAGS_FOLDER, value: /code/dags}]", "--ref=main"), "pod-volume-program", preview.Warning},
		{"a script of a file server", nfs, "pod-volume-program", preview.Warning},
		{"pages that it fetches", synced("command: [nginx, -g, 'daemon off;']", "--ref=main"), "pod-volume-program", ""},
		{"configuration that it fetches", synced("command: [/bin/server, --config=/code/server.yaml]", "--ref=main"), "pod-volume-program", ""},
		{"a program of another image of the package", copied, "pod-volume-program", ""},
		{"an image trigger", trigger(""), "order-images", preview.Warning},
		{"one of two image triggers", trigger(`, "paused": "true"}, {"from": {"kind": "ImageStreamTag", "name": "side:latest"}`), "order-images", preview.Warning},
		{"an image trigger that is paused", trigger(`, "paused": "true"`), "order-images", ""},
		{"a DeploymentConfig that follows a stream", custom("apps.openshift.io/v1", "DeploymentConfig", "triggers: [{type: ImageChange, imageChangeParams: {automatic: true, from: {kind: ImageStreamTag, name: 'web:latest'}}}]"), "order-images", preview.Warning},
		{"a stream that is imported again and again", custom("image.openshift.io/v1", "ImageStream", "tags: [{name: latest, importPolicy: {scheduled: true}}]"), "order-images", ""},
		{"a notebook without a token, for everyone", served("LoadBalancer", "args: [--NotebookApp.token, '']"), "pod-open-server", preview.Critical},
		{"its token as an empty variable", served("NodePort", "env: [{name: JUPYTER_TOKEN, value: ''}]"), "pod-open-server", preview.Critical},
		{"in the words of a shell", served("LoadBalancer", "command: [sh, -c, \"exec jupyter lab --ServerApp.token='' --ip=0.0.0.0\"]"), "pod-open-server", preview.Critical},
		{"an editor without a password behind an Ingress", routed, "pod-open-server", preview.Critical},
		{"a notebook without a token, within the cluster", served("ClusterIP", "args: [--NotebookApp.token, '']"), "pod-open-server", preview.Warning},
		{"a database without a password, within the cluster", served("ClusterIP", "env: [{name: ALLOW_EMPTY_PASSWORD, value: 'yes'}]"), "pod-open-server", preview.Warning},
		{"a database without a password, for everyone", served("LoadBalancer", "env: [{name: ALLOW_EMPTY_PASSWORD, value: 'yes'}]"), "pod-open-server", preview.Warning},
		{"a notebook with a token of a Secret", served("LoadBalancer", "env: [{name: JUPYTER_TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}]"), "pod-open-server", ""},
	}
}

// Who changes the definitions of orders has every order rewritten.
func TestDefinitionsOfOrders(t *testing.T) { testPrinciples(t, definitionsOfOrders()) }

func definitionsOfOrders() []principle {
	const crds = "apiextensions.k8s.io|customresourcedefinitions|"
	run := "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: app, labels: {a: b}}, spec: {serviceAccountName: op, containers: [{name: c, image: 'c@sha256:00'}]}}\n---\n"
	service := "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: app}, spec: {ports: [{port: 443}], selector: {a: b}}}\n---\n"
	return []principle{
		{"with a Service that leads to its pods", run + service + holding("app", "op", "", crds+"patch"), "rbac-crds-write", preview.Critical},
		{"with the right to make one", holding("app", "op", "", crds+"update") + granting("s", "app", "op", "app", "|services|create"), "rbac-crds-write", preview.Critical},
		{"without a server", run + holding("app", "op", "", crds+"patch"), "rbac-crds-write", preview.Warning},
		{"with a server of another account of the package", run + service + holding("app", "second", "", crds+"patch"), "rbac-crds-write", preview.Critical},
		{"with another account of the package that may make one", holding("app", "op", "", crds+"patch") + holding("app", "web", "app", "|services|create"), "rbac-crds-write", preview.Critical},
		{"with an account of others that may make one", holding("app", "op", "", crds+"patch") + granting("s", "kube-system", "default", "app", "|services|create"), "rbac-crds-write", preview.Warning},
		{"with a Service that leads nowhere", service + holding("app", "op", "", crds+"patch"), "rbac-crds-write", preview.Warning},
		{"of its own kinds by name", run + service + holding("app", "op", "", crds+"patch|things.example.com"), "rbac-crds-write", preview.Warning},
		{"only new ones", run + service + holding("app", "op", "", crds+"create"), "rbac-crds-write", preview.Warning},
		{"in the hands of who enters its pods", run + service + holding("app", "op", "", crds+"patch") + holding("app", "web", "app", "|pods/exec|create"), "access-reach", preview.Critical},
	}
}

// What honest packages do that resembles a danger is a warning at most.
func TestHonestPackagesAreNotCritical(t *testing.T) {
	const sep = "---\n"
	crd := func(group, plural, kind string) string {
		return strings.Replace(crdOf(group, plural), "plural: "+plural, "plural: "+plural+", kind: "+kind, 1) + sep
	}
	web := served("ClusterIP", "args: [serve]") + sep
	prometheus := strings.Replace(crdOf("monitoring.coreos.com", "servicemonitors"), "plural: servicemonitors}",
		"plural: servicemonitors, kind: ServiceMonitor}, versions: [{name: v1, schema: {openAPIV3Schema: {x-kubernetes-preserve-unknown-fields: true}}}]", 1)
	for name, text := range map[string]string{
		"an operator in its namespace": crd("example.com", "things", "Thing") + holding("app", "op", "", "example.com|things/status|patch") +
			granting("s", "app", "op", "app", "|secrets|get") + granting("p", "app", "op", "app", "|pods|create") + granting("l", "app", "op", "app", "coordination.k8s.io|leases|update") + custom("example.com/v1", "Thing", "a: b"),
		"an operator that cleans up after itself": crd("example.com", "things", "Thing") + holding("app", "op", "", "example.com|things|*") +
			granting("c", "app", "op", "app", "|persistentvolumeclaims|delete") + granting("d", "app", "op", "", "|persistentvolumeclaims|delete"),
		"a product in two namespaces": "{apiVersion: v1, kind: Namespace, metadata: {name: parts}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: parts}, spec: {containers: [{name: c, image: 'c@sha256:00'}]}}\n---\n" +
			holding("parts", "op", "parts", "|secrets|get") + granting("e", "parts", "op", "parts", "|pods/exec|create"),
		"definitions of the publisher alone":          crd("example.com", "things", "Thing"),
		"definitions of another operator alone":       prometheus,
		"an operator that patches its own definition": crd("example.com", "things", "Thing") + web + holding("app", "op", "", "apiextensions.k8s.io|customresourcedefinitions|patch|things.example.com"),
		"metrics behind the token of Prometheus": web + custom("monitoring.coreos.com/v1", "ServiceMonitor",
			"endpoints: [{port: web, bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token, relabelings: [{sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node}]}]"),
		"a proxy with its dashboard": crd("traefik.io", "ingressroutes", "IngressRoute") + holding("app", "op", "", "traefik.io|ingressroutes|watch") +
			custom("traefik.io/v1alpha1", "IngressRoute", "entryPoints: [traefik], routes: [{match: 'PathPrefix(`/dashboard`)', services: [{name: api@internal, kind: TraefikService}]}]"),
		"a route to its own Service":                web + custom("networking.istio.io/v1", "VirtualService", "hosts: [web.example.com], http: [{route: [{destination: {host: s}}]}]"),
		"pages that git-sync fetches":               synced("command: [nginx, -g, 'daemon off;']", "--ref=main"),
		"a pinned program that git-sync fetches":    synced("command: [/code/run.sh]", "--ref="+strings.Repeat("ab", 20)),
		"old Jobs that a policy cleans up":          "{apiVersion: kyverno.io/v2, kind: ClusterCleanupPolicy, metadata: {name: c}, spec: {schedule: '@daily', match: {any: [{resources: {kinds: [batch/v1/Job], namespaces: [app]}}]}}}\n",
		"a cache without a password":                served("ClusterIP", "env: [{name: ALLOW_EMPTY_PASSWORD, value: 'yes'}]"),
		"its own Secret to the company's Vault":     "{apiVersion: external-secrets.io/v1, kind: SecretStore, metadata: {name: v, namespace: app}, spec: {provider: {vault: {server: 'https://vault.example.com'}}}}\n---\n{apiVersion: external-secrets.io/v1alpha1, kind: PushSecret, metadata: {name: p, namespace: app}, spec: {secretStoreRefs: [{name: v}], selector: {secret: {name: own}}}}\n",
		"a lease by name in kube-system":            holding("app", "op", "kube-system", "coordination.k8s.io|leases|update|op-leader"),
		"targets of Prometheus in default":          holding("app", "op", "default", "|endpoints|list") + granting("s", "app", "op", "kube-system", "|services|watch"),
		"who watches namespaces and labels its own": holding("app", "op", "", "|namespaces|watch") + granting("n", "app", "op", "", "|namespaces|patch|app"),
	} {
		t.Run(name, func(t *testing.T) {
			if findings := evaluate(t, Input{Plan: planOf(t, strings.TrimSuffix(text, sep))}); worstOfAll(findings) == preview.Critical {
				t.Errorf("%v", ids(findings))
			}
		})
	}
}

// principles are all of them, as rows for the matrix.
func principles() []principle {
	return slices.Concat(namespacesOfOthersCount(), namesThatAreTheTarget(), destructionIsCritical(), ownKindsHaveAnActor(), ordersAreJoinedWithTheirTargets(), codeFromMutablePlaces(), definitionsOfOrders())
}
