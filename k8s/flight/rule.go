package flight

import (
	"cmp"
	"time"
)

const (
	// Start is the window before anything is known of the server and the distance, and the
	// least that delay alone makes of it.
	Start = 16
	// Most is the largest window. The API server takes 100 streams on a connection (its
	// flag --http2-max-streams-per-connection); beyond them a client opens another one, and
	// watches need some too.
	Most = 96

	// A window doubles while fewer than shortQueue of its requests wait at the server, and
	// shrinks when more than longQueue do. Some must wait, so that the server always has
	// the next one at hand.
	shortQueue, longQueue = 8, 20

	// After a refusal the window grows by one place in so many windows, because each probe
	// that is refused again stops all requests for as long as the server asks.
	calm = 10
)

// Rule decides how large the window is: how many requests are in flight at a time. The
// zero Rule is for an unknown server.
//
// As in TCP Vegas (Brakmo and Peterson, 1995), the least time that a request has taken is
// taken for the network and the work, and the rest of a request's time for waiting at the
// server. The window of a server far away grows until enough of its requests wait there;
// one nearby has them waiting from the beginning, and stays as it is.
type Rule struct {
	window  int // 0 stands for Start
	most    int // 0 stands for Most
	refused int // windows since the last refusal and this one; 0 if there was none
	least   map[string]time.Duration
	// round numbers the windows, whose size changes between two of them; answers and
	// waited are how many were answered in this one, and which part of their times they
	// waited, in sum.
	round   int
	answers int
	waited  float64
}

// Window returns how many requests may be in flight, at least 1.
func (r *Rule) Window() int {
	if r.window == 0 {
		return Start
	}
	return r.window
}

// Round returns the number of the present window, for [Rule.Refused].
func (r *Rule) Round() int { return r.round }

// Answered takes note of a request that was answered after the time took, with so many in
// flight when it was sent. Only requests of one kind are compared. The window changes when
// as many are answered as it has places.
func (r *Rule) Answered(kind string, took time.Duration, inFlight int) {
	took = max(took, 1)
	if r.least == nil {
		r.least = map[string]time.Duration{}
	}
	if least, known := r.least[kind]; !known || took < least {
		r.least[kind] = took
	}
	window := r.Window()
	if 2*inFlight < window {
		return // the window is not used, so that nothing is learned of it
	}
	r.answers++
	r.waited += 1 - float64(r.least[kind])/float64(took)
	if r.answers < window {
		return
	}
	switch waiting := r.waited / float64(r.answers) * float64(window); {
	case r.refused > 0 && waiting < longQueue:
		if r.refused++; r.refused > calm {
			r.refused = 1
			window++
		}
	case waiting < shortQueue:
		window *= 2
	case waiting > longQueue && window > Start:
		window = max(window-window/8, Start)
	}
	r.begin(window)
}

// Refused halves the window for a request that the server refused as too many (429), once
// for all that were sent in one round.
func (r *Rule) Refused(round int) {
	if round != r.round {
		return
	}
	r.refused = 1
	r.begin(r.Window() / 2)
}

// Cap sets the largest window to Start, for a server that takes one request at a time on a
// connection.
func (r *Rule) Cap() {
	r.most = Start
	r.window = min(r.Window(), Start)
}

// begin begins a round with a window.
func (r *Rule) begin(window int) {
	r.window, r.answers, r.waited = min(max(window, 1), cmp.Or(r.most, Most)), 0, 0
	r.round++
}
