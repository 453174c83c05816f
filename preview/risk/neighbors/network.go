package neighbors

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func networkRows() []Row {
	return []Row{
		{rules.ServiceRedirects, kinds(preview.KindService), serviceRedirects},
		{rules.ServiceExternalIPs, kinds(preview.KindService), externalIPs},
		{rules.EndpointsOfOthers, kinds("Endpoints", "discovery.k8s.io/EndpointSlice"), endpointsOfOthers},
		{rules.NetworkPolicyOpens, kinds("networking.k8s.io/NetworkPolicy", "extensions/NetworkPolicy"), networkPolicy},
		{rules.NetworkPolicyOpens, kinds("policy.networking.k8s.io/AdminNetworkPolicy", "policy.networking.k8s.io/BaselineAdminNetworkPolicy", "policy.networking.k8s.io/ClusterNetworkPolicy"), clusterPolicy},
		{rules.AddressRange, kinds("networking.k8s.io/ServiceCIDR", "networking.k8s.io/IPAddress"), addressRange},
	}
}

// metadataHosts are the host names of the clouds' metadata services, which give out the
// cloud credentials of a node.
var metadataHosts = []string{"metadata.google.internal", "metadata", "instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.azure.internal"}

var metadataAddresses = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fd00:ec2::254/128"), netip.MustParsePrefix("fd00:ec2::23/128"),
	netip.MustParsePrefix("fd20:ce::254/128"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("168.63.129.16/32"),
}

// ofMetadata reports whether a host name or address is that of a metadata service.
func ofMetadata(host string) bool {
	if slices.Contains(metadataHosts, host) {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && slices.ContainsFunc(metadataAddresses, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) })
}

// inCluster returns the namespace in the host name of a Service, such as
// web.shop.svc.cluster.local; ok is false for other names.
func inCluster(host string) (namespace string, ok bool) {
	parts := strings.Split(host, ".")
	if len(parts) >= 3 && parts[2] == "svc" {
		return parts[1], true
	}
	return "", false
}

// fixedAddresses are annotations by which a Service chooses its external address or
// host name, or shares the address of another Service.
var fixedAddresses = []string{
	"metallb.universe.tf/loadBalancerIPs", "metallb.io/loadBalancerIPs", "metallb.universe.tf/allow-shared-ip", "metallb.io/allow-shared-ip",
	"kube-vip.io/loadbalancerIPs", "io.cilium/lb-ipam-ips", "lbipam.cilium.io/ips", "lbipam.cilium.io/sharing-key", "lbipam.cilium.io/sharing-cross-namespace",
	"networking.gke.io/load-balancer-ip-addresses", "service.beta.kubernetes.io/azure-load-balancer-ipv4", "service.beta.kubernetes.io/aws-load-balancer-eip-allocations",
	"external-dns.alpha.kubernetes.io/hostname", "external-dns.alpha.kubernetes.io/internal-hostname", "external-dns.alpha.kubernetes.io/target",
}

func serviceRedirects(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	typ := preview.String(spec, "type")
	if typ == "ExternalName" {
		externalName(o, &v, preview.String(spec, "externalName"))
	}
	if o.foreign(o.Namespace) && typ != "ExternalName" {
		level := rules.Medium
		switch {
		case typ == "LoadBalancer" || typ == "NodePort":
			level = rules.High
		case preview.String(spec, "clusterIP") == "None":
			level = rules.Low
		}
		v.addIf(len(preview.Map(spec, "selector")) > 0, level, words.ItSelectsPodsOfNamespace.Of(o.Namespace))
	}
	for _, field := range []string{"loadBalancerIP", "clusterIP"} {
		if value := preview.String(spec, field); value != "" && value != "None" {
			v.add(rules.Medium, words.Setting.Of(field, value))
		}
	}
	for _, value := range texts(spec["clusterIPs"]) {
		v.addIf(value != "None" && value != "", rules.Medium, words.ClusterIP.Of(value))
	}
	for _, key := range fixedAddresses {
		if value := o.annotation(key); value != "" {
			v.add(rules.Medium, words.Named.Of(key, value))
		}
	}
	return v.result()
}

func externalName(o Object, v *verdict, name string) {
	host := strings.TrimSuffix(strings.ToLower(name), ".")
	namespace, inside := inCluster(host)
	switch {
	case ofMetadata(host):
		v.add(rules.High, words.ExternalNameAServerThatGivesCredentials.Of(name))
	case hasPrefix(host, "kubernetes.default") || host == "kubernetes":
		v.add(rules.High, words.ExternalNameTheAPIServer.Of(name))
	case inside && !o.foreign(namespace):
	case inside && o.Control(namespace):
		v.add(rules.High, words.ExternalNameAServiceOfTheControl.Of(name))
	case inside:
		v.add(rules.Medium, words.ExternalNameAServiceOfAnotherNamespace.Of(name))
	default:
		v.add(rules.Medium, words.ExternalNameAHostOutsideTheCluster.Of(name))
	}
}

