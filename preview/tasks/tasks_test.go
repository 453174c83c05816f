package tasks_test

import (
	"context"
	"errors"
	"strings"
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
