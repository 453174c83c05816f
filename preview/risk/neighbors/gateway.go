package neighbors

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

const gatewayGroup = "gateway.networking.k8s.io/"

func gatewayRows() []Row {
	ingress := kinds(preview.KindIngress, "extensions/Ingress")
	return []Row{
		{rules.IngressTakesHosts, ingress, ingressHosts},
		{rules.IngressTakesHosts, kinds(preview.KindRoute), routeHosts},
		{rules.IngressTakesHosts, kinds("networking.k8s.io/IngressClass"), ingressClass},
		{rules.IngressSnippet, ingress, ingressSnippet},
		{rules.GatewayOfOthers, kinds(gatewayGroup+"Gateway", gatewayGroup+"ListenerSet", "gateway.networking.x-k8s.io/XListenerSet"), gatewayListeners},
		{rules.GatewayOfOthers, kinds(gatewayGroup+"HTTPRoute", gatewayGroup+"GRPCRoute", gatewayGroup+"TLSRoute", gatewayGroup+"TCPRoute", gatewayGroup+"UDPRoute"), gatewayRoute},
		{rules.ReferenceGrant, kinds(gatewayGroup + "ReferenceGrant"), referenceGrant},
	}
}

// takesHost adds evidence if an object claims requests for every host, or for a host of
// the cluster or a metadata service.
func takesHost(v *verdict, host string) {
	switch {
	case host == "" || host == "*":
		v.add(rules.Medium, words.EveryHost.Of())
	case strings.HasPrefix(host, "*") && strings.Count(host, ".") < 2:
		v.add(rules.Medium, words.Host.Of(host))
	case strings.HasPrefix(host, "*"):
		v.add(rules.Low, words.Host.Of(host))
	case ofMetadata(host) || strings.HasPrefix(host, "kubernetes.default") || strings.Contains(host, ".svc."):
		v.add(rules.High, words.Host.Of(host))
	}
}

func ingressHosts(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	for _, rule := range preview.Maps(spec, "rules") {
		takesHost(&v, preview.String(rule, "host"))
	}
	v.addIf(spec["defaultBackend"] != nil || spec["backend"] != nil, rules.Medium, words.WhatNoOtherRuleTakes.Of())
	v.addIf(o.foreign(o.Namespace), rules.High, words.ItRoutesInNamespace.Of(o.Namespace))
	return v.result()
}

func routeHosts(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	if host := preview.String(o.Body, "spec", "host"); host != "" { // without one the router makes one
		takesHost(&v, host)
		v.addIf(preview.String(o.Body, "spec", "wildcardPolicy") == "Subdomain", rules.Medium, words.EveryHostBeside.Of(host))
	}
	v.addIf(o.foreign(o.Namespace), rules.High, words.ItRoutesInNamespace.Of(o.Namespace))
	return v.result()
}

func ingressClass(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	v.addIf(o.annotation("ingressclass.kubernetes.io/is-default-class") == "true", rules.High, words.IngressesThatNameNoClassAre.Of())
	namespace := preview.String(o.Body, "spec", "parameters", "namespace")
	v.addIf(o.foreign(namespace), rules.Medium, words.ParametersOfNamespace.Of(namespace))
	return v.result()
}

// controllerPrefixes begin the annotations that ingress controllers copy into their own
// configuration files.
var controllerPrefixes = []string{"nginx.ingress.kubernetes.io/", "nginx.org/", "nginx.com/", "ingress.kubernetes.io/", "haproxy.org/", "haproxy-ingress.github.io/", "haproxy.router.openshift.io/"}

// ingressSnippet matches Ingresses with annotations that hold configuration for the
// ingress controller: by the name of the annotation, or by a value that ends a
// directive or a line.
func ingressSnippet(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	annotations := preview.Map(o.Body, "metadata", "annotations")
	for _, key := range sortedKeys(annotations) {
		value, _ := annotations[key].(string)
		_, name, _ := strings.Cut(key, "/")
		switch {
		case value == "" || !hasPrefix(key, controllerPrefixes...):
		case strings.Contains(name, "snippet") || hasPrefix(name, "config-"):
			v.add(rules.Critical, words.Named.Of(key, value))
		case leavesItsPlace(value):
			v.add(rules.Critical, words.EndsItsOwnDirective.Of(key, value))
		case strings.HasSuffix(name, "-secret") || strings.HasSuffix(name, "-secret-name"):
			namespace, _, named := strings.Cut(value, "/")
			v.addIf(named && o.foreign(namespace), rules.High, words.Named.Of(key, value))
		case slices.Contains([]string{"auth-url", "auth-signin", "mirror-target", "mirror-url", "auth-proxy-set-headers"}, name):
			v.add(rules.Medium, words.Named.Of(key, value))
		}
	}
	for _, rule := range preview.Maps(preview.Map(o.Body, "spec"), "rules") {
		for _, path := range preview.Maps(preview.Map(rule, "http"), "paths") {
			text := preview.String(path, "path")
			v.addIf(leavesItsPlace(text) || strings.Contains(text, "/var/run/secrets"), rules.Critical, words.PathEndsItsOwnDirective.Of(text))
		}
	}
	return v.result()
}

