package access_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wellknown"
)

// rowsOfEdges has the rows that carry out each kind of edge of the graph.
var rowsOfEdges = map[string][]string{
	"any user":                           {"any-user", "user"},
	"any group":                          {"group"},
	"any group, as an account":           {"group-as-account"},
	"client certificates":                {"certificate"},
	"mutating webhooks":                  {"mutating-webhook"},
	"mutating policies":                  {"mutating-policy"},
	"validating webhooks":                {"validating-webhook"},
	"API services":                       {"api-service"},
	"conversion":                         {"conversion"},
	"kubelets":                           {"kubelet"},
	"node certificates":                  {"node-certificate"},
	"approved node certificates":         {"approved-node-certificate"},
	"constrained impersonation of nodes": {"impersonated-node", "node-token"},
	"tokens":                             {"token"},
	"impersonated accounts":              {"impersonated-account"},
	"constrained impersonation":          {"constrained-impersonation"},
	"token Secrets":                      {"token-secret"},
	"pods":                               {"pod"},
	"deployments":                        {"deployment", "changed-deployment"},
	"statefulsets":                       {"statefulset"},
	"daemonsets":                         {"daemonset"},
	"replicasets":                        {"replicaset"},
	"replicationcontrollers":             {"replicationcontroller"},
	"jobs":                               {"job"},
	"cronjobs":                           {"cronjob"},
	"commands":                           {"commands"},
	"attaching":                          {"attaching"},
	"ephemeral containers":               {"container-added"},
	"images of pods":                     {"image-changed"},
	"scripts":                            {"script"},
	"commands in system pods":            {"system-pod"},
	"commands in privileged pods":        {"pod-on-node"},
	"privileged pods":                    {"privileged-pod"},
	"namespace labels":                   {"namespace-labels"},
	"volumes of nodes":                   {"volume"},
	"bootstrap tokens":                   {"bootstrap-token"},
	"any role, everywhere":               {"escalate-a-new-role"},
	"any role, in a namespace":           {"bind-in-a-namespace"},
	"a role, everywhere":                 {"bind", "bind-by-change"},
	"a role, in a namespace":             {"bind-a-role"},
	"a role that it is bound to":         {"escalate", "escalate-in-a-namespace"},
	"a role that is added to one":        {"escalate-by-aggregation"},
	"a token in a Secret":                {"token-secret-read"},
	"a Secret turned into a token":       {"token-secret-change"},
	"the token of a pod on a node":       {"node-token"},
	"another account's rights at once":   {"two-certificate", "two-token-secret", "two-bind", "two-escalate"},
}

// notCarriedOut has the kinds of edges without a row, and why.
var notCarriedOut = map[string]string{
	"everything":   "it is the right itself",
	"every Secret": "it is the right itself",
}

// Each kind of edge that the graph may have is carried out by a row, whose rights are
// those of the edge.
func TestEveryEdgeIsCarriedOut(t *testing.T) {
	rows := map[string][]preview.Grant{}
	for _, row := range stepRows() {
		rows[row.name] = slices.Concat(grantsOf(t, row.local, preview.ScopeNamespace), grantsOf(t, row.wide, preview.ScopeCluster))
	}
	for _, row := range nodeRows() {
		rows[row.name] = slices.Concat(grantsOf(t, row.local, preview.ScopeNamespace), grantsOf(t, row.wide, preview.ScopeCluster))
	}
	for _, row := range pairRows() {
		rows[row.name] = grantsOf(t, slices.Concat(row.wide, row.other), preview.ScopeCluster)
	}
	kinds := map[string]bool{}
	for _, edge := range access.Edges() {
		kinds[edge.Name] = true
		if reason := notCarriedOut[edge.Name]; (len(rowsOfEdges[edge.Name]) == 0) != (reason != "") {
			t.Errorf("%s: rows %v, reason for none %q", edge.Name, rowsOfEdges[edge.Name], reason)
		}
		for _, name := range rowsOfEdges[edge.Name] {
			if rows[name] == nil || !edge.Held(rows[name]) {
				t.Errorf("%s: row %s does not hold its rights: %v", edge.Name, name, rows[name])
			}
		}
	}
	for name := range rowsOfEdges {
		if !kinds[name] {
			t.Errorf("the graph has no edge %s", name)
		}
	}
	for name := range rows {
		if !slices.ContainsFunc(edgeNames(), func(edge string) bool { return slices.Contains(rowsOfEdges[edge], name) }) {
			t.Errorf("row %s carries out no edge", name)
		}
	}
	t.Logf("%d kinds of edges, %d rows, %d kinds not carried out", len(kinds), len(rows), len(notCarriedOut))
}

