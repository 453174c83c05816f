// Package widget holds the parts screens are drawn with: plain structs that
// know positions and text, never what they stand for. They receive no
// messages and run no commands.
//
// Text enters a screen only through [Text], which makes it harmless; a [Span]
// cannot be built any other way.
package widget
