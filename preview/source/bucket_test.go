package source_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// tlsServer serves a handler and returns options that trust it alone.
func tlsServer(t testing.TB, handler http.Handler) (*httptest.Server, source.Options) {
	t.Helper()
	server, caFile := sourcetest.HTTPS(t, handler)
	return server, source.Options{CacheDir: t.TempDir(), CAFile: caFile}
}

// awsEnvironment keeps the machine's own AWS configuration out of a test.
func awsEnvironment(t *testing.T, variables ...string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_MAX_ATTEMPTS": "1", "STORAGE_EMULATOR_HOST": "",
	} {
		t.Setenv(name, value)
	}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
}

var awsKeys = []string{"AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=hunter2"}

// s3Server starts gofakes3 with one bucket, "bundles".
func s3Server(t testing.TB, front ...func(http.Handler) http.Handler) (*httptest.Server, source.Options) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bundles"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend).Server()
	for _, f := range front {
		handler = f(handler)
	}
	return tlsServer(t, handler)
}

// putObject uploads as a client does: objects seeded in the backend lack headers that
// real objects have.
func putObject(t testing.TB, server *httptest.Server, path string, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("PUT %s: %s", path, response.Status)
	}
}

func bundleTar(t testing.TB, text string) []byte {
	return sourcetest.Tar(t, sourcetest.File("manifests/csv.yaml", text), sourcetest.File("metadata/annotations.yaml", "annotations: {}\n"))
}

func TestAnS3ObjectIsPinnedByItsBytesAndOpensAgainOffline(t *testing.T) {
	awsEnvironment(t, awsKeys...)
	var signed atomic.Int32
	server, o := s3Server(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIATEST/") &&
				strings.Contains(r.Header.Get("Authorization"), "/eu-west-7/s3/") {
				signed.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})
	archive := bundleTar(t, "kind: ClusterServiceVersion\n")
	putObject(t, server, "/bundles/team a/mongodb.tar", archive)
	var last source.Progress
	o.Progress = func(p source.Progress) { last = p }

	text := "s3://bundles/team a/mongodb.tar?region=eu-west-7&endpoint=" + server.URL
	pin, content, err := get(t.Context(), o, text)
	if err != nil {
		t.Fatal(err)
	}
	if pin.Source.Digest != sha256Of(archive) || pin.Source.Kind != "bucket" || content.Source != pin.Source {
		t.Errorf("pin %+v, want the sha256 of the archive", pin.Source)
	}
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
	if signed.Load() != 1 {
		t.Errorf("%d signed requests, want one", signed.Load())
	}
	if last.Done != int64(len(archive)) || last.Total != last.Done {
		t.Errorf("progress ended at %+v", last)
	}

	server.Close()
	o.Offline = true
	again, content, err := get(t.Context(), o, text)
	if err != nil {
		t.Fatal(err)
	}
	if again.Source != pin.Source {
		t.Errorf("offline it is %+v, was %+v", again.Source, pin.Source)
	}
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")

	o.CacheDir = t.TempDir()
	_, _, err = get(t.Context(), o, text)
	mustFail(t, err, "is not in the cache")
	if !errors.Is(err, source.ErrNotCached) {
		t.Errorf("%v is not an ErrNotCached", err)
	}
}

func TestAnObjectThatChangesBetweenPinAndOpenIsRefused(t *testing.T) {
	awsEnvironment(t, awsKeys...)
	server, o := s3Server(t)
	putObject(t, server, "/bundles/x.tar", bundleTar(t, "first"))
	text := "s3://bundles/x.tar?endpoint=" + server.URL
	pin, _, err := get(t.Context(), o, text)
	if err != nil {
		t.Fatal(err)
	}
	putObject(t, server, "/bundles/x.tar", bundleTar(t, "second"))
	content, err := source.New(o).Open(t.Context(), pin)
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t, content.FS)["manifests/csv.yaml"]; got != "first" {
		t.Errorf("the cache answered %q", got)
	}
	o.CacheDir = t.TempDir()
	_, err = source.New(o).Open(t.Context(), pin)
	if !errors.Is(err, source.ErrDigestMismatch) {
		t.Errorf("got %v, want a digest mismatch", err)
	}
}

