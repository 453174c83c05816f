package sandboxtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// proxyTimeout is the time limit of a request that is no watch: longer than the
// tested program waits.
const proxyTimeout = 60 * time.Second

// Request is one request of the client as the proxy sees it.
type Request struct {
	// N counts all requests from 1, Write those that persist something.
	N, Write int
	Method   string
	Path     string
	Query    url.Values
}

// Persists reports whether the request asks to change what the cluster stores.
func (r Request) Persists() bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	review := strings.HasPrefix(r.Path, "/apis/authorization.k8s.io/") || strings.HasPrefix(r.Path, "/apis/authentication.k8s.io/")
	return !review && !r.Query.Has("dryRun") && !strings.HasSuffix(r.Path, "/token")
}

// CutPoint is the point in a request where its connection breaks.
type CutPoint int

// The places. At Before the API server never hears of the request; at Answer
// it has carried it out; at Body half of the answer has arrived. Late cuts the
// connection at once, and the API server gets the request after Delay and Hold.
const (
	NoCut CutPoint = iota
	CutBefore
	CutAnswer
	CutBody
	CutLate
)

// Fault is the disturbance of one request. The zero value is none.
type Fault struct {
	Delay time.Duration   // before anything else
	Hold  <-chan struct{} // the request waits until it is closed, when not nil
	Cut   CutPoint
	// Then runs where the connection is cut, before the client notices.
	Then func()
	// Status is answered in place of the API server when not 0, with a
	// Retry-After of RetryAfter seconds when that is not 0. With a Cut at Answer
	// the API server carries the request out all the same, as behind a gateway
	// that lost its answer.
	Status, RetryAfter int
}

// ProxyOptions of [NewProxy]. The functions are called for one request at a
// time, so what they do happens between two requests.
type ProxyOptions struct {
	// Fault decides about each request before it is passed on; nil for none.
	Fault func(Request) Fault
	// Answered is called with what the API server answered, before the client is;
	// watches aside.
	Answered func(r Request, status int, body []byte)
	// HTTP2 offers HTTP/2, where a cut ends one stream of a connection that goes
	// on. Without it the client speaks HTTP/1.1, and a cut ends the connection.
	HTTP2 bool
}

// Proxy is a proxy between one user and the API server, on loopback with TLS,
// that disturbs requests as its options say. All other requests pass unchanged.
type Proxy struct {
	// Kubeconfig leads through the proxy, as the user the proxy was made for.
	Kubeconfig string

	options  ProxyOptions
	upstream *url.URL
	next     http.RoundTripper
	token    string
	server   *httptest.Server
	late     sync.WaitGroup // requests without a client

	mu       sync.Mutex
	requests int
	writes   int
}

// NewProxy starts a proxy to the API server, as the user of a kubeconfig, until
// the test ends.
func NewProxy(t testing.TB, kubeconfig string, options ProxyOptions) *Proxy {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	next, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{options: options, upstream: upstream, next: next, token: rand.Text()}
	server := httptest.NewUnstartedServer(p)
	server.EnableHTTP2 = options.HTTP2
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that went away
	server.StartTLS()
	p.server = server
	t.Cleanup(func() {
		server.CloseClientConnections() // watches
		server.Close()
	})
	if p.Kubeconfig, err = p.writeKubeconfig(t.TempDir(), server); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *Proxy) writeKubeconfig(dir string, server *httptest.Server) (string, error) {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	const name = "faults"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server.URL, CertificateAuthorityData: ca}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: p.token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	data, err := clientcmd.Write(*config)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kubeconfig")
	return path, os.WriteFile(path, data, 0o600)
}

// Requests returns how many requests came so far, and how many of those persist
// something.
func (p *Proxy) Requests() (all, writes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.writes
}

// Break closes all open connections, watches too.
func (p *Proxy) Break() { p.server.CloseClientConnections() }

// Landed waits until the API server has answered every request that was cut Late.
func (p *Proxy) Landed() { p.late.Wait() }

// sendLate forwards a request whose client is gone, after the delay of its fault.
func (p *Proxy) sendLate(in *http.Request, r Request, fault Fault) {
	p.late.Go(func() {
		time.Sleep(fault.Delay)
		if fault.Hold != nil {
			<-fault.Hold
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(in.Context()), proxyTimeout)
		defer cancel()
		response, err := p.send(ctx, in)
		if err != nil {
			return // as if the network had lost it
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); err == nil {
			p.answered(r, response.StatusCode, body)
		}
	})
}

