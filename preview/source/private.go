package source

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// privateAddresses are the private addresses that servers may lead to, by
// redirect or as the place of their tokens; port 0 means every port. A server
// that leads anywhere else in a private network is refused: it could make this
// machine ask what it cannot reach itself, such as a cloud's metadata service.
// What the user names is asked wherever it is, and names of hosts are not
// looked up here.
type privateAddresses []netip.AddrPort

// privateAddressError is a server that leads into a private network.
type privateAddressError struct{ from, to string }

func (e *privateAddressError) Error() string {
	if address, err := ParsePrivateAddress(e.to); err == nil {
		return fmt.Sprintf("%s leads to the private address %s, which is refused; --allow-private-address %s allows it", e.from, e.to, showAddress(address))
	}
	return fmt.Sprintf("%s leads to the private address %s, which is refused", e.from, bounded.Quote(e.to))
}

// ParsePrivateAddress reads ADDRESS or ADDRESS:PORT, an address of IPv6 in
// brackets where a port follows.
func ParsePrivateAddress(text string) (netip.AddrPort, error) {
	if address, err := netip.ParseAddrPort(text); err == nil && address.Port() != 0 {
		return netip.AddrPortFrom(address.Addr().Unmap(), address.Port()), nil
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil || address.Zone() != "" {
		return netip.AddrPort{}, fmt.Errorf("%s: want ADDRESS or ADDRESS:PORT", bounded.Quote(text))
	}
	return netip.AddrPortFrom(address.Unmap(), 0), nil
}

func showAddress(address netip.AddrPort) string {
	if address.Port() == 0 {
		return address.Addr().String()
	}
	return address.String()
}

// privateAlias is the name under which go-containerregistry, which refuses all
// private addresses, sees the allowed one of an index. It ends in a domain that
// does not exist (RFC 6761), and it is never looked up: resolve puts the
// address in its place.
const privateAlias = "private-address-%d.invalid"

// resolve returns the request with the address that an alias stands for.
func (a privateAddresses) resolve(r *http.Request) *http.Request {
	for i, allowed := range a {
		if r.URL.Hostname() != fmt.Sprintf(privateAlias, i) {
			continue
		}
		r = r.Clone(r.Context())
		host := allowed.Addr().String()
		if allowed.Addr().Is6() {
			host = "[" + host + "]"
		}
		if port := r.URL.Port(); port != "" {
			host += ":" + port
		}
		r.URL.Host, r.Host = host, host
	}
	return r
}

// bearerRealm finds where a challenge says that tokens are (RFC 6750).
var bearerRealm = regexp.MustCompile(`(?i)^bearer\s.*realm="([^"]*)"`)

// check looks at where an answer leads: its Location, which may go back to the
// host of the first request at any port, and the token server of its challenge,
// which may be the host that answers.
func (a privateAddresses) check(first *url.URL, response *http.Response) error {
	asked := response.Request.URL
	if location := response.Header.Get("Location"); location != "" {
		to, err := asked.Parse(location)
		if err == nil && to.Hostname() != first.Hostname() && isPrivate(to.Hostname()) {
			if !a.rename(to) {
				return &privateAddressError{first.Host, to.Host}
			}
			response.Header.Set("Location", to.String())
		}
	}
	for i, challenge := range response.Header["Www-Authenticate"] {
		at := bearerRealm.FindStringSubmatchIndex(challenge)
		if at == nil {
			continue
		}
		to, err := url.Parse(challenge[at[2]:at[3]])
		if err != nil || to.Host == asked.Host || !isPrivate(to.Hostname()) {
			continue
		}
		if !a.rename(to) {
			return &privateAddressError{asked.Host, to.Host}
		}
		response.Header["Www-Authenticate"][i] = challenge[:at[2]] + to.String() + challenge[at[3]:]
	}
	return nil
}

// rename replaces an allowed private address by its alias, and reports whether it
// is allowed.
func (a privateAddresses) rename(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return false
	}
	port := u.Port()
	for i, allowed := range a {
		if allowed.Addr() != address.Unmap() || allowed.Port() != 0 && strconv.Itoa(int(allowed.Port())) != effectivePort(u) {
			continue
		}
		if u.Host = fmt.Sprintf(privateAlias, i); port != "" {
			u.Host += ":" + port
		}
		return true
	}
	return false
}

func effectivePort(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

// isPrivate reports whether a host is an address of this machine, this link or
// a private network. A name whose last part is a number is an address too, in
// one of the old forms that a resolver may still read (127.1, 0x7f000001).
func isPrivate(host string) bool {
	host, _, _ = strings.Cut(host, "%")
	if address, err := netip.ParseAddr(host); err == nil {
		address = address.Unmap()
		return address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() ||
			address.IsLinkLocalMulticast() || address.IsUnspecified()
	}
	last := strings.TrimSuffix(host, ".")
	last = last[strings.LastIndex(last, ".")+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil
}
