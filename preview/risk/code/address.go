package code

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// metadataNames and metadataAddresses are the hosts of the clouds' metadata services,
// which give pods the credentials of the node or of the pod's cloud role.
var (
	metadataNames     = []string{"metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com"}
	metadataAddresses = []string{
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.169.253", "169.254.0.23", "168.63.129.16", "192.0.0.192", "100.100.100.200", "fd00:ec2::254",
		"fd00:ec2::23", "fd20:ce::254",
	}
)

// Metadata reports whether a host name or address, in any spelling, is the metadata
// service of a cloud.
func Metadata(host string) bool {
	name := bare(host)
	if slices.Contains(metadataNames, name) {
		return true
	}
	if ip, ok := Address(name); ok {
		return slices.Contains(metadataAddresses, ip.String())
	}
	for _, address := range metadataAddresses { // 169.254.169.254.nip.io, and with dashes
		if strings.HasPrefix(name, address+".") || strings.HasPrefix(name, strings.ReplaceAll(address, ".", "-")+".") || strings.Contains(name, "."+address+".") {
			return true
		}
	}
	return false
}

// Loopback reports whether a host is the machine itself.
func Loopback(host string) bool {
	name := bare(host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, ok := Address(name)
	return ok && (ip.IsLoopback() || ip.IsUnspecified())
}

// Inside reports whether a host is in the cluster, by its name or address: a Service, a
// name without dots, loopback, or an address of a private network.
func Inside(host string) bool {
	name := bare(host)
	if Loopback(name) {
		return true
	}
	if ip, ok := Address(name); ok {
		return ip.IsPrivate()
	}
	return !strings.Contains(name, ".") || strings.HasSuffix(name, ".svc") || strings.HasSuffix(name, ".cluster.local") || strings.HasSuffix(name, ".local")
}

// Host returns the host of a URL or of HOST:PORT, without user and port; empty if there
// is none.
func Host(text string) string {
	if _, rest, found := strings.Cut(text, "://"); found {
		text = rest
	}
	text, _, _ = strings.Cut(strings.ReplaceAll(text, `\`, "/"), "/")
	text, _, _ = strings.Cut(text, "?")
	text, _, _ = strings.Cut(text, "#")
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = text[at+1:]
	}
	return bare(text)
}

// bare returns a host in lower case without brackets, zone, port and last dot.
func bare(host string) string {
	host = strings.ToLower(strings.TrimSpace(host))
	if strings.HasPrefix(host, "[") {
		host, _, _ = strings.Cut(host[1:], "]")
	} else if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}
	return strings.TrimSuffix(host, ".")
}

// Address parses an IP address as inet_aton does: also 2852039166, 0xa9fea9fe,
// 0251.0376.0251.0376, 169.254.43518, and IPv4 within IPv6. ok is false for other
// texts.
func Address(host string) (netip.Addr, bool) {
	host, _, _ = strings.Cut(host, "%")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap(), true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 || host == "" {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 64)
		if err != nil || strings.ContainsAny(part, "_+boBO") && !strings.HasPrefix(strings.ToLower(part), "0x") {
			return netip.Addr{}, false
		}
		last := i == len(parts)-1
		room := uint(8)
		if last {
			room = uint(8 * (5 - len(parts)))
		}
		if n >= 1<<room {
			return netip.Addr{}, false
		}
		value = value<<room | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}
