package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
)

// s3Region is the region in signatures if none is configured; stores other than
// Amazon's accept any.
const s3Region = "us-east-1"

// openS3 requests an object with the credentials, region and endpoint that the AWS SDK
// finds: environment variables, shared files, single sign-on, web identity, the
// machine's role. Objects are read through client; only the machine's metadata service,
// which has no TLS, is contacted by the SDK itself.
func openS3(ctx context.Context, client *http.Client, r ref.Reference, given *auth.Credentials) (*storedObject, error) {
	load := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if r.Region != "" {
		load = append(load, config.WithRegion(r.Region))
	}
	settings, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		// The cause is left out: it may quote the files.
		return nil, errors.New("the AWS environment variables and configuration files cannot be read together; check them with the AWS command line")
	}
	// Without credentials an object is asked for as the public may.
	login := "check the AWS credentials"
	credentials := settings.Credentials
	if given.HasS3Key() {
		credentials = given
	}
	if _, err := credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		login, credentials = "no AWS credentials were found, or none that can be used now", aws.AnonymousCredentials{}
	}
	service := s3.NewFromConfig(settings, func(o *s3.Options) {
		o.HTTPClient = client
		o.Credentials = credentials
		o.DisableLogOutputChecksumValidationSkipped = true
		if r.Endpoint != "" {
			o.BaseEndpoint = aws.String(r.Endpoint)
		}
		// Other stores seldom have a host name for each bucket.
		o.UsePathStyle = o.BaseEndpoint != nil
		if o.Region == "" {
			o.Region = s3Region
		}
	})
	out, err := service.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(r.Bucket), Key: aws.String(r.Key)})
	if err != nil {
		return nil, explainS3(err, r, login)
	}
	size := int64(-1)
	if out.ContentLength != nil {
		size = *out.ContentLength
	}
	return &storedObject{out.Body, size}, nil
}

// explainS3 returns an error of the SDK as one sentence. login is advice about
// credentials.
func explainS3(err error, r ref.Reference, login string) error {
	var (
		answer *smithyhttp.ResponseError
		api    smithy.APIError
	)
	if !errors.As(err, &answer) || answer.Response == nil || answer.HTTPStatusCode() == 0 {
		return explainNetwork(err, storeOf(r))
	}
	code := ""
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	region := answer.Response.Header.Get("X-Amz-Bucket-Region")
	elsewhere := code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed" || answer.HTTPStatusCode() == http.StatusMovedPermanently
	if elsewhere && isRegion(region) {
		return fmt.Errorf("%s is in region %s; add ?region=%s", storeOf(r), region, region)
	}
	return storeStatus(r, answer.HTTPStatusCode(), code, login)
}

// isRegion reports whether a text looks like the name of a region and can be shown in
// advice.
func isRegion(s string) bool {
	ok, err := regexp.MatchString(`^[a-z0-9-]{1,40}$`, s)
	return err == nil && ok
}
