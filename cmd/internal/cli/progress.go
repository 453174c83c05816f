package cli

import (
	"sync"
	"time"
)

// patience is how long a log goes without a line while a command works.
const patience = time.Minute

// progress tells a waiting person on standard error what is being done: a
// terminal gets every step. Elsewhere a command that takes long says now and
// then where it is, so that nobody takes it for dead.
func (a *app) progress() func(string) {
	if a.streams.ErrTTY() {
		return func(line string) {
			a.log.Info(line)
			a.streams.Status(line)
		}
	}
	throttle := &throttled{say: a.streams.Status, now: time.Now, said: time.Now()}
	return func(line string) {
		a.log.Info(line)
		throttle.tell(line)
	}
}

// throttled passes on a line when none was printed for a while.
type throttled struct {
	say  func(string)
	now  func() time.Time
	mu   sync.Mutex
	said time.Time
}

func (t *throttled) tell(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now(); now.Sub(t.said) >= patience {
		t.said = now
		t.say(line)
	}
}
