// Package diffview shows the exact text of an object, or how it would change,
// line by line. Lines are drawn when they are visible, so that a text of 100,000
// lines costs a frame no more than one of ten.
package diffview
