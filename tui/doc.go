// Package tui holds the screens. [Review] shows a plan and asks for approval;
// [Follow] shows an apply until its result. They are two programs, so that
// approval is a value the caller receives and acts on.
//
// Each program has one tea.Model. Its Update is a switch of one-line arms,
// performs no I/O and leaves waiting to commands; each screen is one file of
// methods that make rows and documents out of the plan. Anything from outside
// becomes text through [widget.Text], which makes it harmless.
//
// Adding a tab is one row of the table in tabs.go and one file.
package tui