// leavesItsPlace reports whether the value of an annotation is more than one word in a
// configuration file, so that it can add directives. "#" alone does not count, as URLs
// have it.
func leavesItsPlace(value string) bool {
	return strings.ContainsAny(strings.TrimSpace(value), "\r\n;") || strings.Contains(value, "load_module") || strings.Contains(value, "ssl_engine") ||
		strings.Contains(value, "_by_lua") || strings.ContainsAny(value, "{}") && strings.ContainsAny(value, " \t#")
}

func gatewayListeners(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	for _, listener := range preview.Maps(spec, "listeners") {
		name := preview.String(listener, "name")
		from := preview.Map(listener, "allowedRoutes", "namespaces")
		v.addIf(preview.String(from, "from") == "All" || preview.String(from, "from") == "Selector" && len(preview.Map(from, "selector")) == 0,
			rules.Medium, words.ListenerTakesRoutesOfAllNamespaces.Of(name))
		for _, certificate := range preview.Maps(preview.Map(listener, "tls"), "certificateRefs") {
			namespace := preview.String(certificate, "namespace")
			v.addIf(o.foreign(namespace), rules.High, words.ListenerUsesSecret.Of(name, namespace, preview.String(certificate, "name")))
		}
	}
	for _, address := range preview.Maps(spec, "addresses") {
		v.add(rules.Medium, words.Address.Of(preview.String(address, "value")))
	}
	from := preview.String(spec, "allowedListeners", "namespaces", "from")
	v.addIf(from == "All", rules.Medium, words.ListenersOfAllNamespacesJoinIt.Of())
	v.addIf(o.foreign(o.Namespace), rules.High, words.ItListensInNamespace.Of(o.Namespace))
	return v.result()
}

func gatewayRoute(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	hosts := texts(spec["hostnames"])
	for _, parent := range preview.Maps(spec, "parentRefs") {
		namespace := preview.String(parent, "namespace")
		if !o.foreign(namespace) {
			continue
		}
		level, of := rules.Low, strings.Join(hosts, ", ")
		if len(hosts) == 0 || slices.Contains(hosts, "*") {
			level, of = rules.High, "every host"
		}
		v.add(level, words.ItTakesOf.Of(of, kindOf(parent, "Gateway"), namespace, preview.String(parent, "name")))
	}
	for _, rule := range preview.Maps(spec, "rules") {
		for _, backend := range backends(rule) {
			namespace := preview.String(backend, "namespace")
			v.addIf(o.foreign(namespace), rules.High, words.ItSendsTo.Of(kindOf(backend, "Service"), namespace, preview.String(backend, "name")))
		}
	}
	v.addIf(o.foreign(o.Namespace), rules.High, words.ItRoutesInNamespace.Of(o.Namespace))
	return v.result()
}

func kindOf(ref map[string]any, usual string) string {
	if kind := preview.String(ref, "kind"); kind != "" {
		return kind
	}
	return usual
}

// backends returns the references that a rule of a route sends requests, or copies of
// them, to.
func backends(rule map[string]any) []map[string]any {
	out := preview.Maps(rule, "backendRefs")
	for _, filter := range preview.Maps(rule, "filters") {
		for _, field := range []string{"requestMirror", "externalAuth"} {
			if ref := preview.Map(filter, field, "backendRef"); ref != nil {
				out = append(out, ref)
			}
		}
	}
	return out
}

func referenceGrant(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	var from []string
	for _, peer := range preview.Maps(preview.Map(o.Body, "spec"), "from") {
		from = append(from, preview.String(peer, "kind")+" of "+preview.String(peer, "namespace"))
	}
	for _, to := range preview.Maps(preview.Map(o.Body, "spec"), "to") {
		level, kind := rules.Medium, preview.String(to, "kind")
		foreign := o.foreign(o.Namespace)
		switch {
		case kind == "Secret" && foreign:
			level = rules.Critical
		case kind == "Secret" || foreign:
			level = rules.High
		}
		what := "every " + kind
		if name := preview.String(to, "name"); name != "" {
			what = kind + " " + name
		}
		v.add(level, words.OfNamespaceFor.Of(what, o.Namespace, strings.Join(from, ", ")))
	}
	return v.result()
}
