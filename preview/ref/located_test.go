package ref

import (
	"strings"
	"testing"
)

func TestParseReadsObjectsOfAClusterAndOfStores(t *testing.T) {
	tests := []parsed{
		{"configmap://team-a/bundle.v1", Reference{Kind: KindConfigMap, Namespace: "team-a", Name: "bundle.v1"}},
		{
			"s3://bundles/a b/100%25+x.tgz?region=eu-west-1&endpoint=https://minio.example.com:9000/",
			Reference{
				Kind: KindBucket, Provider: ProviderS3, Bucket: "bundles", Key: "a b/100%25+x.tgz",
				Region: "eu-west-1", Endpoint: "https://minio.example.com:9000",
			},
		},
		{"s3://b.c-d/x.zip?endpoint=http%3A%2F%2F127.0.0.1%3A9000", Reference{Kind: KindBucket, Provider: ProviderS3, Bucket: "b.c-d", Key: "x.zip", Endpoint: "http://127.0.0.1:9000"}},
		{"gs://my_bucket/x.tar.zst", Reference{Kind: KindBucket, Provider: ProviderGCS, Bucket: "my_bucket", Key: "x.tar.zst"}},
		{"chart+https://example.com/cert-manager", Reference{Kind: KindChart, URL: "https://example.com", Name: "cert-manager"}},
		{"chart+https://example.com:8443/a/b/x?version=>=1.8 <2", Reference{Kind: KindChart, URL: "https://example.com:8443/a/b", Name: "x", Version: ">=1.8 <2"}},
		{"chart+https://example.com/x?version=1.2.3+4", Reference{Kind: KindChart, URL: "https://example.com", Name: "x", Version: "1.2.3+4"}},
		{"chart+https://example.com/x?version=%3E%3D1", Reference{Kind: KindChart, URL: "https://example.com", Name: "x", Version: ">=1"}},
	}
	wantParsed(t, tests)
}

func TestParseRefusesObjectsOfAClusterAndOfStores(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a ConfigMap without a namespace", "configmap://name", "configmap://NAMESPACE/NAME"},
		{"a ConfigMap with a key", "configmap://ns/name/key", "configmap://NAMESPACE/NAME"},
		{"a namespace with a dot", "configmap://a.b/name", "configmap://NAMESPACE/NAME"},
		{"a ConfigMap with a parameter", "configmap://ns/name?x=1", "configmap://NAMESPACE/NAME"},
		{"a bucket without a key", "s3://bucket", "name one object"},
		{"a prefix", "s3://bucket/dir/", "a prefix is not read"},
		{"a bucket with a port", "s3://bucket:80/key", "names no bucket"},
		{"a bucket in capitals", "gs://Bucket/key", "names no bucket"},
		{"a bucket with two dots", "s3://a..b/key", "names no bucket"},
		{"a key that climbs", "s3://bucket/a/../key", `".."`},
		{"a key with an empty part", "s3://bucket//key", "empty part"},
		{"a fragment", "s3://bucket/key#sha256=00", `"#"`},
		{"an endless key", "s3://bucket/" + strings.Repeat("k", 1025), "at most 1024"},
		{"an unknown parameter", "s3://bucket/key?regoin=x", "endpoint, region"},
		{"a region of a store without regions", "gs://bucket/key?region=x", "known are: endpoint"},
		{"a parameter twice", "s3://bucket/key?region=a&region=b", "given twice"},
		{"an empty parameter", "s3://bucket/key?region=", "has no value"},
		{"a region with a slash", "s3://bucket/key?region=a/b", "not a region"},
		{"an endpoint without a scheme", "s3://bucket/key?endpoint=minio:9000", "https://HOST"},
		{"an endpoint that is a file", "s3://bucket/key?endpoint=file:///etc", "https://HOST"},
		{"an endpoint with a path", "s3://bucket/key?endpoint=https://h/x", "without a path"},
		{"a chart repository without a chart", "chart+https://example.com", "chart+https://HOST/REPO/NAME"},
		{"a chart with a slash at the end", "chart+https://example.com/x/", "no empty part"},
		{"a chart path that climbs", "chart+https://example.com/%2e%2e/x", "no empty part"},
		{"a chart with an odd name", "chart+https://example.com/-x", "not the name of a chart"},
		{"a chart with a broken range", "chart+https://example.com/x?version=>>1", "not a version range"},
		{"a chart with a control character in its range", "chart+https://example.com/x?version=1%0a", "none that can be read"},
		{"a chart with a fragment", "chart+https://example.com/x#y", "HOST/REPO/NAME"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestErrorsNeverRepeatParametersOrUsers(t *testing.T) {
	for _, text := range []string{
		"s3://bucket/key?X-Amz-Signature=hunter2",
		"s3://bucket/key?endpoint=https://user:hunter2@example.com",
		"s3://bucket/key?endpoint=hunter2",
		"s3://hunter2@bucket/key",
		"chart+https://hunter2@example.com/x",
		"chart+https://example.com/x?token=hunter2",
	} {
		_, err := Parse(text)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

// FuzzParseStores holds what sources of buckets and charts rely on.
func FuzzParseStores(f *testing.F) {
	f.Add("s3://bucket/a/key.tgz?endpoint=https://h:1&region=eu-1")
	f.Add("gs://bucket/key")
	f.Add("chart+https://h/r/x?version=>=1 <2")
	f.Add("configmap://ns/name")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if err != nil {
			return
		}
		switch got.Kind {
		case KindBucket:
			if !isBucket(got.Bucket) || checkKey(got.Key) != nil {
				t.Errorf("Parse(%q) = %+v", text, got)
			}
			if got.Endpoint != "" {
				if again, err := ParseEndpoint(got.Endpoint); err != nil || again != got.Endpoint {
					t.Errorf("endpoint of %q: %q, %v", text, again, err)
				}
			}
		case KindChart:
			if !isChart(got.Name) || !strings.HasPrefix(got.URL, "https://") || strings.HasSuffix(got.URL, "/") {
				t.Errorf("Parse(%q) = %+v", text, got)
			}
		case KindConfigMap:
			if !isLabel(got.Namespace) || !IsName(got.Name) {
				t.Errorf("Parse(%q) = %+v", text, got)
			}
		}
	})
}
