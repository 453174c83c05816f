// Package words is the phrasebook: it puts the typed facts of a plan into sentences for
// people. What the program decides never depends on them.
package words
