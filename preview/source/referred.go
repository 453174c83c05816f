package source

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// CheckReferred returns an error for a reference that content may not have opened: to
// files of this machine or objects of the cluster, or to a private address that is
// neither allowed nor the host that the content itself came from. from is the reference
// of the content.
func (f *Fetcher) CheckReferred(from string, to ref.Reference) error {
	if to.Local() || !slices.Contains([]ref.Kind{ref.KindImage, ref.KindGit, ref.KindChart, ref.KindArchive}, to.Kind) {
		return fmt.Errorf("reference %q: content may refer to images, git repositories, charts and archives of a server, and to nothing else", to.Text)
	}
	u := serverOf(to)
	if !isPrivate(u.Hostname()) || privateAddresses(f.options.PrivateAddresses).rename(&url.URL{Scheme: u.Scheme, Host: u.Host}) {
		return nil
	}
	if own, err := ref.Parse(from); err == nil && serverOf(own).Host == u.Host {
		return nil
	}
	return &privateAddressError{"the content", u.Host}
}

// serverOf returns scheme and host of the server that a reference names; both are empty
// if it names none.
func serverOf(r ref.Reference) *url.URL {
	if r.Image != "" {
		host, _, _ := strings.Cut(r.Image, "/")
		return &url.URL{Scheme: "https", Host: host}
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return &url.URL{}
	}
	return u
}
