package preview

import "fmt"

// Summary counts the plan's objects by action.
type Summary struct {
	// Create counts the objects that are created.
	Create int `json:"create"`
	// Update counts the objects that are updated.
	Update int `json:"update"`
	// Unchanged counts the objects that stay as they are.
	Unchanged int `json:"unchanged"`
	// Delete counts the objects that are deleted.
	Delete int `json:"delete"`
	// Keep counts the installed objects that are kept though the content
	// lacks them.
	Keep int `json:"keep"`
	// Replace counts the objects that are deleted and created again.
	Replace int `json:"replace"`
	// Adopt counts the existing objects that are taken over.
	Adopt int `json:"adopt"`
	// Patch counts the objects of other owners that are patched.
	Patch int `json:"patch"`
	// Skip counts the objects of kinds that the cluster does not serve.
	Skip int `json:"skip"`
	// Shared counts the CRDs that another release owns alike.
	Shared int `json:"shared"`
	// Blocked counts the objects that cannot be written.
	Blocked int `json:"blocked"`
	// Unknown counts the objects whose action could not be decided.
	Unknown int `json:"unknown"`
}

// Changes reports whether apply would write anything. Objects with action unknown count
// as written.
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

// Add counts one more object with the action.
func (s *Summary) Add(a Action) {
	if n := s.slot(a); n != nil {
		*n++
	}
}

// Summarize returns the numbers of objects by action.
func Summarize(objects []Object) Summary {
	var s Summary
	for i := range objects {
		s.Add(objects[i].Action)
	}
	return s
}

// Plural returns a count with a noun whose plural ends in s: "1 grant" or "2
// grants".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
