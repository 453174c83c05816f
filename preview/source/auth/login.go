package auth

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Login has the credentials for one reference that a config of the user's contains.
type Login struct {
	Username, Password string
	Token              string // bearer
	GoogleKey          []byte // of a service account, JSON
	AccessKey          string // of S3
	SecretKey          string
}

// NewCredentials returns credentials that are sent to the host of a reference and
// nowhere else.
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
