package k8s

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func TestRetry(t *testing.T) {
	unavailable := &preview.Refusal{Reason: preview.ReasonUnavailable}
	timedOut := &preview.Refusal{Reason: preview.ReasonUnavailable, Err: context.DeadlineExceeded}
	forbidden := &preview.Refusal{Reason: preview.ReasonForbidden}
	busy := &preview.Refusal{Reason: preview.ReasonUnavailable, Throttled: true}
	for _, test := range []struct {
		name     string
		answers  []error // the last one repeats
		attempts int
		want     error
	}{
		{"an answer is final", []error{nil}, 1, nil},
		{"what is unavailable for a moment is asked again", []error{unavailable, unavailable, nil}, 3, nil},
		{"what stays unavailable is given up", []error{unavailable}, 4, unavailable},
		{"what is refused as too many is asked more often", []error{busy, busy, busy, busy, busy, unavailable, unavailable, nil}, 8, nil},
		{"what stays refused as too many is given up", []error{busy}, 14, busy},
		{"a refusal is final", []error{unavailable, forbidden}, 2, forbidden},
		{"the request timeout is final", []error{timedOut}, 1, timedOut},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &Client{backoff: []time.Duration{1, 1, 1}}
			attempts := 0
			err := c.retry(t.Context(), func() error {
				attempts++
				return test.answers[min(attempts, len(test.answers))-1]
			})
			if !errors.Is(err, test.want) || attempts != test.attempts {
				t.Errorf("got %v after %d attempts, want %v after %d", err, attempts, test.want, test.attempts)
			}
		})
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := &Client{backoff: []time.Duration{time.Hour}}
	attempts := 0
	err := c.retry(ctx, func() error {
		attempts++
		cancel()
		return &preview.Refusal{Reason: preview.ReasonUnavailable}
	})
	if attempts != 1 || err == nil {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func TestCappedBodyEndsAtTheCap(t *testing.T) {
	body := &cappedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 100))), left: 10}
	data, err := io.ReadAll(body)
	if len(data) != 10 || err == nil {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
}

func TestRouteLogsKeepsLibrariesOffTheTerminal(t *testing.T) {
	var logs bytes.Buffer
	RouteLogs(&logs)
	klog.ErrorS(nil, "to the writer")
	RouteLogs(nil)
	klog.ErrorS(nil, "to nowhere")
	if text := logs.String(); !strings.Contains(text, "to the writer") || strings.Contains(text, "to nowhere") {
		t.Errorf("got %q", text)
	}
}
