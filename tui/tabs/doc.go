// Package tabs makes the content of the tabs of a review: the rows of each list, and a
// document about each row. They are made from a [View], which holds the plan and what is
// known of it, and change nothing in it: what keys and the mouse do is package review's.
//
// A new tab is a type in a file of its own and a row in [NewTable].
package tabs
