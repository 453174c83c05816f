package preview

import "fmt"

// Summary counts the plan's objects by action.
type Summary struct {
	Create    int `json:"create"`
	Update    int `json:"update"`
	Unchanged int `json:"unchanged"`
	Delete    int `json:"delete"`
	Keep      int `json:"keep"`
	Replace   int `json:"replace"`
	Adopt     int `json:"adopt"`
	Patch     int `json:"patch"`
	Skip      int `json:"skip"`
	Shared    int `json:"shared"`
	Blocked   int `json:"blocked"`
	Unknown   int `json:"unknown"`
}

// Changes reports whether anything would be written.
func (s Summary) Changes() bool {
	return s.Create+s.Update+s.Delete+s.Replace+s.Adopt+s.Patch+s.Unknown > 0
}

// Count returns the number of objects with an action.
func (s Summary) Count(a Action) int {
	if n := s.slot(a); n != nil {
		return *n
	}
	return 0
}

func (s *Summary) slot(a Action) *int {
	switch a {
	case ActionCreate:
		return &s.Create
	case ActionUpdate:
		return &s.Update
	case ActionUnchanged:
		return &s.Unchanged
	case ActionDelete:
		return &s.Delete
	case ActionKeep:
		return &s.Keep
	case ActionReplace:
		return &s.Replace
	case ActionAdopt:
		return &s.Adopt
	case ActionPatch:
		return &s.Patch
	case ActionSkip:
		return &s.Skip
	case ActionShared:
		return &s.Shared
	case ActionBlocked:
		return &s.Blocked
	case ActionUnknown:
		return &s.Unknown
	}
	return nil
}

// Add counts one more.
func (s *Summary) Add(a Action) {
	if n := s.slot(a); n != nil {
		*n++
	}
}

// Summarize counts objects by action.
func Summarize(objects []Object) Summary {
	var s Summary
	for i := range objects {
		s.Add(objects[i].Action)
	}
	return s
}

// Plural is a number of things whose plural ends in s: "1 grant" or "2 grants".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
