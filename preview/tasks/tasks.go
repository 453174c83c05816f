// Package tasks runs functions on goroutines of their own. A panic in one ends
// the goroutine that waits for it, and not the process: only there is it known
// whether the target changed, which is what the exit code must say.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Panic is a panic that was caught, with the stack it arose on.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %.300v", p.Value) }

// NewPanic makes a Panic of what recover returned, and nil of nil. One that was
// caught before keeps its stack.
func NewPanic(value any) *Panic {
	if value == nil {
		return nil
	}
	if p, ok := value.(*Panic); ok {
		return p
	}
	return &Panic{Value: value, Stack: debug.Stack()}
}

// Try calls f, and returns a panic of it as an error.
func Try(f func() error) (err error) {
	defer func() {
		if p := NewPanic(recover()); p != nil {
			err = p
		}
	}()
	return f()
}

// Async calls f on a goroutine of its own. The channel gets its error, or its
// panic as one, and is closed. What f does to variables is seen after that.
func Async(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- Try(f)
	}()
	return done
}

// Group is an [errgroup.Group] whose Wait goes on with the first panic of its
// functions. The zero Group has no limit and cancels nothing.
type Group struct {
	group  *errgroup.Group
	caught atomic.Pointer[Panic]
}

// WithContext returns a Group and a context that ends with the first error or
// panic in it, or when Wait returns.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group: group}, ctx
}

// SetLimit bounds how many functions run at a time.
func (g *Group) SetLimit(n int) { g.of().SetLimit(n) }

// Go calls f on a goroutine of its own, once the limit allows it.
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

// Wait returns the first error when all functions have returned, and panics when
// one of them did.
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