// ServeHTTP passes one request on to the API server, or disturbs it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if in.Header.Get("Authorization") != "Bearer "+p.token {
		http.Error(w, "not the proxy's own client", http.StatusUnauthorized)
		return
	}
	// Read at once: the server notices that a client went away only then.
	body, err := io.ReadAll(in.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	in.Body = io.NopCloser(bytes.NewReader(body))
	r, fault := p.admit(in)
	if fault.Cut == CutLate {
		p.sendLate(in, r, fault)
		breakOff(fault)
	}
	if fault.Delay > 0 {
		pause := time.NewTimer(fault.Delay)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-in.Context().Done():
			return
		}
	}
	if fault.Hold != nil {
		select {
		case <-fault.Hold:
		case <-in.Context().Done():
		}
	}
	switch {
	case fault.Cut == CutBefore:
		breakOff(fault)
	case fault.Status != 0 && fault.Cut == NoCut:
		answerFault(w, fault)
		return
	case r.Query.Has("watch"):
		p.stream(w, in, fault)
		return
	}
	p.exchange(w, in, r, fault)
}

// admit counts a request and returns its fault, by the function in the options.
func (p *Proxy) admit(in *http.Request) (Request, Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	r := Request{N: p.requests, Method: in.Method, Path: in.URL.Path, Query: in.URL.Query()}
	if r.Persists() {
		p.writes++
		r.Write = p.writes
	}
	if p.options.Fault == nil {
		return r, Fault{}
	}
	return r, p.options.Fault(r)
}

// breakOff breaks the client's connection without sending another byte.
func breakOff(fault Fault) {
	if fault.Then != nil {
		fault.Then()
	}
	panic(http.ErrAbortHandler)
}

func answerFault(w http.ResponseWriter, fault Fault) {
	if fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(fault.RetryAfter))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(fault.Status)
	reason := map[int]string{
		http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden", http.StatusConflict: "Conflict", http.StatusGatewayTimeout: "Timeout",
		http.StatusTooManyRequests: "TooManyRequests", http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "ServiceUnavailable",
	}[fault.Status]
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","code":%d,"reason":%q,"message":"made up by the fault proxy","details":{"retryAfterSeconds":%d}}`,
		fault.Status, reason, fault.RetryAfter)
}

// exchange sends one request to the API server and its answer, or the fault, to the
// client. If the client goes away, the API server carries the request out nevertheless.
func (p *Proxy) exchange(w http.ResponseWriter, in *http.Request, r Request, fault Fault) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.Context()), proxyTimeout)
	defer cancel()
	response, err := p.send(ctx, in)
	if err != nil {
		panic(http.ErrAbortHandler) // as the client would see it without us
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	p.answered(r, response.StatusCode, body)
	switch {
	case fault.Cut == CutAnswer && fault.Status != 0:
		if fault.Then != nil {
			fault.Then()
		}
		answerFault(w, fault)
		return
	case fault.Cut == CutAnswer:
		breakOff(fault)
	}
	copyHeader(w.Header(), response.Header)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(response.StatusCode)
	if fault.Cut == CutBody {
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		breakOff(fault)
	}
	_, _ = w.Write(body)
}

func (p *Proxy) answered(r Request, status int, body []byte) {
	if p.options.Answered == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.Answered(r, status, body)
}

// stream passes a watch on, event by event. A cut ends the watch after the
// response header, or after the first bytes of the stream.
func (p *Proxy) stream(w http.ResponseWriter, in *http.Request, fault Fault) {
	response, err := p.send(in.Context(), in)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer response.Body.Close()
	copyHeader(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	flush := http.NewResponseController(w).Flush
	_ = flush()
	if fault.Cut == CutAnswer {
		breakOff(fault)
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := response.Body.Read(buffer)
		if _, writeErr := w.Write(buffer[:n]); writeErr != nil {
			return
		}
		_ = flush()
		if err != nil {
			return
		}
		if fault.Cut == CutBody {
			breakOff(fault)
		}
	}
}

// send sends a copy of the client's request to the API server, as the proxy's user.
func (p *Proxy) send(ctx context.Context, in *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	target := *in.URL
	target.Scheme, target.Host = p.upstream.Scheme, p.upstream.Host
	out, err := http.NewRequestWithContext(ctx, in.Method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	copyHeader(out.Header, in.Header)
	// The transport has its own credentials, and unpacks compressed responses.
	out.Header.Del("Authorization")
	out.Header.Del("Accept-Encoding")
	return p.next.RoundTrip(out)
}

// copyHeader copies a header without the fields that are about one connection
// (RFC 9110 section 7.6.1).
func copyHeader(to, from http.Header) {
	for key, values := range from {
		switch key {
		case "Connection", "Keep-Alive", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Content-Length":
		default:
			to[key] = values
		}
	}
}
