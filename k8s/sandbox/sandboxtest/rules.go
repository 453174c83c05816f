package sandboxtest

import (
	"math/rand/v2"
	"path"
	"sync"
)

// Rule selects the requests that a fault hits.
type Rule struct {
	// Method of the request; empty for any.
	Method string
	// Path is a pattern of path.Match for the whole path; empty for any.
	Path string
	// Writes: only requests that persist something.
	Writes bool
	// Skip lets that many matching requests pass first; then Count are hit, or
	// all that follow when Count is 0.
	Skip, Count int
	Fault       Fault
}

func (r Rule) matches(request Request) bool {
	if r.Method != "" && r.Method != request.Method || r.Writes && !request.Persists() {
		return false
	}
	if r.Path == "" {
		return true
	}
	ok, err := path.Match(r.Path, request.Path)
	return ok && err == nil
}

// Rules returns a function for [ProxyOptions]: the first rule that matches a
// request gives its fault.
func Rules(rules ...Rule) func(Request) Fault {
	var mu sync.Mutex
	seen := make([]int, len(rules))
	return func(request Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		for i, rule := range rules {
			if !rule.matches(request) {
				continue
			}
			seen[i]++
			if n := seen[i] - rule.Skip; n > 0 && (rule.Count == 0 || n <= rule.Count) {
				return rule.Fault
			}
			return Fault{}
		}
		return Fault{}
	}
}

// Storm returns a function for [ProxyOptions] that hits random requests: each
// with the probability rate, by one of the faults. The same seed makes the same
// choices for the same sequence of requests.
func Storm(seed uint64, rate float64, faults ...Fault) func(Request) Fault {
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(seed, seed))
	return func(Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		if chance.Float64() >= rate {
			return Fault{}
		}
		return faults[chance.IntN(len(faults))]
	}
}
