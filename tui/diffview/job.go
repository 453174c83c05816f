package diffview

import (
	"context"
	"sync/atomic"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Job is a comparison that is made in the background. If the user leaves its
// view, it stops before its next step.
type Job struct {
	Context context.Context // nil where no view waits
	Stop    context.CancelFunc
	Sheet   *View
	Steps   atomic.Int32 // that are done
	Done    chan struct{}
}

// compareSteps is the number of steps of a comparison, for its progress: two
// texts, the fields of each, the changed fields, the lines, and their pairs.
const compareSteps = 7

// step counts a step that is done.
func (w *Job) step() {
	if w != nil {
		w.Steps.Add(1)
	}
}

// Abandoned reports whether no view waits for the comparison any more.
func (w *Job) Abandoned() bool { return w != nil && w.Context.Err() != nil }

// percent returns the progress of the comparison, 0 to 100.
func (w *Job) percent() int { return int(w.Steps.Load()) * 100 / compareSteps }

// inParallel runs two functions at the same time.
func inParallel(one, other func()) {
	var group tasks.Group
	group.Go(func() error { one(); return nil })
	other()
	_ = group.Wait() // nothing fails
}

// smallValues is how many values an object may have to be compared within
// Update, which then takes less than a frame.
const smallValues = 500

// countValues counts the values of an object, and each 32 bytes of a text as
// one more; it stops beyond a limit.
func countValues(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			if n > limit {
				break
			}
			n += countValues(below, limit-n)
		}
	case []any:
		for _, below := range v {
			if n > limit {
				break
			}
			n += countValues(below, limit-n)
		}
	case string:
		n += len(v) / 32
	}
	return n
}

// IsSmall reports whether an object is compared at once, without a [Job].
func IsSmall(body map[string]any) bool { return countValues(body, smallValues) <= smallValues }
