package tui

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// comparing is a comparison that is made beside the frames. Leaving its sheet
// stops it before its next step.
type comparing struct {
	ctx   context.Context // nil where nobody waits
	stop  context.CancelFunc
	sheet *sheet
	steps atomic.Int32 // that are done
	done  chan struct{}
}

// compareSteps are those of every comparison: two texts, the fields of each, the
// changed fields, the lines and their pairs.
const compareSteps = 7

// step counts one that is done.
func (w *comparing) step() {
	if w != nil {
		w.steps.Add(1)
	}
}

// left reports whether nobody waits for the comparison any more.
func (w *comparing) left() bool { return w != nil && w.ctx.Err() != nil }

// percent is how far it is.
func (w *comparing) percent() int { return int(w.steps.Load()) * 100 / compareSteps }

// beside does two things at once.
func beside(one, other func()) {
	var group sync.WaitGroup
	group.Go(one)
	other()
	group.Wait()
}

// smallValues are compared within Update; that takes less than a frame.
const smallValues = 500

// weigh counts the values of an object and the lines of its texts, up to a
// limit.
func weigh(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			if n > limit {
				break
			}
			n += weigh(below, limit-n)
		}
	case []any:
		for _, below := range v {
			if n > limit {
				break
			}
			n += weigh(below, limit-n)
		}
	case string:
		n += len(v) / 32
	}
	return n
}

func isSmall(body map[string]any) bool { return weigh(body, smallValues) <= smallValues }

// bodies are an object as it is and as it would be, without what always differs.
func bodies(o *preview.Object) (from, to map[string]any) {
	beside(func() { from = preview.WithoutVolatile(o.LiveBody) }, func() { to = preview.WithoutVolatile(afterBody(o)) })
	return from, to
}