func edgeNames() []string {
	var out []string
	for _, edge := range access.Edges() {
		out = append(out, edge.Name)
	}
	return out
}

// grantsOf returns the rules of a row as grants.
func grantsOf(t *testing.T, rules []string, scope string) []preview.Grant {
	t.Helper()
	var out []preview.Grant
	for _, s := range rules {
		var body map[string]any
		if err := json.Unmarshal([]byte(rule(s)), &body); err != nil {
			t.Fatal(err)
		}
		out = append(out, preview.Grant{
			APIGroups: preview.Texts(body["apiGroups"]), Resources: preview.Texts(body["resources"]), Verbs: preview.Texts(body["verbs"]),
			ResourceNames: preview.Texts(body["resourceNames"]), Scope: scope,
		})
	}
	return out
}

// receivingRows are steps by which what others write is received.
func receivingRows() []carriedOut {
	return []carriedOut{
		{"validating-webhook", nil, []string{"admissionregistration.k8s.io validatingwebhookconfigurations create"}, func(w *world) *caller {
			tokens := make(chan string, 1)
			hook := sandboxtest.NewWebhook(w.t, func(a sandboxtest.Admission) sandboxtest.Verdict {
				offer(tokens, text(a.Object, "data", "token"))
				return sandboxtest.Verdict{}
			})
			client := hook.Client()
			path := "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
			w.weak.must("POST", path, fmt.Sprintf(
				`{"metadata":{"name":%q},"webhooks":[{"name":"a.example.com","clientConfig":{"url":%q,"caBundle":%q},"sideEffects":"None","admissionReviewVersions":["v1"],`+
					`"objectSelector":{"matchLabels":{"world":%q}},"rules":[{"apiGroups":[""],"apiVersions":["*"],"operations":["*"],"resources":["secrets"]}]}]}`,
				w.namespace, client["url"], client["caBundle"], w.namespace))
			w.t.Cleanup(func() { w.admin.do("DELETE", path+"/"+w.namespace, "application/json", "") })
			number := 0
			token, err := base64.StdEncoding.DecodeString(w.received(tokens, func() {
				number++
				w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/secrets", fmt.Sprintf(
					`{"type":"kubernetes.io/service-account-token","metadata":{"name":"made-%d","labels":{"world":%q},"annotations":{"kubernetes.io/service-account.name":"strong"}}}`, number, w.namespace))
			}))
			if err != nil {
				w.t.Fatal(err)
			}
			return w.withToken(string(token))
		}},
		{"conversion", nil, []string{"apiextensions.k8s.io customresourcedefinitions patch"}, func(w *world) *caller {
			// An order with a token in it is sent to the server of weak, which may change it.
			group, order := "orders-"+w.namespace+".example.com", `{"kind":"Order","metadata":{"name":"one"},"token":%q}`
			version := `{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
			const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
			w.admin.must("POST", definitions, fmt.Sprintf(`{"metadata":{"name":"orders.%s"},"spec":{"group":%q,"scope":"Cluster","names":{"kind":"Order","plural":"orders"},"versions":[`+version+","+version+`]}}`,
				group, group, "v1", true, "v2", false))
			w.t.Cleanup(func() { w.admin.do("DELETE", definitions+"/orders."+group, "application/json", "") })
			w.eventually("the orders are served", func() bool {
				status, _ := w.admin.do("POST", "/apis/"+group+"/v1/orders", "application/json", strings.Replace(fmt.Sprintf(order, w.tokenOf("strong").config.BearerToken), `{`, `{"apiVersion":"`+group+`/v1",`, 1))
				return status < 300
			})
			tokens, client := w.converter()
			w.weak.must("PATCH", definitions+"/orders."+group, fmt.Sprintf(
				`{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":%q,"caBundle":%q},"conversionReviewVersions":["v1"]}}}}`, client["url"], client["caBundle"]))
			token := w.received(tokens, func() { w.admin.do("GET", "/apis/"+group+"/v2/orders/one", "application/json", "") })
			if spec := w.admin.must("GET", "/apis/"+group+"/v2/orders/one", ""); spec["rewritten"] != true {
				w.t.Errorf("the order is as it was: %v", spec)
			}
			return w.withToken(token)
		}},
		{"api-service", nil, []string{"apiregistration.k8s.io apiservices patch v1.authentication.k8s.io"}, func(w *world) *caller {
			// What asks the API server whose a token is, such as a proxy in front of
			// metrics, asks the server of weak from now on.
			tokens := make(chan string, 1)
			w.beyond(func(out http.ResponseWriter, in *http.Request) {
				var review map[string]any
				_ = json.NewDecoder(in.Body).Decode(&review) // a question about the group has no body
				offer(tokens, text(review, "spec", "token"))
				out.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(out, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"authentication.k8s.io/v1","resources":[]}`)
			})
			w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/services", `{"metadata":{"name":"mine"},"spec":{"type":"ExternalName","externalName":"mine.example.com"}}`)
			const path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.authentication.k8s.io"
			w.t.Cleanup(func() { w.admin.do("DELETE", path, "application/json", "") }) // the API server makes its own again
			w.weak.must("PATCH", path, fmt.Sprintf(
				`{"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":null}},"spec":{"service":{"namespace":%q,"name":"mine","port":443},"insecureSkipTLSVerify":true}}`, w.namespace))
			strong := w.tokenOf("strong").config.BearerToken
			return w.withToken(w.received(tokens, func() {
				w.admin.do("POST", "/apis/authentication.k8s.io/v1/tokenreviews", "application/json", fmt.Sprintf(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":%q}}`, strong))
			}))
		}},
		{"node-token", nil, []string{"authentication.k8s.io nodes impersonate:arbitrary-node", "core serviceaccounts/token impersonate-on:arbitrary-node:create"}, func(w *world) *caller {
			pod := w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/pods", `{"metadata":{"name":"placed"},"spec":{"nodeName":"`+w.node()+`","serviceAccountName":"strong","containers":[{"name":"c","image":"i"}]}}`)
			path, body := "/api/v1/namespaces/"+w.namespace+"/serviceaccounts/strong/token", fmt.Sprintf(
				`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"placed","uid":%q}}}`, text(pod, "metadata", "uid"))
			token := ""
			w.eventually("a token for the pod of the node", func() bool { // the node authorizer learns of the pod from a watch
				_, answer := w.weak.as("system:node:"+w.node()).do("POST", path, "application/json", body)
				token = text(answer, "status", "token")
				return token != ""
			})
			return w.withToken(token)
		}},
		{"bind-a-role", nil, []string{"rbac.authorization.k8s.io roles bind prize", "rbac.authorization.k8s.io rolebindings create"}, func(w *world) *caller {
			w.weak.must("POST", rbacAPI+"/namespaces/"+w.prize+"/rolebindings", w.binding("new", "Role", "prize", "weak"))
			return w.weak
		}},
	}
}

