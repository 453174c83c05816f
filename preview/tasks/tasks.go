// Package tasks runs functions on their own goroutines. A panic in one ends the
// goroutine that waits for it, and not the process: only there is it known whether the
// target changed, which is what the exit code must say.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Panic is the error for a panic that was caught, with its stack.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %.300v", p.Value) }

// NewPanic returns a Panic for the result of recover, nil if that is nil. A Panic that
// was caught on another goroutine keeps its stack.
func NewPanic(value any) *Panic {
	if value == nil {
		return nil
	}
	if p, ok := value.(*Panic); ok {
		return p
	}
	return &Panic{Value: value, Stack: debug.Stack()}
}

// Try calls f and returns its error, or a [Panic] as error if f panics.
func Try(f func() error) (err error) {
	defer func() {
		if p := NewPanic(recover()); p != nil {
			err = p
		}
	}()
	return f()
}

// Async calls f on a new goroutine. The channel receives the error of f, nil too, or a
// [Panic], and is closed; then the caller may read the variables that f wrote.
func Async(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- Try(f)
	}()
	return done
}

// Group is an [errgroup.Group] whose Wait panics with the first panic of its functions.
// The zero Group has no limit and cancels nothing.
type Group struct {
	group  *errgroup.Group
	caught atomic.Pointer[Panic]
}

// Each calls f with every index below n, in any order, on as many goroutines as there are
// processors, but at most most. It returns the first error; no call begins after it.
func Each(n, most int, f func(i int) error) error {
	var next atomic.Int64
	group, failed := WithContext(context.Background())
	for range min(n, most, runtime.GOMAXPROCS(0)) {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n && failed.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// Beside calls functions that do not depend on each other in parallel.
func Beside(functions ...func()) {
	_ = Each(len(functions), len(functions), func(i int) error {
		functions[i]()
		return nil
	})
}

// WithContext returns a Group and a context that ends with the first error or
// panic in it, or when Wait returns.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group: group}, ctx
}

// SetLimit sets how many functions may run at the same time.
func (g *Group) SetLimit(n int) { g.of().SetLimit(n) }

// Go calls f on a new goroutine, and blocks until the limit allows it.
func (g *Group) Go(f func() error) {
	g.of().Go(func() error {
		err := Try(f)
		var p *Panic
		if errors.As(err, &p) {
			g.caught.CompareAndSwap(nil, p)
		}
		return err
	})
}

// Wait waits for all functions and returns the first error. It panics if one of them
// did.
func (g *Group) Wait() error {
	err := g.of().Wait()
	if p := g.caught.Load(); p != nil {
		panic(p)
	}
	return err
}

func (g *Group) of() *errgroup.Group {
	if g.group == nil {
		g.group = new(errgroup.Group)
	}
	return g.group
}
