package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// The caBundles of two certificates.
const (
	firstCA  = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJRVENCNmFBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01CQXhEakFNQmdOVkJBTVRCV1pwY25OME1DQVgKRFRJMk1ERXdNVEF3TURBd01Gb1lEekl4TWpZd01UQXhNREF3TURBd1dqQVFNUTR3REFZRFZRUURFd1ZtYVhKegpkREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCT2F0RlRYb0ZRQjc3TGZoYXd5RFkvS2xHbC9oCm9WWEN0WG1CejlQcmhwMzFNQjlSei9SYVlMKzVvbUhnZjBrTm1SdXhhSXZQUHFZd0REQmNHRHZ6M2Iyak1qQXcKTUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3SFFZRFZSME9CQllFRkJieGs2ZWFicFlSY3hSbGhjL1hMUzJybUkyQgpNQW9HQ0NxR1NNNDlCQU1DQTBjQU1FUUNJQWhWelJKS1c3b3gwY2NHMFcxZ2VkNkZOczNEMTJIOEFmenZhUGc0CmNyZm1BaUFkUExKVnJQN21JeG5vTSt4SEhodURNaTBGWjBFWlpuYm9WMytJS1ZyNC9BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	secondCA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJRekNCNjZBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01CRXhEekFOQmdOVkJBTVRCbk5sWTI5dVpEQWcKRncweU5qQXhNREV3TURBd01EQmFHQTh5TVRJMk1ERXdNVEF3TURBd01Gb3dFVEVQTUEwR0ExVUVBeE1HYzJWagpiMjVrTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFZlhjeTI4Ukp0TlU4SFdsUDI4RWs3RU45CnYvbG9sTklkcVlKSmJFYkpCU0ltZ3Q1c3RZc1M4YXdreWM5dFIvNExTTlFlYWFkbUJYU2g1dndzK1pENHY2TXkKTURBd0R3WURWUjBUQVFIL0JBVXdBd0VCL3pBZEJnTlZIUTRFRmdRVW5oRFZ4Y21kaktCdXg0eDJnYWxpTUZJMgpuaDR3Q2dZSUtvWkl6ajBFQXdJRFJ3QXdSQUlnTFE2M05JVE1EWVlBTnJ0Q2pWOUJTdVFuSjQyblN2SDI0Q21CCmVmT2MyaG9DSUEzdm50eFRDY2FyUzk1Wm04ZEh1YWNpeHNHVzdEU1VVelBVaVg3NkI1dC8KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
)

// A change of the CA by which the API server verifies a server is a warning, on each of
// the three ways.
func TestAChangedCAIsAWarning(t *testing.T) {
	kinds := map[string]string{
		"a webhook":     "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w}, webhooks: [{name: a.x.io, clientConfig: {caBundle: CA, url: 'https://x'}}]}",
		"a conversion":  "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ys.x.io}, spec: {group: x.io, conversion: {webhook: {clientConfig: {caBundle: CA}}}}}",
		"an APIService": "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.x.io}, spec: {caBundle: CA}}",
	}
	for _, test := range []struct {
		name, was, is string
		want          string
	}{
		{"another", firstCA, secondCA, "certificate of CN=first, SHA-256 "},
		{"none", firstCA, "null", "-> not set"},
		{"the same", firstCA, firstCA, ""},
		{"the first", "null", firstCA, ""},
	} {
		for name, text := range kinds {
			t.Run(name+" trusts "+test.name, func(t *testing.T) {
				was, is := planOf(t, strings.Replace(text, "CA", test.was, 1)), planOf(t, strings.Replace(text, "CA", test.is, 1))
				o := &is.Objects[0]
				o.Action, o.LiveBody = preview.ActionUpdate, was.Objects[0].Planned
				o.Changes = diff.Changes(o.Compared(o.Planned))
				f := find(evaluate(t, Input{Plan: is}), "ca-changed")
				if (f != nil) != (test.want != "") {
					t.Fatalf("finding %+v, want evidence %q", f, test.want)
				}
				if f != nil && (f.Severity != preview.Warning || !strings.Contains(f.Evidence, test.want) || len(f.Evidence) > 250) {
					t.Errorf("%s: %s", f.Severity, f.Evidence)
				}
			})
		}
	}
}