// converter serves conversions, and changes each object on its way. It returns the tokens
// that are in them, and its URL and CA bundle.
func (w *world) converter() (tokens chan string, client map[string]any) {
	tokens = make(chan string, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		var review map[string]any
		_ = json.NewDecoder(in.Body).Decode(&review)
		request, _ := review["request"].(map[string]any)
		objects, _ := request["objects"].([]any)
		for _, one := range objects {
			body, _ := one.(map[string]any)
			offer(tokens, text(body, "token"))
			body["apiVersion"], body["rewritten"] = request["desiredAPIVersion"], true
		}
		review["response"] = map[string]any{"uid": request["uid"], "convertedObjects": objects, "result": map[string]any{"status": "Success"}}
		delete(review, "request")
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(review)
	}))
	w.t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return tokens, map[string]any{"url": server.URL, "caBundle": base64.StdEncoding.EncodeToString(ca)}
}

// offer sends a text that is not empty, unless one waits already.
func offer(to chan<- string, s string) {
	if s == "" {
		return
	}
	select {
	case to <- s:
	default:
	}
}

// received repeats what others do until something arrives.
func (w *world) received(texts <-chan string, others func()) string {
	got := ""
	w.eventually("what others write", func() bool {
		others()
		select {
		case got = <-texts:
		default:
		}
		return got != ""
	})
	return got
}

