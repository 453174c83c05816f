package ref

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// The object stores.
const (
	ProviderS3  = "s3" // Amazon S3 and what speaks its API
	ProviderGCS = "gs" // Google Cloud Storage
)

// Lengths in bytes, the larger of the two stores'.
const (
	minBucket, maxBucket = 3, 222
	maxKey               = 1024
	maxRegion            = 63
)

var (
	// bucketPattern matches the names of buckets in both stores ("Bucket naming rules"
	// of Amazon S3, "Bucket names" of Cloud Storage), and neither a path nor a host
	// with a port.
	bucketPattern = lazyregexp.New(`^[a-z0-9][-a-z0-9._]*[a-z0-9]$`)
	regionPattern = lazyregexp.New(`^[a-z0-9][-a-z0-9]*$`)
)

var bucketKind = sourceKind{
	kind: KindBucket, schemes: []string{ProviderS3 + "://", ProviderGCS + "://"},
	parse: func(text, scheme, rest string) (Reference, error) {
		return parseBucket(text, strings.TrimSuffix(scheme, "://"), rest)
	},
	baseName:    func(r Reference) string { return path.Base(r.Key) },
	immutable:   never,
	pinned:      asTyped,
	credentials: CredentialsNone, // credentials of the store's own tools
	content:     ContentAny,
}

// parseBucket parses BUCKET/KEY[?endpoint=URL&region=NAME]. The key is literal up
// to the "?", without escapes, as in the stores' own tools.
func parseBucket(text, provider, rest string) (Reference, error) {
	path, query, _ := strings.Cut(rest, "?")
	bucket, key, _ := strings.Cut(path, "/")
	if !isBucket(bucket) {
		return Reference{}, fmt.Errorf("reference names no bucket; write %s://BUCKET/KEY", provider)
	}
	if err := checkKey(key); err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", provider+"://"+path, err)
	}
	known := []string{"endpoint", "region"}
	if provider == ProviderGCS {
		known = known[:1]
	}
	values, err := parseQuery(query, known...)
	if err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", provider+"://"+path, err)
	}
	out := Reference{Kind: KindBucket, Text: text, Provider: provider, Bucket: bucket, Key: key, Region: values["region"]}
	if out.Region != "" && (len(out.Region) > maxRegion || !regionPattern.MatchString(out.Region)) {
		return Reference{}, fmt.Errorf("reference %q: %q is not a region", provider+"://"+path, clip(out.Region))
	}
	if endpoint, given := values["endpoint"]; given {
		if out.Endpoint, err = ParseEndpoint(endpoint); err != nil {
			return Reference{}, fmt.Errorf("reference %q: %w", provider+"://"+path, err)
		}
	}
	return out, nil
}

func isBucket(s string) bool {
	return len(s) >= minBucket && len(s) <= maxBucket && bucketPattern.MatchString(s) && !strings.Contains(s, "..")
}

func checkKey(key string) error {
	switch {
	case key == "" || strings.HasSuffix(key, "/"):
		return errors.New("name one object, an archive (tar, tar.gz, tar.zst, zip); a prefix is not read")
	case len(key) > maxKey:
		return fmt.Errorf("the key has %d bytes; at most %d are read", len(key), maxKey)
	case strings.Contains(key, "#"):
		return errors.New("the key holds a \"#\"; name the object without it")
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			// Clients and proxies clean such paths, each in its own way.
			return errors.New("the key holds an empty part, \".\" or \"..\"")
		}
	}
	return nil
}

// ParseEndpoint parses the address of a store's API, http[s]://HOST[:PORT]. A path or
// credentials are an error. Errors do not repeat the text, which may contain a
// credential.
func ParseEndpoint(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || !hostPattern.MatchString(u.Host):
		return "", errors.New("an endpoint is https://HOST[:PORT]")
	case u.User != nil:
		return "", errors.New("the endpoint carries credentials; leave them out: they come from the environment")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("an endpoint is https://HOST[:PORT], without a path")
	}
	return u.Scheme + "://" + u.Host, nil
}
