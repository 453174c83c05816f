package pods

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/code"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// trustedNames are host names of the API server, of clouds and of registries that
// programs trust, and that no pod should redirect. Names below them count too.
var trustedNames = []string{
	"kubernetes", "kubernetes.default", "kubernetes.default.svc", "cluster.local", "svc", "metadata", "metadata.google.internal", "metadata.goog", "instance-data",
	"amazonaws.com", "googleapis.com", "google.com", "microsoftonline.com", "azure.com", "windows.net", "aliyuncs.com", "oraclecloud.com", "ibm.com",
	"docker.io", "docker.com", "quay.io", "gcr.io", "ghcr.io", "pkg.dev", "registry.k8s.io", "k8s.gcr.io", "mcr.microsoft.com", "azurecr.io", "redhat.io", "redhat.com",
	"github.com", "githubusercontent.com", "gitlab.com", "pypi.org", "pythonhosted.org", "npmjs.org", "golang.org", "debian.org", "ubuntu.com", "alpinelinux.org",
	"vault", "sigstore.dev", "letsencrypt.org",
}

func trustedName(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	return slices.ContainsFunc(trustedNames, func(t string) bool { return name == t || strings.HasSuffix(name, "."+t) })
}

// NameOverrides matches pods that resolve host names differently: by hostAliases, or by
// name servers and search domains of their own.
func NameOverrides(pod map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	for _, alias := range preview.Maps(pod, "hostAliases") {
		for _, name := range sortedTexts(alias["hostnames"]) {
			at := rules.Low
			if trustedName(name) {
				at = rules.High
			}
			level, lines = max(level, at), append(lines, words.LeadsTo.Of(preview.EvidenceName(name), preview.EvidenceName(preview.String(alias, "ip"))))
		}
		if ip := preview.String(alias, "ip"); code.Metadata(ip) {
			level, lines = rules.High, append(lines, words.IsTheMetadataServiceOfA.Of(preview.EvidenceName(ip)))
		}
	}
	for _, server := range sortedTexts(preview.Value(pod, "dnsConfig", "nameservers")) {
		at := rules.Medium
		if ip, err := netip.ParseAddr(server); err == nil && (ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast()) {
			at = rules.Low
		}
		level, lines = max(level, at), append(lines, words.AsksNameServer.Of(preview.EvidenceName(server)))
	}
	for _, domain := range sortedTexts(preview.Value(pod, "dnsConfig", "searches")) {
		if trusted := strings.HasSuffix(strings.TrimSuffix(domain, "."), "cluster.local"); !trusted {
			level, lines = max(level, rules.Low), append(lines, words.LooksNamesUpIn.Of(preview.EvidenceName(domain)))
		}
	}
	return level, lines
}

// Handlers returns the probes and lifecycle hooks of a container, by field name such as
// livenessProbe.
func Handlers(container map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if handler := preview.Map(container, name); handler != nil {
			out[name] = handler
		}
	}
	for _, name := range []string{"postStart", "preStop"} {
		if handler := preview.Map(container, "lifecycle", name); handler != nil {
			out[name] = handler
		}
	}
	return out
}

// ProbesElsewhere matches containers with a probe or hook whose requests go to another
// host than the pod. The kubelet sends them from the node's network.
func ProbesElsewhere(pod, container map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	all := Handlers(container)
	for _, name := range SortedNames(all) {
		for _, kind := range []string{"httpGet", "tcpSocket"} {
			host := preview.String(all[name], kind, "host")
			if host == "" || host == "$(POD_IP)" {
				continue
			}
			at := rules.Medium
			switch {
			case code.Metadata(host):
				at = rules.High
			case code.Loopback(host) && pod["hostNetwork"] == true:
				continue // itself
			}
			text := name + " " + kind + " " + host
			if kind == "httpGet" {
				text += preview.String(all[name], kind, "path")
			}
			level, lines = max(level, at), append(lines, words.Name.Of(preview.EvidenceName(text)))
		}
	}
	return level, lines
}

// SortedNames returns the keys of the map that Handlers returns, sorted.
func SortedNames(all map[string]map[string]any) []string { return slices.Sorted(maps.Keys(all)) }

// loaders are environment variables with which programs load further code, such as
// LD_PRELOAD.
var loaders = []string{
	"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "PERL5DB", "RUBYOPT",
	"NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "PHPRC", "LUA_INIT", "DOTNET_STARTUP_HOOKS",
	"CORECLR_PROFILER_PATH", "GCONV_PATH",
}

// Environment matches containers with environment variables that make programs load
// code or send their requests to another host, such as a proxy.
func Environment(_, container map[string]any) (rules.Level, []preview.Seen) {
	level, lines := rules.None, []preview.Seen(nil)
	for _, env := range preview.Maps(container, "env") {
		name, value := preview.String(env, "name"), preview.String(env, "value")
		if value == "" {
			continue
		}
		at := rules.None
		switch upper := strings.ToUpper(name); {
		case upper == "KUBERNETES_SERVICE_HOST", upper == "KUBERNETES_MASTER":
			at = redirects(value)
		case slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}, upper):
			at = redirects(value)
		case slices.Contains(loaders, name):
			at = loads(name, value)
		}
		if at != rules.None {
			level, lines = max(level, at), append(lines, words.Variable.Of(name, code.Excerpt(withoutCredentials(value))))
		}
	}
	return level, lines
}

// redirects returns the level of a host that a variable sends requests to: None in the
// cluster, else High.
func redirects(value string) rules.Level {
	host := code.Host(value)
	switch {
	case host == "", strings.Contains(value, "$("), code.Inside(host):
		return rules.None
	}
	return rules.High
}

// loads returns the level of a variable that programs load code from; None if its value
// has options only, and no code.
func loads(name, value string) rules.Level {
	switch name {
	case "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS":
		for _, mark := range []string{"--require", "-r ", "--import", "--loader", "-javaagent", "-agentpath", "-agentlib", "-Xrun", "OnOutOfMemoryError", "OnError", "--inspect=0"} {
			if strings.Contains(value, mark) {
				return rules.Medium
			}
		}
		return rules.None
	case "LD_LIBRARY_PATH", "PYTHONPATH":
		if strings.Contains(value, "/tmp") || strings.Contains(value, "/dev/shm") {
			return rules.Medium
		}
		return rules.None
	case "ENV":
		if !strings.HasPrefix(value, "/") && !strings.Contains(value, "$(") && !strings.Contains(value, "`") {
			return rules.None // the name of an environment, such as production
		}
	}
	return rules.Medium
}

// withoutCredentials returns a URL without user and password.
func withoutCredentials(value string) string {
	scheme, rest, found := strings.Cut(value, "://")
	if !found {
		return value
	}
	host, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return scheme + "://" + host + "/" + path
}
