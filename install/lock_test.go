package install

import (
	"testing"
	"time"
)

func TestLeaseExpiresOnTheLocalClockOnly(t *testing.T) {
	lease := func(holder, renewed string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"uid": "1"},
			"spec":     map[string]any{"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": int64(99999)},
		}
	}
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	type look struct {
		after          time.Duration
		holder, renews string
		expired, alive bool
	}
	tests := []struct {
		name  string
		looks []look
	}{
		{"a lease renewed long ago by its own clock is not expired at first sight", []look{{0, "a", "1999", false, false}}},
		{"a lease from the future expires all the same", []look{{0, "a", "2999", false, false}, {leaseDuration, "a", "2999", true, false}}},
		{"a moment too early", []look{{0, "a", "1", false, false}, {leaseDuration - 1, "a", "1", false, false}}},
		{"a renewal is a sign of life", []look{{0, "a", "1", false, false}, {leaseDuration, "a", "2", false, true}}},
		{"another holder is one too", []look{{0, "a", "1", false, false}, {leaseDuration, "b", "1", false, true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var watch leaseWatch
			for _, l := range tt.looks {
				expired, alive := watch.expired(lease(l.holder, l.renews), start.Add(l.after))
				if expired != l.expired || alive != l.alive {
					t.Errorf("after %s: expired %t, alive %t", l.after, expired, alive)
				}
			}
		})
	}
}
