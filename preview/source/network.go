package source

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// explainNetwork returns an error of the network as one sentence about a peer, such as
// "registry HOST": without URLs, which may contain tokens, and without bodies, which
// may repeat them.
func explainNetwork(err error, peer string) error {
	// Of several attempts the first counts: https comes before plain http.
	if first, ok := errors.AsType[*url.Error](err); ok {
		err = first.Err
	}
	var (
		noHTTP  *plainHTTPError
		private *privateAddressError
		helper  *auth.HelperError
		unknown x509.UnknownAuthorityError
		badName x509.HostnameError
		dns     *net.DNSError
		dial    *net.OpError
		timeout net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, ErrDigestMismatch), errors.Is(err, bounded.ErrTooLarge):
		return err
	case errors.Is(err, bounded.ErrTooSlow):
		return fmt.Errorf("%s stopped sending, or sends less than %s a second; try again later, or wait longer with --request-timeout", peer, bounded.ByteCount(bounded.MinimumPace))
	case errors.As(err, &private):
		return private
	case errors.As(err, &helper):
		return helper
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s speaks plain http; --plain-http allows it", peer)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is not trusted; --ca-file adds its root", peer)
	case errors.As(err, &badName):
		return fmt.Errorf("the certificate of %s is for another name", peer)
	case errors.As(err, &dns):
		return fmt.Errorf("%s cannot be reached: no such host", peer)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s does not answer; try again later", peer)
	case errors.As(err, &dial):
		return fmt.Errorf("%s cannot be reached: %s", peer, bounded.FirstLine(dial.Err))
	case errors.As(err, &noHTTP):
		return noHTTP
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the answer of %s ends too early; try again", peer)
	}
	return fmt.Errorf("reading from %s: %s", peer, bounded.FirstLine(bounded.Innermost(err)))
}
