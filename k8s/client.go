package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs with auth-provider: oidc
	"k8s.io/client-go/rest"

	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

const (
	// concurrency is the most requests that are in flight at once for one question, where
	// they are few. Of many, such as dry runs, package flight decides how many are. The
	// client limits no rate: the API server's priority and fairness does that.
	concurrency = 16
	// defaultTimeout is the time limit of one request: above the 30 s that an
	// admission webhook may take.
	defaultTimeout = 40 * time.Second
	dialTimeout    = 10 * time.Second
	// maxResponse is the most bytes of one response body. A full page of the
	// largest objects stays below it.
	maxResponse = 256 << 20
	// defaultPoll is the time between two reads of objects that may not be watched.
	defaultPoll = 2 * time.Second
	// defaultPatience is how long a user waits for a cluster before the message that
	// the API server does not answer.
	defaultPatience = 5 * time.Second
)

// Options are the kubeconfig, flags and limits for reaching the API server.
type Options struct {
	// Flags are the parsed command line; nil stands for kubectl's defaults.
	Flags *Flags
	// Kubeconfig names a kubeconfig file and wins over Flags when not empty.
	Kubeconfig string
	// RequestTimeout bounds one request, watches aside. It defaults to
	// --request-timeout, then to 40 s.
	RequestTimeout time.Duration
	// UserAgent names the tool to the API server and its audit log.
	UserAgent string
	// PollInterval is the time between reads of what [Client.Observe] may not watch;
	// 2 s by default.
	PollInterval time.Duration
	// ReadOnly makes a client that cannot write: in mode get it sends GETs
	// alone, in mode dry-run also dry runs and reviews of the user's own
	// access. Empty does not restrict it.
	ReadOnly preview.ReadMode
	// Cache keeps the server's discovery and schemas between runs; nil keeps nothing.
	Cache Cache
	// Writes is called before each request that may change the cluster, but for
	// Leases: those are locks, and no part of what is applied. Not when nil.
	Writes func()
	// Waiting is called when the API server has not answered after AnswerPatience (5 s by
	// default) while it is connected to, with a sentence for the user. Not when nil.
	Waiting        func(string)
	AnswerPatience time.Duration
}

// Client sends requests to one API server as one user. Its methods may be
// called concurrently.
type Client struct {
	rest      rest.Interface
	self      rest.Interface // without impersonation
	discovery *discoveryCache
	openapi   *openAPICache
	rights    *rightsCache
	// flights decides how many requests of a kind are in flight. Only requests of a client
	// with a kind are counted, see [Client.many].
	flights  *flight.Limiter
	kind     string
	readOnly preview.ReadMode
	timeout  time.Duration
	poll     time.Duration
	watches  int             // at most, of one Observe
	backoff  []time.Duration // between the attempts of a read

	server, version, context, user string
}

// Connect reads the kubeconfig and asks the API server for its version. The
// error is one sentence that says what is missing, or a [preview.Refusal] with
// reason unavailable or unauthorized.
func Connect(ctx context.Context, o Options) (*Client, error) {
	flags := o.Flags
	if flags == nil {
		flags = NewFlags()
	}
	conn, err := flags.load(o.Kubeconfig)
	if err != nil {
		return nil, err
	}
	flights := &flight.Limiter{}
	restClient, err := newRESTClient(conn.rest, o, flights)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	self := restClient
	if isImpersonating(conn.rest) {
		own := rest.CopyConfig(conn.rest)
		own.Impersonate = rest.ImpersonationConfig{}
		if self, err = newRESTClient(own, o, flights); err != nil {
			return nil, fmt.Errorf("reading the kubeconfig: %w", err)
		}
	}
	c := &Client{
		discovery: &discoveryCache{}, openapi: &openAPICache{}, rights: &rightsCache{}, flights: flights,
		rest: restClient, self: self, readOnly: o.ReadOnly, context: conn.context, user: conn.user, server: serverWithoutCredentials(conn.rest.Host),
		timeout: firstDuration(o.RequestTimeout, conn.timeout, defaultTimeout),
		poll:    firstDuration(o.PollInterval, defaultPoll), watches: maxWatches,
		backoff: []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second},
	}
	plugin := credentialPluginOf(conn.rest, c.timeout)
	if o.Waiting != nil {
		patience := firstDuration(o.AnswerPatience, defaultPatience)
		timer := time.AfterFunc(patience, func() { o.Waiting(c.unanswered(plugin, patience)) })
		defer timer.Stop()
	}
	if err := plugin.within(ctx, c.readVersion); err != nil {
		return nil, fmt.Errorf("connecting to %s: %w; check --context and --kubeconfig", c.server, err)
	}
	return c, nil
}

