package plugins

import (
	"net/url"
	"path"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// getterName returns the last path element of a go-getter source without its query: the
// name of the plugin, and of its file if the artifact is one file.
func getterName(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return path.Base(strings.TrimRight(text, "/"))
}

// getter parses a go-getter source, FORCED::ADDRESS//SUBDIR?checksum=…, into an
// artifact. A source that is not supported fails the field item, and ok is false.
func (p *parser) getter(item field, text string) (Artifact, bool) {
	forced, rest, ok := strings.Cut(text, "::")
	if !ok {
		forced, rest = "", text
	}
	var a Artifact
	address, options, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(options)
	if err != nil {
		item.Fail("what follows \"?\" cannot be read")
		return a, false
	}
	if sum := values.Get("checksum"); sum != "" {
		digits, ok := strings.CutPrefix(sum, "sha256:")
		if a.SHA256 = "sha256:" + digits; !ok || !ref.IsDigest(a.SHA256) {
			item.Fail("its checksum is not sha256: and 64 lower-case hexadecimal digits")
			return a, false
		}
		values.Del("checksum")
	}
	scheme, tail, remote := strings.Cut(address, "://")
	if remote {
		address = scheme + "://" + tail
	}
	if head, sub, found := strings.Cut(tail, "//"); remote && found {
		address, a.Pick = scheme+"://"+head, strings.Trim(sub, "/")
	}
	switch {
	case forced == "git":
		return p.gitGetter(a, item, address, values)
	case forced == "s3" || forced == "gcs":
		return p.bucketGetter(a, item, forced, address, values)
	case forced != "" && forced != "http" && forced != "https" && forced != "file":
		item.Fail("%s:: is not read; git::, s3:: and gcs:: are", clip(forced))
		return a, false
	case remote && scheme == "file":
		return p.local(a, item, tail), true
	case remote && strings.HasSuffix(address, ".git"):
		return p.gitGetter(a, item, address, values)
	case remote:
		return p.reference(a, item, address+encodeQuery(values)), true
	case strings.HasPrefix(rest, "github.com/") || strings.HasPrefix(rest, "gitlab.com/") || strings.HasPrefix(rest, "bitbucket.org/"):
		return p.shortGit(a, item, address, values)
	}
	return p.local(a, item, address), true
}

// shortGit parses HOST/ORG/REPO[//SUBDIR], which go-getter takes for a git repository.
func (p *parser) shortGit(a Artifact, item field, address string, values url.Values) (Artifact, bool) {
	if head, sub, found := strings.Cut(address, "//"); found {
		address, a.Pick = head, strings.Trim(sub, "/")
	}
	return p.gitGetter(a, item, "https://"+address, values)
}

func (p *parser) gitGetter(a Artifact, item field, address string, values url.Values) (Artifact, bool) {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	gitRef := values.Get("ref")
	values.Del("ref")
	values.Del("depth") // how much is fetched, not what
	if len(values) > 0 {
		item.Fail("a git source takes ref, depth and checksum, nothing else")
		return a, false
	}
	return p.reference(a, item, gitText(address, "", gitRef)), true
}

// bucketGetter parses go-getter's addresses of objects in S3 and Google Cloud Storage:
// https://s3[-REGION].amazonaws.com/BUCKET/KEY and
// https://www.googleapis.com/storage/v1/BUCKET/KEY.
func (p *parser) bucketGetter(a Artifact, item field, forced, address string, values url.Values) (Artifact, bool) {
	u, err := url.Parse(address)
	if err != nil {
		item.Fail("it is not an address")
		return a, false
	}
	if forced == "gcs" {
		key, ok := strings.CutPrefix(u.Path, "/storage/v1/")
		if u.Host != "www.googleapis.com" || !ok {
			item.Fail("a gcs:: source is https://www.googleapis.com/storage/v1/BUCKET/KEY")
			return a, false
		}
		return p.reference(a, item, "gs://"+key), true
	}
	for name := range values {
		if name != "region" { // keys and tokens, which ref refuses for every other source too
			item.Fail("%s is not taken from an address; credentials come from the environment", clip(name))
			return a, false
		}
	}
	region := values.Get("region")
	host := u.Host
	if strings.HasSuffix(host, ".amazonaws.com") {
		name := strings.TrimSuffix(host, ".amazonaws.com")
		if after, ok := strings.CutPrefix(name, "s3-"); ok {
			region = after
		} else if after, ok := strings.CutPrefix(name, "s3."); ok {
			region = after
		} else if name != "s3" {
			item.Fail("an s3:: source is https://s3.amazonaws.com/BUCKET/KEY")
			return a, false
		}
		return p.reference(a, item, "s3:/"+u.Path+query("region", region)), true
	}
	return p.reference(a, item, "s3:/"+u.Path+query("endpoint", u.Scheme+"://"+host, "region", region)), true
}

func encodeQuery(values url.Values) string {
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}
