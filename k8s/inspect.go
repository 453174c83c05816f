package k8s

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxLog is the most bytes that are read of one container's log.
const maxLog = 1 << 20

// Events lists the events about the object with that uid, in no order.
func (c *Client) Events(ctx context.Context, namespace, uid string) ([]map[string]any, error) {
	return c.list(ctx, "v1", "Event", namespace, map[string]string{"fieldSelector": "involvedObject.uid=" + uid}, nil)
}

// Logs reads the last lines (tail) of a container's log, or of its previous
// run's log. The text is written by the container and untrusted.
func (c *Client) Logs(ctx context.Context, namespace, pod, container string, tail int, previous bool) ([]string, error) {
	r, err := c.object("GET", resource{path: "/api/v1", plural: "pods", namespaced: true},
		preview.Ref{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: pod})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	stream, err := r.SubResource("log").
		Param("container", container).
		Param("tailLines", strconv.Itoa(tail)).
		Param("limitBytes", strconv.Itoa(maxLog)).
		Param("previous", strconv.FormatBool(previous)).
		MaxRetries(0).Stream(ctx)
	if err != nil {
		return nil, classify(err)
	}
	defer stream.Close()
	data, err := io.ReadAll(io.LimitReader(stream, maxLog))
	if err != nil {
		return nil, classify(err)
	}
	text := strings.TrimRight(string(data), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// Endpoints counts the ready endpoints of a Service.
func (c *Client) Endpoints(ctx context.Context, namespace, service string) (ready int, err error) {
	slices, err := c.List(ctx, "discovery.k8s.io/v1", "EndpointSlice", namespace, "kubernetes.io/service-name="+service)
	if err != nil {
		return 0, err
	}
	for _, slice := range slices {
		for _, item := range preview.List(slice, "endpoints") {
			endpoint, ok := item.(map[string]any)
			// The API defines an unset condition as ready.
			if ok && preview.Value(endpoint, "conditions", "ready") != false {
				ready++
			}
		}
	}
	return ready, nil
}
