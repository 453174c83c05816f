// Package review arranges a plan for its readers: one [Document] with the verdict, the
// findings and a section for each subject, in the order of their importance. It knows no
// widths and no colours; painters draw it, on the screen, as text, as Markdown and as HTML.
// Its texts are not escaped: each painter escapes them for its form.
//
// The commands that a review prints, such as the one that applies the plan, are made here
// too.
package review
