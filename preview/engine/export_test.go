package engine

import "reflect"

// Derive lets tests forge plans that hold together.
var Derive = derive

// Checks returns the names of the types of all checks.
func Checks() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, reflect.TypeOf(c).Name())
	}
	return names
}
