package sandboxtest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Outage is a random disturbance of one run of a program, by the network or the
// API server: one fault, a storm of them, or a server that is down for a while.
// It begins with one of the run's requests.
type Outage struct {
	name  string
	at    int  // the request it begins with
	write bool // counted among writes
	// decide answers for the request that is the nth since it began, from 0.
	decide func(r Request, nth int) Fault

	mu    sync.Mutex
	begun int // the number of the request it began with, 0 before
	hits  int
	lost  bool
}

// single are the outages that hit one request, by name.
var single = map[string]Fault{
	"cut before":            {Cut: CutBefore},
	"answer lost":           {Cut: CutAnswer},
	"half an answer":        {Cut: CutBody},
	"dropped":               {Delay: time.Hour},
	"late":                  {Delay: 1500 * time.Millisecond},
	"401":                   {Status: 401},
	"403":                   {Status: 403},
	"409":                   {Status: 409},
	"429":                   {Status: 429},
	"429 with a time":       {Status: 429, RetryAfter: 1},
	"500":                   {Status: 500},
	"502":                   {Status: 502},
	"503 with a time":       {Status: 503, RetryAfter: 1},
	"504":                   {Status: 504},
	"500 after the success": {Status: 500, Cut: CutAnswer},
	"502 after the success": {Status: 502, Cut: CutAnswer},
	"504 after the success": {Status: 504, Cut: CutAnswer},
}

var storms = map[string][]Fault{
	"storm of cuts":   {{Cut: CutBefore}, {Cut: CutAnswer}, {Cut: CutBody}},
	"storm of 429":    {{Status: 429}, {Status: 429, RetryAfter: 1}},
	"storm of 409":    {{Status: 409}},
	"storm of 5xx":    {{Status: 500}, {Status: 502}, {Status: 503}, {Status: 504}, {Status: 504, Cut: CutAnswer}},
	"storm of all":    {{Cut: CutBefore}, {Cut: CutAnswer}, {Cut: CutBody}, {Status: 409}, {Status: 429}, {Status: 500}, {Status: 504, Cut: CutAnswer}, {Delay: 300 * time.Millisecond}},
	"storm of delays": {{Delay: 100 * time.Millisecond}, {Delay: 700 * time.Millisecond}},
}

// outages are the names of all outages, in a fixed order, so that a seed always
// draws the same one.
var outages = []string{
	"cut before", "answer lost", "half an answer", "dropped", "late", "401", "403", "409", "429", "429 with a time", "500", "502",
	"503 with a time", "504", "500 after the success", "502 after the success", "504 after the success",
	"storm of cuts", "storm of 429", "storm of 409", "storm of 5xx", "storm of all", "storm of delays",
	"401 from there on", "403 from there on", "down for a while", "gone", "watches cut",
}

// NewOutage draws a random outage for a run that, undisturbed, sends about that
// many requests, writes of them writes.
func NewOutage(chance *rand.Rand, requests, writes int) *Outage {
	o := &Outage{name: outages[chance.IntN(len(outages))], write: chance.IntN(2) == 0}
	most := requests
	if o.write {
		most = writes
	}
	o.at = 1 + chance.IntN(max(1, most))
	length, rate := 3+chance.IntN(60), 0.1+chance.Float64()/2
	switch o.name {
	case "401 from there on", "403 from there on":
		status := map[bool]int{true: http.StatusUnauthorized, false: http.StatusForbidden}[o.name[:3] == "401"]
		o.decide = func(Request, int) Fault { return Fault{Status: status} }
	case "gone":
		o.decide = func(Request, int) Fault { return Fault{Cut: CutBefore} }
	case "down for a while":
		o.decide = func(_ Request, nth int) Fault {
			if nth < length {
				return Fault{Cut: CutBefore}
			}
			return Fault{}
		}
	case "watches cut":
		cuts := []CutPoint{CutBefore, CutAnswer, CutBody}
		o.at, o.write = 1, false
		o.decide = func(r Request, nth int) Fault {
			if r.Query.Has("watch") && nth%4 != 3 {
				return Fault{Cut: cuts[chance.IntN(len(cuts))]}
			}
			return Fault{}
		}
	default:
		if fault, ok := single[o.name]; ok {
			o.decide = func(_ Request, nth int) Fault {
				if nth == 0 {
					return fault
				}
				return Fault{}
			}
			break
		}
		faults := storms[o.name]
		o.decide = func(_ Request, nth int) Fault {
			if nth >= length || chance.Float64() >= rate {
				return Fault{}
			}
			return faults[chance.IntN(len(faults))]
		}
	}
	return o
}

// Fault is for [ProxyOptions].
func (o *Outage) Fault(r Request) Fault {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := r.N
	if o.write {
		count = r.Write
	}
	if o.begun == 0 && count >= o.at {
		o.begun = r.N
	}
	if o.begun == 0 {
		return Fault{}
	}
	fault := o.decide(r, r.N-o.begun)
	unanswered := fault.Cut != NoCut || fault.Status >= http.StatusInternalServerError || fault.Delay > time.Minute
	if unanswered || fault.Status != 0 || fault.Delay != 0 {
		o.hits++
	}
	o.lost = o.lost || r.Persists() && unanswered
	return fault
}

// Struck returns how many requests were hit, and whether one of them was a
// write whose outcome the program did not learn.
func (o *Outage) Struck() (hits int, lost bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hits, o.lost
}

func (o *Outage) String() string {
	what := "request"
	if o.write {
		what = "write"
	}
	return fmt.Sprintf("%s, from %s %d", o.name, what, o.at)
}
