package orders

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/code"
)

// OutsideHost returns the host of an address outside of the cluster; empty for others, and
// for one that is only put together from labels.
func OutsideHost(address string) string {
	host := code.Host(address)
	if at := strings.LastIndexAny(host, "}$"); at >= 0 {
		host = strings.TrimLeft(host[at+1:], "0123456789")
	}
	if host = strings.Trim(host, "."); host == "" || code.Inside(host) {
		return ""
	}
	return host
}

// LeadsOutside returns the hosts outside of the cluster that a Service names, or that Endpoints
// and EndpointSlices have as addresses.
func LeadsOutside(body map[string]any) []string {
	var out []string
	add := func(address string) {
		if host := OutsideHost(address); host != "" {
			out = append(out, host)
		}
	}
	switch ref := preview.RefOf(body); {
	case ref.Is(preview.KindService):
		add(preview.String(body, "spec", "externalName"))
	case ref.Is("Endpoints"):
		for _, subset := range preview.Maps(body, "subsets") {
			for _, address := range preview.Maps(subset, "addresses") {
				add(preview.String(address, "ip"))
			}
		}
	case ref.Is("discovery.k8s.io/EndpointSlice"):
		for _, endpoint := range preview.Maps(body, "endpoints") {
			for _, address := range preview.Texts(endpoint["addresses"]) {
				add(address)
			}
		}
	}
	return out
}
