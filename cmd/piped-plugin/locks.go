package main

import (
	"context"
	"sync"
)

// keyedLocks let one call at a time work on one release of one target. They are kept for
// the life of the process: there are as many as applications.
type keyedLocks struct {
	mu  sync.Mutex
	all map[string]chan struct{}
}

func newKeyedLocks() *keyedLocks { return &keyedLocks{all: map[string]chan struct{}{}} }

// take acquires the lock of a key and returns its release function.
func (l *keyedLocks) take(ctx context.Context, key string) (func(), error) {
	l.mu.Lock()
	turn := l.all[key]
	if turn == nil {
		turn = make(chan struct{}, 1)
		l.all[key] = turn
	}
	l.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