// unanswered returns the sentence for an API server that has not answered for a while.
func (c *Client) unanswered(plugin credentialPlugin, after time.Duration) string {
	context, why, limit := "", "is a VPN off, or is --context another one?", c.timeout
	if c.context != "" {
		context = " (context " + c.context + ")"
	}
	if plugin.name != "" {
		why, limit = "does "+plugin.name+" wait, which the kubeconfig runs to get credentials, is a VPN off, or is --context another one?", plugin.timeout
	}
	return fmt.Sprintf("no answer from %s%s for %s, waiting up to %s: %s", c.server, context, after, limit, why)
}

// isImpersonating reports whether requests are sent as another user: by --as and
// related flags, or by the kubeconfig.
func isImpersonating(config *rest.Config) bool {
	i := config.Impersonate
	return i.UserName != "" || i.UID != "" || len(i.Groups) > 0 || len(i.Extra) > 0
}

func firstDuration(list ...time.Duration) time.Duration {
	for _, d := range list {
		if d > 0 {
			return d
		}
	}
	return 0
}

func newRESTClient(config *rest.Config, o Options, flights *flight.Limiter) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0 // it would end watches too; requests carry their own
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // they are collected per request
	if o.UserAgent != "" {
		config.UserAgent = o.UserAgent
	}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return cappedTransport{flights, next} })
	if o.Cache != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return cachedTransport{o.Cache, next} })
	}
	if o.ReadOnly != "" {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnlyTransport{o.ReadOnly, next} })
	}
	if o.Writes != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return writesTransport{o.Writes, next} })
	}
	// The client decodes Status documents only; objects stay raw.
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.ContentConfig = rest.ContentConfig{
		ContentType:          runtime.ContentTypeJSON,
		AcceptContentTypes:   runtime.ContentTypeJSON,
		NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
	}
	return rest.UnversionedRESTClientFor(config)
}

func (c *Client) readVersion(ctx context.Context) error {
	data, err := c.readRaw(ctx, c.rest.Get().AbsPath("/version"))
	if preview.ReasonOf(err) == preview.ReasonForbidden {
		return nil // a cluster may hide its version
	}
	if err != nil {
		return err
	}
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return &preview.Refusal{Reason: preview.ReasonOther, Message: "what answered is not a Kubernetes API server", Err: err}
	}
	c.version = info.GitVersion
	return nil
}

// Target returns the identity of the cluster: the uid of its namespace
// kube-system. If the user may not read that, the error is forbidden, the other
// fields are returned with it, and an approval is not bound to the cluster.
func (c *Client) Target(ctx context.Context) (preview.Target, error) {
	target := preview.Target{Server: c.server, Version: c.version, Context: c.context, User: c.user}
	group, ctx := tasks.WithContext(ctx)
	group.Go(func() error {
		namespace, err := c.Get(ctx, preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: "kube-system"})
		if err != nil {
			return fmt.Errorf("identifying the cluster by namespace kube-system: %w", err)
		}
		target.Identity = preview.String(namespace, "metadata", "uid")
		if target.Identity == "" {
			return &preview.Refusal{Reason: preview.ReasonNotFound, Message: "the cluster has no namespace kube-system to identify it by"}
		}
		return nil
	})
	group.Go(func() error {
		name, groups := c.whoAmI(ctx, c.rest)
		if name != "" {
			target.User, target.Groups = name, groups
		}
		if c.self != c.rest {
			name, _ = c.whoAmI(ctx, c.self)
		}
		target.Authenticated = name
		return nil
	})
	err := group.Wait()
	if err != nil {
		target.Identity = ""
	}
	return target, err
}

// whoAmI returns this client's user and groups as the API server sees them; empty if it
// does not answer.
func (c *Client) whoAmI(ctx context.Context, as rest.Interface) (name string, groups []string) {
	if c.readOnly == preview.ReadGet {
		return "", nil // the API server is asked by POST
	}
	body := []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	data, err := c.readRaw(ctx, as.Post().AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").Body(body))
	if err != nil {
		return "", nil // the name is shown, never a Fact
	}
	var review struct {
		Status struct {
			UserInfo struct {
				Username string   `json:"username"`
				Groups   []string `json:"groups"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	if json.Unmarshal(data, &review) != nil {
		return "", nil
	}
	return review.Status.UserInfo.Username, review.Status.UserInfo.Groups
}
