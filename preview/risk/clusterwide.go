package risk

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// clusterRules are about objects that change what happens to others.
func clusterRules() []entry {
	return []entry{
		{Rule: Rule{
			"webhook-outside-cluster", "", High, "sends requests to a server outside the cluster",
			"That server sees every object the webhook covers and decides on it, whoever runs the server.",
			"Run the webhook in the cluster and name its Service.",
		}, object: outsideWebhooks},
		{Rule: Rule{
			"api-service", "", High, "answers for an API group",
			"The API server hands every request to that group over, with the name and groups of whoever sent it; while the server is down, the group is gone and namespaces cannot be deleted.",
			"Make sure that the group is the publisher's own, and give the APIService a caBundle.",
		}, object: apiService},
		{Rule: Rule{
			"admission-policy", "", High, "refuses or changes requests of others",
			"An admission policy is evaluated for everybody's requests, and with failurePolicy Fail an error in it refuses them.",
			"Restrict its matchConstraints, or bind it to the namespaces it is for.",
		}, object: admissionPolicy},
		{Rule: Rule{
			"priority-class", "", High, "ranks pods above others",
			"Pods of a higher priority push others off their nodes; a global default gives every pod without a class that rank.",
			"Leave globalDefault out; set preemptionPolicy Never.",
		}, object: priorityClass},
		{Rule: Rule{
			"service-external-ips", "", High, "takes over addresses",
			"Traffic from inside the cluster to these addresses goes to the Service, also where they belong to somebody else (CVE-2020-8554).",
			"Use a load balancer, or a gateway.",
		}, object: externalIPs},
		{Rule: Rule{
			"volume-host-path", "", Critical, "offers a path of the node as a volume",
			"Whoever claims the volume gets files of a node, also in a namespace whose Pod Security level forbids hostPath.",
			"Use a volume of a storage driver.",
		}, object: hostPathVolume},
		{Rule: Rule{
			"token-of-foreign-account", "", Critical, "takes a token of an account outside this plan",
			"The cluster fills the Secret with a token that never expires, and whoever reads the Secret acts as that account.",
			"Remove the Secret; an account's tokens are for its own pods.",
		}, object: tokenSecret(false)},
		{Rule: Rule{
			"token-stored", "", Low, "stores a token that never expires",
			"A copy of it stays valid until the Secret is deleted.",
			"Remove the Secret: pods are given tokens that expire.",
		}, object: tokenSecret(true)},
	}
}

func outsideWebhooks(_ *scan, o *preview.Object) (Level, []string) {
	if o.Sealed == nil {
		return None, nil
	}
	var lines []string
	check := func(client map[string]any, of string) {
		if text := preview.String(client, "url"); text != "" && !inCluster(text) {
			lines = append(lines, of+" calls "+withoutUser(text))
		}
	}
	switch {
	case isWebhook(o):
		for _, webhook := range preview.Maps(o.Sealed, "webhooks") {
			check(preview.Map(webhook, "clientConfig"), "webhook "+preview.String(webhook, "name"))
		}
	case o.Is(preview.KindCustomResourceDefinition):
		check(preview.Map(o.Sealed, "spec", "conversion", "webhook", "clientConfig"), "the conversion webhook")
	}
	return None, lines
}

// inCluster recognises URLs that reach a Service or the node of the API server.
func inCluster(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local")
}