// node returns the name of the sandbox's node.
func (w *world) node() string {
	items, _ := w.admin.must("GET", "/api/v1/nodes", "")["items"].([]any)
	if len(items) == 0 {
		w.t.Fatal("no node")
	}
	body, _ := items[0].(map[string]any)
	return text(body, "metadata", "name")
}

// beyond serves the requests that the API server sends to Services. The sandbox has no
// network for pods: it passes such connections to a socket.
func (w *world) beyond(serve http.HandlerFunc) {
	server := httptest.NewUnstartedServer(serve)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that end with the test
	server.StartTLS()
	w.t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	listener, err := net.Listen("unix", filepath.Join(filepath.Dir(w.box.Kubeconfig()), "config", "the-sandbox-has-no-pod-network"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed at the end
			}
			go tunnel(conn, address)
		}
	}()
}

// tunnel answers one HTTP CONNECT with a connection to address.
func tunnel(conn net.Conn, address string) {
	defer func() { _ = conn.Close() }()
	if request, err := http.ReadRequest(bufio.NewReader(conn)); err != nil || request.Method != http.MethodConnect {
		return
	}
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(to, conn) }()
	_, _ = io.Copy(conn, to)
}

// pair is a way that needs the rights of two accounts, in the cluster: weak has some of
// them, other the rest.
type pair struct {
	name        string
	wide, other []string
	do          func(w *world) *caller
}

func pairRows() []pair {
	const group, requests = "rbac.authorization.k8s.io ", "certificates.k8s.io certificatesigningrequests"
	return []pair{
		{"two-certificate", []string{requests + " create"}, []string{requests + "/approval patch", "certificates.k8s.io signers approve kubernetes.io/kube-apiserver-client"}, func(w *world) *caller {
			w.certificate(w.namespace+"-user", "", "kubernetes.io/kube-apiserver-client", true)
			return newCaller(w.t, sandboxtest.User(w.t, w.bound("User").box, w.namespace+"-user"), nil)
		}},
		{"two-token-secret", []string{"core secrets get NS-made"}, []string{"core secrets create"}, func(w *world) *caller {
			w.other.must("POST", "/api/v1/namespaces/"+w.namespace+"/secrets", `{"type":"kubernetes.io/service-account-token","metadata":{"name":"`+w.namespace+`-made","annotations":{"kubernetes.io/service-account.name":"strong"}}}`)
			return w.tokenIn(w.namespace + "-made")
		}},
		// A binding to a role with no more than its own rights is all that other may make.
		{"two-bind", []string{group + "clusterroles bind cluster-admin"}, []string{group + "clusterrolebindings create"}, func(w *world) *caller {
			w.other.must("POST", rbacAPI+"/clusterrolebindings", w.binding(w.namespace+"-lent", "ClusterRole", w.namespace+"-other", "weak"))
			w.eventually("the right to bind", func() bool { return w.weak.can("create", "rbac.authorization.k8s.io", "clusterrolebindings", "") })
			w.weak.must("POST", rbacAPI+"/clusterrolebindings", w.binding(w.namespace, "ClusterRole", "cluster-admin", "weak"))
			return w.weak
		}},
		// The same for the rules of a role: other may add what it holds itself, to a role
		// that has no more than that.
		{"two-escalate", []string{group + "clusterroles escalate"}, []string{group + "clusterroles patch"}, func(w *world) *caller {
			path := rbacAPI + "/clusterroles/" + w.namespace + "-shared"
			w.bindTo("", w.namespace+"-shared", "weak", []string{})
			w.other.must("PATCH", path, `{"rules":`+ruleList([]string{group + "clusterroles patch"})+`}`)
			w.eventually("the right to write roles", func() bool { return w.weak.can("patch", "rbac.authorization.k8s.io", "clusterroles", "") })
			w.weak.must("PATCH", path, `{"rules":`+everything+`}`)
			return w.weak
		}},
	}
}

