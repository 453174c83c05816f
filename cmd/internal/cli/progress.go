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
	quiet := &quietly{say: a.streams.Status, now: time.Now, said: time.Now()}
	return func(line string) {
		a.log.Info(line)
		quiet.tell(line)
	}
}

// quietly passes on a line when none was for a while.
type quietly struct {
	say  func(string)
	now  func() time.Time
	mu   sync.Mutex
	said time.Time
}

func (q *quietly) tell(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := q.now(); now.Sub(q.said) >= patience {
		q.said = now
		q.say(line)
	}
}
