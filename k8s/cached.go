package k8s

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Cache keeps documents on disk between runs. It returns the bytes kept under a name, or
// nothing: it verifies that itself.
type Cache interface {
	Load(name string) (data []byte, ok bool)
	// Keep stores data. An error is ignored: then the document is read again.
	Keep(name string, data []byte)
}

// cachedTransport asks for documents that are large and seldom change, discovery and
// schemas, by the hash that the API server gave the kept one (ETag, RFC 9110 section
// 8.8.3). The server sends one that has changed, and 304 for one that has not, so that a
// kept document is never used without its word.
type cachedTransport struct {
	cache Cache
	next  http.RoundTripper
}

// MaxKept is the most bytes of a document that a [Cache] is given.
const MaxKept = 8 << 20

// maxKept is the most bytes of its body, which follows its ETag and media type.
const maxKept = MaxKept - 4<<10

func (t cachedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !keeps(r) {
		return t.next.RoundTrip(r)
	}
	name := cacheName(r)
	kept, known := t.load(name)
	if known {
		r = r.Clone(r.Context())
		r.Header.Set("If-None-Match", kept.etag)
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	etag := response.Header.Get("ETag")
	switch {
	case response.StatusCode == http.StatusNotModified && known:
		_ = response.Body.Close()
		return kept.response(response), nil
	case response.StatusCode != http.StatusOK || etag == "" || strings.HasPrefix(etag, "W/"):
		return response, nil
	}
	response.Body = &keptBody{ReadCloser: response.Body, done: func(body []byte) {
		t.cache.Keep(name, append([]byte(etag+"\n"+response.Header.Get("Content-Type")+"\n"), body...))
	}}
	return response, nil
}

// keeps reports whether the answer to a request is kept: aggregated discovery, and the
// schemas of an API version.
func keeps(r *http.Request) bool {
	if r.Method != http.MethodGet || r.Header.Get("If-None-Match") != "" {
		return false
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/api"), strings.HasSuffix(path, "/apis"):
		return r.Header.Get("Accept") == aggregatedDiscovery
	default:
		return strings.Contains(path, "/openapi/v3/")
	}
}

// cacheName returns the name for keeping the answer to a request: from the address of
// the server, the path and the media type.
func cacheName(r *http.Request) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{r.URL.Scheme, r.URL.Host, r.URL.RequestURI(), r.Header.Get("Accept")}, "\n")))
	return hex.EncodeToString(sum[:]) + ".server-1"
}

// keptDocument is a document as it is kept: its ETag and media type, a line each, and its body.
type keptDocument struct {
	etag, mediaType string
	body            []byte
}

func (t cachedTransport) load(name string) (keptDocument, bool) {
	data, ok := t.cache.Load(name)
	if !ok {
		return keptDocument{}, false
	}
	etag, rest, _ := bytes.Cut(data, []byte("\n"))
	mediaType, body, ok := bytes.Cut(rest, []byte("\n"))
	return keptDocument{string(etag), string(mediaType), body}, ok && len(etag) > 0
}

// response returns the answer with the kept body in place of one without.
func (d keptDocument) response(unmodified *http.Response) *http.Response {
	out := *unmodified
	out.StatusCode, out.Status = http.StatusOK, "200 OK"
	out.Header = unmodified.Header.Clone()
	out.Header.Set("Content-Type", d.mediaType)
	out.Header.Set("Content-Length", strconv.Itoa(len(d.body)))
	out.Header.Del("Content-Encoding")
	out.ContentLength, out.Body = int64(len(d.body)), io.NopCloser(bytes.NewReader(d.body))
	return &out
}

// keptBody collects a body while it is read, and calls done with it when it was read whole.
type keptBody struct {
	io.ReadCloser
	read bytes.Buffer
	done func([]byte)
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.read.Len() <= maxKept {
		b.read.Write(p[:n])
	}
	if err == io.EOF && b.read.Len() <= maxKept && b.done != nil {
		b.done(b.read.Bytes())
		b.done = nil
	}
	return n, err
}