// Rights that two accounts have together are used with the tokens of both.
func TestClusterStepsOfTwoAccounts(t *testing.T) {
	box := sandboxtest.Start(t)
	for _, row := range pairRows() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, box, row.name, nil, row.wide).withOther(row.other)
			if w.weak.can("list", "", "secrets", w.prize) || w.other.can("list", "", "secrets", w.prize) {
				t.Fatal("one may already")
			}
			got := row.do(w)
			w.eventually("the right to list Secrets", func() bool { return got.can("list", "", "secrets", w.prize) })
		})
	}
}

// An account that may run pods in the namespace of a widely used system acts as the
// accounts of that system: a finding says so, and it is carried out for each account
// that the table names, with the rights that the table says it has.
func TestClusterAccountsOfKnownSystems(t *testing.T) {
	w := newWorld(t, sandboxtest.Start(t), "known", nil, nil)
	for _, row := range wellknown.Accounts() {
		namespace, account := strings.ReplaceAll(row.Namespace, "*", "x"), strings.ReplaceAll(row.Name, "*", "x")
		for _, made := range [][2]string{
			{"/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, namespace)},
			{"/api/v1/namespaces/" + namespace + "/serviceaccounts", fmt.Sprintf(`{"metadata":{"name":%q}}`, account)},
			{rbacAPI + "/namespaces/" + namespace + "/roles", fmt.Sprintf(`{%s,"metadata":{"name":"pods"},"rules":%s}`, ofRBAC, ruleList([]string{"core pods create"}))},
			{rbacAPI + "/namespaces/" + namespace + "/rolebindings", w.binding("pods", "Role", "pods", "weak")},
			{rbacAPI + "/clusterrolebindings", strings.NewReplacer(`"namespace":"known"`, `"namespace":"`+namespace+`"`, `"name":"weak"`, `"name":"`+account+`"`).Replace(w.binding("known-"+namespace+"-"+account, "ClusterRole", "cluster-admin", "weak"))},
		} {
			if status, answer := w.admin.do("POST", made[0], "application/json", made[1]); status != http.StatusCreated && status != http.StatusConflict {
				t.Fatalf("%s: %d %v", made[0], status, answer["message"])
			}
		}
		path, pod := "/api/v1/namespaces/"+namespace+"/pods", "as-"+account
		w.eventually("the right to run pods in "+namespace, func() bool { return w.weak.can("create", "", "pods", namespace) })
		w.weak.must("POST", path, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"serviceAccountName":%q,"containers":[{"name":"c","image":"i"}]}}`, pod, account))
		got := w.mountedToken(namespace, pod)
		w.eventually("the rights of "+namespace+"/"+account, func() bool { return got.can("list", "", "secrets", w.prize) })
		if said := severest(t, namespace); !strings.Contains(said, "acts as accounts of the namespace, such as ") && namespace != "kube-system" {
			t.Errorf("%s: the review says %q", namespace, said)
		}
	}
	t.Logf("%d accounts", len(wellknown.Accounts()))
}

// severest returns the evidence of the critical findings about a package whose account
// may run pods in a namespace.
func severest(t *testing.T, namespace string) string {
	t.Helper()
	objects := []map[string]any{
		{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"namespace": "app", "name": "op"}},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": map[string]any{"namespace": namespace, "name": "pods"}, "rules": []any{
			map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"create"}}}},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": map[string]any{"namespace": namespace, "name": "pods"},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "pods"},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": "app", "name": "op"}}},
	}
	plan := &preview.Plan{Release: preview.Release{Name: "op", Namespace: "app"}}
	for _, body := range objects {
		ref := preview.RefOf(body)
		plan.Objects = append(plan.Objects, preview.Object{ID: ref.ID(), APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Action: preview.ActionCreate, Planned: body})
	}
	plan.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: objects}))
	findings, err := risk.Evaluate(risk.Input{Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range findings {
		if f.Severity == preview.Critical {
			out = append(out, f.Evidence)
		}
	}
	return strings.Join(out, "\n")
}
