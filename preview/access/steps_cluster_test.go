package access_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
)

// world is one step carried out: a namespace with an account "weak" that holds
// the rights of the step, an account "strong" that reads the Secrets of another
// namespace, and a pod of it.
type world struct {
	t         *testing.T
	box       *sandbox.Sandbox
	namespace string
	prize     string // whose Secrets strong reads
	admin     *caller
	weak      *caller
	other     *caller // the account "other" of rows that need two, else weak
}

// caller sends requests as somebody.
type caller struct {
	t      *testing.T
	config *rest.Config
}

func newCaller(t *testing.T, kubeconfig string, change func(*rest.Config)) *caller {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		config = rest.AnonymousClientConfig(config)
		change(config)
	}
	return &caller{t, config}
}

func (c *caller) do(method, path, contentType, body string) (status int, answer map[string]any) {
	c.t.Helper()
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), 30*time.Second) // also when the test ends
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.config.Host+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	_ = json.NewDecoder(response.Body).Decode(&answer) // a proxied answer is no JSON
	return response.StatusCode, answer
}

// must sends a request that has to succeed.
func (c *caller) must(method, path, body string) map[string]any {
	c.t.Helper()
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	status, answer := c.do(method, path, contentType, body)
	if status >= 300 {
		c.t.Fatalf("%s %s: %d %v", method, path, status, answer["message"])
	}
	return answer
}

// as returns a caller who impersonates.
func (c *caller) as(user string, groups ...string) *caller {
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return &caller{c.t, config}
}

// can asks the API server, as the caller.
func (c *caller) can(verb, group, resource, namespace string) bool {
	c.t.Helper()
	answer := c.must(http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", fmt.Sprintf(
		`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":%q,"group":%q,"resource":%q,"namespace":%q}}}`,
		verb, group, resource, namespace))
	status, _ := answer["status"].(map[string]any)
	return status["allowed"] == true
}

func (w *world) withToken(token string) *caller {
	return newCaller(w.t, w.box.Kubeconfig(), func(c *rest.Config) { c.BearerToken = token })
}

// kubeletToken obtains the token that a kubelet mounts into a pod of the namespace, which
// runs as strong.
func (w *world) kubeletToken(pod string) *caller {
	w.t.Helper()
	if account := text(w.admin.must("GET", "/api/v1/namespaces/"+w.namespace+"/pods/"+pod, ""), "spec", "serviceAccountName"); account != "strong" {
		w.t.Fatalf("the pod runs as %q", account)
	}
	return w.mountedToken(w.namespace, pod)
}

// mountedToken obtains the token that a kubelet mounts into a pod, which the node
// authorizer permits to the node that the pod is bound to.
func (w *world) mountedToken(namespace, pod string) *caller {
	w.t.Helper()
	body := w.admin.must("GET", "/api/v1/namespaces/"+namespace+"/pods/"+pod, "")
	answer := w.admin.must("POST", "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+text(body, "spec", "serviceAccountName")+"/token", fmt.Sprintf(
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":["https://kubernetes.default.svc"],"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":%q,"uid":%q}}}`,
		pod, text(body, "metadata", "uid")))
	return w.withToken(text(answer, "status", "token"))
}

func text(body map[string]any, path ...string) string {
	for _, key := range path[:len(path)-1] {
		body, _ = body[key].(map[string]any)
	}
	s, _ := body[path[len(path)-1]].(string)
	return s
}

// eventually waits for what a controller does.
func (w *world) eventually(what string, done func() bool) {
	w.t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-limit:
			w.t.Fatalf("did not happen: %s", what)
		case <-tick.C:
		}
	}
}

// podOf waits for the pod that a controller makes.
func (w *world) podOf(prefix string) string {
	name := ""
	w.eventually("a pod of "+prefix, func() bool {
		items, _ := w.admin.must("GET", "/api/v1/namespaces/"+w.namespace+"/pods", "")["items"].([]any)
		for _, item := range items {
			if body, _ := item.(map[string]any); strings.HasPrefix(text(body, "metadata", "name"), prefix) {
				name = text(body, "metadata", "name")
			}
		}
		return name != ""
	})
	return name
}

const template = `{"metadata":{"labels":{"app":"x"}},"spec":{"serviceAccountName":"strong","restartPolicy":"%s","containers":[{"name":"c","image":"i"}]}}`

