package cli

import (
	"context"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Update is whether golden files are rewritten.
var Update = update

// The places where MainBreaking panics.
const (
	BreaksEarly   = "before the first write"
	BreaksLate    = "after a write"
	BreaksAside   = "after a write, on a goroutine that a wait is for"
	BreaksOutside = "after a write, on a goroutine that nothing recovers"
	BreaksPrinter = "after the apply"
)

// MainBreaking is Main of a program that panics at a place; at none when empty.
func MainBreaking(ctx context.Context, args []string, o Options, at string) int {
	a := newApp(o)
	if at != "" {
		a.watch = breakingAt(at)
	}
	return a.main(ctx, args)
}

func breakingAt(at string) install.Sink {
	var once sync.Once
	broken := func() error { panic("broken " + at) }
	return func(e install.Event) {
		switch {
		case at == BreaksEarly:
			once.Do(func() { _ = broken() })
		case at == BreaksPrinter && e.Type == install.EventResult:
			once.Do(func() { _ = broken() })
		case e.Type != install.EventObject || e.State != record.StateApplied:
		case at == BreaksLate:
			once.Do(func() { _ = broken() })
		case at == BreaksAside:
			once.Do(func() {
				var group tasks.Group
				group.Go(broken)
				_ = group.Wait()
			})
		case at == BreaksOutside:
			once.Do(func() {
				go func() { _ = broken() }()
				select {}
			})
		}
	}
}
