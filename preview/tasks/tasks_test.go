package tasks_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

var errPlain = errors.New("plain")

func breaks() error {
	var m map[string]int
	m["a"] = 1 //nolint:staticcheck // it panics: that is what is tested
	return nil
}

func TestAPanicIsAnErrorThatKeepsItsStack(t *testing.T) {
	err := <-tasks.Async(func() error { return tasks.Try(breaks) })
	var p *tasks.Panic
	if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "tasks_test.breaks") || !strings.Contains(err.Error(), "nil map") {
		t.Errorf("got %v", err)
	}
	if err := tasks.Try(func() error { panic(p) }); !errors.Is(err, p) {
		t.Errorf("panicking again made %v of it", err)
	}
	if err := <-tasks.Async(func() error { return errPlain }); !errors.Is(err, errPlain) {
		t.Errorf("got %v", err)
	}
}

func TestAGroupGoesOnWithAPanic(t *testing.T) {
	group, ctx := tasks.WithContext(t.Context())
	group.SetLimit(2)
	group.Go(func() error { <-ctx.Done(); return ctx.Err() })
	group.Go(breaks)
	err := tasks.Try(group.Wait)
	var p *tasks.Panic
	if !errors.As(err, &p) || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	var plain tasks.Group
	plain.Go(func() error { return errPlain })
	if err := tasks.Try(plain.Wait); !errors.Is(err, errPlain) {
		t.Errorf("got %v", err)
	}
}

func TestEachIndexIsCalledOnce(t *testing.T) {
	called := make([]atomic.Int32, 1000)
	if err := tasks.Each(len(called), 4, func(i int) error {
		called[i].Add(1)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range called {
		if n := called[i].Load(); n != 1 {
			t.Errorf("%d was called %d times", i, n)
		}
	}
	if err := tasks.Each(0, 4, func(int) error { return errPlain }); err != nil {
		t.Errorf("of no index %v", err)
	}
}

func TestNoCallBeginsAfterTheFirstError(t *testing.T) {
	calls := 0
	err := tasks.Each(1000, 1, func(int) error {
		calls++
		return errPlain
	})
	if !errors.Is(err, errPlain) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	var p *tasks.Panic
	if err := tasks.Try(func() error { return tasks.Each(3, 2, func(int) error { return breaks() }) }); !errors.As(err, &p) {
		t.Errorf("of a panic came %v", err)
	}
}

func TestWhatIsBesideIsAllDone(t *testing.T) {
	var a, b int
	tasks.Beside(func() { a = 1 }, func() { b = 2 })
	if a != 1 || b != 2 {
		t.Errorf("got %d and %d", a, b)
	}
}
