package k8s

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

const (
	// maxEvent is the most bytes of one watch event; objects are far smaller.
	maxEvent = 16 << 20
	// watchTime is the timeout that each watch asks the API server for.
	watchTime = 5 * time.Minute
	// reconnect is the pause before a watch that ended is opened again.
	reconnect = 200 * time.Millisecond
	// maxWatches is the most watches of one Observe; the server keeps each open. Objects
	// beyond are read at intervals.
	maxWatches = 64
	// restFor is the pause between two rounds of reads, in multiples of the time
	// that a round took, so that many objects are not read without a pause.
	restFor = 4
)

// Observe reports each object of refs now and after every change, until ctx ends:
// its body, nil if it does not exist, or why it cannot be read, which a later
// report may correct. Reports come one at a time. Objects that may not be watched,
// and those beyond [maxWatches], are read at intervals. It returns nil when ctx
// ends, and an error before only if the API server no longer accepts the user.
func (c *Client) Observe(ctx context.Context, refs []preview.Ref, each func(ref preview.Ref, body map[string]any, err error)) error {
	var mu sync.Mutex
	report := func(ref preview.Ref, body map[string]any, err error) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			each(ref, body, err)
		}
	}
	group, watchCtx := tasks.WithContext(ctx)
	for i, w := range newObservers(c, refs, report) {
		follow := w.run
		if i >= c.watches {
			follow = w.poll
		}
		group.Go(func() error { return follow(watchCtx) })
	}
	return group.Wait()
}

// observer reports the objects of one kind in one namespace.
type observer struct {
	c      *Client
	key    batchKey
	refs   map[string]preview.Ref // by name
	report func(preview.Ref, map[string]any, error)
}

// newObservers groups refs so that one watch serves each kind and namespace.
// Secrets are watched one by one, by name, so that no other Secret is read.
func newObservers(c *Client, refs []preview.Ref, report func(preview.Ref, map[string]any, error)) []*observer {
	type groupKey struct {
		batchKey
		name string
	}
	byKey := map[groupKey]*observer{}
	var list []*observer
	for _, ref := range refs {
		key := groupKey{batchKey: batchKey{typeKey{ref.APIVersion, ref.Kind}, ref.Namespace}}
		if key.isSecret() {
			key.name = ref.Name
		}
		w := byKey[key]
		if w == nil {
			w = &observer{c: c, key: key.batchKey, refs: map[string]preview.Ref{}, report: report}
			byKey[key] = w
			list = append(list, w)
		}
		w.refs[ref.Name] = ref
	}
	return list
}

// run reports the objects by watches until ctx ends, or by reads if they may
// not be watched.
func (w *observer) run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := w.listAndWatch(ctx)
		switch preview.ReasonOf(err) {
		case "":
			sleep(ctx, reconnect)
			continue
		case preview.ReasonUnauthorized:
			return err
		case preview.ReasonForbidden, preview.ReasonOther:
			return w.poll(ctx) // other: the resource cannot be listed or watched
		}
		w.reportAll(nil, err)
		sleep(ctx, w.c.poll)
	}
	return nil
}

// poll reads every object at intervals and reports it.
func (w *observer) poll(ctx context.Context) error {
	names := w.names()
	refs := make([]preview.Ref, len(names))
	for i, name := range names {
		refs[i] = w.refs[name]
	}
	for {
		begun := time.Now()
		for _, read := range w.c.Read(ctx, refs) {
			if preview.ReasonOf(read.Err) == preview.ReasonUnauthorized {
				return read.Err
			}
			w.report(read.Ref, read.Body, read.Err)
		}
		if !sleep(ctx, max(w.c.poll, restFor*time.Since(begun))) {
			return nil
		}
	}
}

func (w *observer) reportAll(bodies map[string]map[string]any, err error) {
	for _, name := range w.names() {
		w.report(w.refs[name], bodies[name], err)
	}
}

