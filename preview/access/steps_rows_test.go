package access_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

func newRequest(t *testing.T, user, group string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	subject := pkix.Name{CommonName: user}
	if group != "" {
		subject.Organization = []string{group}
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// carriedOut is a step of the graph: what the account weak holds, in its
// namespace NS and in the cluster, and what it does with its token. It returns the
// caller who may list the Secrets of the other namespace in the end.
type carriedOut struct {
	name        string
	local, wide []string
	do          func(w *world) *caller
}

func accountRows() []carriedOut {
	return []carriedOut{
		{"token", []string{"core serviceaccounts/token create strong"}, nil, func(w *world) *caller {
			answer := w.weak.must("POST", "/api/v1/namespaces/"+w.namespace+"/serviceaccounts/strong/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)
			return w.withToken(text(answer, "status", "token"))
		}},
		{"impersonated-account", []string{"core serviceaccounts impersonate strong"}, nil, func(w *world) *caller {
			return w.weak.as("system:serviceaccount:" + w.namespace + ":strong")
		}},
		{"constrained-impersonation", []string{"authentication.k8s.io serviceaccounts impersonate:serviceaccount strong"}, []string{"authorization.k8s.io selfsubjectaccessreviews impersonate-on:serviceaccount:create"}, func(w *world) *caller {
			return w.weak.as("system:serviceaccount:" + w.namespace + ":strong")
		}},
		{"token-secret", []string{"core secrets create,get"}, nil, func(w *world) *caller {
			path := "/api/v1/namespaces/" + w.namespace + "/secrets"
			w.weak.must("POST", path, `{"type":"kubernetes.io/service-account-token","metadata":{"name":"made","annotations":{"kubernetes.io/service-account.name":"strong"}}}`)
			return w.tokenIn("made")
		}},
		{"token-secret-read", []string{"core secrets get old"}, nil, func(w *world) *caller {
			w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/secrets", `{"type":"kubernetes.io/service-account-token","metadata":{"name":"old","annotations":{"kubernetes.io/service-account.name":"strong"}}}`)
			return w.tokenIn("old")
		}},
		{"token-secret-change", []string{"core secrets get,patch old"}, nil, func(w *world) *caller {
			path := "/api/v1/namespaces/" + w.namespace + "/secrets"
			w.admin.must("POST", path, `{"type":"kubernetes.io/service-account-token","metadata":{"name":"old","annotations":{"kubernetes.io/service-account.name":"weak"}}}`)
			w.tokenIn("old")
			w.weak.must("PATCH", path+"/old", `{"metadata":{"annotations":{"kubernetes.io/service-account.name":"strong","kubernetes.io/service-account.uid":null}},"data":{"token":null}}`)
			return w.tokenIn("old")
		}},
		{"user", nil, []string{"core users impersonate NS-user"}, func(w *world) *caller { return w.bound("User").weak.as(w.namespace + "-user") }},
		{"group", nil, []string{"core users impersonate nobody", "core groups impersonate NS-user"}, func(w *world) *caller {
			return w.bound("Group").weak.as("nobody", w.namespace+"-user")
		}},
		{"group-as-account", []string{"core serviceaccounts impersonate weak"}, []string{"core groups impersonate system:masters"}, func(w *world) *caller {
			return w.weak.as("system:serviceaccount:"+w.namespace+":weak", "system:masters")
		}},
		{"any-user", nil, []string{"core users impersonate", "core groups impersonate"}, func(w *world) *caller { return w.weak.as("x", "system:masters") }},
	}
}

// tokenIn waits for the token that the control plane puts into a Secret, which
// weak reads.
func (w *world) tokenIn(name string) *caller {
	token := ""
	w.eventually("a token in Secret "+name, func() bool {
		answer := w.weak.must("GET", "/api/v1/namespaces/"+w.namespace+"/secrets/"+name, "")
		data, err := base64.StdEncoding.DecodeString(text(answer, "data", "token"))
		token = string(data)
		return err == nil && token != ""
	})
	return w.withToken(token)
}

// bound gives a user or group the rights of strong.
func (w *world) bound(kind string) *world {
	w.admin.must("POST", rbacAPI+"/namespaces/"+w.prize+"/rolebindings", fmt.Sprintf(
		`{%s,"metadata":{"name":"user"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"prize"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":%q,"name":%q}]}`, ofRBAC, kind, w.namespace+"-user"))
	return w
}

func podRows() []carriedOut {
	const apps = "/apis/apps/v1/namespaces/NS/"
	created := func(name, right, path, apiVersion, kind, more, restart string) carriedOut {
		return carriedOut{name, []string{right}, nil, workload(path, apiVersion, kind, more, restart)}
	}
	inPod := func(name, right, method, path, contentType, body string) carriedOut {
		return carriedOut{name, []string{right}, nil, func(w *world) *caller {
			if status, answer := w.weak.do(method, "/api/v1/namespaces/"+w.namespace+"/pods/running"+path, contentType, body); status == 401 || status == 403 {
				w.t.Fatalf("%d %v", status, answer["message"])
			}
			return w.kubeletToken("running")
		}}
	}
	return []carriedOut{
		{"pod", []string{"core pods create"}, nil, func(w *world) *caller {
			w.weak.must("POST", "/api/v1/namespaces/"+w.namespace+"/pods", `{"metadata":{"name":"made"},"spec":{"serviceAccountName":"strong","containers":[{"name":"c","image":"i"}]}}`)
			return w.kubeletToken("made")
		}},
		created("deployment", "apps deployments create", apps+"deployments", "apps/v1", "Deployment", selects, "Always"),
		created("statefulset", "apps statefulsets create", apps+"statefulsets", "apps/v1", "StatefulSet", selects, "Always"),
		created("daemonset", "apps daemonsets create", apps+"daemonsets", "apps/v1", "DaemonSet", selects, "Always"),
		created("replicaset", "apps replicasets create", apps+"replicasets", "apps/v1", "ReplicaSet", selects, "Always"),
		created("replicationcontroller", "core replicationcontrollers create", "/api/v1/namespaces/NS/replicationcontrollers", "v1", "ReplicationController", `,"selector":{"app":"x"}`, "Always"),
		created("job", "batch jobs create", "/apis/batch/v1/namespaces/NS/jobs", "batch/v1", "Job", "", "Never"),
		{"cronjob", []string{"batch cronjobs create"}, nil, func(w *world) *caller {
			w.weak.must("POST", "/apis/batch/v1/namespaces/"+w.namespace+"/cronjobs", fmt.Sprintf(
				`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"made"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":%s}}}}`, fmt.Sprintf(template, "Never")))
			return w.kubeletToken(w.podOf("made-"))
		}},
		{"script", []string{"core configmaps patch code"}, nil, func(w *world) *caller {
			w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/configmaps", `{"metadata":{"name":"code"},"data":{"run.sh":"true"}}`)
			w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/pods",
				`{"metadata":{"name":"scripted"},"spec":{"serviceAccountName":"strong","volumes":[{"name":"code","configMap":{"name":"code"}}],"containers":[{"name":"c","image":"i","command":["sh","/code/run.sh"],"volumeMounts":[{"name":"code","mountPath":"/code"}]}]}}`)
			w.weak.must("PATCH", "/api/v1/namespaces/"+w.namespace+"/configmaps/code", `{"data":{"run.sh":"cat /var/run/secrets/kubernetes.io/serviceaccount/token"}}`)
			return w.kubeletToken("scripted")
		}},
		{"changed-deployment", []string{"apps deployments patch made"}, nil, func(w *world) *caller {
			path := "/apis/apps/v1/namespaces/" + w.namespace + "/deployments"
			w.admin.must("POST", path, fmt.Sprintf(`{"metadata":{"name":"made"},"spec":{"replicas":0,"template":%s%s}}`, strings.Replace(fmt.Sprintf(template, "Always"), "strong", "weak", 1), selects))
			w.weak.must("PATCH", path+"/made", `{"spec":{"replicas":1,"template":{"spec":{"serviceAccountName":"strong"}}}}`)
			return w.kubeletToken(w.podOf("made-"))
		}},
		inPod("commands", "core pods/exec create", "POST", "/exec?command=x&container=c&stdout=true", "", ""),
		inPod("attaching", "core pods/attach create", "POST", "/attach?container=c&stdin=true", "", ""),
		inPod("container-added", "core pods/ephemeralcontainers patch", "PATCH", "/ephemeralcontainers", "application/strategic-merge-patch+json", `{"spec":{"ephemeralContainers":[{"name":"e","image":"evil"}]}}`),
		inPod("image-changed", "core pods patch", "PATCH", "", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"c","image":"evil"}]}}`),
	}
}

func roleRows() []carriedOut {
	write := func(resource, name string) func(*world) *caller {
		return func(w *world) *caller {
			path := rbacAPI + "/" + resource + "/" + strings.ReplaceAll(name, "NS", w.namespace)
			if resource == "roles" {
				path = rbacAPI + "/namespaces/" + w.namespace + "/roles/" + name
			}
			w.weak.must("PATCH", path, `{"rules":`+everything+`}`)
			return w.weak
		}
	}
	const group = "rbac.authorization.k8s.io "
	return []carriedOut{
		{"bind", nil, []string{group + "clusterroles bind cluster-admin", group + "clusterrolebindings create"}, func(w *world) *caller {
			w.weak.must("POST", rbacAPI+"/clusterrolebindings", w.binding(w.namespace, "ClusterRole", "cluster-admin", "weak"))
			return w.weak
		}},
		{"bind-by-change", nil, []string{group + "clusterroles bind cluster-admin", group + "clusterrolebindings patch NS-old"}, func(w *world) *caller {
			w.admin.must("POST", rbacAPI+"/clusterrolebindings", w.binding(w.namespace+"-old", "ClusterRole", "cluster-admin", "strong"))
			w.weak.must("PATCH", rbacAPI+"/clusterrolebindings/"+w.namespace+"-old", `{"subjects":[{"kind":"ServiceAccount","namespace":"`+w.namespace+`","name":"weak"}]}`)
			return w.weak
		}},
		{"escalate", nil, []string{group + "clusterroles escalate,patch NS-weak"}, write("clusterroles", "NS-weak")},
		{"escalate-a-new-role", nil, []string{group + "clusterroles escalate,patch,create", group + "clusterrolebindings create"}, func(w *world) *caller {
			w.weak.must("POST", rbacAPI+"/clusterroles", `{"metadata":{"name":"`+w.namespace+`-new"},"rules":[]}`)
			w.weak.must("POST", rbacAPI+"/clusterrolebindings", w.binding(w.namespace+"-new", "ClusterRole", w.namespace+"-new", "weak"))
			return write("clusterroles", "NS-new")(w)
		}},
		{"escalate-by-aggregation", nil, []string{group + "clusterroles escalate,patch NS-other"}, func(w *world) *caller {
			w.admin.must("POST", rbacAPI+"/clusterroles", `{"metadata":{"name":"`+w.namespace+`-all"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"into":"`+w.namespace+`"}}]},"rules":[]}`)
			w.admin.must("POST", rbacAPI+"/clusterroles", `{"metadata":{"name":"`+w.namespace+`-other"},"rules":[]}`)
			w.admin.must("POST", rbacAPI+"/clusterrolebindings", w.binding(w.namespace+"-all", "ClusterRole", w.namespace+"-all", "weak"))
			w.weak.must("PATCH", rbacAPI+"/clusterroles/"+w.namespace+"-other", `{"metadata":{"labels":{"into":"`+w.namespace+`"}},"rules":`+everything+`}`)
			return w.weak
		}},
		{"bind-in-a-namespace", []string{group + "clusterroles bind", group + "rolebindings create"}, nil, func(w *world) *caller {
			w.weak.must("POST", rbacAPI+"/namespaces/"+w.namespace+"/rolebindings", w.binding("new", "ClusterRole", "cluster-admin", "weak"))
			w.eventually("the right to everything in the namespace", func() bool { return w.weak.can("*", "*", "*", w.namespace) })
			answer := w.weak.must("POST", "/api/v1/namespaces/"+w.namespace+"/serviceaccounts/strong/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)
			return w.withToken(text(answer, "status", "token"))
		}},
		{"escalate-in-a-namespace", []string{group + "roles escalate,patch weak"}, nil, func(w *world) *caller {
			write("roles", "weak")(w)
			w.eventually("the right to everything in the namespace", func() bool { return w.weak.can("*", "*", "*", w.namespace) })
			return w.weak.as("system:serviceaccount:" + w.namespace + ":strong")
		}},
	}
}

func clusterRows() []carriedOut {
	const requests = "certificates.k8s.io certificatesigningrequests"
	return []carriedOut{
		{"certificate", nil, []string{requests + " create", requests + "/approval patch", "certificates.k8s.io signers approve kubernetes.io/kube-apiserver-client"}, func(w *world) *caller {
			w.certificate(w.namespace+"-user", "", "kubernetes.io/kube-apiserver-client", true)
			// The sandbox has no signer: its CA signs what was approved.
			return newCaller(w.t, sandboxtest.User(w.t, w.bound("User").box, w.namespace+"-user"), nil)
		}},
		{"mutating-webhook", nil, []string{"admissionregistration.k8s.io mutatingwebhookconfigurations create"}, func(w *world) *caller {
			hook := sandboxtest.NewWebhook(w.t, func(sandboxtest.Admission) sandboxtest.Verdict {
				return sandboxtest.Verdict{Patch: []map[string]any{{"op": "replace", "path": "/subjects/0/name", "value": "weak"}}}
			})
			client := hook.Client()
			name := w.namespace
			w.weak.must("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", fmt.Sprintf(
				`{"metadata":{"name":%q},"webhooks":[{"name":"a.example.com","clientConfig":{"url":%q,"caBundle":%q},"sideEffects":"None","admissionReviewVersions":["v1"],"failurePolicy":"Fail",`+
					`"objectSelector":{"matchLabels":{"world":%q}},"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"apiVersions":["*"],"operations":["CREATE"],"resources":["rolebindings"]}]}]}`,
				name, client["url"], client["caBundle"], name))
			w.t.Cleanup(func() {
				w.admin.do("DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"+name, "application/json", "")
			})
			return w.awaitChange()
		}},
		{"mutating-policy", nil, []string{"admissionregistration.k8s.io mutatingadmissionpolicies,mutatingadmissionpolicybindings create"}, func(w *world) *caller {
			path := "/apis/admissionregistration.k8s.io/v1/"
			w.weak.must("POST", path+"mutatingadmissionpolicies", fmt.Sprintf(
				`{"metadata":{"name":%q},"spec":{"failurePolicy":"Fail","reinvocationPolicy":"Never","matchConstraints":{"objectSelector":{"matchLabels":{"world":%q}},"resourceRules":[{"apiGroups":["rbac.authorization.k8s.io"],"apiVersions":["*"],"operations":["CREATE"],"resources":["rolebindings"]}]},`+
					`"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: \"replace\", path: \"/subjects/0/name\", value: \"weak\"}]"}}]}}`, w.namespace, w.namespace))
			w.weak.must("POST", path+"mutatingadmissionpolicybindings", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"policyName":%q}}`, w.namespace, w.namespace))
			return w.awaitChange()
		}},
	}
}

// awaitChange has the administrator bind strong again and again, which something
// on the way gives to weak.
func (w *world) awaitChange() *caller {
	number := 0
	w.eventually("a changed binding", func() bool {
		number++
		w.admin.must("POST", rbacAPI+"/namespaces/"+w.prize+"/rolebindings", w.binding(fmt.Sprintf("again-%d", number), "Role", "prize", "strong"))
		return w.weak.can("list", "", "secrets", w.prize)
	})
	return w.weak
}

// bootstrapper returns the world in which weak acts by a bootstrap token that it made.
// The groups of the token and the roles of these are those that kubeadm gives to the
// tokens by which nodes join.
func (w *world) bootstrapper() *world {
	const group = "system:bootstrappers:kubeadm:default-node-token"
	for i, role := range []string{"system:node-bootstrapper", "system:certificates.k8s.io:certificatesigningrequests:nodeclient"} {
		w.admin.must("POST", rbacAPI+"/clusterrolebindings", fmt.Sprintf(
			`{%s,"metadata":{"name":"%s-%d"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":%q},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":%q}]}`, ofRBAC, w.namespace, i, role, group))
	}
	w.weak.must("POST", "/api/v1/namespaces/kube-system/secrets", fmt.Sprintf(
		`{"type":"bootstrap.kubernetes.io/token","metadata":{"name":"bootstrap-token-abcdef"},"stringData":{"token-id":"abcdef","token-secret":"0123456789abcdef","usage-bootstrap-authentication":"true","auth-extra-groups":%q}}`, group))
	out := *w
	out.weak = w.withToken("abcdef.0123456789abcdef")
	w.eventually("the API server knows the token", func() bool {
		status, _ := out.weak.do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/json", `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
		return status == 201
	})
	return &out
}

