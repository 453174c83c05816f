package auth

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

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
