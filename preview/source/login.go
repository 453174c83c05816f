package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/oauth2/google"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Login holds the credentials that the user's own config has for one reference.
type Login struct {
	Username, Password string
	Token              string // bearer
	GoogleKey          []byte // of a service account, JSON
	AccessKey          string // of S3
	SecretKey          string
}

// NewCredentials makes credentials of a login, for one reference. They go to
// its host and nowhere else.
func NewCredentials(l Login, r ref.Reference) *Credentials {
	return &Credentials{
		secret: "the config", host: hostOf(r), username: l.Username, password: l.Password, token: l.Token,
		google: l.GoogleKey, accessKey: l.AccessKey, secretKey: l.SecretKey,
	}
}

// Retrieve implements [aws.CredentialsProvider].
func (c *Credentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: c.accessKey, SecretAccessKey: c.secretKey, Source: "the config"}, nil
}

// authorizeGoogle adds a token for the key of a service account. Other kinds of
// Google's keys are refused, since they may name programs to run, and a key's
// token server has to be Google's.
func (c *Credentials) authorizeGoogle(ctx context.Context, request *http.Request) error {
	settings, err := google.JWTConfigFromJSON(c.google, gcsScope)
	if err != nil {
		return errors.New("the key is not that of a service account")
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

// pipedPluginLayer is the media type of the one file that a plugin of PipeCD is
// in a registry.
const pipedPluginLayer = "application/vnd.pipecd.piped.plugin"

// pipedPlugin reads the file of a plugin of PipeCD. piped would put several
// layers one behind the other, which is never meant.
func (s imageReader) pipedPlugin(ctx context.Context, from blobReader, p Pin, layers []v1.Descriptor) (*Content, error) {
	if len(layers) != 1 {
		return nil, fmt.Errorf("it has %d layers; a plugin has one", len(layers))
	}
	if err := s.fetchLayers(ctx, from, p.Reference.Text, layers); err != nil {
		return nil, err
	}
	data, err := s.cache.read(layers[0].Digest.String(), s.limits.layerBytes)
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", layers[0].Digest, err)
	}
	return &Content{FS: plainTree(data, 0o755).freeze(), Source: p.Source, Plain: true}, nil
}
