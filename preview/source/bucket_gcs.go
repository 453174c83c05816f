package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
)

const (
	gcsEndpoint = "https://storage.googleapis.com"
	gcsScope    = "https://www.googleapis.com/auth/devstorage.read_only"
)

// openGCS requests an object by the JSON API ("Objects: get", alt=media), with the
// Application Default Credentials or, without any, as the public. Google's token is
// sent only to hosts of Google: another endpoint is part of the reference, whose author
// must not get it.
func openGCS(ctx context.Context, client *http.Client, r ref.Reference, given *auth.Credentials) (*storedObject, error) {
	endpoint, err := gcsEndpointOf(r, os.Getenv("STORAGE_EMULATOR_HOST"))
	if err != nil {
		return nil, err
	}
	address := endpoint + "/storage/v1/b/" + url.PathEscape(r.Bucket) + "/o/" + url.PathEscape(r.Key) + "?alt=media"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the key cannot be part of a URL")
	}
	// With this the store sends the bytes as they are stored, and no proxy
	// unpacks them on the way ("Transcoding of gzip-compressed files").
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("User-Agent", "kubectl-operator")
	login := "Google's credentials are sent to its own hosts only"
	if isGoogle(request.URL) {
		if login, err = authorizeGCS(ctx, client, request, given); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		answer, err := client.Do(request)
		if err != nil {
			return nil, explainNetwork(err, storeOf(r))
		}
		if answer.StatusCode == http.StatusOK {
			return &storedObject{answer.Body, answer.ContentLength}, nil
		}
		_ = answer.Body.Close()
		why := storeStatus(r, answer.StatusCode, "", login)
		if !isBusy(answer.StatusCode) || attempt == webAttempts {
			return nil, why
		}
		if err := backOff(ctx, attempt, retryAfter(answer, time.Now()), why); err != nil {
			return nil, err
		}
	}
}

// gcsEndpointOf returns the URL for requests: the reference's endpoint, else the
// emulator that the environment variable of Google's SDKs names, else Google's.
func gcsEndpointOf(r ref.Reference, emulator string) (string, error) {
	switch {
	case r.Endpoint != "":
		return r.Endpoint, nil
	case emulator == "":
		return gcsEndpoint, nil
	case !strings.Contains(emulator, "://"):
		emulator = "http://" + emulator // as the SDKs read it
	}
	endpoint, err := ref.ParseEndpoint(emulator)
	if err != nil {
		return "", fmt.Errorf("reading STORAGE_EMULATOR_HOST: %w", err)
	}
	return endpoint, nil
}

func isGoogle(u *url.URL) bool {
	return u.Scheme == "https" && strings.HasSuffix(u.Hostname(), ".googleapis.com")
}

// authorizeGCS adds a token to a request if there are credentials, and returns advice
// for the case that the store refuses.
func authorizeGCS(ctx context.Context, client *http.Client, request *http.Request, given *auth.Credentials) (string, error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	if key := given.GoogleKey(); key != nil {
		return "check the key of the service account", authorizeServiceAccount(ctx, request, key)
	}
	credentials, err := google.FindDefaultCredentials(ctx, gcsScope)
	if err != nil {
		return "no Google credentials were found; \"gcloud auth application-default login\" makes some", ctx.Err()
	}
	token, err := credentials.TokenSource.Token()
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		// The cause is left out: it quotes the answer.
		return "", errors.New("the Google credentials give no token; \"gcloud auth application-default login\" renews them")
	}
	token.SetAuthHeader(request)
	return "check the Google credentials", nil
}

// authorizeServiceAccount adds a token to a request, for the key of a service account.
// Other kinds of keys are refused, since they may name programs to run, and so is a key
// whose token server is not Google's.
func authorizeServiceAccount(ctx context.Context, request *http.Request, key []byte) error {
	settings, err := google.JWTConfigFromJSON(key, gcsScope)
	if err != nil {
		return errors.New("the key is not a service account key")
	}
	if u, err := url.Parse(settings.TokenURL); err != nil || !isGoogle(u) {
		return errors.New("the key of the service account names a token server that is not Google's")
	}
	token, err := settings.TokenSource(ctx).Token()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.New("Google gives no token for the key of the service account; it may have been revoked")
	}
	token.SetAuthHeader(request)
	return nil
}