// sharedAddresses are those of providers' own networks (RFC 6598), private like others.
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")

func externalIPs(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	for _, ip := range texts(preview.Value(o.Body, "spec", "externalIPs")) {
		address, err := netip.ParseAddr(ip)
		if err == nil && !address.Unmap().IsPrivate() && !sharedAddresses.Contains(address.Unmap()) {
			v.add(rules.Critical, words.ExternalIPIsAnAddressOfThe.Of(ip))
			continue
		}
		v.add(rules.High, words.ExternalIP.Of(ip))
	}
	return v.result()
}

func endpointsOfOthers(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	of := o.Name
	if name := preview.String(o.Body, "metadata", "labels", "kubernetes.io/service-name"); name != "" {
		of = name
	}
	if o.foreign(o.Namespace) {
		v.add(o.secretLevel(o.Namespace), words.ItAnswersForService.Of(o.Namespace, of))
	}
	for _, endpoint := range preview.Maps(o.Body, "endpoints") {
		for _, address := range texts(endpoint["addresses"]) {
			endpointAddress(o, &v, address, endpoint)
		}
	}
	for _, subset := range preview.Maps(o.Body, "subsets") {
		for _, endpoint := range append(preview.Maps(subset, "addresses"), preview.Maps(subset, "notReadyAddresses")...) {
			endpointAddress(o, &v, preview.String(endpoint, "ip"), endpoint)
		}
	}
	return v.result()
}

func endpointAddress(o Object, v *verdict, address string, endpoint map[string]any) {
	target := preview.String(endpoint, "targetRef", "namespace")
	ip, err := netip.ParseAddr(address)
	switch {
	case ofMetadata(address):
		v.add(rules.Critical, words.GivesCredentialsOfNodes.Of(address))
	case err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified()):
		v.add(rules.Critical, words.IsTheNodeItself.Of(address))
	case o.foreign(target):
		v.add(rules.High, words.IsOfInNamespace.Of(address, preview.String(endpoint, "targetRef", "name"), target))
	default:
		v.add(rules.Medium, words.AnswersForIt.Of(address))
	}
}

// anywhere reports whether the peers of a NetworkPolicy rule include every address or
// every pod, as a rule without peers does.
func anywhere(rule map[string]any, field string) bool {
	peers := preview.Maps(rule, field)
	if len(preview.List(rule, field)) == 0 {
		return true
	}
	halves := map[string]bool{}
	for _, peer := range peers {
		cidr := preview.String(peer, "ipBlock", "cidr")
		halves[cidr] = len(preview.List(peer, "ipBlock", "except")) == 0
		if strings.HasSuffix(cidr, "/0") {
			return true
		}
		selector, of := peer["namespaceSelector"].(map[string]any)
		if of && len(selector) == 0 && len(preview.Map(peer, "podSelector")) == 0 {
			return true
		}
	}
	return halves["0.0.0.0/1"] && halves["128.0.0.0/1"]
}

func networkPolicy(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	if o.foreign(o.Namespace) {
		v.add(rules.High, words.ItDecidesAboutTrafficOfPods.Of(o.Namespace))
	}
	selector := preview.Map(spec, "podSelector")
	everyPod := len(preview.Map(selector, "matchLabels"))+len(preview.List(selector, "matchExpressions")) == 0
	for _, rule := range preview.Maps(spec, "ingress") {
		v.addIf(everyPod && anywhere(rule, "from"), rules.Medium, words.EveryPodOfTheNamespaceIs.Of())
	}
	for _, rule := range preview.Maps(spec, "egress") {
		for _, peer := range preview.Maps(rule, "to") {
			cidr := preview.String(peer, "ipBlock", "cidr")
			address, _, _ := strings.Cut(cidr, "/")
			v.addIf(ofMetadata(address), rules.High, words.PodsReachWhichGivesCredentialsOf.Of(cidr))
		}
	}
	return v.result()
}

func clusterPolicy(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	for _, field := range []string{"ingress", "egress"} {
		for _, rule := range preview.Maps(preview.Map(o.Body, "spec"), field) {
			v.add(rules.High, words.InEveryNamespaceThatItSelects.Of(preview.String(rule, "action"), field))
		}
	}
	v.addIf(len(v.lines) == 0, rules.Medium, words.APolicyForTheWholeCluster.Of())
	return v.result()
}

func addressRange(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	if o.Kind == "IPAddress" {
		parent := preview.Map(o.Body, "spec", "parentRef")
		v.add(rules.High, words.AddressBelongsTo.Of(o.Name, preview.String(parent, "resource"), preview.String(parent, "namespace"), preview.String(parent, "name")))
		return v.result()
	}
	v.add(rules.High, words.ServicesGetAddressesOf.Of(strings.Join(texts(preview.Value(o.Body, "spec", "cidrs")), ", ")))
	return v.result()
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
