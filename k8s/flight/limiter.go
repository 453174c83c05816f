// Package flight decides how many requests are in flight at a time: as many as the
// distance needs and the server takes, and fewer after it refused some.
package flight

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Limiter keeps requests to one server within the window of its [Rule]. The zero Limiter
// is ready for use, also concurrently.
type Limiter struct {
	mu       sync.Mutex
	rule     Rule
	inFlight int
	pause    time.Time       // until then nothing is sent, as the server asked for
	waiting  []chan struct{} // closed when it is their turn
}

// Answer is how the server answered a request, as far as it decides about others.
type Answer struct {
	TooMany    bool          // refused with 429
	RetryAfter time.Duration // for how long nothing should be sent; 0 if it does not say
}

// Do waits for a place in the window and sends one request, whose answer send returns.
// Requests of one kind take about as long as each other. It returns the error of ctx if
// ctx ends before the request is sent.
func (l *Limiter) Do(ctx context.Context, kind string, send func() Answer) error {
	round, others, err := l.enter(ctx)
	if err != nil {
		return err
	}
	begun, answer := time.Now(), Answer{}
	defer func() { l.leave(kind, round, others, time.Since(begun), answer) }()
	answer = send()
	return nil
}

// Window returns how many requests may be in flight now.
func (l *Limiter) Window() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rule.Window()
}

// Cap keeps the window small, see [Rule.Cap].
func (l *Limiter) Cap() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rule.Cap()
}

// enter waits for a place and takes it. It returns the rule's round, and how many requests
// are in flight with this one.
func (l *Limiter) enter(ctx context.Context) (round, inFlight int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	l.mu.Lock()
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.admit()
	l.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		return 0, 0, l.giveUp(ctx, turn)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rule.Round(), l.inFlight, nil
}

// giveUp takes back a request that waits. If its turn came meanwhile, its place is free
// for the next one.
func (l *Limiter) giveUp(ctx context.Context, turn chan struct{}) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.waiting, turn); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
		return ctx.Err()
	}
	l.inFlight--
	l.admit()
	return ctx.Err()
}

func (l *Limiter) leave(kind string, round, inFlight int, took time.Duration, answer Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if answer.TooMany {
		l.rule.Refused(round)
		if until := time.Now().Add(answer.RetryAfter); answer.RetryAfter > 0 && until.After(l.pause) {
			l.pause = until
			time.AfterFunc(answer.RetryAfter, l.resume)
		}
	} else {
		l.rule.Answered(kind, took, inFlight)
	}
	l.admit()
}

func (l *Limiter) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit()
}

// admit lets those that wait longest take the places that are free.
func (l *Limiter) admit() {
	for len(l.waiting) > 0 && l.inFlight < l.rule.Window() && !time.Now().Before(l.pause) {
		l.inFlight++
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
	}
}
