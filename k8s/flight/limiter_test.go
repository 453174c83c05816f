package flight_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
)

func TestNoMoreThanTheWindowIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l flight.Limiter
		var mu sync.Mutex
		var done sync.WaitGroup
		now, most, sent := 0, 0, 0
		for range 1000 {
			done.Go(func() {
				err := l.Do(t.Context(), "get", func() flight.Answer {
					mu.Lock()
					now++
					sent++
					most = max(most, now)
					if now > flight.Most || sent == 1 && l.Window() != flight.Start {
						t.Errorf("%d in flight, window %d", now, l.Window())
					}
					mu.Unlock()
					time.Sleep(30 * time.Millisecond)
					mu.Lock()
					now--
					mu.Unlock()
					return flight.Answer{}
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		begun := time.Now()
		done.Wait()
		if took := time.Since(begun); most != flight.Most || sent != 1000 || took > 500*time.Millisecond {
			t.Errorf("%d requests, at most %d in flight, took %s", sent, most, took)
		}
	})
}

func TestNothingIsSentUntilTheServerWantsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l flight.Limiter
		begun := time.Now()
		send := func(answer flight.Answer) (after time.Duration) {
			if err := l.Do(t.Context(), "get", func() flight.Answer {
				after = time.Since(begun)
				return answer
			}); err != nil {
				t.Error(err)
			}
			return after
		}
		send(flight.Answer{TooMany: true, RetryAfter: 3 * time.Second})
		if after := send(flight.Answer{TooMany: true}); after != 3*time.Second {
			t.Errorf("the next request was sent after %s", after)
		}
		if after := send(flight.Answer{}); after != 3*time.Second {
			t.Errorf("after a refusal without a time the next one was sent after %s", after)
		}
	})
}

func TestARequestThatWaitsEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l flight.Limiter
		_ = l.Do(t.Context(), "get", func() flight.Answer { return flight.Answer{TooMany: true, RetryAfter: time.Hour} })
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() {
			if err := l.Do(ctx, "get", func() flight.Answer { t.Error("sent"); return flight.Answer{} }); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		cancel()
		done.Wait()
		if err := l.Do(t.Context(), "get", func() flight.Answer { return flight.Answer{} }); err != nil {
			t.Error(err) // an hour later: no place was lost
		}
	})
}

func TestAPanicGivesItsPlaceBack(t *testing.T) {
	var l flight.Limiter
	for range 3 * flight.Start {
		func() {
			defer func() { _ = recover() }()
			_ = l.Do(t.Context(), "get", func() flight.Answer { panic("a request") })
		}()
	}
}