// workload has weak create one, and takes the token of the pod that its
// controller makes.
func workload(path, apiVersion, kind, more, restart string) func(*world) *caller {
	return func(w *world) *caller {
		spec := fmt.Sprintf(`{"template":%s%s}`, fmt.Sprintf(template, restart), more)
		w.weak.must("POST", strings.Replace(path, "NS", w.namespace, 1), fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"made"},"spec":%s}`, apiVersion, kind, spec))
		return w.kubeletToken(w.podOf("made-"))
	}
}

const selects = `,"selector":{"matchLabels":{"app":"x"}}`

// rule is one of RBAC, as GROUP RESOURCES VERBS [NAMES], lists by commas.
func rule(s string) string {
	words := strings.Fields(s)
	list := func(word string) string {
		data, _ := json.Marshal(strings.Split(strings.ReplaceAll(word, "core", ""), ","))
		return string(data)
	}
	names := "[]"
	if len(words) > 3 {
		names = list(words[3])
	}
	return fmt.Sprintf(`{"apiGroups":%s,"resources":%s,"verbs":%s,"resourceNames":%s}`, list(words[0]), list(words[1]), list(words[2]), names)
}

func ruleList(texts []string) string {
	var out []string
	for _, s := range texts {
		out = append(out, rule(s))
	}
	return "[" + strings.Join(out, ",") + "]"
}

const (
	rbacAPI = "/apis/rbac.authorization.k8s.io/v1"
	ofRBAC  = `"apiVersion":"rbac.authorization.k8s.io/v1"`
)

// newWorld makes the namespaces and accounts of a row. NS in its rules is the
// namespace.
func newWorld(t *testing.T, box *sandbox.Sandbox, name string, local, wide []string) *world {
	w := &world{t: t, box: box, namespace: name, prize: name + "-prize", admin: newCaller(t, box.Kubeconfig(), nil)}
	for _, namespace := range []string{w.namespace, w.prize} {
		w.admin.must("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, namespace))
	}
	for _, account := range []string{"weak", "strong"} {
		w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/serviceaccounts", fmt.Sprintf(`{"metadata":{"name":%q}}`, account))
	}
	w.bindTo(w.prize, "prize", "strong", []string{"core secrets list"})
	w.bindTo(w.namespace, "weak", "weak", local)
	w.bindTo("", name+"-weak", "weak", wide)
	w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/pods", `{"metadata":{"name":"running"},"spec":{"serviceAccountName":"strong","containers":[{"name":"c","image":"i"}]}}`)
	w.weak = w.tokenOf("weak")
	w.other = w.weak
	return w
}

// withOther makes another account with rules in the cluster, bound to a ClusterRole
// NS-other.
func (w *world) withOther(wide []string) *world {
	w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/serviceaccounts", `{"metadata":{"name":"other"}}`)
	w.bindTo("", w.namespace+"-other", "other", wide)
	w.other = w.tokenOf("other")
	return w
}

// tokenOf returns a caller with a token of an account of the namespace, which the
// administrator obtains.
func (w *world) tokenOf(account string) *caller {
	answer := w.admin.must("POST", "/api/v1/namespaces/"+w.namespace+"/serviceaccounts/"+account+"/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)
	return w.withToken(text(answer, "status", "token"))
}

// bindTo gives an account rules, in a namespace or in the cluster.
func (w *world) bindTo(namespace, name, account string, rules []string) {
	for i := range rules {
		rules[i] = strings.ReplaceAll(rules[i], "NS", w.namespace)
	}
	path, kind := rbacAPI, "ClusterRole"
	if namespace != "" {
		path, kind = rbacAPI+"/namespaces/"+namespace, "Role"
	}
	resource := "/" + strings.ToLower(kind)
	w.admin.must("POST", path+resource+"s", fmt.Sprintf(`{%s,"metadata":{"name":%q},"rules":%s}`, ofRBAC, name, ruleList(rules)))
	w.admin.must("POST", path+resource+"bindings", w.binding(name, kind, name, account))
}

func (w *world) binding(name, kind, role, account string) string {
	return fmt.Sprintf(`{%s,"metadata":{"name":%q,"labels":{"world":%q}},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":%q,"name":%q},"subjects":[{"kind":"ServiceAccount","namespace":%q,"name":%q}]}`,
		ofRBAC, name, w.namespace, kind, role, w.namespace, account)
}

const everything = `[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]`

// certificate has weak request one, and other approve it where that is asked for.
func (w *world) certificate(user, group, signer string, approve bool) {
	request := newRequest(w.t, user, group)
	usages := `["client auth","digital signature"]`
	w.weak.must("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", fmt.Sprintf(
		`{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":%q},"spec":{"request":%q,"signerName":%q,"usages":%s}}`,
		w.namespace, base64.StdEncoding.EncodeToString(request), signer, usages))
	path := "/apis/certificates.k8s.io/v1/certificatesigningrequests/" + w.namespace
	if approve {
		w.other.must("PATCH", path+"/approval", `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"x","message":"x"}]}}`)
	}
	w.eventually("the approval", func() bool {
		answer := w.admin.must("GET", path, "")
		status, _ := answer["status"].(map[string]any)
		conditions, _ := status["conditions"].([]any)
		return slices.ContainsFunc(conditions, func(c any) bool { m, _ := c.(map[string]any); return m["type"] == "Approved" })
	})
}
