package source

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// privateAddresses are the private addresses that servers may lead to, by redirect or as
// their token server; port 0 means every port. Any other private address is refused,
// because a server could make this machine request what only the machine can reach, such
// as a cloud's metadata service. Addresses that the user names are allowed anyway, and
// host names are not resolved here.
type privateAddresses []netip.AddrPort

// privateAddressError is the error for a server that leads into a private network.
type privateAddressError struct{ from, to string }

func (e *privateAddressError) Error() string {
	if address, err := ParsePrivateAddress(e.to); err == nil {
		return fmt.Sprintf("%s leads to the private address %s, which is refused; --allow-private-address %s allows it", e.from, e.to, showAddress(address))
	}
	return fmt.Sprintf("%s leads to the private address %s, which is refused", e.from, bounded.Quote(e.to))
}

// RefusedAddress returns the private address of an error for a server or content that leads
// to it, as [Options] allow it; empty if that is not the cause, or the address has a form
// which they do not take.
func RefusedAddress(err error) string {
	private, ok := errors.AsType[*privateAddressError](err)
	if !ok {
		return ""
	}
	address, err := ParsePrivateAddress(private.to)
	if err != nil {
		return ""
	}
	return showAddress(address)
}

// ParsePrivateAddress parses ADDRESS or ADDRESS:PORT; an IPv6 address with a port is in
// brackets.
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

// privateAlias is the host name that go-containerregistry gets in place of an allowed
// private address, since it refuses all of them; %d is the address's index. Its domain
// does not exist (RFC 6761), and it is never looked up: resolve puts the address back.
const privateAlias = "private-address-%d.invalid"

// resolve returns a request with the address that an alias in its URL stands for.
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

// bearerRealm matches the URL of the token server in an authentication challenge (RFC
// 6750).
var bearerRealm = lazyregexp.New(`(?i)^bearer\s.*realm="([^"]*)"`)

// check returns an error if a response leads to a private address that is not allowed:
// by its Location, which may be any port of the host of the first request, or by the
// token server of its challenge, which may be the answering host.
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

// rename replaces an allowed private address in a URL by its alias; false if the
// address is not allowed.
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

// isPrivate reports whether a host is an address of this machine, of its link or of a
// private network. A name whose last part is a number counts as an address too, in an
// old form that resolvers may still read (127.1, 0x7f000001).
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
