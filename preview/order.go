package preview

// FalseFirst compares two booleans for sorting, with false first.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