// withoutUser leaves out what a URL says besides where it leads.
func withoutUser(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "a URL that cannot be read"
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

func apiService(_ *scan, o *preview.Object) (Level, []string) {
	service := preview.Map(o.Sealed, "spec", "service")
	if !o.Is(preview.KindAPIService) || service == nil {
		return None, nil
	}
	lines := []string{fmt.Sprintf("%s/%s is answered by Service %s/%s", preview.String(o.Sealed, "spec", "group"),
		preview.String(o.Sealed, "spec", "version"), preview.String(service, "namespace"), preview.String(service, "name"))}
	if preview.Value(o.Sealed, "spec", "insecureSkipTLSVerify") == true {
		lines = append(lines, "the API server does not verify it")
	}
	return None, lines
}

// admissionPolicy leaves out policies on nothing but the plan's own kinds, and
// takes a validating one that is bound without Deny for what it then is.
func admissionPolicy(c *scan, o *preview.Object) (Level, []string) {
	mutating := o.Is(preview.KindMutatingAdmissionPolicy)
	if o.Sealed == nil || o.Ref().Group() != "admissionregistration.k8s.io" || !mutating && !o.Is(preview.KindValidatingAdmissionPolicy) {
		return None, nil
	}
	verb, level := "refuses", Medium
	if mutating {
		verb, level = "changes", High
	}
	var lines []string
	for _, rule := range preview.Maps(o.Sealed, "spec", "matchConstraints", "resourceRules") {
		groups, resources := words(rule["apiGroups"]), words(rule["resources"])
		if c.onlyOurs(preview.Grant{APIGroups: groups, Resources: resources}) {
			continue
		}
		if slices.Contains(groups, "") || slices.Contains(groups, all) {
			level = High
		}
		lines = append(lines, verb+" "+operations(rule)+" of "+strings.Join(resources, ",")+" of "+groupNames(groups))
	}
	if !mutating && !c.denies(o.Name) {
		level = Notice
	}
	return level, lines
}

// denies reports whether a validating policy may refuse requests: a binding of
// the plan says Deny, or none of the plan's is its own.
func (c *scan) denies(name string) bool {
	denied, bound := c.around.policies[name]
	return denied || !bound
}

func operations(rule map[string]any) string {
	if list := words(rule["operations"]); len(list) > 0 && !slices.Contains(list, all) {
		return strings.Join(list, ",")
	}
	return "every change"
}

func priorityClass(_ *scan, o *preview.Object) (Level, []string) {
	if o.Sealed == nil || !o.Is(preview.KindPriorityClass) {
		return None, nil
	}
	var lines []string
	level := Notice
	if o.Sealed["globalDefault"] == true {
		level, lines = High, append(lines, "globalDefault")
	}
	if value, _ := o.Sealed["value"].(int64); value > 0 && preview.String(o.Sealed, "preemptionPolicy") != "Never" {
		lines = append(lines, fmt.Sprintf("value %d, preempts", value))
	}
	return level, lines
}

func externalIPs(_ *scan, o *preview.Object) (Level, []string) {
	if o.Sealed == nil || !o.Is(preview.KindService) {
		return None, nil
	}
	var lines []string
	for _, ip := range words(preview.Value(o.Sealed, "spec", "externalIPs")) {
		lines = append(lines, "externalIP "+ip)
	}
	return None, lines
}

func hostPathVolume(_ *scan, o *preview.Object) (Level, []string) {
	if o.Sealed == nil || !o.Is(preview.KindPersistentVolume) {
		return None, nil
	}
	level := Medium
	text := preview.String(o.Sealed, "spec", "local", "path")
	if p := preview.Map(o.Sealed, "spec", "hostPath"); p != nil {
		level, text = High, preview.String(p, "path")
	}
	if text == "" {
		return None, nil
	}
	if controlsNode(text) {
		level = Critical
	}
	return level, []string{"path " + text + " of the node"}
}

// controlsNode reports whether a path of the node leads to control over it.
func controlsNode(text string) bool {
	clean := path.Clean("/" + text)
	return clean == "/" || strings.Contains(text, "..") || slices.ContainsFunc(nodePaths, func(p string) bool {
		return clean == p || strings.HasPrefix(clean, p+"/")
	})
}

// tokenSecret finds Secrets that the cluster fills with a token of an account:
// of the plan's own, or of any other.
func tokenSecret(own bool) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []string) {
		if o.Sealed == nil || !o.Is(preview.KindSecret) || preview.String(o.Sealed, "type") != "kubernetes.io/service-account-token" {
			return None, nil
		}
		account := preview.String(o.Sealed, "metadata", "annotations", "kubernetes.io/service-account.name")
		if account == "" || c.accounts[o.Namespace+"/"+account] != own {
			return None, nil
		}
		return None, []string{"a token of ServiceAccount " + o.Namespace + "/" + account}
	}
}
