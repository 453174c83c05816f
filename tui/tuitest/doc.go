// Package tuitest drives screens in tests: keys by name, a clock that moves when
// it is set, plans of every kind, and golden frames in three variants.
package tuitest