func (w *observer) names() []string { return slices.Sorted(maps.Keys(w.refs)) }

// listAndWatch reports the objects as listed, then every change. It returns nil
// if the list has to be read again.
func (w *observer) listAndWatch(ctx context.Context) error {
	res, err := w.c.lookup(ctx, w.key.apiVersion, w.key.kind)
	if err != nil {
		return err
	}
	if res.namespaced != (w.key.namespace != "") {
		return &preview.Refusal{Reason: preview.ReasonOther, Message: "the scope does not fit"}
	}
	params := w.selector()
	bodies := map[string]map[string]any{}
	version := ""
	err = w.c.pages(ctx, res, w.key.namespace, params, func(page listPage) bool {
		version = page.resourceVersion
		for _, body := range page.items {
			name := preview.String(body, "metadata", "name")
			if _, ours := w.refs[name]; ours {
				setType(body, w.key.apiVersion, w.key.kind)
				bodies[name] = body
			}
		}
		return true
	})
	if isExpired(err) {
		return nil
	}
	if err != nil {
		return err
	}
	w.reportAll(bodies, nil)
	for ctx.Err() == nil {
		next, err := w.watch(ctx, w.watchRequest(res, params, version), version)
		if err != nil || next == "" {
			return err
		}
		version = next
		sleep(ctx, reconnect)
	}
	return nil
}

// selector returns the query parameter that selects the observed object by
// name; nil if there are several.
func (w *observer) selector() map[string]string {
	if len(w.refs) != 1 {
		return nil
	}
	for name := range w.refs {
		return map[string]string{"fieldSelector": "metadata.name=" + name}
	}
	return nil
}

func (w *observer) watchRequest(res resource, params map[string]string, version string) *rest.Request {
	r := w.c.collection(res, w.key.namespace).
		Param("watch", "1").
		Param("allowWatchBookmarks", "true").
		Param("timeoutSeconds", fmt.Sprint(int(watchTime.Seconds()))).
		Param("resourceVersion", version)
	for key, value := range params {
		r = r.Param(key, value)
	}
	return r
}

// watch reports events until the stream ends. It returns the resourceVersion to watch
// from, empty if the server has none that is recent enough.
func (w *observer) watch(ctx context.Context, r *rest.Request, from string) (version string, err error) {
	stream, err := r.MaxRetries(0).Stream(ctx)
	if err != nil {
		if isExpired(err) {
			return "", nil
		}
		return "", classify(err)
	}
	defer stream.Close()
	version = from
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	for lines.Scan() {
		next, err := w.event(lines.Bytes())
		if err != nil || next == "" {
			return "", err
		}
		version = next
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return "", nil // going on from here would meet the same event again
	}
	// A stream that broke is opened again; missed events come then.
	return version, nil
}

// event reports the object in one watch event and returns its resourceVersion,
// empty if the objects must be listed again.
func (w *observer) event(line []byte) (version string, err error) {
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return "", transportRefusal(fmt.Errorf("a watch event cannot be decoded: %w", err))
	}
	if event.Type == "ERROR" {
		return "", watchError(event.Object)
	}
	body, err := decodeBody(event.Object)
	if err != nil {
		return "", err
	}
	version = preview.String(body, "metadata", "resourceVersion")
	ref, ours := w.refs[preview.String(body, "metadata", "name")]
	switch {
	case !ours:
	case event.Type == "ADDED" || event.Type == "MODIFIED":
		w.report(ref, body, nil)
	case event.Type == "DELETED":
		w.report(ref, nil, nil)
	}
	return version, nil
}

// watchError returns the error in the Status of an ERROR event; nil for an expired
// resourceVersion; the objects are listed again then.
func watchError(object []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(object, &status); err != nil {
		return transportRefusal(fmt.Errorf("a watch error cannot be decoded: %w", err))
	}
	if status.Code == http.StatusGone {
		return nil
	}
	return classify(apierrors.FromObject(&status))
}
