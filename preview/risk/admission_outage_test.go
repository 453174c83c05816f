package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A policy or webhook that stands in the way of what every cluster does all the time is an
// outage; one that leaves that alone, or only refuses what is not as it should be, is none.
func TestRefusalsThatStopTheClusterAreCritical(t *testing.T) {
	const deny, everything = "---\n" + `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: p, validationActions: [Deny]}}`,
		"resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*']}]"
	policy := func(constraints, validation, more string) string {
		return "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {matchConstraints: {" + constraints +
			"}, validations: [{expression: \"" + validation + "\"}]" + more + "}}\n"
	}
	rule := func(group, resource string) string {
		return "resourceRules: [{apiGroups: ['" + group + "'], apiVersions: ['*'], operations: [CREATE, UPDATE], resources: ['" + resource + "']}]"
	}
	hook := func(fields string) string {
		return webhook("Validating", "clientConfig: {service: {namespace: app, name: s}}, rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*']}]"+fields)
	}
	const spared = ", matchConditions: [{name: not-nodes, expression: \"!('system:nodes' in request.userInfo.groups) && !request.userInfo.username.startsWith('system:')\"}]"
	const kind, settings = ", paramKind: {apiVersion: v1, kind: ConfigMap}", "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: app, labels: {a: b}}, data: {strict: 'yes'}}\n"
	bound := func(ref string) string {
		return strings.Replace(deny, "policyName: p", "policyName: p, paramRef: {"+ref+"}", 1)
	}
	for name, test := range map[string]struct{ text, want string }{
		"parameters of the package that refuse":     {policy(everything, "params.data.strict == 'no'", kind) + bound("name: c, namespace: app, parameterNotFoundAction: Allow") + settings, "refuses heartbeats of nodes, the status of nodes, the election of controllers and new pods of kube-system"},
		"parameters of the package that permit":     {policy(everything, "params.data.strict == 'yes'", kind) + bound("name: c, namespace: app, parameterNotFoundAction: Deny") + settings, ""},
		"selected ones that refuse":                 {policy(everything, "params.data.strict != 'yes'", kind) + bound("selector: {matchLabels: {a: b}}, namespace: app, parameterNotFoundAction: Deny") + settings, "refuses heartbeats"},
		"parameters that are not there":             {policy(everything, "true", kind) + bound("name: d, namespace: app, parameterNotFoundAction: Deny") + settings, "new pods of kube-system, as parameters that its bindings name are not in the package"},
		"none is selected":                          {policy(everything, "true", kind) + bound("selector: {matchLabels: {a: c}}, namespace: app, parameterNotFoundAction: Deny") + settings, "refuses heartbeats"},
		"the same, and errors are ignored too":      {policy(everything, "true", kind+", failurePolicy: Ignore") + bound("name: d, namespace: app, parameterNotFoundAction: Deny") + settings, ""},
		"that need not be there":                    {policy(everything, "false", kind) + bound("name: d, namespace: app, parameterNotFoundAction: Allow") + settings, ""},
		"of each request's namespace":               {policy(rule("", "pods"), "true", kind) + bound("name: c, parameterNotFoundAction: Deny") + settings, "refuses new pods of kube-system, as parameters"},
		"of a namespace that nodes do not have":     {policy(rule("", "*/*"), "true", kind) + bound("name: c, parameterNotFoundAction: Allow") + settings, "refuses the status of nodes, as parameters"},
		"a binding without parameters":              {policy(everything, "params != null", kind) + deny, "refuses heartbeats"},
		"a condition on its parameters":             {policy(everything, "false", kind+", matchConditions: [{name: on, expression: \"params.data.strict == 'no'\"}]") + bound("name: c, namespace: app, parameterNotFoundAction: Deny") + settings, ""},
		"everything, by a constant":                 {policy(everything, "false", "") + deny, "refuses heartbeats of nodes, the status of nodes, the election of controllers and new pods of kube-system"},
		"everything, by what no object has":         {policy(everything, "object.metadata.name == ''", "") + deny, "refuses heartbeats"},
		"everything, by an error":                   {policy(everything, "object.metadata.labels['team'] != ''", "") + deny, "refuses heartbeats"},
		"the same, and errors are ignored":          {policy(everything, "object.metadata.labels['team'] != ''", ", failurePolicy: Ignore") + deny, ""},
		"leases alone":                              {policy(rule("coordination.k8s.io", "leases"), "false", "") + deny, "refuses heartbeats of nodes and the election of controllers"},
		"changes of leases":                         {policy(rule("coordination.k8s.io", "leases"), "object.spec == oldObject.spec && false", "") + deny, "refuses heartbeats"},
		"pods alone":                                {policy(rule("", "pods"), "1 > 2", "") + deny, "refuses new pods of kube-system"},
		"everything, unless a person says so":       {policy(everything, "request.userInfo.username == 'mallory'", "") + deny, "refuses heartbeats"},
		"a condition that all requests meet":        {policy(everything, "false", ", matchConditions: [{name: all, expression: \"request.userInfo.username != ''\"}]") + deny, "refuses heartbeats"},
		"nodes and the control plane are spared":    {policy(everything, "false", spared) + deny, ""},
		"the namespaces are spared, and not nodes":  {policy(everything+", namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, kube-node-lease]}]}", "false", "") + deny, "refuses the status of nodes"},
		"chosen namespaces":                         {policy(everything+", namespaceSelector: {matchLabels: {quality: strict}}", "false", "") + deny, "refuses the status of nodes"},
		"chosen namespaces, and objects in them":    {policy(rule("*", "pods")+", namespaceSelector: {matchLabels: {quality: strict}}", "false", "") + deny, ""},
		"bound to chosen namespaces":                {policy(rule("", "pods"), "false", "") + strings.Replace(deny, "validationActions", "matchResources: {namespaceSelector: {matchLabels: {quality: strict}}}, validationActions", 1), ""},
		"it only warns":                             {policy(everything, "false", "") + strings.Replace(deny, "Deny", "Warn, Audit", 1), ""},
		"it is not bound":                           {policy(everything, "false", ""), ""},
		"privileged pods":                           {policy(rule("", "pods"), "object.spec.containers.all(c, !has(c.securityContext.privileged) || !c.securityContext.privileged)", "") + deny, ""},
		"pods without a team and limits":            {policy(rule("", "pods"), "has(object.metadata.labels.team) && object.spec.containers.all(c, has(c.resources.limits))", "") + deny, ""},
		"Deployments with more than five replicas":  {policy(rule("apps", "deployments"), "object.spec.replicas <= 5", "") + deny, ""},
		"a webhook on everything":                   {hook(""), "webhook h: while it does not answer, the API server refuses heartbeats of nodes, the status of nodes and the election of controllers"},
		"one that may be down":                      {hook(", failurePolicy: Ignore"), ""},
		"one that spares nodes":                     {hook(spared), ""},
		"one with a condition that always holds":    {hook(", matchConditions: [{name: all, expression: \"true\"}]"), "webhook h"},
		"one on objects with a label":               {hook(", objectSelector: {matchLabels: {checked: 'yes'}}"), ""},
		"one on pods":                               {webhook("Validating", "clientConfig: {service: {namespace: app, name: s}}, rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]"), ""},
		"one that changes everything":               {strings.Replace(hook(""), "kind: Validating", "kind: Mutating", 1), "webhook h"},
		"only what is created, of everything":       {strings.Replace(hook(""), "operations: ['*']", "operations: [CREATE]", 1), ""},
		"a policy whose expressions ask the server": {policy(everything, "authorizer.requestResource.check('update').allowed()", "") + deny, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := find(evaluate(t, Input{Plan: planOf(t, test.text)}), "admission-outage")
			switch {
			case test.want == "" && f != nil:
				t.Errorf("an outage: %s", f.Evidence)
			case test.want != "" && (f == nil || f.Severity != preview.Critical || !strings.Contains(f.Evidence, test.want)):
				t.Errorf("%+v, want %q", f, test.want)
			}
		})
	}
}