// Each step of the graph is carried out: an account that may not list the Secrets
// of another namespace takes the step with its token, and then may. Pods do not
// run here: the test takes the token that a kubelet mounts into the pod.
func TestClusterStepsAreCarriedOut(t *testing.T) {
	box := sandboxtest.Start(t)
	for _, row := range stepRows() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, box, "step-"+row.name, row.local, row.wide)
			if w.weak.can("list", "", "secrets", w.prize) {
				t.Fatal("it may already")
			}
			got := row.do(w)
			w.eventually("the right to list Secrets", func() bool { return got.can("list", "", "secrets", w.prize) })
		})
	}
}

// stepRows are the rows that end with the right to list the Secrets of the other
// namespace.
func stepRows() []carriedOut {
	return slices.Concat(accountRows(), podRows(), roleRows(), clusterRows(), receivingRows())
}

// toNode is a step that ends at a node.
type toNode struct {
	name        string
	local, wide []string
	do          func(w *world)
}

// nodeRows are steps that end at a node: what would run there is admitted, a request for
// a node's certificate is approved, and what is asked of a kubelet is answered.
func nodeRows() []toNode {
	const privileged = `{"metadata":{"name":"made"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}`
	restrict := func(w *world) {
		w.admin.must("PATCH", "/api/v1/namespaces/"+w.namespace, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	}
	// Admission reads the labels of namespaces from a cache.
	answers := func(w *world, what string, want int, body string) {
		w.eventually(what, func() bool {
			status, _ := w.weak.do("POST", "/api/v1/namespaces/"+w.namespace+"/pods?dryRun=All", "application/json", body)
			return status == want
		})
	}
	refused := func(w *world, body string) { answers(w, "a refusal of the pod", 403, body) }
	return []toNode{
		{"privileged-pod", []string{"core pods create"}, nil, func(w *world) { w.weak.must("POST", "/api/v1/namespaces/"+w.namespace+"/pods", privileged) }},
		{"namespace-labels", []string{"core pods create", "core namespaces patch NS"}, nil, func(w *world) {
			restrict(w)
			refused(w, privileged)
			w.weak.must("PATCH", "/api/v1/namespaces/"+w.namespace, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}}`)
			answers(w, "the pod's admission", 201, privileged)
		}},
		{"volume", []string{"core pods,persistentvolumeclaims create"}, []string{"core persistentvolumes create"}, func(w *world) {
			w.admin.must("PATCH", "/api/v1/namespaces/"+w.namespace, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
			refused(w, `{"metadata":{"name":"made"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","hostPath":{"path":"/"}}]}}`)
			w.weak.must("POST", "/api/v1/persistentvolumes", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/"},"claimRef":{"namespace":%q,"name":"c"}}}`, w.namespace, w.namespace))
			w.weak.must("POST", "/api/v1/namespaces/"+w.namespace+"/persistentvolumeclaims", fmt.Sprintf(`{"metadata":{"name":"c"},"spec":{"storageClassName":"","volumeName":%q,"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, w.namespace))
			w.weak.must("POST", "/api/v1/namespaces/"+w.namespace+"/pods", `{"metadata":{"name":"made"},"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/n"}]}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}}`)
		}},
		{"node-certificate", nil, []string{"certificates.k8s.io certificatesigningrequests create,get", "certificates.k8s.io certificatesigningrequests/nodeclient create"}, func(w *world) {
			w.certificate("system:node:x", "system:nodes", "kubernetes.io/kube-apiserver-client-kubelet", false)
		}},
		{"bootstrap-token", nil, []string{"core secrets create"}, func(w *world) {
			w.bootstrapper().certificate("system:node:x", "system:nodes", "kubernetes.io/kube-apiserver-client-kubelet", false)
		}},
		{"approved-node-certificate", nil, []string{"certificates.k8s.io certificatesigningrequests create", "certificates.k8s.io certificatesigningrequests/approval patch", "certificates.k8s.io signers approve kubernetes.io/*"}, func(w *world) {
			w.certificate("system:node:x", "system:nodes", "kubernetes.io/kube-apiserver-client-kubelet", true)
		}},
		{"impersonated-node", nil, []string{"authentication.k8s.io nodes impersonate:arbitrary-node", "authorization.k8s.io selfsubjectaccessreviews impersonate-on:arbitrary-node:create"}, func(w *world) {
			if w.weak.can("list", "", "nodes", "") || !w.weak.as("system:node:x").can("list", "", "services", "") {
				w.t.Error("it does not act as the node")
			}
		}},
		{"kubelet", nil, []string{"core nodes/proxy get"}, func(w *world) {
			path := "/api/v1/nodes/" + w.node() + "/proxy/pods"
			if status, _ := w.tokenOf("strong").do("GET", path, "", ""); status != 403 {
				w.t.Errorf("without the right: %d", status)
			}
			// The API server passes it on, but to no loopback address, as the sandbox's node has.
			if status, answer := w.weak.do("GET", path, "", ""); status == 401 || status == 403 {
				w.t.Errorf("%d %v", status, answer["message"])
			}
		}},
		{"pod-on-node", []string{"core pods/exec create"}, nil, func(w *world) { w.enters(w.namespace) }},
		{"system-pod", nil, []string{"core pods/exec create"}, func(w *world) { w.enters("kube-system") }},
	}
}

// enters has weak run a command in a privileged pod of a namespace.
func (w *world) enters(namespace string) {
	path := "/api/v1/namespaces/" + namespace + "/pods"
	name := w.namespace + "-agent"
	w.admin.must("POST", path, `{"metadata":{"name":"`+name+`"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}`)
	w.t.Cleanup(func() { w.admin.do("DELETE", path+"/"+name, "application/json", "") })
	if status, answer := w.weak.do("POST", path+"/"+name+"/exec?command=x&container=c&stdout=true", "", ""); status == 401 || status == 403 {
		w.t.Errorf("%d %v", status, answer["message"])
	}
}

func TestClusterStepsToNodes(t *testing.T) {
	box := sandboxtest.Start(t)
	for _, row := range nodeRows() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.do(newWorld(t, box, "node-"+row.name, row.local, row.wide))
		})
	}
}