func TestTheEndpointAndRegionMayComeFromTheEnvironment(t *testing.T) {
	server, o := s3Server(t)
	awsEnvironment(t, append(awsKeys, "AWS_ENDPOINT_URL_S3="+server.URL, "AWS_REGION=eu-1")...)
	putObject(t, server, "/bundles/x.tar", bundleTar(t, "x"))
	if _, _, err := get(t.Context(), o, "s3://bundles/x.tar"); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutCredentialsAnObjectIsAskedForAsThePublicMay(t *testing.T) {
	awsEnvironment(t)
	var authorized atomic.Bool
	server, o := s3Server(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			authorized.Store(r.Header.Get("Authorization") != "")
			next.ServeHTTP(w, r)
		})
	})
	putObject(t, server, "/bundles/x.tar", bundleTar(t, "x"))
	if _, _, err := get(t.Context(), o, "s3://bundles/x.tar?endpoint="+server.URL); err != nil {
		t.Fatal(err)
	}
	if authorized.Load() {
		t.Error("the request was signed")
	}
}

// s3Answer is a store that answers everything with one error.
func s3Answer(status int, code string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>no, AKIATEST hunter2</Message></Error>")
	})
}

func TestWhatAStoreAnswersBecomesOneSentence(t *testing.T) {
	awsEnvironment(t, awsKeys...)
	elsewhere, _ := tlsServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed, with %q", r.Header.Get("Authorization"))
	}))
	tests := []struct {
		name    string
		handler http.Handler
		s3, gs  string // parts of the error; empty where the answer is one of the other store alone
	}{
		{"no such key", s3Answer(404, "NoSuchKey"), "does not have it (404", "does not have it (404)"},
		{"no such bucket", s3Answer(404, "NoSuchBucket"), "NoSuchBucket", ""},
		{"an expired token", s3Answer(400, "ExpiredToken"), "ExpiredToken", ""},
		{"no access", s3Answer(403, "AccessDenied"), "check the AWS credentials", "own hosts only"},
		{"too many requests", s3Answer(503, "SlowDown"), "try again later", "try again later"},
		{"another region", s3Answer(301, "PermanentRedirect", "X-Amz-Bucket-Region", "ap-south-1"), "add ?region=ap-south-1", ""},
		{"another region in hostile words", s3Answer(301, "PermanentRedirect", "X-Amz-Bucket-Region", "x;rm -rf"), "points elsewhere", ""},
		{"a redirect", s3Answer(307, "TemporaryRedirect", "Location", elsewhere.URL+"/x"), "points elsewhere", "points elsewhere"},
		{"an error in the store", s3Answer(500, "InternalError"), "answered 500", "answered 500"},
		{"an error that is no XML", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hunter2", http.StatusBadGateway) }), "502", "502"},
		{"bytes that are no archive", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte("hunter2 "), 200))
		}), "neither a tar archive", "neither a tar archive"},
		{"a claim of 10 GB", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(10<<30))
			_, _ = w.Write(make([]byte, 512))
		}), "it has 10 GiB", "it has 10 GiB"},
		{"a body that breaks off", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4096")
			_, _ = w.Write(make([]byte, 512))
		}), "ends too early", "ends too early"},
	}
	for _, test := range tests {
		for provider, want := range map[string]string{"s3": test.s3, "gs": test.gs} {
			if want == "" {
				continue
			}
			t.Run(provider+", "+test.name, func(t *testing.T) {
				t.Parallel() // a store that has no time is asked again
				server, o := tlsServer(t, test.handler)
				_, _, err := get(t.Context(), o, provider+"://bundles/x.tar?endpoint="+server.URL)
				mustFail(t, err, want)
				if strings.Contains(err.Error(), "hunter2") {
					t.Errorf("the error repeats the answer: %v", err)
				}
			})
		}
	}
}

func TestAStoreIsNotReadOverPlainHTTPUnlessToldTo(t *testing.T) {
	awsEnvironment(t, awsKeys...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bundleTar(t, "x"))
	}))
	t.Cleanup(server.Close)
	for _, text := range []string{"s3://bundles/x.tar?endpoint=" + server.URL, "gs://bundles/x.tar?endpoint=" + server.URL} {
		_, _, err := get(t.Context(), source.Options{CacheDir: t.TempDir()}, text)
		mustFail(t, err, "--plain-http allows it")
		if _, _, err := get(t.Context(), source.Options{CacheDir: t.TempDir(), PlainHTTP: true}, text); err != nil {
			t.Error(err)
		}
	}
}

func TestACancelledDownloadStops(t *testing.T) {
	awsEnvironment(t, awsKeys...)
	ctx, cancel := cancelled(t)
	server, o := tlsServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write(make([]byte, 4096))
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	_, _, err := get(ctx, o, "s3://bundles/x.tar?endpoint="+server.URL)
	mustFail(t, err, "context canceled")
}

func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

func sha256Of(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
